//! Configuration by tables, mistakes included.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;

fn parse(text: &str) -> Result<Config, Failure> {
    Config::parse(text, Path::new("/c/config.toml"))
}

#[test]
fn no_file_is_the_default() {
    let base = tempfile::tempdir().unwrap();
    let paths = Paths {
        config_dir: base.path().to_owned(),
        state_dir: base.path().to_owned(),
        runtime_dir: base.path().to_owned(),
        home: None,
    };
    assert_eq!(Config::load(&paths).unwrap(), Config::default());
}

#[test]
fn a_file_that_makes_no_sense_leaves_the_defaults_and_its_fault() {
    let base = tempfile::tempdir().unwrap();
    let paths = Paths {
        config_dir: base.path().to_owned(),
        state_dir: base.path().to_owned(),
        runtime_dir: base.path().to_owned(),
        home: None,
    };
    std::fs::write(paths.config_file(), "\nmodel = 1\n").unwrap();
    let config = Config::load_or_default(&paths);
    assert!(
        config.warnings[0].contains("config.toml:2"),
        "{:?}",
        config.warnings
    );
    assert_eq!(config.fault.unwrap().code, "INVALID_ARGUMENTS");
    assert_eq!(config.model, None);
}

#[test]
fn every_setting_is_read() {
    let config = parse(
        r#"
model = "local/qwen/coder"
[providers.local]
api = "openai-chat"
base_url = "http://localhost:1/v1"
api_key_env = "LOCAL_KEY"
[providers.rec]
api = "replay"
file = "turn.json"
[budget]
steps = 5
tokens = 1000
cost = 0.5
minutes = 2
[sidecar]
idle_seconds = 7
[log]
level = "debug"
"#,
    )
    .unwrap();
    let model = config.model.unwrap();
    assert_eq!(
        (model.provider.as_str(), model.model.as_str()),
        ("local", "qwen/coder")
    );
    assert_eq!(
        config.providers["local"].api_key_env.as_deref(),
        Some("LOCAL_KEY")
    );
    assert_eq!(
        config.providers["rec"].file.as_deref(),
        Some(Path::new("/c/turn.json"))
    );
    let budget = config.budget;
    assert_eq!((budget.steps, budget.tokens), (5, Some(1000)));
    assert_eq!(
        (budget.cost, budget.time),
        (Some(0.5), Duration::from_secs(120))
    );
    assert_eq!(config.idle, Duration::from_secs(7));
    assert_eq!(config.log_level, tracing::Level::DEBUG);
    assert!(config.warnings.is_empty());
}

#[test]
fn own_prices_are_read() {
    let config = parse(
        "[prices.\"local/qwen3\"]\ninput = 1\noutput = 2.5\ncache_read = 0.1\n[prices.\"a/b\"]\ninput = 0\noutput = 0\ninptu = 1\n",
    )
    .unwrap();
    let rates = config.prices["local/qwen3"].rates;
    assert!((rates.input - 1.0).abs() < 1e-9 && (rates.output - 2.5).abs() < 1e-9);
    assert_eq!((rates.cache_read, rates.cache_write), (Some(0.1), None));
    assert_eq!(
        config.warnings,
        [
            "/c/config.toml:8: unknown setting \"prices.inptu\" is ignored; did you mean \"prices.input\"?"
        ]
    );
    for (text, what) in [
        (
            "[prices.qwen3]\ninput = 1\noutput = 1",
            "is not PROVIDER/MODEL",
        ),
        ("[prices.\"a/b\"]\ninput = 1", "needs input and output"),
        ("[prices.\"a/b\"]\ninput = -1\noutput = 1", "US dollars"),
        ("[prices.\"a/b\"]\ninput = nan\noutput = 1", "US dollars"),
    ] {
        let failure = parse(text).unwrap_err();
        assert!(failure.message.contains(what), "{failure:?}");
    }
}

