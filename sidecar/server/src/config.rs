//! The user's configuration, `$XDG_CONFIG_HOME/redline/config.toml`.
//!
//! Owns: every setting, declared once in `settings`, and reading the file with errors that name
//! file and line. Must not know: what the settings do.
#![expect(
    clippy::disallowed_methods,
    reason = "the configuration is a file of the user's, not of a project"
)]

mod permissions;
mod project;
mod settings;

use crate::{failure::Failure, paths::Paths};
use redline_agent::Budget;
use redline_providers::{Api, Price, Rates};
use std::{collections::BTreeMap, io, ops::Range, path::Path, time::Duration};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

pub use permissions::Permissions;
pub(crate) use project::width;
pub use project::{Merged, PROJECT_FILE, ProjectConfig, Waiting};
pub(crate) use settings::nearest;
pub use settings::{PRICE_SETTINGS, PROVIDER_SETTINGS, SETTINGS, Setting, template};

/// What the user configured; [`Config::default`] is what no file means.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The model to use; none means the recording that is built in.
    pub model: Option<ModelRef>,
    /// Endpoints by name.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// What the agent may do by itself.
    pub permissions: Permissions,
    /// The user's own prices, by `PROVIDER/MODEL`.
    pub prices: BTreeMap<String, Price>,
    /// What one turn may use up.
    pub budget: Budget,
    /// How long the sidecar stays without a client, turn or job.
    pub idle: Duration,
    /// Least severe records in the log.
    pub log_level: tracing::Level,
    /// What to tell the user: unknown settings, with file and line.
    pub warnings: Vec<String>,
    /// Why the file could not be used at all; what needs a model fails with it.
    pub fault: Option<Failure>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            model: None,
            providers: BTreeMap::new(),
            prices: BTreeMap::new(),
            budget: Budget::default(),
            permissions: Permissions::default(),
            idle: Duration::from_secs(settings::IDLE_SECONDS),
            log_level: tracing::Level::INFO,
            warnings: Vec::new(),
            fault: None,
        }
    }
}

/// `PROVIDER/MODEL`, where the provider is the name of a `[providers.NAME]` table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRef {
    /// Name of the provider.
    pub provider: String,
    /// The model, as its vendor calls it; may hold slashes.
    pub model: String,
}

impl ModelRef {
    /// Reads `PROVIDER/MODEL`.
    pub fn parse(text: &str) -> Option<Self> {
        let (provider, model) = text.split_once('/')?;
        (!provider.is_empty() && !model.is_empty()).then(|| Self {
            provider: provider.to_owned(),
            model: model.to_owned(),
        })
    }
}

impl std::fmt::Display for ModelRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}

/// How a provider is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderKind {
    /// Over this API.
    Api(Api),
    /// A recorded turn.
    Replay,
}

impl ProviderKind {
    const REPLAY: &str = "replay";

    fn parse(name: &str) -> Option<Self> {
        let api = || Api::parse(name).map(Self::Api);
        (name == Self::REPLAY).then_some(Self::Replay).or_else(api)
    }

    fn names() -> String {
        let apis = Api::ALL.map(Api::name).join(", ");
        format!("{apis}, {}", Self::REPLAY)
    }
}

/// One `[providers.NAME]` table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderConfig {
    /// How it is spoken to.
    pub kind: ProviderKind,
    /// Where it answers, up to and with the version part; none means the vendor's own address.
    pub base_url: Option<String>,
    /// Name of the environment variable that holds its key.
    pub api_key_env: Option<String>,
    /// For `anthropic`: the version of the API, a date.
    pub version: Option<String>,
    /// For `ollama`: the context to ask for, in tokens.
    pub num_ctx: Option<u64>,
    /// How long the first byte of an answer may take, in seconds.
    pub first_byte_seconds: Option<u64>,
    /// How long an answer may pause, in seconds.
    pub idle_seconds: Option<u64>,
    /// For `replay`: the recording, absolute or from the configuration's folder.
    pub file: Option<std::path::PathBuf>,
}

/// What `redline status` calls the recording that is built in.
pub const BUILT_IN_MODEL: &str = "replay/demo";

impl Config {
    /// `PROVIDER/MODEL` of the model that turns run on.
    pub fn model_name(&self) -> String {
        let configured = self.model.as_ref().map(ModelRef::to_string);
        configured.unwrap_or_else(|| BUILT_IN_MODEL.to_owned())
    }

