//! Which variables of a client's env a command is given.
//!
//! A list of names that are let in, not of names that are kept out: what a terminal's env holds besides
//! (keys, tokens, sockets of agents, an editor's own) is nobody's business. What a project needs more, its
//! `.env`, the session's options or `patch_env` give.

/// Names, sorted.
const NAMES: &[&str] = &[
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "CARGO_HOME",
    "CC",
    "CONDA_DEFAULT_ENV",
    "CONDA_PREFIX",
    "CXX",
    "DEVELOPER_DIR",
    "DOTNET_ROOT",
    "GEM_HOME",
    "GEM_PATH",
    "GOBIN",
    "GOCACHE",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "JAVA_HOME",
    "LANG",
    "LANGUAGE",
    "LD_LIBRARY_PATH",
    "LOGNAME",
    "NIX_PATH",
    "NIX_PROFILES",
    "NIX_SSL_CERT_FILE",
    "NO_PROXY",
    "NVM_DIR",
    "PATH",
    "PKG_CONFIG_PATH",
    "PNPM_HOME",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SDKMAN_DIR",
    "SDKROOT",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TEMP",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// Whether commands inherit the variable of this name.
pub fn is_inherited(name: &str) -> bool {
    NAMES.binary_search(&name).is_ok() || name.starts_with("LC_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_lets_no_secret_in() {
        assert!(NAMES.is_sorted());
        assert!(is_inherited("PATH") && is_inherited("LC_ALL"));
        for name in [
            "ANTHROPIC_API_KEY",
            "SSH_AUTH_SOCK",
            "NVIM",
            "LD_PRELOAD",
            "path",
            "",
        ] {
            assert!(!is_inherited(name), "{name}");
        }
        assert!(!NAMES.iter().any(|name| crate::env::is_secret_name(name)));
    }
}
