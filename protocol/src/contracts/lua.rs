//! The Lua contract: LuaCATS annotations read from the JSON Schema, and the method names.

use super::{NOTICE, messages};
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// Returns the module `redline.protocol`.
pub(super) fn module(schema: &Value) -> String {
    let mut text = format!("-- {NOTICE}\n");
    let empty = Map::new();
    for (name, definition) in schema["$defs"].as_object().unwrap_or(&empty) {
        declare(&mut text, name, definition);
    }
    text.push_str(
        "\nlocal M = {}\n\n---Protocol version that this client speaks.\nM.VERSION = 1\n",
    );
    text.push_str("\n---Names of the requests and notifications.\nM.method = {\n");
    for message in messages() {
        let _ = writeln!(text, "  {} = \"{}\",", message.constant, message.method);
    }
    text.push_str("}\n\nreturn M\n");
    text
}

fn declare(text: &mut String, name: &str, definition: &Value) {
    text.push('\n');
    describe(text, definition);
    if let Some(values) = variants_of_strings(definition) {
        let _ = writeln!(text, "---@alias redline.{name}");
        for (value, doc) in values {
            let _ = writeln!(text, "---| \"{value}\" # {doc}");
        }
    } else if let Some(cases) = definition["oneOf"].as_array() {
        let names: Vec<String> = cases
            .iter()
            .map(|case| format!("redline.{name}.{}", tag(case).unwrap_or("")))
            .collect();
        let _ = writeln!(text, "---@alias redline.{name} {}", names.join("|"));
        for (case, name) in cases.iter().zip(names) {
            text.push('\n');
            describe(text, case);
            class(text, &name, case);
        }
    } else {
        class(text, &format!("redline.{name}"), definition);
    }
}

fn class(text: &mut String, name: &str, definition: &Value) {
    // A case that carries a type of its own has its fields too.
    let parent = definition["$ref"].as_str();
    let parent = parent.map(|name| name.replace("#/$defs/", ": redline."));
    let _ = writeln!(
        text,
        "---@class (exact) {name}{}",
        parent.unwrap_or_default()
    );
    let required = |field: &str| {
        definition["required"]
            .as_array()
            .is_some_and(|names| names.iter().any(|name| name == field))
    };
    for (field, schema) in definition["properties"].as_object().into_iter().flatten() {
        let (of, nullable) = type_of(schema);
        let mark = if required(field) && !nullable {
            ""
        } else {
            "?"
        };
        let doc = one_line(schema);
        let _ = writeln!(
            text,
            "{}",
            format!("---@field {field}{mark} {of} {doc}").trim_end()
        );
    }
}

/// The value that tells a case of a union from the others: its one constant field.
fn tag(case: &Value) -> Option<&str> {
    let fields = case["properties"].as_object()?;
    fields.values().find_map(|field| field["const"].as_str())
}

/// Strings of an enum with the doc of each; schemars writes `enum` for those without docs.
fn variants_of_strings(definition: &Value) -> Option<Vec<(&str, String)>> {
    definition["oneOf"]
        .as_array()?
        .iter()
        .map(|case| Some((case["const"].as_str()?, one_line(case))))
        .collect()
}

/// LuaCATS type of a field, and whether it may be null.
fn type_of(schema: &Value) -> (String, bool) {
    if let Some(name) = schema["$ref"].as_str() {
        return (name.replace("#/$defs/", "redline."), false);
    }
    if let Some(cases) = schema["anyOf"].as_array() {
        let nullable = cases.iter().any(|case| case["type"] == "null");
        let of: Vec<String> = cases
            .iter()
            .filter(|case| case["type"] != "null")
            .map(|case| type_of(case).0)
            .collect();
        return (of.join("|"), nullable);
    }
    if let Some(value) = schema["const"].as_str() {
        return (format!("\"{value}\""), false);
    }
    match &schema["type"] {
        Value::Array(types) => {
            let of = types.iter().find(|name| *name != "null");
            let mut plain = schema.clone();
            plain["type"] = of.cloned().unwrap_or_default();
            (type_of(&plain).0, types.iter().any(|name| name == "null"))
        }
        Value::String(name) if name == "array" => {
            (format!("{}[]", type_of(&schema["items"]).0), false)
        }
        Value::String(name) if name == "object" && schema["additionalProperties"].is_object() => {
            let of = type_of(&schema["additionalProperties"]).0;
            (format!("table<string, {of}>"), false)
        }
        Value::String(name) => (name.clone(), false),
        _ => ("any".to_owned(), false),
    }
}

fn describe(text: &mut String, schema: &Value) {
    for line in schema["description"].as_str().unwrap_or("").lines() {
        let _ = writeln!(text, "---{line}");
    }
}

fn one_line(schema: &Value) -> String {
    schema["description"]
        .as_str()
        .unwrap_or("")
        .replace('\n', " ")
}
