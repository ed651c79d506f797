//! What a call would do, said before it does it: what the gate decides on, people are shown, and an
//! approval is bound to.
//!
//! Owns the shape of an operation and its hash. Must not know rules, modes or who approves.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What sort of thing a mutation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MutationKind {
    /// The commit of proposed edits. Proposing them is no mutation.
    Transaction,
    /// A program that runs.
    Command,
    /// A change of the repository: a commit, a branch, a stash.
    Vcs,
    /// A step of a browser.
    Browser,
    /// A request to a web server.
    Web,
    /// A run of another agent.
    Agent,
}

/// How much is lost when it was wrong; each class holds those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Undo brings it back, or it changes nothing at all.
    Reversible,
    /// It stays inside the workspace, and may lose work that nothing tracks.
    Workspace,
    /// It may reach the network or other folders.
    Outside,
}

/// A program and its arguments: no shell reads them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandLine {
    /// The program as it was asked for, without its arguments.
    pub program: String,
    /// Absolute path of the file that will run.
    pub resolved: String,
    /// Revision of that file's bytes.
    pub revision: String,
    /// The arguments, without the program.
    pub arguments: Vec<String>,
    /// Variables that the call itself sets, on top of the session's env. Their values may be
    /// secrets: they enter the hash, and are never shown or stored.
    #[serde(skip)]
    pub env: BTreeMap<String, String>,
}

/// What one call would do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    /// Name of the tool.
    pub tool: String,
    /// What sort of thing it is.
    pub kind: MutationKind,
    /// How much it may lose.
    pub class: Class,
    /// It changes nothing anywhere: a `web` read. Mode `plan` leaves such calls to the user.
    #[serde(default)]
    pub reads_only: bool,
    /// The call's arguments in one normal form: defaults filled in, paths as the boundary writes them.
    pub arguments: Value,
    /// What it would write, from the workspace's root; as far as it is known.
    pub paths: Vec<String>,
    /// Hosts that it would reach, lower case, without port.
    pub hosts: Vec<String>,
    /// The program, for a `command`.
    pub command: Option<CommandLine>,
    /// Every file that it is about, with the revision of the bytes that it was asked for: a script that it
    /// runs, a file that it edits. A file that is missing has the revision `missing`.
    pub base_revisions: BTreeMap<String, String>,
    /// Id of the workspace.
    pub workspace: String,
    /// Id of the session.
    pub session: String,
    /// Folder that it runs in, from the workspace's root; empty for the root itself.
    pub cwd: String,
    /// Digest of the env that it runs with; empty when it starts nothing.
    pub env_digest: String,
    /// One line for people: `git push origin main`.
    pub summary: String,
}

/// The identity of an operation: an approval is for one of these and for nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OperationHash(String);

impl Operation {
    /// Hashes all that makes it this operation and no other.
    ///
    /// Covered: tool, kind, arguments, base revisions, workspace, session, cwd, env, and the program with its
    /// revision. The order of an object's keys makes no difference, every other change does. What is only
    /// derived from these (class, paths, hosts, summary) is left out.
    pub fn hash(&self) -> OperationHash {
        let mut hasher = Parts(blake3::Hasher::new());
        hasher.text("redline operation v1");
        hasher.text(&self.tool);
        hasher.text(self.kind.as_str());
        hasher.value(&self.arguments);
        hasher.map(&self.base_revisions);
        hasher.text(&self.workspace);
        hasher.text(&self.session);
        hasher.text(&self.cwd);
        hasher.text(&self.env_digest);
        match &self.command {
            None => hasher.count(0),
            Some(command) => {
                hasher.count(1);
                hasher.text(&command.program);
                hasher.text(&command.resolved);
                hasher.text(&command.revision);
                hasher.count(command.arguments.len());
                for argument in &command.arguments {
                    hasher.text(argument);
                }
                hasher.map(&command.env);
            }
        }
        OperationHash(hasher.0.finalize().to_hex().to_string())
    }
}

impl OperationHash {
    /// Takes a hash that was stored.
    pub fn from_stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The hash in hex.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for OperationHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A digest of variables, for [`Operation::env_digest`]: equal for equal variables, and telling nothing of them.
///
/// `key` is a secret of the user's, so that nobody can try out values against a stored digest.
pub fn env_digest<'a>(
    key: &[u8; 32],
    variables: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> String {
    let sorted: BTreeMap<&str, &str> = variables.into_iter().collect();
    let mut hasher = Parts(blake3::Hasher::new_keyed(key));
    hasher.count(sorted.len());
    for (name, value) in sorted {
        hasher.text(name);
        hasher.text(value);
    }
    hasher.0.finalize().to_hex().to_string()
}

impl MutationKind {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::Transaction,
        Self::Command,
        Self::Vcs,
        Self::Browser,
        Self::Web,
        Self::Agent,
    ];

    /// The word for it in files and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Transaction => "transaction",
            Self::Command => "command",
            Self::Vcs => "vcs",
            Self::Browser => "browser",
            Self::Web => "web",
            Self::Agent => "agent",
        }
    }
}

impl Class {
    /// All classes, the mildest first.
    pub const ALL: [Self; 3] = [Self::Reversible, Self::Workspace, Self::Outside];

    /// The word for it in files and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reversible => "reversible",
            Self::Workspace => "workspace",
            Self::Outside => "outside",
        }
    }

    /// Whether undo cannot be relied on to bring everything back.
    pub fn is_destructive(self) -> bool {
        self > Self::Reversible
    }
}

/// Feeds parts to a hash so that no two different lists of parts give the same bytes.
struct Parts(blake3::Hasher);

impl Parts {
    fn count(&mut self, count: usize) {
        self.0.update(&(count as u64).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.update(text.as_bytes());
    }

    fn map(&mut self, map: &BTreeMap<String, String>) {
        self.count(map.len());
        for (key, value) in map {
            self.text(key);
            self.text(value);
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.text("null"),
            Value::Bool(yes) => self.text(if *yes { "true" } else { "false" }),
            Value::Number(number) => {
                self.text("number");
                self.text(&number.to_string());
            }
            Value::String(text) => {
                self.text("string");
                self.text(text);
            }
            Value::Array(items) => {
                self.text("array");
                self.count(items.len());
                for item in items {
                    self.value(item);
                }
            }
            Value::Object(map) => {
                self.text("object");
                self.count(map.len());
                let mut keys: Vec<&String> = map.keys().collect();
                keys.sort();
                for key in keys {
                    self.text(key);
                    if let Some(inner) = map.get(key) {
                        self.value(inner);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
