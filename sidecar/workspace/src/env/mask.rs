//! Taking secrets out of text: the values of secret-looking and of configured variables, wherever they occur.
//!
//! A [`Masker`] is made from what is secret; it goes over whatever is kept or sent (journal, records, logs,
//! output of commands, what a model reads). A [`MaskStream`] does it for output that comes in pieces: a value
//! that is cut anywhere is found all the same, and nothing is held back but what may be the start of one.
//!
//! **Invariant:** with a masker over it, no byte sequence of a known secret goes on. A value shorter than
//! [`SHORTEST`] bytes is taken for no secret: replacing every `1` would destroy the text.

use std::collections::BTreeMap;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};

use super::EnvSnapshot;

/// Shortest value that is masked, in bytes.
const SHORTEST: usize = 6;

/// Words in a name that make its value a secret.
const WORDS: &[&str] = &[
    "APIKEY",
    "AUTH",
    "AUTHORIZATION",
    "BEARER",
    "COOKIE",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "DSN",
    "JWT",
    "KEY",
    "PASS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PAT",
    "PRIVATE",
    "PSK",
    "PW",
    "SALT",
    "SECRET",
    "SECRETS",
    "SIGNATURE",
    "TOKEN",
    "TOKENS",
];

/// Ends of a word that do, too: `GITHUBTOKEN`.
const ENDINGS: &[&str] = &["KEY", "PASSWORD", "SECRET", "TOKEN"];

/// Whether the value of a variable of this name is taken for a secret.
pub fn is_secret_name(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    upper
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| WORDS.contains(&word) || ENDINGS.iter().any(|ending| word.ends_with(ending)))
}

/// Replaces secrets. Cheap to clone; the default one knows none.
#[derive(Clone, Default)]
pub struct Masker {
    inner: Option<Arc<Inner>>,
}

struct Inner {
    find: AhoCorasick,
    patterns: Vec<Vec<u8>>,
    replacements: Vec<Vec<u8>>,
    longest: usize,
}

impl Masker {
    /// Masks the secrets of `env`, and `configured` values by their names.
    pub fn new<'a>(
        env: &EnvSnapshot,
        configured: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let of_env = env.iter().filter(|(name, _, _)| is_secret_name(name));
        let mut secrets: BTreeMap<Vec<u8>, &str> = BTreeMap::new();
        let mut add = |value: &str, name| {
            if value.len() >= SHORTEST {
                for form in forms(value) {
                    secrets.entry(form).or_insert(name);
                }
            }
        };
        for (name, value, _) in of_env {
            add(value, name);
        }
        for (name, value) in configured {
            add(value, name);
        }
        // A password in an address is one, whatever the variable is called.
        let addresses: Vec<(&str, &str)> = env
            .iter()
            .filter_map(|(name, value, _)| Some((name, password_in(value)?)))
            .collect();
        for (name, password) in addresses {
            add(password, name);
        }
        Self::of(secrets)
    }

    fn of(secrets: BTreeMap<Vec<u8>, &str>) -> Self {
        if secrets.is_empty() {
            return Self::default();
        }
        let longest = secrets.keys().map(Vec::len).max().unwrap_or(0);
        let replacements = secrets
            .values()
            .map(|name| format!("[masked {name}]").into_bytes())
            .collect();
        let patterns: Vec<Vec<u8>> = secrets.into_keys().collect();
        // Built from at most a few thousand values of bounded length; a failure would mean that the memory is
        // gone, and then nothing may pass rather than everything.
        let find = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(&patterns);
        Self {
            inner: find.ok().map(|find| {
                Arc::new(Inner {
                    find,
                    patterns,
                    replacements,
                    longest,
                })
            }),
        }
    }

    /// `text` with every secret replaced.
    pub fn mask(&self, text: &str) -> String {
        let masked = self.mask_bytes(text.as_bytes());
        // Whole values were replaced by text, so text it stays.
        String::from_utf8_lossy(&masked).into_owned()
    }

    /// `bytes` with every secret replaced.
    pub fn mask_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        match &self.inner {
            None => bytes.to_vec(),
            Some(inner) => inner.find.replace_all_bytes(bytes, &inner.replacements),
        }
    }

    /// Every string in `value` masked, names of fields included.
    pub fn mask_json(&self, value: &mut serde_json::Value) {
        use serde_json::Value;
        if self.inner.is_none() {
            return;
        }
        match value {
            Value::String(text) => *text = self.mask(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask_json(item)),
            Value::Object(map) => {
                let fields = std::mem::take(map);
                for (name, mut field) in fields {
                    self.mask_json(&mut field);
                    map.insert(self.mask(&name), field);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Masks what comes in pieces.
    pub fn stream(&self) -> MaskStream {
        MaskStream {
            masker: self.clone(),
            held: Vec::new(),
        }
    }
}

impl std::fmt::Debug for Masker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let known = self.inner.as_ref().map_or(0, |inner| inner.patterns.len());
        write!(f, "Masker({known} values)")
    }
}

/// Masks one stream, piece by piece.
#[derive(Debug)]
pub struct MaskStream {
    masker: Masker,
    /// The end of what came, which may be the start of a secret.
    held: Vec<u8>,
}

impl MaskStream {
    /// Takes the next piece, and appends what is known to hold no secret to `out`.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        let Some(inner) = &self.masker.inner else {
            out.extend_from_slice(piece);
            return;
        };
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(piece);
        let mut done = 0;
        let mut hold = None;
        for found in inner.find.find_iter(&all) {
            // What begins earlier, or here and is longer, wins; and it may end in the next piece.
            hold = inner.unfinished(&all, done, found.start() + 1);
            if hold.is_some() {
                break;
            }
            out.extend_from_slice(&all[done..found.start()]);
            out.extend_from_slice(&inner.replacements[found.pattern().as_usize()]);
            done = found.end();
        }
        let hold = hold
            .or_else(|| inner.unfinished(&all, done, all.len()))
            .unwrap_or(all.len());
        out.extend_from_slice(&all[done..hold]);
        self.held = all.split_off(hold);
    }

    /// Appends what was held back.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let held = std::mem::take(&mut self.held);
        out.extend_from_slice(&self.masker.mask_bytes(&held));
    }
}

