//! Debian packages of this machine's own suite.

use std::process::Command;

use anyhow::{Result, bail};

use super::{must, tool};

/// Programs that the tests call, and the packages that bring them.
const TOOLS: &[(&str, &str)] = &[
    ("cc", "gcc libc6-dev"),
    ("git", "git"),
    ("strace", "strace"),
    ("tmux", "tmux"),
    ("patchelf", "patchelf"),
    ("python3", "python3"),
    ("luacheck", "lua-check"),
    ("chromium", "chromium fonts-dejavu-core"),
    ("unzip", "unzip"),
    ("dbus-daemon", "dbus"),
    ("gnome-keyring-daemon", "gnome-keyring"),
];

/// Installs what is missing.
pub(super) fn ensure_tools(say: &mut dyn FnMut(&str)) -> Result<()> {
    let mut packages: Vec<&str> = TOOLS
        .iter()
        .filter(|(program, _)| tool(program).is_none())
        .flat_map(|(_, packages)| packages.split(' '))
        .collect();
    if !python_makes_venvs() {
        packages.push("python3-venv");
    }
    if packages.is_empty() {
        return Ok(());
    }
    say(&format!(
        "installing Debian packages: {}",
        packages.join(" ")
    ));
    install(&packages)
}

fn python_makes_venvs() -> bool {
    Command::new("python3")
        .args(["-c", "import venv, ensurepip"])
        .output()
        .is_ok_and(|output| output.status.success())
}

fn install(packages: &[&str]) -> Result<()> {
    if tool("apt-get").is_none() || !rustix::process::geteuid().is_root() {
        bail!(
            "these programs are missing, and only root on Debian can install them here: run `apt-get install {}`",
            packages.join(" ")
        );
    }
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive");
        must(&mut command)
    };
    apt(&["-qq", "update"])?;
    let mut arguments = vec!["-qq", "-y", "--no-install-recommends", "install"];
    arguments.extend(packages);
    apt(&arguments)?;
    Ok(())
}
