//! Every setting, declared once; `redline doctor --settings` prints this, and the manual quotes it.

/// One setting of the configuration.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Its key, with the table before a dot.
    pub key: &'static str,
    /// What it takes.
    pub takes: &'static str,
    /// What its absence means.
    pub default: &'static str,
    /// What it does.
    pub doc: &'static str,
}

/// Default of `sidecar.idle_seconds`.
pub(super) const IDLE_SECONDS: u64 = 300;

/// The settings outside `[providers.NAME]`.
pub const SETTINGS: &[Setting] = &[
    Setting {
        key: "model",
        takes: "\"PROVIDER/MODEL\"",
        default: "a recorded turn that is built in",
        doc: "The model that turns run on; PROVIDER is the NAME of a [providers.NAME] table.",
    },
    Setting {
        key: "providers",
        takes: "tables",
        default: "none",
        doc: "One table for each endpoint, [providers.NAME].",
    },
    Setting {
        key: "permissions.mode",
        takes: "\"manual\", \"plan\" or \"auto\"",
        default: "\"manual\"",
        doc: "How much the agent does by itself: nothing unasked, nothing before a plan is approved, or all up to the ceiling.",
    },
    Setting {
        key: "permissions.ceiling",
        takes: "\"none\", \"reversible\", \"workspace\" or \"outside\"",
        default: "\"workspace\"",
        doc: "The highest class of change that runs unasked: none, what undo brings back, what stays inside the project, anything.",
    },
    Setting {
        key: "permissions.protected",
        takes: "globs",
        default: "none, beside .git, .agentic and redline.toml",
        doc: "Paths that nothing writes, whoever approves it.",
    },
    Setting {
        key: "permissions.allow",
        takes: "rules",
        default: "none",
        doc: "What runs unasked, up to the ceiling: { command = \"git log\" }, { kind = \"web\", hosts = [\"docs.rs\"] }.",
    },
    Setting {
        key: "permissions.deny",
        takes: "rules",
        default: "none",
        doc: "What never runs: { command = \"git push\" }, { paths = [\"secrets/**\"] }.",
    },
    Setting {
        key: "prices",
        takes: "tables",
        default: "a built-in table",
        doc: "One table for each model whose price the built-in table lacks or has wrong, [prices.\"PROVIDER/MODEL\"].",
    },
    Setting {
        key: "budget.steps",
        takes: "a number",
        default: "60",
        doc: "How often a turn may ask the model.",
    },
    Setting {
        key: "budget.tokens",
        takes: "tokens",
        default: "no limit",
        doc: "How many tokens a turn may use, in and out, over all its steps.",
    },
    Setting {
        key: "budget.cost",
        takes: "US dollars",
        default: "no limit",
        doc: "What a turn may cost. It holds for models whose price is known, and no further step begins above it.",
    },
    Setting {
        key: "budget.minutes",
        takes: "minutes",
        default: "30",
        doc: "How long a turn may take, without the time in which it waits for you.",
    },
    Setting {
        key: "sidecar.idle_seconds",
        takes: "seconds",
        default: "300",
        doc: "How long the sidecar stays when no editor, command, turn or job needs it.",
    },
    Setting {
        key: "log.level",
        takes: "\"error\", \"warn\", \"info\", \"debug\" or \"trace\"",
        default: "\"info\"",
        doc: "Least severe records in the log. Prompts and file contents are logged at trace only.",
    },
];

/// What a rule of `permissions.allow` and `permissions.deny` may name; all of it has to hold.
pub(super) const RULE_SETTINGS: &[Setting] = &[
    Setting {
        key: "command",
        takes: "whole words: \"git log\" or [\"git\", \"log\"]",
        default: "any command",
        doc: "What the command line begins with; \"*\" is any one word.",
    },
    Setting {
        key: "paths",
        takes: "globs",
        default: "any path",
        doc: "Paths that are written: all of them for allow, any of them for deny.",
    },
    Setting {
        key: "hosts",
        takes: "names; \"*.example.org\" for all below one",
        default: "any host",
        doc: "Hosts that are reached: all of them for allow, any of them for deny.",
    },
    Setting {
        key: "kind",
        takes: "\"transaction\", \"command\", \"vcs\", \"browser\", \"web\" or \"agent\"",
        default: "any kind",
        doc: "The kind of change.",
    },
    Setting {
        key: "tool",
        takes: "the name of a tool",
        default: "any tool",
        doc: "The tool that makes it.",
    },
    Setting {
        key: "class",
        takes: "\"reversible\", \"workspace\" or \"outside\"",
        default: "what Redline takes it for",
        doc: "For allow: how much what the rule names can lose at most, as you know it.",
    },
];