impl Inner {
    /// The first place of `text` in `from..to` at which a secret may begin that goes on after its end.
    fn unfinished(&self, text: &[u8], from: usize, to: usize) -> Option<usize> {
        let from = from.max(text.len().saturating_sub(self.longest - 1));
        (from..to).find(|&at| {
            let start = &text[at..];
            let is_start =
                |pattern: &Vec<u8>| pattern.len() > start.len() && pattern.starts_with(start);
            self.patterns.iter().any(is_start)
        })
    }
}

/// The ways in which a value is written: as it is, with a terminal's line ends, and in JSON.
fn forms(value: &str) -> Vec<Vec<u8>> {
    let mut forms = vec![value.as_bytes().to_vec()];
    if value.contains('\n') {
        forms.push(value.replace('\n', "\r\n").into_bytes());
        // A key of several lines is a secret in each of them.
        forms.extend(
            value
                .lines()
                .filter(|line| line.len() >= 16)
                .map(|line| line.as_bytes().to_vec()),
        );
    }
    if let Ok(json) = serde_json::to_string(value) {
        let inside = json.as_bytes()[1..json.len() - 1].to_vec();
        if inside != forms[0] {
            forms.push(inside);
        }
    }
    forms
}

/// The password in `scheme://user:password@host`.
fn password_in(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (user, _) = authority.rsplit_once('@')?;
    let (_, password) = user.split_once(':')?;
    Some(password)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::env::SessionEnv;
    use proptest::prelude::*;

    fn masker(secrets: &[(&str, &str)]) -> Masker {
        Masker::new(&EnvSnapshot::default(), secrets.iter().copied())
    }

    #[test]
    fn secret_looking_names_are_masked_and_others_are_not() {
        for name in [
            "API_KEY",
            "GITHUB_TOKEN",
            "githubtoken",
            "DB_PASSWORD",
            "AWS_SECRET_ACCESS_KEY",
            "SENTRY_DSN",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["PATH", "HOME", "KEYBOARD", "MONKEYS", "AUTHOR", "PASSIVE"] {
            assert!(!is_secret_name(name), "{name}");
        }
        let mut env = SessionEnv::default();
        env.set_env(
            [
                ("API_KEY", "sk-123456"),
                ("PLAIN", "visible-value"),
                ("SHORT_KEY", "1"),
                ("DATABASE", "postgres://me:hunter22@host/db"),
                ("PEM_KEY", "-----BEGIN-----\nabcdefghijklmnopq\n"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        )
        .unwrap();
        let masker = Masker::new(&env.snapshot(), [("configured", "canary-canary")]);
        let text = "sk-123456 visible-value 1 hunter22 canary-canary abcdefghijklmnopq";
        assert_eq!(
            masker.mask(text),
            "[masked API_KEY] visible-value 1 [masked DATABASE] [masked configured] [masked PEM_KEY]"
        );
        let mut json = serde_json::json!({"sk-123456": ["x sk-123456", 7]});
        masker.mask_json(&mut json);
        assert_eq!(
            json,
            serde_json::json!({"[masked API_KEY]": ["x [masked API_KEY]", 7]})
        );
        assert!(!format!("{masker:?}").contains("sk-"));
    }

    #[test]
    fn nothing_is_held_back_but_what_may_be_a_start() {
        let masker = masker(&[("K", "abcabcd"), ("L", "abcabcdefg")]);
        let mut stream = masker.stream();
        let mut out = Vec::new();
        stream.push(b"password: ", &mut out);
        assert_eq!(out, b"password: ");
        stream.push(b"xabcabcd", &mut out);
        assert_eq!(out, b"password: x", "the longer one may still come");
        stream.push(b"ex", &mut out);
        assert_eq!(out, b"password: x[masked K]ex");
        stream.push(b"abc", &mut out);
        stream.finish(&mut out);
        assert!(out.ends_with(b"exabc"));
    }

    proptest! {
        #[test]
        fn cut_anywhere_it_is_masked_as_in_one_piece(
            text in "[ab]{0,40}", secrets in prop::collection::vec("[ab]{6,9}", 0..4),
            cuts in prop::collection::vec(1usize..9, 1..40),
        ) {
            let named: Vec<(&str, &str)> = secrets.iter().map(|secret| ("S", secret.as_str())).collect();
            let masker = masker(&named);
            let mut stream = masker.stream();
            let mut out = Vec::new();
            let mut rest = text.as_bytes();
            for cut in cuts.iter().cycle() {
                if rest.is_empty() { break; }
                let (piece, after) = rest.split_at((*cut).min(rest.len()));
                stream.push(piece, &mut out);
                rest = after;
            }
            stream.finish(&mut out);
            prop_assert_eq!(String::from_utf8(out).unwrap(), masker.mask(&text));
        }
    }
}
