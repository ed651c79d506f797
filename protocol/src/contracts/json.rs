//! The JSON Schema of version one: one document, every type under `$defs`.

use super::{NOTICE, Visitor, messages, visit};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};
use ts_rs::TS;

struct Collector(SchemaGenerator);

impl Visitor for Collector {
    fn visit<T: TS + JsonSchema + 'static>(&mut self) {
        self.0.subschema_for::<T>();
    }
}

/// Returns the document: `methods` maps each method to its types, `$defs` holds the types by name.
pub(super) fn schema() -> Value {
    let mut collector = Collector(SchemaSettings::draft2020_12().into_generator());
    visit(&mut collector);
    let methods: Map<String, Value> = messages()
        .into_iter()
        .map(|message| {
            let reference = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
            let types = json!({
                "params": reference(message.params),
                "result": message.result.map_or(json!({ "type": "null" }), reference),
            });
            (message.method.to_owned(), types)
        })
        .collect();
    let mut types = collector.0.take_definitions(true);
    types.sort_keys();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": NOTICE,
        "title": "Redline protocol v1",
        "methods": methods,
        "$defs": types,
    })
}

/// Returns the document as the text that is committed.
pub(super) fn text(schema: &Value) -> String {
    format!("{schema:#}\n")
}