    /// Reads the user's file; a missing one is the default.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENTS` with file and line when a value makes no sense, `IO` when the file
    /// cannot be read.
    pub fn load(paths: &Paths) -> Result<Self, Failure> {
        let file = paths.config_file();
        match std::fs::read_to_string(&file) {
            Ok(text) => Self::parse(&text, &file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(Failure::io(
                format!("cannot read {}", file.display()),
                &error,
            )),
        }
    }

    /// Reads the user's file; when it makes no sense the defaults hold, with the [`fault`](Self::fault)
    /// kept. Reviewing needs no configuration, so a mistake in it stops nothing but turns.
    pub fn load_or_default(paths: &Paths) -> Self {
        Self::load(paths).unwrap_or_else(|fault| Self {
            warnings: vec![format!(
                "{}; the defaults hold until it is corrected",
                fault.message
            )],
            fault: Some(fault),
            ..Self::default()
        })
    }

    /// Reads the text of `file`, which is named in errors and is what `file = …` is relative to.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load).
    pub fn parse(text: &str, file: &Path) -> Result<Self, Failure> {
        let mut reader = Reader::new(text, file);
        let root = DeTable::parse(text).map_err(|error| {
            reader.fault(error.span().unwrap_or_default(), error.message().to_owned())
        })?;
        let mut config = Self::default();
        for (key, value) in root.get_ref() {
            match key.get_ref().as_ref() {
                "model" => {
                    let name = reader.text(key, value)?;
                    let model = ModelRef::parse(name).ok_or_else(|| {
                        reader.fault(
                            value.span(),
                            format!("model = {name:?} is not PROVIDER/MODEL"),
                        )
                    })?;
                    config.model = Some(model);
                }
                "providers" => {
                    for (name, table) in reader.table(key, value)? {
                        let provider = reader.provider(name, table)?;
                        config
                            .providers
                            .insert(name.get_ref().to_string(), provider);
                    }
                }
                "permissions" => config.permissions = reader.permissions(key, value)?,
                "budget" => config.budget = reader.budget(key, value)?,
                "prices" => {
                    for (name, table) in reader.table(key, value)? {
                        let price = reader.price(name, table)?;
                        config.prices.insert(name.get_ref().to_string(), price);
                    }
                }
                "sidecar" => {
                    for (key, value) in reader.table(key, value)? {
                        match key.get_ref().as_ref() {
                            "idle_seconds" => {
                                config.idle =
                                    Duration::from_secs(reader.above_zero(key, value, "seconds")?);
                            }
                            _ => reader.unknown("sidecar.", key, SETTINGS),
                        }
                    }
                }
                "log" => {
                    for (key, value) in reader.table(key, value)? {
                        match key.get_ref().as_ref() {
                            "level" => {
                                let name = reader.text(key, value)?;
                                config.log_level = name.parse().map_err(|_| {
                                    let what = "is none of error, warn, info, debug, trace";
                                    reader
                                        .fault(value.span(), format!("log.level = {name:?} {what}"))
                                })?;
                            }
                            _ => reader.unknown("log.", key, SETTINGS),
                        }
                    }
                }
                _ => reader.unknown("", key, SETTINGS),
            }
        }
        config.check(&reader, &root)?;
        config.warnings = reader.into_warnings();
        Ok(config)
    }

    fn check(&self, reader: &Reader<'_>, root: &Spanned<DeTable<'_>>) -> Result<(), Failure> {
        let Some(model) = &self.model else {
            return Ok(());
        };
        if self.providers.contains_key(&model.provider) {
            return Ok(());
        }
        let at = root
            .get_ref()
            .get("model")
            .map(Spanned::span)
            .unwrap_or_default();
        let known = self.providers.keys().map(String::as_str);
        let near = settings::nearest(&model.provider, known)
            .map_or_else(String::new, |name| format!("; did you mean {name:?}?"));
        let what = format!(
            "model = \"{model}\" names no [providers.{}]{near}",
            model.provider
        );
        Err(reader.fault(at, what))
    }
}

struct Reader<'a> {
    text: &'a str,
    file: &'a Path,
    /// By offset in the file.
    warnings: Vec<(usize, String)>,
}

type Key<'a> = Spanned<std::borrow::Cow<'a, str>>;
type Value<'a> = Spanned<DeValue<'a>>;

