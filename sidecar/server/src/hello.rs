//! The first words on the sidecar's socket, before any LSP: who speaks which version.
//!
//! Owns: the two messages and the decision whether a sidecar serves a newcomer.
//! Must not know: sockets.
//!
//! One frame each way. Fields may be added to this shape, and none is ever changed or asked for, so
//! that any two versions understand each other far enough to part in peace.
#![expect(clippy::disallowed_methods, reason = "it looks at this very binary")]

use crate::env::Env;
use serde::{Deserialize, Serialize};

/// Version of `redline-protocol` that this binary speaks.
pub const PROTOCOL_VERSION: u32 = 1;

/// Which build a process runs. Ordered by age as far as that can be told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// Version of the package.
    pub version: String,
    /// When the binary was written, in Unix milliseconds; 0 when unknown.
    #[serde(default)]
    pub built_at_ms: u64,
}

impl Build {
    /// The build of this process.
    pub fn of_process() -> Self {
        let built_at_ms = std::env::current_exe()
            .and_then(|exe| std::fs::metadata(exe)?.modified())
            .ok()
            .and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok())
            .map_or(0, |age| u64::try_from(age.as_millis()).unwrap_or(0));
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            built_at_ms,
        }
    }

    /// Whether `other` is a newer build than this one: by version, then by age of the binary.
    pub fn is_older_than(&self, other: &Self) -> bool {
        let key = |build: &Self| (numbers(&build.version), build.built_at_ms);
        key(self) < key(other)
    }
}

fn numbers(version: &str) -> Vec<u64> {
    let release = version.split(['-', '+']).next().unwrap_or_default();
    release
        .split('.')
        .map(|part| part.parse().unwrap_or(0))
        .collect()
}

/// What a client says first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Always `redline`.
    pub hello: String,
    /// Protocol versions that the client speaks, best first.
    pub protocols: Vec<u32>,
    /// Its build.
    pub build: Build,
    /// Its environment; sessions that it opens run in it.
    #[serde(default)]
    pub env: Env,
}

impl Hello {
    /// The greeting of this process.
    pub fn of_process() -> Self {
        Self {
            hello: "redline".to_owned(),
            protocols: vec![PROTOCOL_VERSION],
            build: Build::of_process(),
            env: Env::of_process(),
        }
    }
}

/// What the sidecar answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "welcome", rename_all = "snake_case")]
pub enum Welcome {
    /// LSP follows, with this version of the protocol.
    Serves {
        /// The version chosen.
        protocol: u32,
        /// Build of the sidecar.
        build: Build,
        /// Process of the sidecar.
        pid: u32,
    },
    /// The sidecar is older, has nothing to do, and ends now: start a new one.
    Retires,
    /// The sidecar speaks other versions and is busy: run in process.
    Refuses {
        /// Versions that it speaks.
        protocols: Vec<u32>,
        /// Its build.
        build: Build,
    },
}

/// Decides what a sidecar answers: it serves whoever speaks its protocol, but for a newer build it
/// makes room when nobody else needs it.
pub fn answer(own: &Build, busy: bool, hello: &Hello, pid: u32) -> Welcome {
    let common = hello.protocols.contains(&PROTOCOL_VERSION);
    if !busy && own.is_older_than(&hello.build) {
        Welcome::Retires
    } else if common {
        Welcome::Serves {
            protocol: PROTOCOL_VERSION,
            build: own.clone(),
            pid,
        }
    } else {
        Welcome::Refuses {
            protocols: vec![PROTOCOL_VERSION],
            build: own.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(version: &str, built_at_ms: u64) -> Build {
        Build {
            version: version.to_owned(),
            built_at_ms,
        }
    }

    fn hello(version: &str, protocols: &[u32]) -> Hello {
        Hello {
            hello: "redline".to_owned(),
            protocols: protocols.to_vec(),
            build: build(version, 5),
            env: Env::default(),
        }
    }

    #[test]
    fn versions_compare_by_number() {
        assert!(build("0.9.0", 9).is_older_than(&build("0.10.0", 1)));
        assert!(build("0.9.0", 1).is_older_than(&build("0.9.0", 2)));
        assert!(!build("0.9.0", 2).is_older_than(&build("0.9.0", 2)));
        assert!(!build("1.0.0", 1).is_older_than(&build("0.9.9-rc.1", 7)));
    }

    #[test]
    fn a_sidecar_serves_retires_or_refuses() {
        let own = build("0.5.0", 5);
        let serves = |welcome| matches!(welcome, Welcome::Serves { .. });
        for (busy, version, protocols, expected) in [
            (false, "0.5.0", &[1][..], "serves"),
            (true, "0.6.0", &[2, 1], "serves"),
            (false, "0.6.0", &[1], "retires"),
            (false, "0.6.0", &[2], "retires"),
            (true, "0.6.0", &[2], "refuses"),
            (false, "0.4.0", &[1], "serves"),
            (false, "0.4.0", &[7], "refuses"),
        ] {
            let welcome = answer(&own, busy, &hello(version, protocols), 1);
            let got = match &welcome {
                welcome if serves(welcome.clone()) => "serves",
                Welcome::Retires => "retires",
                _ => "refuses",
            };
            assert_eq!(got, expected, "{busy} {version} {protocols:?}");
        }
    }
}
