//! The TypeScript contract: one module with every type, and the maps of methods.

use super::{Kind, NOTICE, Visitor, messages, visit};
use schemars::JsonSchema;
use std::{any::TypeId, collections::BTreeMap, fmt::Write as _};
use ts_rs::{Config, TS, TypeVisitor};

/// Declarations by name; a type is declared after the walk has met it anywhere.
struct Collector {
    config: Config,
    met: Vec<TypeId>,
    declarations: BTreeMap<String, String>,
}

impl Visitor for Collector {
    fn visit<T: TS + JsonSchema + 'static>(&mut self) {
        TypeVisitor::visit::<T>(self);
    }
}

impl TypeVisitor for Collector {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        if self.met.contains(&TypeId::of::<T>()) {
            return;
        }
        self.met.push(TypeId::of::<T>());
        // Only types of ours have a path of their own; strings and arrays are written in place.
        if T::output_path().is_some() {
            let text = format!(
                "{}export {}\n",
                T::docs().unwrap_or_default(),
                laid_out(&T::decl(&self.config))
            );
            self.declarations.insert(T::ident(&self.config), text);
        }
        T::visit_dependencies(self);
        T::visit_generics(self);
    }
}

/// Puts the fields of a plain object on indented lines of their own; ts-rs leaves them at column 0.
fn laid_out(declaration: &str) -> String {
    let Some((head, fields)) = declaration
        .strip_suffix(", };")
        .and_then(|rest| rest.split_once("= {"))
        .filter(|(_, fields)| fields.contains('\n') && !fields.contains("} | {"))
    else {
        return declaration.to_owned();
    };
    let mut text = format!("{head}= {{");
    for line in fields.lines() {
        let line = line.trim_end().trim_end_matches(',');
        let end = if line.starts_with(['/', ' ']) {
            ""
        } else {
            ";"
        };
        if !line.is_empty() {
            let _ = write!(text, "\n  {line}{end}");
        }
    }
    text + "\n};"
}

/// Returns the module.
pub(super) fn module() -> String {
    let mut collector = Collector {
        // Counters and Unix seconds: far below 2^53.
        config: Config::new().with_large_int("number"),
        met: Vec::new(),
        declarations: BTreeMap::new(),
    };
    visit(&mut collector);

    let mut text = format!("// {NOTICE}\n");
    for declaration in collector.declarations.values() {
        let _ = write!(text, "\n{declaration}");
    }
    for (kind, doc, name) in [
        (
            Kind::Request,
            "Requests of the client, by method.",
            "Requests",
        ),
        (
            Kind::Notification,
            "Notifications of the server, by method.",
            "Notifications",
        ),
    ] {
        let _ = write!(text, "\n/**\n * {doc}\n */\nexport interface {name} {{\n");
        for message in messages().iter().filter(|message| message.kind == kind) {
            let (method, params) = (message.method, message.params);
            let _ = match kind {
                Kind::Request => {
                    let result = message.result.unwrap_or("null");
                    writeln!(
                        text,
                        "  \"{method}\": {{ params: {params}; result: {result} }};"
                    )
                }
                Kind::Notification => writeln!(text, "  \"{method}\": {params};"),
            };
        }
        text.push_str("}\n");
    }
    text
}
