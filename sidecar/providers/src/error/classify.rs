//! From what a vendor sent to a kind: codes first, then the status, then known words.
//!
//! Bodies differ by vendor and by proxy: `{"error": {…}}`, `{"error": "…"}`, `{"message": …}` at the
//! top (old vLLM), `{"detail": …}` (FastAPI), an event stream, an HTML page, plain text, nothing.

use std::time::Duration;

use serde_json::Value;

use super::{ErrorKind, ProviderError};

/// Longest message taken over from a vendor, in characters.
const MAX_MESSAGE: usize = 600;

/// The facts of an HTTP answer that classification looks at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    pub(crate) status: Option<u16>,
    pub(crate) content_type: String,
    pub(crate) retry_after_ms: Option<String>,
    pub(crate) retry_after: Option<String>,
    pub(crate) date: Option<String>,
    pub(crate) should_retry: Option<String>,
}

/// Classifies the body of an answer whose status is not 2xx.
pub(crate) fn from_body(answer: &Answer, body: &[u8]) -> ProviderError {
    let text = String::from_utf8_lossy(body);
    let text = text.trim_start_matches('\u{feff}').trim();
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        return from_error_value(answer, &value);
    }
    if text.starts_with('<') || answer.content_type.starts_with("text/html") {
        return from_html(answer, text);
    }
    let data = text.lines().find_map(|line| line.strip_prefix("data:"));
    if let Some(value) = data.and_then(|data| serde_json::from_str::<Value>(data.trim()).ok()) {
        return from_error_value(answer, &value);
    }
    let status = answer.status.unwrap_or(0);
    let message = match (text.is_empty(), reqwest::StatusCode::from_u16(status)) {
        (false, _) => format!("HTTP {status}: {}", shorten(text, 300)),
        (true, Ok(code)) => {
            format!(
                "HTTP {status}: {}",
                code.canonical_reason().unwrap_or("no message")
            )
        }
        (true, Err(_)) => format!("HTTP {status}: no message"),
    };
    build(answer, message, &[], None)
}

/// Classifies an HTML page: status and title, never the markup.
fn from_html(answer: &Answer, html: &str) -> ProviderError {
    let status = answer.status.unwrap_or(0);
    let message = match html_title(html) {
        Some(title) => format!("HTTP {status}: {title} (HTML page from a proxy)"),
        None => format!("HTTP {status} (HTML page from a proxy)"),
    };
    build(answer, message, &[], None)
}

/// Classifies an error object that came inside a stream whose status was 200.
pub(crate) fn in_stream(value: &Value) -> ProviderError {
    from_error_value(&Answer::default(), value)
}

/// Classifies an error object.
fn from_error_value(answer: &Answer, value: &Value) -> ProviderError {
    let error = match value.get("error") {
        Some(error) if !error.is_null() => error,
        _ => value,
    };
    // Ollama hands on what its runner said as text.
    if let Value::String(text) = error
        && text.trim_start().starts_with('{')
        && let Ok(inner @ Value::Object(_)) = serde_json::from_str::<Value>(text)
    {
        return from_error_value(answer, &inner);
    }
    let message = first_string(&[
        error.get("message"),
        Some(error),
        value.get("message"),
        value.get("detail"),
    ])
    .unwrap_or_else(|| shorten(&error.to_string(), 300));
    let words: Vec<String> = [
        error.get("code"),
        error.get("type"),
        error.get("status"),
        error.pointer("/details/error_code"),
    ]
    .into_iter()
    .flatten()
    .filter_map(|word| word.as_str().map(str::to_ascii_lowercase))
    .collect();
    let in_body = [
        error.get("code"),
        error.get("status"),
        error.get("status_code"),
    ]
    .into_iter()
    .flatten()
    .find_map(status_of);
    let mut result = build(answer, message, &words, in_body);
    result.prompt_tokens = error.get("n_prompt_tokens").and_then(Value::as_u64);
    result.context_size = error.get("n_ctx").and_then(Value::as_u64);
    result.code = first_string(&[error.get("code"), error.get("type")]).map(Into::into);
    result.param = first_string(&[error.get("param")]).map(Into::into);
    result
}

