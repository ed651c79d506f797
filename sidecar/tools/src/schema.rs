//! Arguments against a tool's JSON schema, with errors that a model can act on.

use std::fmt::Write as _;

use jsonschema::error::{TypeKind, ValidationError, ValidationErrorKind};
use serde_json::{Map, Value};

use crate::{ErrorCode, ToolError};

/// At most so many faults are told at once; a model repairs a few at a time.
const MAX_FAULTS: usize = 5;

/// A compiled schema of an arguments object.
pub struct Schema {
    source: Value,
    validator: jsonschema::Validator,
}

/// A schema that is not one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema of `{tool}` is not usable: {message}")]
pub struct SchemaError {
    /// The tool whose schema it is.
    pub tool: String,
    /// What is wrong with it.
    pub message: String,
}

impl Schema {
    /// Compiles `source`.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] when it is not a JSON schema.
    pub fn compile(tool: &str, source: Value) -> Result<Self, SchemaError> {
        match jsonschema::validator_for(&source) {
            Ok(validator) => Ok(Self { source, validator }),
            Err(error) => Err(SchemaError {
                tool: tool.to_owned(),
                message: error.to_string(),
            }),
        }
    }

    /// The schema as the model reads it.
    pub fn source(&self) -> &Value {
        &self.source
    }

    /// Checks a call's arguments.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENTS`, naming each argument that is wrong and what was expected.
    pub fn check(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        let value = Value::Object(arguments.clone());
        let faults: Vec<String> = self
            .validator
            .iter_errors(&value)
            .flat_map(|error| self.tell(&error))
            .collect();
        if faults.is_empty() {
            return Ok(());
        }
        let more = faults.len().saturating_sub(MAX_FAULTS);
        let mut message = faults[..faults.len() - more].join("; ");
        if more > 0 {
            let _ = write!(message, "; and {more} more");
        }
        Err(ToolError::new(ErrorCode::InvalidArguments, message).with_hint(self.hint()))
    }

    /// Names the arguments that there are, the required ones first.
    fn hint(&self) -> String {
        let required: Vec<&str> = self
            .source
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let properties = self.source.get("properties").and_then(Value::as_object);
        let names: Vec<String> = properties
            .into_iter()
            .flat_map(|map| map.keys())
            .map(|name| {
                let mark = if required.contains(&name.as_str()) {
                    " (required)"
                } else {
                    ""
                };
                format!("`{name}`{mark}")
            })
            .collect();
        format!("Call it again; its arguments are {}.", names.join(", "))
    }

    fn tell(&self, error: &ValidationError<'_>) -> Vec<String> {
        let at = place(&error.instance_path().to_string());
        match error.kind() {
            ValidationErrorKind::AdditionalProperties { unexpected } => unexpected
                .iter()
                .map(|name| {
                    let shown = shorten(name);
                    match self.nearest(name) {
                        Some(near) => {
                            format!("unknown argument `{shown}`{at}: did you mean `{near}`")
                        }
                        None => format!("unknown argument `{shown}`{at}"),
                    }
                })
                .collect(),
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                vec![format!("argument `{name}`{at} is missing")]
            }
            ValidationErrorKind::Type { kind } => {
                let wanted = match kind {
                    TypeKind::Single(kind) => kind.to_string(),
                    TypeKind::Multiple(kinds) => kinds
                        .iter()
                        .map(|kind| kind.to_string())
                        .collect::<Vec<_>>()
                        .join(" or "),
                };
                vec![format!(
                    "{} must be {wanted}, not {}",
                    subject(error),
                    found(error.instance())
                )]
            }
            ValidationErrorKind::Enum { options } => {
                vec![format!(
                    "{} must be one of {options}, not {}",
                    subject(error),
                    found(error.instance())
                )]
            }
            ValidationErrorKind::Minimum { limit } => {
                vec![format!("{} must be at least {limit}", subject(error))]
            }
            ValidationErrorKind::Maximum { limit } => {
                vec![format!("{} must be at most {limit}", subject(error))]
            }
            ValidationErrorKind::MinLength { limit } => {
                vec![format!(
                    "{} must have at least {limit} characters",
                    subject(error)
                )]
            }
            ValidationErrorKind::MaxLength { limit } => {
                vec![format!(
                    "{} must have at most {limit} characters",
                    subject(error)
                )]
            }
            ValidationErrorKind::MinItems { limit } => {
                vec![format!(
                    "{} must have at least {limit} items",
                    subject(error)
                )]
            }
            ValidationErrorKind::MaxItems { limit } => {
                vec![format!(
                    "{} must have at most {limit} items",
                    subject(error)
                )]
            }
            _ => vec![format!(
                "{}: {}",
                subject(error),
                shorten(&error.to_string())
            )],
        }
    }

    /// The known argument that `name` is most likely meant to be.
    fn nearest(&self, name: &str) -> Option<&str> {
        let mut known = Vec::new();
        collect_names(&self.source, &mut known);
        let wanted = name.to_ascii_lowercase();
        known
            .into_iter()
            .map(|candidate| (distance(&wanted, candidate), candidate))
            .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 3)
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, candidate)| candidate)
    }
}

