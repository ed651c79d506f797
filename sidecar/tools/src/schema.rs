//! Arguments against a tool's JSON schema, with errors that a model can act on.
//!
//! The keywords are those that tools need to say what they take; a schema with any other is refused
//! when it is compiled, so that nothing is ever left unchecked silently:
//!
//! ```text
//! type  properties  required  additionalProperties: false  items  enum
//! minimum  maximum  minLength  maxLength  minItems  maxItems          title  description  default  examples
//! ```
//!
//! (The `jsonschema` crate knows them all, costs 47 CPU-seconds of build, and tells faults in words
//! for schema authors.)

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::{ErrorCode, ToolError};

/// At most so many faults are told at once; a model repairs a few at a time.
const MAX_FAULTS: usize = 5;

/// The schema of an arguments object.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    source: Value,
}

/// A schema that is not one, or that says more than is checked here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema of `{tool}` is not usable: {message}")]
pub struct SchemaError {
    /// The tool whose schema it is.
    pub tool: String,
    /// What is wrong with it.
    pub message: String,
}

impl Schema {
    /// Takes in a schema.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] for a keyword that is not known here, or one of the wrong shape.
    pub fn compile(tool: &str, source: Value) -> Result<Self, SchemaError> {
        keywords(&source).map_err(|message| SchemaError {
            tool: tool.to_owned(),
            message,
        })?;
        if source.get("type") != Some(&Value::from("object")) {
            return Err(SchemaError {
                tool: tool.to_owned(),
                message: "arguments are an object: `type` must be \"object\"".to_owned(),
            });
        }
        Ok(Self { source })
    }

    /// The schema as the model reads it.
    pub fn source(&self) -> &Value {
        &self.source
    }

