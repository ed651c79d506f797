//! Where Redline keeps things that belong to the user rather than to a project.
//!
//! Owns: the XDG rules, and the check that a private folder is the user's alone.
//! Must not know: what the files hold.
#![expect(
    clippy::disallowed_methods,
    reason = "the one place that asks where the user's folders are"
)]

use crate::failure::Failure;
use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

/// The user's folders, resolved once at the start of the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// `$XDG_CONFIG_HOME/redline`.
    pub config_dir: PathBuf,
    /// `$XDG_STATE_HOME/redline`: private store, logs, crash reports.
    pub state_dir: PathBuf,
    /// `$XDG_RUNTIME_DIR/redline`, else `run` in the state folder: socket and lock.
    pub runtime_dir: PathBuf,
    /// The home folder, to shorten paths in what people read; absent in some sandboxes.
    pub home: Option<PathBuf>,
}

impl Paths {
    /// Resolves the folders from an environment.
    ///
    /// As the XDG specification says, a relative value counts as unset.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENTS` when neither `HOME` nor the XDG variable that would replace it is set.
    pub fn from_env(var: impl Fn(&str) -> Option<OsString>) -> Result<Self, Failure> {
        let absolute = |name: &str| {
            var(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let home = absolute("HOME");
        let base = |name: &str, below_home: &str| {
            absolute(name)
                .or_else(|| home.as_ref().map(|home| home.join(below_home)))
                .map(|base| base.join("redline"))
                .ok_or_else(|| {
                    Failure::new(
                        "INVALID_ARGUMENTS",
                        format!("neither HOME nor {name} names an absolute path"),
                        format!("set HOME, or {name}, to a folder of yours"),
                    )
                })
        };
        let state_dir = base("XDG_STATE_HOME", ".local/state")?;
        Ok(Self {
            config_dir: base("XDG_CONFIG_HOME", ".config")?,
            runtime_dir: absolute("XDG_RUNTIME_DIR")
                .map_or_else(|| state_dir.join("run"), |base| base.join("redline")),
            state_dir,
            home,
        })
    }

    /// The folders of this process.
    ///
    /// # Errors
    ///
    /// As [`from_env`](Self::from_env).
    pub fn of_process() -> Result<Self, Failure> {
        Self::from_env(|name| std::env::var_os(name))
    }

    /// The user's configuration.
    pub fn config_file(&self) -> PathBuf {
        self.config_dir.join("config.toml")
    }

    /// Folder of the logs.
    pub fn log_dir(&self) -> PathBuf {
        self.state_dir.join("logs")
    }

    /// Folder of the crash reports.
    pub fn crash_dir(&self) -> PathBuf {
        self.state_dir.join("crashes")
    }

    /// Socket of the user's sidecar.
    pub fn socket(&self) -> PathBuf {
        self.runtime_dir.join("sidecar.sock")
    }

    /// Lock of the user's sidecar; never deleted.
    pub fn lock(&self) -> PathBuf {
        self.runtime_dir.join("sidecar.lock")
    }

    /// `path` with the home folder written `~`, for what people read and paste.
    pub fn display(&self, path: &Path) -> String {
        match &self.home {
            Some(home) => match path.strip_prefix(home) {
                Ok(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
                Ok(rest) => format!("~/{}", rest.display()),
                Err(_) => path.display().to_string(),
            },
            None => path.display().to_string(),
        }
    }
}

/// Makes `folder` if it is missing, for its owner alone, and checks that it is nobody else's.
///
/// # Errors
///
/// `IO` when it cannot be made or read; `READ_ONLY` (refused) when it is a symlink, somebody
/// else's, or open to others: who can put a socket there could pose as the sidecar.
#[cfg(unix)]
pub fn private_folder(folder: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    let meta = match std::fs::symlink_metadata(folder) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            std::fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)
                .map_err(|error| {
                    Failure::io(format!("cannot make {}", folder.display()), &error)
                })?;
            std::fs::symlink_metadata(folder)
                .map_err(|error| Failure::io(format!("cannot read {}", folder.display()), &error))?
        }
        Err(error) => {
            return Err(Failure::io(
                format!("cannot read {}", folder.display()),
                &error,
            ));
        }
    };
    let refuse = |what: String, hint: String| {
        Err(Failure::new(
            "IO",
            format!("{} {what}", folder.display()),
            hint,
        ))
    };
    let me = rustix::process::geteuid().as_raw();
    if !meta.is_dir() {
        return refuse(
            "is not a folder".to_owned(),
            "move it away, or point XDG_RUNTIME_DIR and XDG_STATE_HOME elsewhere".to_owned(),
        );
    }
    if meta.uid() != me {
        return refuse(
            format!("belongs to user {}, not to you ({me})", meta.uid()),
            "point XDG_RUNTIME_DIR at a folder of yours".to_owned(),
        );
    }
    if meta.mode() & 0o077 != 0 {
        return refuse(
            format!("is open to others (mode {:o})", meta.mode() & 0o777),
            format!("run: chmod 700 {}", folder.display()),
        );
    }
    Ok(())
}

/// Makes `folder` if it is missing; this platform keeps folders of a user private by itself.
#[cfg(not(unix))]
pub fn private_folder(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::io(format!("cannot make {}", folder.display()), &error))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    fn paths(vars: &[(&str, &str)]) -> Result<Paths, Failure> {
        Paths::from_env(|name| {
            vars.iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn xdg_variables_win_over_home() {
        let paths = paths(&[
            ("HOME", "/home/a"),
            ("XDG_STATE_HOME", "/s"),
            ("XDG_RUNTIME_DIR", "/r"),
        ])
        .unwrap();
        assert_eq!(
            paths.config_file(),
            Path::new("/home/a/.config/redline/config.toml")
        );
        assert_eq!(paths.log_dir(), Path::new("/s/redline/logs"));
        assert_eq!(paths.socket(), Path::new("/r/redline/sidecar.sock"));
        assert_eq!(paths.display(Path::new("/home/a/x/y")), "~/x/y");
        assert_eq!(paths.display(Path::new("/home/ab")), "/home/ab");
    }

    #[test]
    fn a_relative_value_counts_as_unset() {
        let paths = paths(&[("HOME", "/h"), ("XDG_RUNTIME_DIR", "run")]).unwrap();
        assert_eq!(paths.runtime_dir, Path::new("/h/.local/state/redline/run"));
    }

    #[test]
    fn no_home_is_an_error_that_says_what_to_set() {
        let failure = paths(&[]).unwrap_err();
        assert!(failure.hint.contains("XDG_STATE_HOME"), "{failure:?}");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_open_to_others_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("redline");
        private_folder(&folder).unwrap();
        private_folder(&folder).unwrap();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(
            private_folder(&folder)
                .unwrap_err()
                .hint
                .contains("chmod 700")
        );
        let link = base.path().join("link");
        std::os::unix::fs::symlink(base.path(), &link).unwrap();
        assert!(private_folder(&link).is_err());
    }
}