#[test]
fn a_vendors_own_address_and_key_need_not_be_written() {
    let config = parse(
        r#"
[providers.claude]
api = "anthropic"
version = "2026-10-21"
[providers.gateway]
api = "anthropic"
base_url = "https://gateway.example"
[providers.local]
api = "ollama"
num_ctx = 32768
first_byte_seconds = 900
idle_seconds = 60
"#,
    )
    .unwrap();
    let key = |name: &str| config.providers[name].api_key_env.as_deref();
    assert_eq!(key("claude"), Some("ANTHROPIC_API_KEY"));
    // Another's address is not sent the vendor's key.
    assert_eq!(key("gateway"), None);
    assert_eq!(key("local"), None);
    let claude = &config.providers["claude"];
    assert_eq!(claude.version.as_deref(), Some("2026-10-21"));
    let local = &config.providers["local"];
    assert_eq!(local.num_ctx, Some(32768));
    assert_eq!(
        (local.first_byte_seconds, local.idle_seconds),
        (Some(900), Some(60))
    );
}

#[test]
fn unknown_keys_are_warned_of_with_the_nearest_known_one() {
    let config = parse(
        "modle = \"a/b\"\n[sidecar]\nidle_secs = 3\n[providers.x]\napi = \"replay\"\nflie = \"u\"\nfile = \"u\"\n",
    )
    .unwrap();
    assert_eq!(
        config.warnings,
        [
            "/c/config.toml:1: unknown setting \"modle\" is ignored; did you mean \"model\"?",
            "/c/config.toml:3: unknown setting \"sidecar.idle_secs\" is ignored; \
             did you mean \"sidecar.idle_seconds\"?",
            "/c/config.toml:6: unknown setting \"providers.x.flie\" is ignored; \
             did you mean \"providers.x.file\"?",
        ]
    );
}

#[test]
fn errors_name_file_and_line() {
    for (text, place, what) in [
        (
            "model = \"a/b\"",
            "/c/config.toml:1",
            "names no [providers.a]",
        ),
        ("\n\nmodel = \"ab\"", "/c/config.toml:3", "PROVIDER/MODEL"),
        ("model = 3", "/c/config.toml:1", "wants a string"),
        ("a = \n", "/c/config.toml:1", ""),
        (
            "[providers.x]\napi = \"grpc\"",
            "/c/config.toml:2",
            "is none of anthropic, openai-responses, openai-chat, ollama, replay",
        ),
        (
            "[providers.x]\napi = \"anthropic\"\nversion = \"latest\"",
            "/c/config.toml:3",
            "is no date",
        ),
        (
            "[providers.x]\napi = \"ollama\"\nnum_ctx = 0",
            "/c/config.toml:3",
            "a whole number of tokens above 0",
        ),
        (
            "\n[providers.x]\nfile = \"f\"",
            "/c/config.toml:2",
            "has no api",
        ),
        (
            "[providers.x]\napi = \"openai-chat\"",
            "/c/config.toml:1",
            "base_url",
        ),
        (
            "[providers.x]\napi = \"replay\"",
            "/c/config.toml:1",
            "has no file",
        ),
        ("[sidecar]\nidle_seconds = 0", "/c/config.toml:2", "above 0"),
        ("[log]\nlevel = \"loud\"", "/c/config.toml:2", "loud"),
        ("log = 1", "/c/config.toml:1", "wants a table"),
        (
            "[budget]\ncost = \"5\"",
            "/c/config.toml:2",
            "wants US dollars",
        ),
        ("[budget]\nsteps = 0", "/c/config.toml:2", "above 0"),
    ] {
        let failure = parse(text).unwrap_err();
        assert_eq!(failure.code, "INVALID_ARGUMENTS");
        assert!(
            failure.message.starts_with(place),
            "{text:?}: {}",
            failure.message
        );
        assert!(
            failure.message.contains(what),
            "{text:?}: {}",
            failure.message
        );
    }
}
