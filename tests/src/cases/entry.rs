//! What a path holds: text, bytes, repetitions, links, folders, modes.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use base64::Engine as _;
use serde_json::Value;

/// What stands, or should stand, at one path.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub kind: EntryKind,
    /// Permission bits, where the case names them.
    pub mode: Option<u32>,
}

#[derive(Debug, Clone)]
pub(super) enum EntryKind {
    Content(Content),
    Symlink(PathBuf),
    Hardlink(String),
    Folder,
}

/// Bytes, large ones in short form.
#[derive(Debug, Clone)]
pub(super) enum Content {
    Literal(Vec<u8>),
    Repeat(Vec<u8>, u64),
    Concat(Vec<Content>),
}

impl Entry {
    /// Reads an entry; null is `None`.
    pub(super) fn parse(value: &Value) -> Result<Option<Entry>> {
        if value.is_null() {
            return Ok(None);
        }
        let mode = match value.get("mode").and_then(Value::as_str) {
            None => None,
            Some(octal) => Some(
                u32::from_str_radix(octal.trim_start_matches("0o"), 8)
                    .with_context(|| format!("mode {octal:?} is not octal"))?,
            ),
        };
        let kind = if let Some(target) = value.get("symlink").and_then(Value::as_str) {
            EntryKind::Symlink(target.into())
        } else if let Some(path) = value.get("hardlink").and_then(Value::as_str) {
            EntryKind::Hardlink(path.to_owned())
        } else if value.get("dir").and_then(Value::as_bool) == Some(true) {
            EntryKind::Folder
        } else {
            EntryKind::Content(Content::parse(value)?)
        };
        Ok(Some(Entry { kind, mode }))
    }

    /// Reads an object of path to entry, in its order.
    pub(super) fn parse_all(value: &Value) -> Result<Vec<(String, Option<Entry>)>> {
        let Some(object) = value.as_object() else {
            if value.is_null() {
                return Ok(Vec::new());
            }
            bail!("{value} is not an object of path to entry");
        };
        object
            .iter()
            .map(|(path, value)| {
                let entry = Entry::parse(value).with_context(|| format!("entry {path:?}"))?;
                Ok((path.clone(), entry))
            })
            .collect()
    }

    /// Makes the entry at `path`, with its parent folders; modes of folders are set by the caller, last.
    pub(super) fn make(&self, root: &Path, path: &str) -> Result<()> {
        let target = root.join(path);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        match &self.kind {
            EntryKind::Content(content) => {
                let mut file = BufWriter::new(File::create(&target)?);
                content.write(&mut file)?;
                file.flush()?;
            }
            EntryKind::Symlink(to) => std::os::unix::fs::symlink(to, &target)?,
            EntryKind::Hardlink(to) => fs::hard_link(root.join(to), &target)?,
            EntryKind::Folder => fs::create_dir_all(&target)?,
        }
        if let (Some(mode), EntryKind::Content(_)) = (self.mode, &self.kind) {
            fs::set_permissions(&target, fs::Permissions::from_mode(mode))?;
        }
        Ok(())
    }
}

impl Content {
    fn parse(value: &Value) -> Result<Content> {
        if let Some(text) = value.as_str() {
            return Ok(Content::Literal(text.as_bytes().to_owned()));
        }
        if let Some(text) = value.get("text").and_then(Value::as_str) {
            return Ok(Content::Literal(text.as_bytes().to_owned()));
        }
        if let Some(encoded) = value.get("base64").and_then(Value::as_str) {
            let bytes = base64::engine::general_purpose::STANDARD.decode(encoded)?;
            return Ok(Content::Literal(bytes));
        }
        if let Some(repeat) = value.get("repeat").and_then(Value::as_array) {
            let [unit, n] = repeat.as_slice() else {
                bail!("repeat is [unit, n]");
            };
            let n = n.as_u64().context("repeat counts")?;
            return Ok(Content::Repeat(Content::parse(unit)?.to_bytes(), n));
        }
        if let Some(parts) = value.get("concat").and_then(Value::as_array) {
            let parts = parts.iter().map(Content::parse).collect::<Result<_>>()?;
            return Ok(Content::Concat(parts));
        }
        bail!("{value} is not an entry");
    }

    pub(super) fn len(&self) -> u64 {
        match self {
            Content::Literal(bytes) => bytes.len() as u64,
            Content::Repeat(unit, n) => unit.len() as u64 * n,
            Content::Concat(parts) => parts.iter().map(Content::len).sum(),
        }
    }

    pub(super) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        match self {
            Content::Literal(bytes) => to.write_all(bytes),
            Content::Repeat(unit, n) => {
                // Blocks, since a unit may be a few bytes and the file hundreds of megabytes.
                let per_block = (65_536 / unit.len().max(1)).max(1) as u64;
                let block = unit.repeat(usize::try_from(per_block.min(*n)).unwrap_or(1));
                for _ in 0..n / per_block {
                    to.write_all(&block)?;
                }
                for _ in 0..n % per_block {
                    to.write_all(unit)?;
                }
                Ok(())
            }
            Content::Concat(parts) => parts.iter().try_for_each(|part| part.write(to)),
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing to memory does not fail.
        let _ = self.write(&mut bytes);
        bytes
    }

    /// Whether a file holds exactly this.
    pub(super) fn equals_file(&self, path: &Path) -> io::Result<bool> {
        if fs::metadata(path)?.len() != self.len() {
            return Ok(false);
        }
        let mut comparison = Comparison {
            file: File::open(path)?,
            buffer: Vec::new(),
        };
        match self.write(&mut comparison) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Takes bytes and compares each with the next of a file.
struct Comparison {
    file: File,
    buffer: Vec<u8>,
}

impl Write for Comparison {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.resize(bytes.len(), 0);
        self.file.read_exact(&mut self.buffer)?;
        if self.buffer == bytes {
            Ok(bytes.len())
        } else {
            Err(io::ErrorKind::InvalidData.into())
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
