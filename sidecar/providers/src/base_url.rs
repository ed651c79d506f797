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

/// Returns the Chat Completions endpoint under `base`.
///
/// # Errors
///
/// [`BaseUrlError`] when `base` is not an http or https URL.
pub fn join_chat_completions(base: &str) -> Result<Url, BaseUrlError> {
    let mut url = parse(base)?;
    let path = url.path().trim_end_matches('/').to_owned();
    let joined = if path.ends_with("/chat/completions") {
        path
    } else if path.rsplit('/').next().is_some_and(is_version) {
        format!("{path}/chat/completions")
    } else {
        format!("{path}/v1/chat/completions")
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
    let mut chars = segment.chars();
    chars.next() == Some('v') && chars.next().is_some_and(|c| c.is_ascii_digit())
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
            assert_eq!(join_chat_completions(base).unwrap().as_str(), url);
        }
    }

    #[test]
    fn what_is_no_url_is_named_without_its_credentials() {
        let error = join_chat_completions("me:secret@host/v1").unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
        assert!(matches!(
            join_chat_completions("ftp://h"),
            Err(BaseUrlError::Scheme(_))
        ));
        assert!(join_chat_completions("").is_err());
        let shown = display(&join_chat_completions("https://me:secret@h/v1?key=abc").unwrap());
        assert_eq!(shown, "https://h/v1/chat/completions");
    }
}