impl<'a> Reader<'a> {
    fn new(text: &'a str, file: &'a Path) -> Self {
        Self {
            text,
            file,
            warnings: Vec::new(),
        }
    }

    /// The warnings from the top of the file down; tables are read in the order of their keys.
    fn into_warnings(mut self) -> Vec<String> {
        self.warnings.sort_by_key(|(at, _)| *at);
        self.warnings
            .into_iter()
            .map(|(_, warning)| warning)
            .collect()
    }

    fn warn(&mut self, at: &Range<usize>, what: &str) {
        let warning = format!("{}: {what}", self.place(at));
        self.warnings.push((at.start, warning));
    }
}

impl Reader<'_> {
    fn place(&self, at: &Range<usize>) -> String {
        let before = &self.text.as_bytes()[..at.start.min(self.text.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        format!("{}:{line}", self.file.display())
    }

    fn fault(&self, at: Range<usize>, what: String) -> Failure {
        let message = format!("{}: {what}", self.place(&at));
        Failure::new(
            "INVALID_ARGUMENTS",
            message,
            "correct that line, or remove it for the default",
        )
    }

    fn wrong_type(&self, key: &Key<'_>, value: &Value<'_>, wanted: &str) -> Failure {
        let found = value.get_ref().type_str();
        self.fault(
            value.span(),
            format!("{} wants {wanted}, and has {found}", key.get_ref()),
        )
    }

    fn text<'v>(&self, key: &Key<'_>, value: &'v Value<'_>) -> Result<&'v str, Failure> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text),
            _ => Err(self.wrong_type(key, value, "a string")),
        }
    }

    fn table<'v, 't>(
        &self,
        key: &Key<'_>,
        value: &'v Value<'t>,
    ) -> Result<&'v DeTable<'t>, Failure> {
        match value.get_ref() {
            DeValue::Table(table) => Ok(table),
            _ => Err(self.wrong_type(key, value, "a table")),
        }
    }

    /// `YYYY-MM-DD`.
    fn date(&self, key: &Key<'_>, value: &Value<'_>) -> Result<String, Failure> {
        let text = self.text(key, value)?;
        let is_date = text.len() == 10
            && text.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        if is_date {
            return Ok(text.to_owned());
        }
        let what = format!(
            "{} = {text:?} is no date like \"2023-06-01\"",
            key.get_ref()
        );
        Err(self.fault(value.span(), what))
    }

    fn above_zero(&self, key: &Key<'_>, value: &Value<'_>, unit: &str) -> Result<u64, Failure> {
        let number = match value.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
            _ => None,
        };
        number.filter(|&number| number > 0).ok_or_else(|| {
            let wanted = format!("a whole number of {unit} above 0");
            self.wrong_type(key, value, &wanted)
        })
    }

    fn dollars(&self, key: &Key<'_>, value: &Value<'_>, unit: &str) -> Result<f64, Failure> {
        let number: Option<f64> = match value.get_ref() {
            DeValue::Integer(number) => number.as_str().parse().ok(),
            DeValue::Float(number) => number.as_str().parse().ok(),
            _ => None,
        };
        number
            .filter(|number| number.is_finite() && *number >= 0.0)
            .ok_or_else(|| self.wrong_type(key, value, unit))
    }

    fn budget(&mut self, name: &Key<'_>, table: &Value<'_>) -> Result<Budget, Failure> {
        let mut budget = Budget::default();
        for (key, value) in self.table(name, table)? {
            match key.get_ref().as_ref() {
                "steps" => {
                    let steps = self.above_zero(key, value, "steps")?;
                    budget.steps = u32::try_from(steps).unwrap_or(u32::MAX);
                }
                "tokens" => budget.tokens = Some(self.above_zero(key, value, "tokens")?),
                "cost" => budget.cost = Some(self.dollars(key, value, "US dollars")?),
                "minutes" => {
                    let minutes = self.above_zero(key, value, "minutes")?;
                    budget.time = Duration::from_secs(minutes.saturating_mul(60));
                }
                _ => self.unknown("budget.", key, SETTINGS),
            }
        }
        Ok(budget)
    }

    fn price(&mut self, name: &Key<'_>, table: &Value<'_>) -> Result<Price, Failure> {
        if ModelRef::parse(name.get_ref()).is_none() {
            let what = format!("[prices.{:?}] is not PROVIDER/MODEL", name.get_ref());
            return Err(self.fault(name.span(), what));
        }
        const UNIT: &str = "US dollars for a million tokens";
        let (mut input, mut output, mut cache_read, mut cache_write) = (None, None, None, None);
        for (key, value) in self.table(name, table)? {
            match key.get_ref().as_ref() {
                "input" => input = Some(self.dollars(key, value, UNIT)?),
                "output" => output = Some(self.dollars(key, value, UNIT)?),
                "cache_read" => cache_read = Some(self.dollars(key, value, UNIT)?),
                "cache_write" => cache_write = Some(self.dollars(key, value, UNIT)?),
                _ => self.unknown("prices.", key, PRICE_SETTINGS),
            }
        }
        let (Some(input), Some(output)) = (input, output) else {
            let what = format!("[prices.{:?}] needs input and output", name.get_ref());
            return Err(self.fault(name.span(), what));
        };
        Ok(Price {
            rates: Rates {
                input,
                cache_read,
                cache_write,
                output,
            },
            long_prompts: None,
        })
    }

    fn provider(&mut self, name: &Key<'_>, table: &Value<'_>) -> Result<ProviderConfig, Failure> {
        let (mut kind, mut base_url, mut api_key_env, mut file) = (None, None, None, None);
        let (mut version, mut num_ctx) = (None, None);
        let (mut first_byte_seconds, mut idle_seconds) = (None, None);
        for (key, value) in self.table(name, table)? {
            match key.get_ref().as_ref() {
                "api" => {
                    let told = self.text(key, value)?;
                    let known = ProviderKind::parse(told).ok_or_else(|| {
                        let names = ProviderKind::names();
                        self.fault(value.span(), format!("api = {told:?} is none of {names}"))
                    })?;
                    kind = Some(known);
                }
                "base_url" => base_url = Some(self.text(key, value)?.to_owned()),
                "api_key_env" => api_key_env = Some(self.text(key, value)?.to_owned()),
                "version" => version = Some(self.date(key, value)?),
                "num_ctx" => num_ctx = Some(self.above_zero(key, value, "tokens")?),
                "first_byte_seconds" => {
                    first_byte_seconds = Some(self.above_zero(key, value, "seconds")?);
                }
                "idle_seconds" => idle_seconds = Some(self.above_zero(key, value, "seconds")?),
                "file" => {
                    let folder = self.file.parent().unwrap_or(Path::new(""));
                    file = Some(folder.join(self.text(key, value)?));
                }
                _ => self.unknown(
                    &format!("providers.{}.", name.get_ref()),
                    key,
                    PROVIDER_SETTINGS,
                ),
            }
        }
        let Some(kind) = kind else {
            let what = format!("[providers.{}] has no api", name.get_ref());
            return Err(self.fault(name.span(), what));
        };
        let missing = match kind {
            ProviderKind::Api(api) => {
                (base_url.is_none() && api.default_base_url().is_none()).then_some("base_url")
            }
            ProviderKind::Replay => file.is_none().then_some("file"),
        };
        if let Some(missing) = missing {
            let what = format!("[providers.{}] has no {missing}", name.get_ref());
            return Err(self.fault(name.span(), what));
        }
        // The vendor's own address wants the vendor's key, which has a usual name.
        if let ProviderKind::Api(api) = kind
            && base_url.is_none()
        {
            api_key_env = api_key_env.or(api.default_key_env().map(str::to_owned));
        }
        Ok(ProviderConfig {
            kind,
            base_url,
            api_key_env,
            version,
            num_ctx,
            first_byte_seconds,
            idle_seconds,
            file,
        })
    }

    /// Warns of a key that nobody reads; it may be a typing error, or a newer version's.
    fn unknown(&mut self, prefix: &str, key: &Key<'_>, settings: &[Setting]) {
        let name = format!("{prefix}{}", key.get_ref());
        let known = settings.iter().map(|setting| match prefix {
            prefix if prefix.starts_with("providers.") || prefix == "prices." => {
                format!("{prefix}{}", setting.key)
            }
            _ => setting.key.to_owned(),
        });
        let known: Vec<String> = known.collect();
        let near = settings::nearest(&name, known.iter().map(String::as_str))
            .map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
        self.warn(
            &key.span(),
            &format!("unknown setting {name:?} is ignored{near}"),
        );
    }
}

#[cfg(test)]
mod tests;
