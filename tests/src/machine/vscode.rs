//! VS Code as a server with a real extension host, and what the extension is built with.
//!
//! The server is the one inside npm's `code-server` package, started by itself; a browser stands in front of it.
//! That package lets every extension use proposed API, which a user's VS Code does not: here the check is put back, so
//! that each test in the editor also shows that none is used.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context, Result, ensure};

use super::{cache_dir, must, node, tool};
use crate::program::repository;

/// The package, its version, and the version of VS Code in it.
const PACKAGE: &str = "code-server@4.139.1";
const VERSION: &str = "1.139.1";

/// What no test needs and what would be 330 MB: the server starts faster without it.
const LEFT_OUT: &[&str] = &[
    "node_modules/@github",
    "node_modules/@microsoft/mxc-sdk",
    "extensions/copilot",
    "extensions/mermaid-markdown-features",
    "extensions/microsoft-authentication",
    "extensions/github",
    "extensions/github-authentication",
    "extensions/typescript-language-features",
    "extensions/ipynb",
    "extensions/git",
    "extensions/git-base",
];

/// Folder of the extension's sources.
#[must_use]
pub fn extension() -> PathBuf {
    repository().join("clients/vscode")
}

fn prefix() -> PathBuf {
    cache_dir().join(format!("vscode-{VERSION}-strict"))
}

/// Path of the server's program, if it is installed, with a Node.js to run it and a browser to show it.
#[must_use]
pub fn vscode() -> Option<PathBuf> {
    let program = prefix().join("server/out/server-main.js");
    let ready = prefix().join("done").exists() && node().is_some() && chromium().is_some();
    (program.exists() && ready).then_some(program)
}

/// Path of the browser.
#[must_use]
pub fn chromium() -> Option<PathBuf> {
    tool("chromium")
}

/// Whether the packages that the extension is built with are there, as its lock file names them.
#[must_use]
pub fn extension_is_ready() -> bool {
    let folder = extension();
    let wanted = fs::read(folder.join("package-lock.json"));
    let present = fs::read(folder.join("node_modules/.installed"));
    matches!((wanted, present), (Ok(wanted), Ok(present)) if wanted == present)
}

/// A command that runs a program of the extension's packages, in its folder.
///
/// # Errors
///
/// When they are not installed.
pub fn extension_tool(script: &str) -> Result<Command> {
    ensure!(
        extension_is_ready(),
        "the VS Code extension's packages are missing: cargo verify prepare brings them"
    );
    let node = node().context("Node.js is missing: cargo verify prepare brings it")?;
    let mut command = Command::new(node);
    command
        .arg("--disable-warning=MODULE_TYPELESS_PACKAGE_JSON")
        .arg(extension().join(script))
        .current_dir(extension());
    Ok(command)
}

/// Bundles the extension and packs it; gives the path of the package.
///
/// # Errors
///
/// Says what the bundler or the packer said.
pub fn package_extension() -> Result<PathBuf> {
    must(&mut extension_tool("build.mjs")?)?;
    let package = extension().join("out/redline.vsix");
    let mut vsce = extension_tool("node_modules/@vscode/vsce/vsce")?;
    must(
        vsce.args(["package", "--no-dependencies", "--allow-missing-repository"])
            .arg("--out")
            .arg(&package)
            .env("npm_config_ignore_scripts", "true"),
    )?;
    Ok(package)
}

/// The package, made anew when a source is newer; one process makes it, others wait.
///
/// # Errors
///
/// When it cannot be made.
pub fn packaged_extension() -> Result<PathBuf> {
    let lock = fs::File::open(extension().join("package-lock.json"))?;
    lock.lock()?;
    let package = extension().join("out/redline.vsix");
    let made = fs::metadata(&package).and_then(|meta| meta.modified()).ok();
    let mut newest = None;
    for name in [
        "src",
        "webview",
        "media",
        "package.json",
        "README.md",
        "build.mjs",
    ] {
        newest = newest.max(newest_change(&extension().join(name))?);
    }
    if made < newest {
        package_extension()?;
    }
    Ok(package)
}

