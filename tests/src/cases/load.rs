//! Folders to cases, cases to rows.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

use super::fault;

/// One `case.json`, as read.
pub(super) struct Case {
    /// Name of its folder.
    pub name: String,
    text: String,
}

/// One run of a case: its fields with those of the row put over them.
pub(super) struct Row {
    case: String,
    row: Option<String>,
    fields: Map<String, Value>,
}

/// Lists the cases below some folders, by name. A folder without `case.json` is passed over.
pub(super) fn cases(folders: &[PathBuf]) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for folder in folders {
        let entries =
            fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
        let mut below = entries
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<Vec<_>>>()?;
        // The folder may be a case itself.
        below.push(folder.clone());
        below.sort();
        for path in below {
            let file = path.join("case.json");
            if !file.is_file() {
                continue;
            }
            let text = fs::read_to_string(&file)
                .with_context(|| format!("cannot read {}", file.display()))?;
            let name = path.file_name().unwrap_or(path.as_os_str());
            cases.push(Case {
                name: name.to_string_lossy().into_owned(),
                text,
            });
        }
    }
    if cases.is_empty() {
        bail!("no case.json below {folders:?}");
    }
    Ok(cases)
}

impl Case {
    /// Its rows; a case without a matrix is one row.
    pub(super) fn rows(&self) -> Result<Vec<Row>> {
        let value: Value = serde_json::from_str(&self.text)?;
        let Value::Object(fields) = value else {
            bail!("not an object");
        };
        let Some(matrix) = fields.get("matrix").filter(|matrix| !matrix.is_null()) else {
            return Ok(vec![Row {
                case: self.name.clone(),
                row: None,
                fields,
            }]);
        };
        let mut rows = Vec::new();
        for (at, row) in matrix
            .as_array()
            .context("matrix is an array")?
            .iter()
            .enumerate()
        {
            let row = row.as_object().context("a row is an object")?;
            let name = match row.get("name").and_then(Value::as_str) {
                Some(name) => name.to_owned(),
                None => at.to_string(),
            };
            let mut merged = fields.clone();
            merged.remove("matrix");
            for (key, value) in row {
                merged.insert(key.clone(), value.clone());
            }
            rows.push(Row {
                case: self.name.clone(),
                row: Some(name),
                fields: merged,
            });
        }
        Ok(rows)
    }
}

impl Row {
    /// `case` or `case/row`.
    pub(super) fn name(&self) -> String {
        match &self.row {
            None => self.case.clone(),
            Some(row) => format!("{}/{row}", self.case),
        }
    }

    /// A field; null when it is absent.
    pub(super) fn get(&self, field: &str) -> &Value {
        self.fields.get(field).unwrap_or(&Value::Null)
    }

    /// A field that is a list; absent means empty.
    pub(super) fn list(&self, field: &str) -> Result<&[Value]> {
        match self.get(field) {
            Value::Null => Ok(&[]),
            Value::Array(list) => Ok(list),
            other => bail!("{field} is {other}, not a list"),
        }
    }

    /// Its kind.
    pub(super) fn kind(&self) -> &str {
        self.get("kind").as_str().unwrap_or_default()
    }

    /// What the row expects.
    pub(super) fn expected(&self) -> Value {
        self.get("expected").clone()
    }

    /// Why the row cannot be played here, if it cannot.
    pub(super) fn why_skipped(&self) -> Result<Option<String>> {
        if self.get("executable") == &Value::Bool(false) {
            return Ok(Some("its data is not enough to run it".to_owned()));
        }
        for need in self.list("requires")? {
            let need = need.as_str().context("requires names features")?;
            if !is_met(need) {
                return Ok(Some(format!("requires {need}")));
            }
        }
        Ok(fault::why_unmapped(self))
    }
}

/// Whether this machine has what a case needs.
fn is_met(need: &str) -> bool {
    match need {
        "symlinks" | "hard_links" | "posix_modes" | "posix_process" | "setsid" => cfg!(unix),
        "non_root" => !rustix::process::geteuid().is_root(),
        "git" => crate::machine::tool("git").is_some(),
        "windows_paths" => cfg!(windows),
        _ => false,
    }
}