/// All property names of a schema, also of the items of lists.
fn collect_names<'a>(schema: &'a Value, out: &mut Vec<&'a str>) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        for (name, inner) in properties {
            out.push(name);
            collect_names(inner, out);
        }
    }
    if let Some(items) = schema.get("items") {
        collect_names(items, out);
    }
}

/// `/edits/0` as ` in edits[0]`; nothing at the top.
fn place(pointer: &str) -> String {
    let path = dotted(pointer);
    if path.is_empty() {
        path
    } else {
        format!(" in `{path}`")
    }
}

fn subject(error: &ValidationError<'_>) -> String {
    let path = dotted(&error.instance_path().to_string());
    if path.is_empty() {
        "the arguments".to_owned()
    } else {
        format!("`{path}`")
    }
}

/// `/edits/0/path` as `edits[0].path`.
fn dotted(pointer: &str) -> String {
    let mut path = String::new();
    for part in pointer.split('/').skip(1) {
        if part.chars().all(|c| c.is_ascii_digit()) && !part.is_empty() {
            let _ = write!(path, "[{part}]");
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&shorten(part));
        }
    }
    path
}

fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => shorten(&value.to_string()),
        Value::String(text) => format!("the string {}", shorten(&format!("{text:?}"))),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Edit distance, for short names only: a hostile long one costs nothing.
fn distance(a: &str, b: &str) -> usize {
    if a.len() > 64 {
        return usize::MAX;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(left != *right);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Schema").field(&self.source).finish()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use expect_test::{Expect, expect};
    use serde_json::json;

    fn check(arguments: Value, expected: Expect) {
        let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["path"],
        "properties": {
            "path": {"type": "string", "minLength": 1, "maxLength": 10},
            "limit": {"type": "integer", "minimum": 1, "maximum": 9},
            "mode": {"enum": ["a", "b"]},
            "edits": {"type": "array", "maxItems": 1, "items": {
                "type": "object", "additionalProperties": false, "required": ["search"],
                "properties": {"search": {"type": "string"}}}},
        }});
        let schema = Schema::compile("t", schema).unwrap();
        let Value::Object(map) = arguments else {
            panic!("an object")
        };
        let told = match schema.check(&map) {
            Ok(()) => "ok".to_owned(),
            Err(error) => error.message,
        };
        expected.assert_eq(&told);
    }

    #[test]
    fn faults_name_the_argument_and_what_was_expected() {
        check(
            json!({"path": "a", "limit": 3, "mode": "b", "edits": [{"search": ""}]}),
            expect!["ok"],
        );
        check(json!({}), expect!["argument `path` is missing"]);
        check(json!({"path": 3}), expect!["`path` must be string, not 3"]);
        check(
            json!({"path": null}),
            expect!["`path` must be string, not null"],
        );
        check(
            json!({"paht": "a"}),
            expect!["unknown argument `paht`: did you mean `path`; argument `path` is missing"],
        );
        check(
            json!({"path": "a", "zzzzzz": 1}),
            expect!["unknown argument `zzzzzz`"],
        );
        check(
            json!({"path": "a", "limit": 0}),
            expect!["`limit` must be at least 1"],
        );
        check(
            json!({"path": "a", "limit": "3"}),
            expect![[r#"`limit` must be integer, not the string "3""#]],
        );
        check(
            json!({"path": "a", "mode": "c"}),
            expect![[r#"`mode` must be one of ["a","b"], not the string "c""#]],
        );
        check(
            json!({"path": "a", "edits": [{"serch": "x"}]}),
            expect![
                "unknown argument `serch` in `edits[0]`: did you mean `search`; argument `search` in `edits[0]` is missing"
            ],
        );
        check(
            json!({"path": "aaaaaaaaaaaaaaaa"}),
            expect!["`path` must have at most 10 characters"],
        );
    }
}