fn newest_change(path: &Path) -> Result<Option<SystemTime>> {
    let meta = fs::metadata(path)?;
    let mut newest = Some(meta.modified()?);
    if meta.is_dir() {
        for entry in fs::read_dir(path)? {
            newest = newest.max(newest_change(&entry?.path())?);
        }
    }
    Ok(newest)
}

/// Installs what is missing of both.
pub(super) fn install(say: &mut dyn FnMut(&str)) -> Result<()> {
    if vscode().is_none() {
        say(&format!("installing the server of VS Code {VERSION}"));
        install_server(&prefix()).context("cannot install the server of VS Code")?;
    }
    if !extension_is_ready() {
        say("installing what the VS Code extension is built with");
        install_packages().context("cannot install what the VS Code extension is built with")?;
    }
    Ok(())
}

fn install_server(prefix: &Path) -> Result<()> {
    if prefix.exists() {
        fs::remove_dir_all(prefix)?;
    }
    let server = prefix.join("server");
    fs::create_dir_all(&server)?;
    let mut npm = super::npm().context("npm is missing")?;
    let packed = must(npm.args(["pack", "--silent", PACKAGE]).current_dir(prefix))?;
    let archive = prefix.join(packed.trim());
    must(
        Command::new("tar")
            .arg("xzf")
            .arg(&archive)
            .arg("-C")
            .arg(&server)
            .args(["--strip-components=3", "package/lib/vscode"]),
    )?;
    fs::remove_file(&archive)?;
    // The package brings a shrinkwrap: every dependency is pinned. Their native parts only log when they are missing.
    let mut npm = super::npm().context("npm is missing")?;
    must(
        npm.args(["install", "--omit=dev", "--ignore-scripts"])
            .args(["--no-audit", "--no-fund"])
            .current_dir(&server),
    )?;
    for path in LEFT_OUT {
        let path = server.join(path);
        if path.exists() {
            fs::remove_dir_all(path)?;
        }
    }
    for program in CHECKING {
        restore_proposal_check(&server.join(program))
            .with_context(|| format!("cannot put back the check of proposed API in {program}"))?;
    }
    fs::write(prefix.join("done"), VERSION)?;
    ensure!(
        vscode().is_some(),
        "it was installed, but is not there, or Node.js or chromium is not"
    );
    Ok(())
}

/// Where VS Code asks whether an extension may use proposed API: in the extension host and in the page.
const CHECKING: &[&str] = &[
    "out/vs/workbench/api/node/extensionHostProcess.js",
    "out/vs/code/browser/workbench/workbench.js",
];

/// Makes the function that always says yes look at what the extension declares, as VS Code's own does.
fn restore_proposal_check(program: &Path) -> Result<()> {
    const YES: &str = "{return!0}function ";
    let text = fs::read_to_string(program)?;
    let refusal = text
        .find("' CANNOT use API proposal")
        .context("no place refuses proposed API")?;
    let at = text[..refusal]
        .rfind(YES)
        .context("no function before it always says yes")?;
    ensure!(refusal - at < 200, "the nearest such function lies far off");
    let (head, rest) = text.split_at(at);
    let (extension, proposal) = head
        .rsplit_once('(')
        .and_then(|(_, parameters)| parameters.strip_suffix(')')?.split_once(','))
        .context("the function does not take two parameters")?;
    let checking =
        format!("{{return!!{extension}.enabledApiProposals?.includes({proposal})}}function ");
    fs::write(program, format!("{head}{checking}{}", &rest[YES.len()..]))?;
    Ok(())
}

fn install_packages() -> Result<()> {
    let folder = extension();
    let mut npm = super::npm().context("npm is missing")?;
    must(
        npm.args(["ci", "--ignore-scripts", "--prefer-offline"])
            .args(["--no-audit", "--no-fund"])
            .current_dir(&folder),
    )?;
    fs::copy(
        folder.join("package-lock.json"),
        folder.join("node_modules/.installed"),
    )?;
    Ok(())
}