fn build(
    answer: &Answer,
    message: String,
    words: &[String],
    in_body: Option<u16>,
) -> ProviderError {
    let http = answer.status.filter(|status| !(200..300).contains(status));
    let status = http.or(in_body);
    let kind = kind_of(status, words, &message);
    let mut error = ProviderError::new(kind, shorten(&message, MAX_MESSAGE));
    error.status = status;
    match answer.should_retry.as_deref() {
        Some("true") => error.retryable = true,
        Some("false") => error.retryable = false,
        _ => {}
    }
    if error.retryable {
        error.retry_after = retry_after(answer, &message);
    }
    error
}

const QUOTA: &[&str] = &[
    "insufficient_quota",
    "billing_error",
    "billing_hard_limit_reached",
    "credit_balance_exhausted",
    "organization_spend_limit_exceeded",
    "project_spend_limit_exceeded",
    "organization_usage_limit_exceeded",
    "enforced_spend_limit_reached",
    "contract_spend_limit_reached",
];
const CONTEXT: &[&str] = &[
    "context_length_exceeded",
    "exceed_context_size_error",
    "string_above_max_length",
    "model_context_window_exceeded",
];
const AUTH: &[&str] = &[
    "authentication_error",
    "permission_error",
    "invalid_api_key",
    "unauthorized",
];
const OVERLOADED: &[&str] = &[
    "overloaded_error",
    "server_is_overloaded",
    "unavailable_error",
];
const RATE: &[&str] = &[
    "rate_limit_error",
    "rate_limit_exceeded",
    "slow_down",
    "throttling",
];
const REFUSED: &[&str] = &["bio_policy", "misalignment_policy_violation"];
const INVALID: &[&str] = &["invalid_prompt", "not_supported_error"];
const CONTEXT_PHRASES: &[&str] = &[
    "prompt is too long",
    "maximum context length",
    "context window",
    "context length",
    "exceed context limit",
    "available context size",
    "input is too long",
    "reduce the length of the messages",
];

fn kind_of(status: Option<u16>, words: &[String], message: &str) -> ErrorKind {
    let says = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    if says(QUOTA) {
        return ErrorKind::Quota;
    }
    if says(CONTEXT) {
        return ErrorKind::ContextLength;
    }
    if says(REFUSED) {
        return ErrorKind::Refusal;
    }
    if says(AUTH) {
        return ErrorKind::Auth;
    }
    if says(OVERLOADED) {
        return ErrorKind::Overloaded;
    }
    // Before any phrase: "too many tokens" of a throttle is no matter of the context.
    if says(RATE) || status == Some(429) {
        return ErrorKind::RateLimit;
    }
    match status {
        Some(401 | 403) => return ErrorKind::Auth,
        Some(402) => return ErrorKind::Quota,
        Some(404) => return ErrorKind::NotFound,
        Some(408 | 504) => return ErrorKind::Timeout,
        Some(503 | 529) => return ErrorKind::Overloaded,
        Some(500..) => return ErrorKind::Server,
        _ => {}
    }
    let lower = message.to_ascii_lowercase();
    if CONTEXT_PHRASES.iter().any(|phrase| lower.contains(phrase)) {
        return ErrorKind::ContextLength;
    }
    let invalid = says(INVALID)
        || words
            .iter()
            .any(|word| word.starts_with("invalid_request") || word.starts_with("badrequest"));
    match status {
        Some(300..=499) => ErrorKind::InvalidRequest,
        _ if invalid => ErrorKind::InvalidRequest,
        _ => ErrorKind::Server,
    }
}

fn status_of(value: &Value) -> Option<u16> {
    let number = match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }?;
    u16::try_from(number)
        .ok()
        .filter(|status| (400..600).contains(status))
}

fn first_string(candidates: &[Option<&Value>]) -> Option<String> {
    candidates.iter().flatten().find_map(|value| {
        value
            .as_str()
            .filter(|text| !text.trim().is_empty())
            .map(|text| text.trim().to_owned())
    })
}

/// The wait that the vendor asks for: `retry-after-ms`, then `retry-after`, then its words.
fn retry_after(answer: &Answer, message: &str) -> Option<Duration> {
    let from_ms = answer
        .retry_after_ms
        .as_deref()
        .and_then(|ms| seconds(ms.trim(), 0.001));
    from_ms
        .or_else(|| {
            answer
                .retry_after
                .as_deref()
                .and_then(|text| header_wait(text, answer))
        })
        .or_else(|| words_wait(message))
}

