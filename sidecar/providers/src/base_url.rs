//! From the base URL that a user typed to the URL that is asked.
//!
//! Users write the host alone, the host with `/v1`, a gateway's prefix, or the whole endpoint, with
//! or without a slash at the end. All of them mean the same; a query survives.

use url::Url;

/// A base URL that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BaseUrlError {
    /// Not a URL at all.
    #[error("base_url `{0}` is not a URL: write it like https://host/v1")]
    Invalid(String),
    /// Neither http nor https.
    #[error("base_url has the scheme `{0}`: only http and https work")]
    Scheme(String),
}

/// The Chat Completions endpoint under `base`.
pub(crate) fn chat_completions(base: &str) -> Result<Url, BaseUrlError> {
    join(base, "chat/completions", Version::Anywhere)
}

/// The Responses endpoint under `base`.
pub(crate) fn responses(base: &str) -> Result<Url, BaseUrlError> {
    join(base, "responses", Version::Anywhere)
}

/// The Messages endpoint under `base`.
pub(crate) fn messages(base: &str) -> Result<Url, BaseUrlError> {
    join(base, "messages", Version::Last)
}

/// Ollama's own chat endpoint under `base`, also when that names its compatible API.
pub(crate) fn ollama_chat(base: &str) -> Result<Url, BaseUrlError> {
    let mut url = parse(base)?;
    let mut path = url.path().trim_end_matches('/').to_owned();
    for known in ["/chat/completions", "/chat", "/api", "/v1"] {
        if let Some(prefix) = path.strip_suffix(known) {
            path = prefix.trim_end_matches('/').to_owned();
        }
    }
    url.set_path(&format!("{path}/api/chat"));
    Ok(url)
}

/// Another endpoint of the server that `url` is an endpoint of: its last part `from` becomes `to`.
pub(crate) fn sibling(url: &Url, from: &str, to: &str) -> Url {
    let mut sibling = url.clone();
    let prefix = url.path().strip_suffix(from).unwrap_or(url.path());
    sibling.set_path(&format!("{prefix}{to}"));
    sibling
}

/// Where a version in the path means that none is to be added.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    Last,
    /// Gateways put a version before their own name for the API: `/v1beta/openai`.
    Anywhere,
}

fn join(base: &str, endpoint: &str, version: Version) -> Result<Url, BaseUrlError> {
    let mut url = parse(base)?;
    let path = url.path().trim_end_matches('/').to_owned();
    let is_endpoint = path
        .strip_suffix(endpoint)
        .is_some_and(|prefix| prefix.ends_with('/'));
    let mut segments = path.rsplit('/');
    let is_versioned = match version {
        Version::Last => segments.next().is_some_and(is_version),
        Version::Anywhere => segments.any(is_version),
    };
    let joined = if is_endpoint {
        path
    } else if is_versioned {
        format!("{path}/{endpoint}")
    } else {
        format!("{path}/v1/{endpoint}")
    };
    url.set_path(&joined);
    Ok(url)
}

fn parse(base: &str) -> Result<Url, BaseUrlError> {
    let base = base.trim();
    let mut url = Url::parse(base).map_err(|_| BaseUrlError::Invalid(without_userinfo(base)))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(BaseUrlError::Scheme(url.scheme().to_owned()));
    }
    url.set_fragment(None);
    Ok(url)
}

/// `v1`, `v3`, `v1beta`.
fn is_version(segment: &str) -> bool {
    let digits = segment.strip_prefix('v').unwrap_or_default();
    let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_stage = rest.is_empty() || rest.starts_with("beta") || rest.starts_with("alpha");
    rest.len() < digits.len() && is_stage
}

/// Credentials can stand before an `@`; an error message must not repeat them.
fn without_userinfo(text: &str) -> String {
    match text.rsplit_once('@') {
        Some((_, rest)) => format!("***@{rest}"),
        None => text.to_owned(),
    }
}

/// The part of `url` that may be shown: without user, password and query.
pub(crate) fn display(url: &Url) -> String {
    let mut shown = url.clone();
    // Both fail only for URLs that cannot have a user at all, which then have nothing to hide.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.set_query(None);
    shown.to_string()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn prefixes_and_queries_survive() {
        let cases = [
            (
                "http://h:1/v1?key=a",
                "http://h:1/v1/chat/completions?key=a",
            ),
            (
                "https://h/api/v1beta",
                "https://h/api/v1beta/chat/completions",
            ),
            (
                "https://h/v1/chat/completions/",
                "https://h/v1/chat/completions",
            ),
            (" https://h/vendor ", "https://h/vendor/v1/chat/completions"),
        ];
        for (base, url) in cases {
            assert_eq!(chat_completions(base).unwrap().as_str(), url);
        }
    }

    #[test]
    fn what_is_no_url_is_named_without_its_credentials() {
        let error = chat_completions("me:secret@host/v1").unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
        assert!(matches!(
            chat_completions("ftp://h"),
            Err(BaseUrlError::Scheme(_))
        ));
        assert!(chat_completions("").is_err());
        let shown = display(&chat_completions("https://me:secret@h/v1?key=abc").unwrap());
        assert_eq!(shown, "https://h/v1/chat/completions");
    }
}
