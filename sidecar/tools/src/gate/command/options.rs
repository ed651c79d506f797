//! The options by which programs that only seem to read run another program or write a file.
//!
//! An entry is written as it is used: `--long` (also abbreviated, with `=value` or the next token as value), `-x` (one letter,
//! also inside a cluster), `=-word` (exactly that token, with a `=value` at most). What a program does by its very nature is no
//! entry: who allows `touch` wants files touched.

/// What is known of some programs that take their options the same way.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) names: &'static [&'static str],
    /// Options that run a program, or load code.
    pub(super) runs: &'static [&'static str],
    /// Options that write, move or remove a file.
    pub(super) writes: &'static [&'static str],
    /// Letters that take a value: what follows them in a cluster is no option.
    pub(super) valued: &'static str,
    /// A word after `--` may be an option too.
    pub(super) ignores_double_dash: bool,
}

const PLAIN: Program = Program {
    names: &[],
    runs: &[],
    writes: &[],
    valued: "",
    ignores_double_dash: false,
};

pub(super) const PROGRAMS: &[Program] = &[
    // Files and text.
    Program {
        names: &["find", "gfind"],
        runs: &["=-exec", "=-execdir", "=-ok", "=-okdir"],
        writes: &["=-delete", "=-fprint", "=-fprint0", "=-fprintf", "=-fls"],
        ignores_double_dash: true,
        ..PLAIN
    },
    Program {
        names: &["fd", "fdfind"],
        runs: &["-x", "-X", "--exec", "--exec-batch"],
        valued: "egtEdSco",
        ..PLAIN
    },
    Program {
        names: &["rg"],
        runs: &["--pre", "--hostname-bin", "-z", "--search-zip"],
        valued: "efgtTABCmMjEr",
        ..PLAIN
    },
    Program {
        names: &["ag", "ack"],
        runs: &["--pager", "-z", "--search-zip"],
        writes: &["--create-types"],
        valued: "ABCGgmp",
        ..PLAIN
    },
    Program {
        names: &["sort", "gsort"],
        runs: &["--compress-program"],
        writes: &["-o", "--output", "-T", "--temporary-directory"],
        valued: "kStT",
        ..PLAIN
    },
    Program {
        names: &["shuf", "iconv", "sdiff", "tree", "xmllint"],
        runs: &["--diff-program", "--shell"],
        writes: &["-o", "--output"],
        valued: "inLPItfw",
        ..PLAIN
    },
    Program {
        names: &["diff3"],
        runs: &["--diff-program"],
        ..PLAIN
    },
    Program {
        names: &["patch"],
        runs: &["-e", "--ed"],
        writes: &["-o", "--output", "-r", "--reject-file", "-d", "--directory"],
        valued: "piVzBYDF",
        ..PLAIN
    },
    Program {
        names: &["split", "gsplit"],
        runs: &["--filter"],
        valued: "abClnt",
        ..PLAIN
    },
    Program {
        names: &["yq"],
        writes: &["-i", "--inplace", "--in-place", "-s", "--split-exp"],
        valued: "oIp",
        ..PLAIN
    },
    Program {
        names: &["file"],
        writes: &["-C", "--compile"],
        runs: &["-z", "-Z", "--uncompress", "--uncompress-noreport"],
        valued: "mfFPe",
        ..PLAIN
    },
    Program {
        names: &["date", "gdate"],
        writes: &["-s", "--set"],
        valued: "dfrI",
        ..PLAIN
    },
    Program {
        names: &[
            "bat", "batcat", "delta", "eza", "exa", "ls", "gls", "cat", "gcat", "head", "tail",
        ],
        runs: &["--pager", "--pager-command"],
        valued: "ncI",
        ..PLAIN
    },
    Program {
        names: &["less", "more", "most", "pg"],
        runs: &[
            "=--cmd",
            "-k",
            "--lesskey-file",
            "--lesskey-src",
            "--lesskey-content",
        ],
        writes: &["-o", "-O", "--log-file", "--LOG-FILE"],
        valued: "bDhjpPtTxyz",
        ..PLAIN
    },
    Program {
        names: &["man", "apropos", "whatis"],
        runs: &[
            "-P",
            "--pager",
            "-H",
            "--html",
            "-C",
            "--config-file",
            "-X",
            "--gxditview",
            "-p",
            "--preprocessor",
        ],
        valued: "LmMSserE",
        ..PLAIN
    },
    // Archives.
    Program {
        names: &["tar", "gtar", "bsdtar"],
        runs: &[
            "--to-command",
            "--checkpoint-action",
            "-I",
            "--use-compress-program",
            "-F",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
            "--rmt-command",
        ],
        writes: &[
            "--index-file",
            "-g",
            "--listed-incremental",
            "--remove-files",
            "-P",
            "--absolute-names",
            "--volno-file",
        ],
        valued: "fCbTXHKLNV",
        ..PLAIN
    },
    Program {
        names: &["zip"],
        runs: &["=-TT", "--unzip-command"],
        writes: &["-m", "--move", "-O", "--output-file", "-b", "--temp-path"],
        valued: "nitxP",
        ..PLAIN
    },
    Program {
        names: &["cpio"],
        runs: &["--rsh-command", "--to-stdout-command"],
        writes: &["-O", "--file"],
        valued: "CDEFHIMR",
        ..PLAIN
    },
    // Interpreters: code in an argument is not a file that somebody could have read.
    Program {
        names: &[
            "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "tcsh", "csh",
        ],
        runs: &[
            "-c",
            "-s",
            "-i",
            "-l",
            "--command",
            "--init-file",
            "--rcfile",
            "--login",
            "--init-command",
        ],
        valued: "oO",
        ..PLAIN
    },
    Program {
        names: &["python", "python2", "python3", "pypy", "pypy3"],
        runs: &["-c", "-i"],
        valued: "mWX",
        ..PLAIN
    },
    Program {
        names: &["node", "nodejs", "bun", "deno", "tsx", "ts-node"],
        runs: &[
            "-e",
            "-p",
            "-r",
            "--eval",
            "--print",
            "--require",
            "--import",
            "--loader",
            "--experimental-loader",
            "--preload",
            "--env-file",
            "--openssl-config",
            "--inspect-brk",
            "--inspect",
        ],
        writes: &[
            "--build-snapshot",
            "--cpu-prof",
            "--heap-prof",
            "--redirect-warnings",
            "--report-on-signal",
        ],
        valued: "C",
        ..PLAIN
    },
    Program {
        names: &[
            "perl",
            "ruby",
            "lua",
            "luajit",
            "php",
            "osascript",
            "Rscript",
            "julia",
            "groovy",
            "tclsh",
        ],
        runs: &[
            "-e",
            "-E",
            "-r",
            "-M",
            "-m",
            "-B",
            "-R",
            "-x",
            "--eval",
            "--run",
            "--require",
        ],
        writes: &["-i"],
        valued: "IfFldC0",
        ..PLAIN
    },
    Program {
        names: &["awk", "gawk", "mawk", "nawk", "original-awk"],
        runs: &[
            "-f",
            "--file",
            "-E",
            "--exec",
            "-i",
            "--include",
            "-l",
            "--load",
            "-D",
            "--debug",
        ],
        writes: &[
            "-o",
            "--pretty-print",
            "-p",
            "--profile",
            "-d",
            "--dump-variables",
        ],
        valued: "Fv",
        ..PLAIN
    },
    Program {
        names: &["sed", "gsed"],
        runs: &["-f", "--file"],
        writes: &["-i", "-I", "--in-place"],
        valued: "el",
        ..PLAIN
    },
    Program {
        names: &["dc", "bc"],
        runs: &["-e", "--expression", "-f", "--file"],
        ..PLAIN
    },
    Program {
        names: &["sqlite3", "duckdb"],
        runs: &["=-cmd", "=--cmd", "=-init", "=--init", "=-c", "=-s"],
        writes: &["=-output", "=--output", "=-export"],
        ..PLAIN
    },
    Program {
        names: &["psql", "mysql", "mariadb"],
        runs: &[
            "-c",
            "--command",
            "-f",
            "--file",
            "-e",
            "--execute",
            "--pager",
            "--init-command",
        ],
        writes: &["-o", "--output", "-L", "--log-file", "--tee"],
        valued: "dhpPRFTUv",
        ..PLAIN
    },
    Program {
        names: &["vi", "vim", "nvim", "view", "ex", "emacs", "nano", "ed"],
        runs: &[
            "-c", "-S", "-s", "-u", "-U", "--cmd", "=-l", "--eval", "-f", "--load", "-e", "=-es",
            "=-Es",
        ],
        writes: &["-w", "-W", "-i", "--startuptime"],
        valued: "tTVqr",
        ..PLAIN
    },
    // Builds and packages.
    Program {
        names: &["make", "gmake", "bmake"],
        runs: &[
            "-f",
            "--file",
            "--makefile",
            "-C",
            "--directory",
            "--eval",
            "-E",
            "-I",
            "--include-dir",
        ],
        valued: "jlOoW",
        ..PLAIN
    },
    Program {
        names: &["ninja", "samu"],
        runs: &["-f", "-C", "-t"],
        valued: "jklwd",
        ..PLAIN
    },
    Program {
        names: &["cmake", "ctest"],
        runs: &[
            "-P",
            "-E",
            "-C",
            "-S",
            "--script",
            "--build-and-test",
            "--build-makeprogram",
            "--preset",
            "--toolchain",
        ],
        writes: &[
            "--graphviz",
            "--trace-redirect",
            "-O",
            "--output-log",
            "--install",
            "--output-junit",
        ],
        valued: "BDGAUWTRLj",
        ..PLAIN
    },
    Program {
        names: &["cargo"],
        runs: &["--config", "--manifest-path", "-C", "-Z"],
        writes: &[
            "--target-dir",
            "--out-dir",
            "--artifact-dir",
            "--lockfile-path",
        ],
        valued: "pFj",
        ..PLAIN
    },
    Program {
        names: &["go"],
        runs: &[
            "=-exec",
            "=--exec",
            "=-toolexec",
            "=--toolexec",
            "=-vettool",
            "=--vettool",
            "=-C",
            "=-modfile",
            "=--modfile",
            "=-overlay",
            "=--overlay",
            "=-ldflags",
            "=--ldflags",
            "=-gcflags",
            "=--gcflags",
        ],
        writes: &[
            "=-o",
            "=--o",
            "=-coverprofile",
            "=--coverprofile",
            "=-cpuprofile",
            "=--cpuprofile",
            "=-memprofile",
            "=--memprofile",
            "=-outputdir",
            "=--outputdir",
            "=-trace",
            "=--trace",
            "=-pkgdir",
            "=-w",
            "=-u",
        ],
        ..PLAIN
    },
    Program {
        names: &["npm", "pnpm", "yarn", "npx", "bunx"],
        runs: &[
            "--script-shell",
            "--node-options",
            "--shell",
            "--prefix",
            "-C",
            "--dir",
            "--cwd",
            "--userconfig",
            "--globalconfig",
            "--git",
            "--editor",
            "--viewer",
            "--browser",
            "-c",
            "--call",
            "--use-yarnrc",
        ],
        writes: &[
            "--cache",
            "--modules-folder",
            "--global-folder",
            "-g",
            "--global",
        ],
        valued: "w",
        ..PLAIN
    },
    Program {
        names: &["pytest", "py.test"],
        runs: &[
            "-p",
            "-c",
            "--config-file",
            "--rootdir",
            "--confcutdir",
            "--pdb",
            "--pdbcls",
            "-o",
            "--override-ini",
        ],
        writes: &[
            "--basetemp",
            "--junitxml",
            "--junit-xml",
            "--log-file",
            "--debug",
            "--report-log",
        ],
        valued: "knmrW",
        ..PLAIN
    },
    Program {
        names: &["eslint", "prettier", "tsc", "stylelint", "biome"],
        runs: &[
            "-c",
            "--config",
            "--config-path",
            "--rulesdir",
            "--resolve-plugins-relative-to",
            "--plugin",
            "--parser",
            "-f",
            "--format",
            "--formatter",
            "--custom-formatter",
            "-p",
            "--project",
            "-b",
            "--build",
        ],
        writes: &[
            "-o",
            "--output-file",
            "--outDir",
            "--outFile",
            "--declarationDir",
            "-w",
            "--write",
            "--fix",
            "--cache-location",
            "--cache-file",
            "--generateTrace",
            "--tsBuildInfoFile",
            "--init",
        ],
        ..PLAIN
    },
    Program {
        names: &["mvn", "gradle", "gradlew", "mvnw"],
        runs: &[
            "-f",
            "--file",
            "-s",
            "--settings",
            "-gs",
            "--global-settings",
            "-I",
            "--init-script",
            "-b",
            "--build-file",
            "-c",
            "--settings-file",
            "-p",
            "--project-dir",
            "-D",
            "-P",
            "-t",
            "--toolchains",
            "--include-build",
        ],
        writes: &[
            "-l",
            "--log-file",
            "-g",
            "--gradle-user-home",
            "--project-cache-dir",
        ],
        valued: "xT",
        ..PLAIN
    },
    Program {
        names: &[
            "gcc", "g++", "cc", "c++", "clang", "clang++", "rustc", "ld", "javac", "java",
        ],
        runs: &[
            "=-wrapper",
            "=-fplugin",
            "=-specs",
            "=--specs",
            "=-B",
            "=-load",
            "=-fuse-ld",
            "=-Xclang",
            "=-C",
            "=--codegen",
            "=-javaagent",
            "=-agentpath",
            "=-agentlib",
            "=-jar",
            "=-processor",
            "=-processorpath",
            "=-cp",
            "=-classpath",
        ],
        writes: &[
            "=-o",
            "=--out-dir",
            "=-d",
            "=-MF",
            "=--emit",
            "=-s",
            "=-dumpdir",
            "=-save-temps",
        ],
        ..PLAIN
    },
    // The network.
    Program {
        names: &["curl"],
        runs: &["-K", "--config", "--engine", "-E", "--cert"],
        writes: &[
            "-o",
            "--output",
            "-O",
            "--remote-name",
            "--remote-name-all",
            "-J",
            "--remote-header-name",
            "--output-dir",
            "-D",
            "--dump-header",
            "-c",
            "--cookie-jar",
            "--libcurl",
            "--stderr",
            "--trace",
            "--trace-ascii",
            "--etag-save",
            "--hsts",
            "--alt-svc",
            "-T",
            "--upload-file",
            "-w",
            "--write-out",
        ],
        valued: "AbdeFHmuxXrtyYzCQUP",
        ..PLAIN
    },
    Program {
        names: &["wget"],
        runs: &[
            "-e",
            "--execute",
            "--use-askpass",
            "--config",
            "-i",
            "--input-file",
        ],
        writes: &[
            "-O",
            "--output-document",
            "-P",
            "--directory-prefix",
            "-o",
            "--output-file",
            "-a",
            "--append-output",
            "--save-cookies",
            "--warc-file",
            "--rejected-log",
            "--hsts-file",
        ],
        valued: "tTUQlADIRXwB",
        ..PLAIN
    },
    Program {
        names: &["ssh", "scp", "sftp"],
        runs: &["-o", "-F", "-S", "-J", "-I", "-D"],
        writes: &["-E", "-w", "-L", "-R", "-M"],
        valued: "bcelimpPQBW",
        ..PLAIN
    },
    Program {
        names: &["rsync"],
        runs: &[
            "-e",
            "--rsh",
            "--rsync-path",
            "--files-from",
            "--read-batch",
        ],
        writes: &[
            "--log-file",
            "--write-batch",
            "--only-write-batch",
            "-T",
            "--temp-dir",
            "--partial-dir",
            "--backup-dir",
            "--delete",
        ],
        valued: "fBM",
        ..PLAIN
    },
    Program {
        names: &["openssl"],
        runs: &["=-engine", "=-provider", "=-provider-path", "=-config"],
        writes: &["=-out", "=-keyout", "=-writerand"],
        ..PLAIN
    },
    Program {
        names: &["objdump", "nm", "ar", "ranlib", "strip", "objcopy"],
        runs: &["--plugin"],
        writes: &["-o", "--output"],
        ..PLAIN
    },
];

