//! What an editor says that it can do, and how it behaves.

use std::path::Path;

use serde_json::{Value, json};

use super::uri_of;

/// A kind of editor.
#[derive(Debug, Clone)]
pub struct Profile {
    /// `clientInfo.name`.
    pub name: &'static str,
    /// Encodings offered, best first; none means that the client does not know the capability.
    pub encodings: Vec<&'static str>,
    /// Understands code action literals; without, only bare commands are shown.
    pub literals: bool,
    /// Resolves code actions lazily.
    pub resolve: bool,
    /// Sends `data` back.
    pub data: bool,
    /// Understands `documentChanges` with versions.
    pub document_changes: bool,
    /// Says that it knows change annotations.
    pub annotations: bool,
    /// Supports `window/showDocument`, `window/workDoneProgress`.
    pub window: bool,
    /// Answers a stale edit `applied: true` and does not apply it.
    pub pretends_applied: bool,
    /// Sends `didChange` only after the reply to `workspace/applyEdit`.
    pub change_after_reply: bool,
    /// What it says under `capabilities.experimental.redline`.
    pub redline: Option<Value>,
    /// What it says beside all this: names joined by dots, and the value there.
    pub more: Vec<(&'static str, Value)>,
    /// A recorded client's own `capabilities`, said in place of all this.
    pub recorded: Option<Value>,
}

impl Profile {
    /// An editor that can do everything plain LSP has.
    #[must_use]
    pub fn full() -> Profile {
        Profile {
            name: "full",
            encodings: vec!["utf-16"],
            literals: true,
            resolve: true,
            data: true,
            document_changes: true,
            annotations: true,
            window: true,
            pretends_applied: false,
            change_after_reply: false,
            redline: None,
            more: Vec::new(),
            recorded: None,
        }
    }

    /// An editor with nothing optional: no literals, no resolve, no data, no versions, no encodings.
    #[must_use]
    pub fn bare() -> Profile {
        Profile {
            name: "bare",
            encodings: vec![],
            literals: false,
            resolve: false,
            data: false,
            document_changes: false,
            annotations: false,
            window: false,
            ..Profile::full()
        }
    }

    /// As Neovim: stale edits are answered as applied, the change may come after the reply.
    #[must_use]
    pub fn neovim() -> Profile {
        Profile {
            name: "Neovim",
            encodings: vec!["utf-8", "utf-16", "utf-32"],
            annotations: false,
            pretends_applied: true,
            change_after_reply: true,
            ..Profile::full()
        }
    }

    /// As Helix.
    #[must_use]
    pub fn helix() -> Profile {
        Profile {
            name: "helix",
            encodings: vec!["utf-8", "utf-32", "utf-16"],
            annotations: false,
            ..Profile::full()
        }
    }

    /// With these encodings.
    #[must_use]
    pub fn with_encodings(mut self, encodings: &[&'static str]) -> Profile {
        self.encodings = encodings.to_vec();
        self
    }

    /// With the protocol's own capabilities.
    #[must_use]
    pub fn with_redline(mut self) -> Profile {
        self.redline = Some(json!({"version": 1, "review": true, "session": true}));
        self
    }

    /// With one more capability, as `("workspace.codeLens.refreshSupport", true)`.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Profile {
        self.more.push((name, value.into()));
        self
    }

    /// With code lenses, inlay hints and pulled diagnostics, each of which it can be told to ask for again.
    #[must_use]
    pub fn with_pulls(self) -> Profile {
        self.with("textDocument.codeLens", json!({}))
            .with("textDocument.inlayHint", json!({}))
            .with("textDocument.diagnostic", json!({}))
            .with("workspace.codeLens.refreshSupport", true)
            .with("workspace.inlayHint.refreshSupport", true)
            .with("workspace.diagnostics.refreshSupport", true)
    }

    /// The params of `initialize`.
    #[must_use]
    pub fn initialize(&self, root: &Path) -> Value {
        let root_uri = uri_of(root);
        let mut code_action = json!({});
        if self.literals {
            code_action["codeActionLiteralSupport"] =
                json!({"codeActionKind": {"valueSet": ["", "quickfix", "refactor", "source"]}});
        }
        if self.resolve {
            code_action["resolveSupport"] = json!({"properties": ["edit", "command"]});
        }
        code_action["dataSupport"] = self.data.into();
        let mut edit = json!({"documentChanges": self.document_changes});
        if self.annotations {
            edit["changeAnnotationSupport"] = json!({"groupsOnLabel": true});
        }
        let mut capabilities = json!({
            "textDocument": {
                "synchronization": {"didSave": true},
                "codeAction": code_action,
                "publishDiagnostics": {"versionSupport": true, "dataSupport": self.data},
            },
            "workspace": {"applyEdit": true, "workspaceEdit": edit, "executeCommand": {}},
        });
        if self.window {
            capabilities["window"] =
                json!({"workDoneProgress": true, "showDocument": {"support": true}});
        }
        if !self.encodings.is_empty() {
            capabilities["general"] = json!({"positionEncodings": self.encodings});
        }
        if let Some(redline) = &self.redline {
            capabilities["experimental"] = json!({"redline": redline});
        }
        for (name, value) in &self.more {
            let place = name
                .split('.')
                .fold(&mut capabilities, |place, part| &mut place[part]);
            *place = value.clone();
        }
        if let Some(recorded) = &self.recorded {
            capabilities = recorded.clone();
        }
        json!({
            "processId": std::process::id(),
            "clientInfo": {"name": self.name},
            "rootUri": root_uri,
            "workspaceFolders": [{"uri": root_uri, "name": "project"}],
            "capabilities": capabilities,
        })
    }
}