    /// Checks a call's arguments. Cost: linear in them.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENTS`, naming each argument that is wrong and what was expected.
    pub fn check(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        let mut faults = Vec::new();
        self.object(&self.source, "", arguments, &mut faults);
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

    fn value(&self, schema: &Value, path: &str, value: &Value, faults: &mut Vec<String>) {
        let wanted = types(schema);
        if !wanted.is_empty() && !wanted.iter().any(|kind| is_of(kind, value)) {
            faults.push(format!(
                "`{path}` must be {}, not {}",
                wanted.join(" or "),
                found(value)
            ));
            return;
        }
        if let Some(options) = schema.get("enum").and_then(Value::as_array)
            && !options.contains(value)
        {
            let options: Vec<String> = options.iter().map(Value::to_string).collect();
            let options = options.join(", ");
            faults.push(format!(
                "`{path}` must be one of {options}, not {}",
                found(value)
            ));
        }
        match value {
            Value::Object(map) => self.object(schema, path, map, faults),
            Value::Array(items) => {
                limit(
                    schema,
                    ["minItems", "maxItems"],
                    items.len() as f64,
                    path,
                    "items",
                    faults,
                );
                if let Some(of) = schema.get("items") {
                    for (at, item) in items.iter().enumerate() {
                        self.value(of, &format!("{path}[{at}]"), item, faults);
                    }
                }
            }
            Value::String(text) => {
                let count = text.chars().count() as f64;
                limit(
                    schema,
                    ["minLength", "maxLength"],
                    count,
                    path,
                    "characters",
                    faults,
                );
            }
            Value::Number(number) => {
                let number = number.as_f64().unwrap_or(f64::NAN);
                limit(schema, ["minimum", "maximum"], number, path, "", faults);
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn object(
        &self,
        schema: &Value,
        path: &str,
        map: &Map<String, Value>,
        faults: &mut Vec<String>,
    ) {
        let at = if path.is_empty() {
            String::new()
        } else {
            format!(" in `{path}`")
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        for (name, value) in map {
            match properties.and_then(|properties| properties.get(name)) {
                Some(of) => {
                    let path = if path.is_empty() {
                        name.clone()
                    } else {
                        format!("{path}.{name}")
                    };
                    self.value(of, &path, value, faults);
                }
                None if is_closed => {
                    let shown = shorten(name);
                    faults.push(match self.nearest(name) {
                        Some(near) => {
                            format!("unknown argument `{shown}`{at}: did you mean `{near}`")
                        }
                        None => format!("unknown argument `{shown}`{at}"),
                    });
                }
                None => {}
            }
        }
        for name in schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let name = name.as_str().unwrap_or_default();
            if !map.contains_key(name) {
                faults.push(format!("argument `{name}`{at} is missing"));
            }
        }
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

/// The types that a schema names; none means any.
fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_of(kind: &str, value: &Value) -> bool {
    match value {
        Value::Null => kind == "null",
        Value::Bool(_) => kind == "boolean",
        Value::Number(number) => match kind {
            "number" => true,
            "integer" => number.is_i64() || number.is_u64(),
            _ => false,
        },
        Value::String(_) => kind == "string",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
    }
}

/// Holds `actual` against the two limits; `unit` is empty when the value itself is measured.
fn limit(
    schema: &Value,
    [low, high]: [&str; 2],
    actual: f64,
    path: &str,
    unit: &str,
    faults: &mut Vec<String>,
) {
    let mut say = |word: &str, limit: &Value| {
        faults.push(match unit {
            "" => format!("`{path}` must be at {word} {limit}"),
            unit => format!("`{path}` must have at {word} {limit} {unit}"),
        });
    };
    if let Some(limit) = schema.get(low)
        && limit.as_f64().is_some_and(|limit| actual < limit)
    {
        say("least", limit);
    }
    if let Some(limit) = schema.get(high)
        && limit.as_f64().is_some_and(|limit| actual > limit)
    {
        say("most", limit);
    }
}

const TYPES: &[&str] = &[
    "null", "boolean", "integer", "number", "string", "array", "object",
];

/// Says which keyword of a schema is not one of ours, or not of its shape.
fn keywords(schema: &Value) -> Result<(), String> {
    let Some(map) = schema.as_object() else {
        return Err(format!("{} is no schema", found(schema)));
    };
    for (keyword, value) in map {
        let fits = match keyword.as_str() {
            "title" | "description" | "default" | "examples" => true,
            "type" => {
                let kinds = types(schema);
                !kinds.is_empty() && kinds.iter().all(|kind| TYPES.contains(kind))
            }
            "properties" => match value.as_object() {
                Some(properties) => {
                    properties.values().try_for_each(keywords)?;
                    true
                }
                None => false,
            },
            "items" => {
                keywords(value)?;
                true
            }
            "required" => value
                .as_array()
                .is_some_and(|names| names.iter().all(Value::is_string)),
            "enum" => value.is_array(),
            "additionalProperties" => value.is_boolean(),
            "minimum" | "maximum" => value.is_number(),
            "minLength" | "maxLength" | "minItems" | "maxItems" => value.is_u64(),
            _ => return Err(format!("the keyword `{keyword}` is not checked here")),
        };
        if !fits {
            return Err(format!(
                "the keyword `{keyword}` cannot be {}",
                found(value)
            ));
        }
    }
    Ok(())
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
            expect![[r#"`mode` must be one of "a", "b", not the string "c""#]],
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

    #[test]
    fn a_schema_that_says_more_than_is_checked_is_refused() {
        let refused = |schema: Value| Schema::compile("t", schema).unwrap_err().message;
        let cases = [
            (
                json!({"type": "object", "oneOf": []}),
                "the keyword `oneOf` is not checked here",
            ),
            (
                json!({"type": "string"}),
                "arguments are an object: `type` must be \"object\"",
            ),
            (
                json!({"type": "object", "properties": {"a": {"type": "text"}}}),
                "the keyword `type` cannot be the string \"text\"",
            ),
            (
                json!({"type": "object", "required": "a"}),
                "the keyword `required` cannot be the string \"a\"",
            ),
            (json!(true), "true is no schema"),
        ];
        for (schema, message) in cases {
            assert_eq!(refused(schema), message);
        }
    }
}