/// Programs whose very purpose is to run another one, or to change the shell that goes on: a rule for them says nothing of
/// what they will run.
pub(super) const RUNNERS: &[&str] = &[
    "xargs",
    "gxargs",
    "env",
    "genv",
    "nice",
    "ionice",
    "nohup",
    "setsid",
    "stdbuf",
    "timeout",
    "gtimeout",
    "time",
    "chrt",
    "taskset",
    "flock",
    "sudo",
    "doas",
    "su",
    "runuser",
    "pkexec",
    "chroot",
    "unshare",
    "nsenter",
    "bwrap",
    "firejail",
    "strace",
    "ltrace",
    "gdb",
    "lldb",
    "perf",
    "valgrind",
    "rr",
    "script",
    "watch",
    "entr",
    "parallel",
    "busybox",
    "toybox",
    "eval",
    "exec",
    "source",
    ".",
    "command",
    "builtin",
    "trap",
    "coproc",
    "alias",
    "unalias",
    "export",
    "declare",
    "typeset",
    "readonly",
    "local",
    "set",
    "unset",
    "shopt",
    "enable",
    "hash",
    "cd",
    "pushd",
    "popd",
    "let",
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "ulimit",
    "umask",
    "function",
    "bind",
    "complete",
    "proxychains",
    "faketime",
    "dbus-run-session",
    "systemd-run",
    "at",
    "batch",
    "crontab",
    "start-stop-daemon",
    "run-parts",
    "git-shell",
    "expect",
    "screen",
    "tmux",
    "nix-shell",
    "direnv",
    "mise",
    "asdf",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_program_stands_twice_and_entries_are_well_formed() {
        let mut seen = std::collections::HashSet::new();
        for program in PROGRAMS {
            for name in program.names {
                assert!(seen.insert(*name), "{name} twice");
            }
            for entry in program.runs.iter().chain(program.writes) {
                let word = entry.strip_prefix('=').unwrap_or(entry);
                assert!(word.starts_with('-') && word.len() > 1, "{entry}");
                let letter = entry
                    .strip_prefix('-')
                    .filter(|rest| !rest.starts_with('-'));
                if let Some(letter) = letter.filter(|letter| letter.len() == 1) {
                    // Its own letter never hides it.
                    assert!(
                        super::super::screen::is_option(entry, entry, program.valued),
                        "{letter}"
                    );
                }
            }
        }
    }
}
