//! Following the journal without a lock, across rotations, while other processes append.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use super::FILE;
use super::record::{ReadLine, Record};
use crate::handle::Folder;
use crate::store::{Store, StoreError, StorePath};

/// A reader of the journal that remembers how far it has come.
#[derive(Debug)]
pub struct Follower {
    store: Store,
    seq: u64,
    /// The current file, as far as it was read.
    position: Option<Position>,
}

#[derive(Debug)]
struct Position {
    inode: u64,
    offset: u64,
    last_seq: u64,
}

impl Follower {
    pub(super) fn new(store: Store, seq: u64) -> Self {
        Self {
            store,
            seq,
            position: None,
        }
    }

    /// The number of the last record that was seen in the journal.
    pub fn seq(&self) -> u64 {
        self.position
            .as_ref()
            .map_or(0, |position| position.last_seq)
    }

    /// The records that came since the last call, oldest first. Damaged lines are passed over: that is for
    /// [`super::Journal::verify`] to tell. Costs one look when nothing has come.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn poll(&mut self) -> Result<Vec<Record>, StoreError> {
        let store = self.store.clone();
        let Some(folder) = store.folder_above(&StorePath::new(FILE)?)? else {
            return Ok(Vec::new());
        };
        let fail = |error| store.io(FILE, "reading", error);
        let Some(stat) = folder.stat(FILE).map_err(fail)? else {
            return Ok(Vec::new());
        };
        let is_same = self
            .position
            .as_ref()
            .is_some_and(|position| position.inode == stat.ino);
        let mut records = Vec::new();
        match &self.position {
            Some(position) if is_same && position.offset == stat.len => return Ok(records),
            Some(position) if is_same && position.offset < stat.len => {}
            _ => {
                // Another file: first what the ones before it hold beyond what was seen.
                let rotated = rotated(&store, &folder)?;
                let seen = self.seq;
                for (_, name) in rotated.iter().filter(|(last, _)| *last > seen) {
                    if let Ok((file, _)) = folder.open_file(name) {
                        let bytes = read_from(&file, 0).map_err(fail)?;
                        self.collect(&bytes, &mut records);
                    }
                }
                self.position = Some(Position {
                    inode: stat.ino,
                    offset: 0,
                    last_seq: self.seq(),
                });
            }
        }
        let (file, stat) = match folder.open_file(FILE) {
            Ok(open) => open,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(records),
            Err(error) => return Err(fail(error)),
        };
        // It may have been rotated since the look; the next call reads the newer one.
        if self
            .position
            .as_ref()
            .is_none_or(|position| position.inode != stat.ino)
        {
            self.position = None;
            return Ok(records);
        }
        let offset = self.position.as_ref().map_or(0, |position| position.offset);
        let bytes = read_from(&file, offset).map_err(fail)?;
        let read = self.collect(&bytes, &mut records);
        if let Some(position) = &mut self.position {
            position.offset += read;
        }
        Ok(records)
    }

    /// Takes the whole lines of `bytes`; returns their length.
    fn collect(&mut self, bytes: &[u8], records: &mut Vec<Record>) -> u64 {
        let whole = memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1);
        let mut last = 0;
        for line in bytes[..whole]
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            let Ok(line) = ReadLine::read(line) else {
                continue;
            };
            last = last.max(line.seq);
            if line.seq > self.seq && self.seq != u64::MAX {
                self.seq = line.seq;
                let is_header = line.starts_after().is_some();
                records.extend(line.into_record().filter(|_| !is_header));
            }
        }
        if let Some(position) = &mut self.position {
            position.last_seq = position.last_seq.max(last);
        }
        whole as u64
    }
}

/// The rotated files with the number of their last record, oldest first.
pub(super) fn rotated(store: &Store, folder: &Folder) -> Result<Vec<(u64, String)>, StoreError> {
    let names = folder
        .names()
        .map_err(|error| store.io("", "listing", error))?;
    // A rotation that was cut short has given the current file its second name already.
    let current = folder
        .stat(FILE)
        .ok()
        .flatten()
        .filter(|stat| stat.links > 1);
    let is_current = |name: &str| {
        current.is_some_and(|current| {
            folder
                .stat(name)
                .is_ok_and(|stat| stat.is_some_and(|stat| stat.same_file(&current)))
        })
    };
    let mut rotated: Vec<(u64, String)> = names
        .into_iter()
        .filter_map(|name| {
            let seq = name
                .strip_prefix("journal.")?
                .strip_suffix(".ndjson")?
                .parse()
                .ok()?;
            (!is_current(&name)).then_some((seq, name))
        })
        .collect();
    rotated.sort();
    Ok(rotated)
}

/// The bytes of `file` from `offset` to its end.
pub(super) fn read_from(mut file: &File, offset: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(offset))?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