fn header_wait(text: &str, answer: &Answer) -> Option<Duration> {
    if let Some(wait) = seconds(text.trim(), 1.0) {
        return Some(wait);
    }
    // A date is meaningful against the vendor's own clock, which `date` tells; ours may differ.
    let at = httpdate::parse_http_date(text.trim()).ok()?;
    let now = httpdate::parse_http_date(answer.date.as_deref()?.trim()).ok()?;
    Some(at.duration_since(now).unwrap_or(Duration::ZERO))
}

fn seconds(text: &str, unit: f64) -> Option<Duration> {
    let value: f64 = text.parse().ok()?;
    Duration::try_from_secs_f64(value * unit).ok()
}

/// Reads `try again in 1.5s`, `in 20ms`, `in 1m30s`, `in 2 seconds`.
fn words_wait(message: &str) -> Option<Duration> {
    let lower = message.to_ascii_lowercase();
    let at = lower
        .find("try again in ")
        .map(|at| at + "try again in ".len())?;
    let mut rest = lower[at..].trim_start();
    let mut total = 0.0;
    let mut found = false;
    loop {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let number = rest[..digits].trim_end_matches('.');
        let Ok(value) = number.parse::<f64>() else {
            break;
        };
        rest = rest[digits..].trim_start();
        let letters = rest
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(rest.len());
        let unit = match &rest[..letters] {
            "ms" | "millisecond" | "milliseconds" => 0.001,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            _ => break,
        };
        total += value * unit;
        found = true;
        rest = &rest[letters..];
    }
    found
        .then(|| Duration::try_from_secs_f64(total).ok())
        .flatten()
}

/// Returns the text of the page's `<title>`, on one line.
pub(crate) fn html_title(html: &str) -> Option<String> {
    let lower = html.to_ascii_lowercase();
    let open = lower.find("<title")?;
    let start = open + lower[open..].find('>')? + 1;
    let end = start + lower[start..].find("</title")?;
    let mut title = html[start..end]
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    for (entity, plain) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ] {
        title = title.replace(entity, plain);
    }
    (!title.is_empty()).then(|| shorten(&title, 120))
}

fn shorten(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_read_from_words() {
        let cases = [
            ("Please try again in 1.5s.", Some(1500)),
            ("try again in 20ms", Some(20)),
            ("Try again in 1m30s, thanks", Some(90_000)),
            ("try again in 2 seconds.", Some(2000)),
            ("try again in a while", None),
            ("no", None),
        ];
        for (text, expected) in cases {
            assert_eq!(
                words_wait(text).map(|wait| wait.as_millis()),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn a_date_counts_from_the_vendors_own_clock() {
        let answer = Answer {
            status: Some(429),
            retry_after: Some("Wed, 21 Oct 2026 07:28:30 GMT".to_owned()),
            date: Some("Wed, 21 Oct 2026 07:28:00 GMT".to_owned()),
            ..Answer::default()
        };
        let error = from_body(&answer, b"{\"error\":{\"message\":\"slow\"}}");
        assert_eq!(error.retry_after, Some(Duration::from_secs(30)));
        assert_eq!(error.kind, ErrorKind::RateLimit);
    }

    #[test]
    fn kinds_follow_codes_before_status_before_words() {
        let cases: &[(u16, &str, ErrorKind)] = &[
            (
                400,
                r#"{"error":{"message":"This model's maximum context length is 8 tokens"}}"#,
                ErrorKind::ContextLength,
            ),
            (
                429,
                r#"{"error":{"message":"maximum context length, slow down"}}"#,
                ErrorKind::RateLimit,
            ),
            (
                429,
                r#"{"error":{"message":"x","type":"insufficient_quota"}}"#,
                ErrorKind::Quota,
            ),
            (403, r#"{"error":"forbidden"}"#, ErrorKind::Auth),
            (404, r#"{"detail":"Not Found"}"#, ErrorKind::NotFound),
            (
                503,
                r#"{"error":{"message":"Loading model","type":"unavailable_error"}}"#,
                ErrorKind::Overloaded,
            ),
            (
                400,
                r#"{"object":"error","message":"bad","code":400}"#,
                ErrorKind::InvalidRequest,
            ),
            (301, "", ErrorKind::InvalidRequest),
            (500, "boom", ErrorKind::Server),
        ];
        for (status, body, kind) in cases {
            let answer = Answer {
                status: Some(*status),
                ..Answer::default()
            };
            assert_eq!(
                from_body(&answer, body.as_bytes()).kind,
                *kind,
                "{status} {body}"
            );
        }
    }
}