/// The settings of a project's `redline.toml`.
pub(super) const PROJECT_SETTINGS: &[Setting] = &[
    Setting {
        key: "permissions",
        takes: "a table as in your own configuration",
        default: "none",
        doc: "Narrows what you allow; what would widen it waits for `redline trust`.",
    },
    Setting {
        key: "model",
        takes: "\"PROVIDER/MODEL\"",
        default: "yours",
        doc: "The model that the project would have; waits for `redline trust`.",
    },
    Setting {
        key: "providers",
        takes: "tables",
        default: "none",
        doc: "Endpoints beside yours; wait for `redline trust`.",
    },
];

/// The settings of a `[providers.NAME]` table.
pub const PROVIDER_SETTINGS: &[Setting] = &[
    Setting {
        key: "api",
        takes: "\"anthropic\", \"openai-responses\", \"openai-chat\", \"ollama\" or \"replay\"",
        default: "none; needed",
        doc: "How the endpoint is spoken to.",
    },
    Setting {
        key: "base_url",
        takes: "a URL",
        default: "the vendor's own address; needed by openai-chat",
        doc: "Where it answers, up to and with the version part, as in \"http://localhost:8080/v1\".",
    },
    Setting {
        key: "api_key_env",
        takes: "the name of an environment variable",
        default: "ANTHROPIC_API_KEY or OPENAI_API_KEY at the vendor's own address, else no key is sent",
        doc: "Where its key is found, in the environment of the editor or terminal that asks. The key itself never stands in a file.",
    },
    Setting {
        key: "version",
        takes: "a date",
        default: "\"2023-06-01\"",
        doc: "For anthropic: the version of the API, such as \"2026-10-21\".",
    },
    Setting {
        key: "first_byte_seconds",
        takes: "seconds",
        default: "300",
        doc: "How long the first byte of an answer may take: a local server may have to load the model.",
    },
    Setting {
        key: "idle_seconds",
        takes: "seconds",
        default: "120",
        doc: "How long an answer may pause, before it counts as broken off.",
    },
    Setting {
        key: "num_ctx",
        takes: "tokens",
        default: "what the conversation needs, up to the model's window",
        doc: "For ollama: the context that the server is asked for.",
    },
    Setting {
        key: "file",
        takes: "a path",
        default: "none; needed by replay",
        doc: "The recording, absolute or from the folder of the configuration.",
    },
];

/// The settings of a `[prices."PROVIDER/MODEL"]` table, in US dollars for a million tokens.
pub const PRICE_SETTINGS: &[Setting] = &[
    Setting {
        key: "input",
        takes: "US dollars for a million tokens",
        default: "none; needed",
        doc: "What the prompt costs, in place of the price that the model has in the built-in table.",
    },
    Setting {
        key: "output",
        takes: "US dollars for a million tokens",
        default: "none; needed",
        doc: "What everything generated costs.",
    },
    Setting {
        key: "cache_read",
        takes: "US dollars for a million tokens",
        default: "the price of the input",
        doc: "What the part of the prompt costs that was read from the vendor's cache.",
    },
    Setting {
        key: "cache_write",
        takes: "US dollars for a million tokens",
        default: "the price of the input",
        doc: "What the part of the prompt costs that was written to the vendor's cache.",
    },
];

/// A configuration with every setting explained and commented out.
pub fn template() -> String {
    let plain = SETTINGS
        .iter()
        .filter(|setting| !matches!(setting.key, "providers" | "prices"));
    let plain = plain.map(|setting| (setting.key.to_owned(), setting));
    let provider = PROVIDER_SETTINGS.iter();
    let provider = provider.map(|setting| (format!("providers.NAME.{}", setting.key), setting));
    let price = PRICE_SETTINGS.iter();
    let price = price.map(|setting| {
        (
            format!("prices.\"PROVIDER/MODEL\".{}", setting.key),
            setting,
        )
    });
    let explained = plain.chain(provider).chain(price).map(|(key, setting)| {
        let Setting {
            takes,
            default,
            doc,
            ..
        } = setting;
        format!("# {doc}\n# Takes {takes}. Default: {default}.\n# {key} =\n\n")
    });
    explained.collect()
}

/// The known name that `name` is most likely a typing error of.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|candidate| (distance(name, candidate), candidate))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, candidate)| *distance <= candidate.len().max(name.len()).div_ceil(2))
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions and replacements between two short names.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_names_every_setting() {
        let template = template();
        for setting in PROVIDER_SETTINGS {
            let line = format!("# providers.NAME.{} =", setting.key);
            assert!(template.contains(&line), "{line}");
        }
        let plain = |setting: &&Setting| !matches!(setting.key, "providers" | "prices");
        for setting in SETTINGS.iter().filter(plain) {
            assert!(
                template.contains(&format!("# {} =", setting.key)),
                "{}",
                setting.key
            );
        }
    }

    #[test]
    fn the_nearest_name_is_near() {
        let known = ["model", "providers", "log.level"];
        for (name, expected) in [
            ("modle", Some("model")),
            ("provider", Some("providers")),
            ("log.lvl", Some("log.level")),
            ("zzzzzzzzzzzz", None),
        ] {
            assert_eq!(nearest(name, known.into_iter()), expected, "{name}");
        }
    }
}
