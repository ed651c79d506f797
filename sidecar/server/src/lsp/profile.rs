//! What one client can do, read once from its `initialize`.
//!
//! Owns: every question "may this be sent to that client".
//! Must not know: editors by name, but for what one does and leaves unsaid; else the name is kept for receipts only.

use redline_protocol::v1;
use tower_lsp::ls_types::{InitializeParams, PositionEncodingKind};

use redline_edits::Encoding;

/// The facts of one client that decide what it is sent.
#[derive(Debug, Clone)]
pub(crate) struct ClientProfile {
    /// Short name for receipts: `neovim`, `helix`, `redline-cli`, …
    pub(crate) name: String,
    /// The negotiated position encoding.
    pub(crate) encoding: Encoding,
    /// It draws hunks itself.
    pub(crate) review: bool,
    /// It takes `redline/session/update`.
    pub(crate) session: bool,
    /// It takes code actions as literals, not only bare commands.
    pub(crate) action_literals: bool,
    /// It resolves the `edit` of a code action later.
    pub(crate) resolves_edit: bool,
    /// It echoes `data` of a code action.
    pub(crate) action_data: bool,
    /// It takes `documentChanges` in a workspace edit.
    pub(crate) document_changes: bool,
    /// It answers `workspace/applyEdit`.
    pub(crate) apply_edit: bool,
    /// It answers `window/showDocument`.
    pub(crate) show_document: bool,
    /// It takes progress that the server begins.
    pub(crate) progress: bool,
    /// It takes the version of diagnostics.
    pub(crate) diagnostic_version: bool,
    /// It takes tags of diagnostics.
    pub(crate) diagnostic_tags: bool,
    /// It shows diagnostics that the server pushes.
    pub(crate) diagnostics: bool,
    /// It pulls diagnostics and can be told to pull them again; then none are pushed for what it has open.
    pub(crate) pulls_diagnostics: bool,
    /// It shows code lenses.
    pub(crate) lenses: bool,
    /// It can be told to ask for code lenses again.
    pub(crate) lens_refresh: bool,
    /// It shows inlay hints.
    pub(crate) hints: bool,
    /// It can be told to ask for inlay hints again.
    pub(crate) hint_refresh: bool,
    /// It reads annotations of edits.
    pub(crate) annotations: bool,
    /// It answers `window/showMessageRequest`.
    pub(crate) message_actions: bool,
    /// The job of ours that it descends from.
    pub(crate) job: Option<String>,
}

impl ClientProfile {
    pub(crate) fn read(params: &InitializeParams) -> Self {
        let capabilities = &params.capabilities;
        let text = capabilities.text_document.as_ref();
        let window = capabilities.window.as_ref();
        let workspace = capabilities.workspace.as_ref();
        let action = text.and_then(|text| text.code_action.as_ref());
        let ours: v1::ClientCapabilities = capabilities
            .experimental
            .as_ref()
            .and_then(|all| all.get("redline"))
            .and_then(|ours| serde_json::from_value(ours.clone()).ok())
            .unwrap_or_default();
        let ours = if ours.version == 1 {
            ours
        } else {
            v1::ClientCapabilities::default()
        };
        let name = params
            .client_info
            .as_ref()
            .map_or("lsp", |info| info.name.as_str());
        // Helix opens documents on request since 24.03, and says so only since 25.07.
        let opens_unsaid = name == "helix";
        Self {
            name: short_name(name),
            encoding: encoding(params),
            review: ours.review,
            session: ours.session,
            action_literals: action
                .is_some_and(|action| action.code_action_literal_support.is_some()),
            resolves_edit: action
                .and_then(|action| action.resolve_support.as_ref())
                .is_some_and(|resolve| resolve.properties.iter().any(|name| name == "edit")),
            action_data: action
                .and_then(|action| action.data_support)
                .unwrap_or(false),
            // Resource operations exist in `documentChanges` alone. Neovim names them and leaves the flag out;
            // without versions it would apply a stale edit to whatever lines are there now.
            document_changes: workspace
                .and_then(|workspace| workspace.workspace_edit.as_ref())
                .is_some_and(|edit| {
                    edit.document_changes.unwrap_or(false)
                        || edit
                            .resource_operations
                            .as_ref()
                            .is_some_and(|operations| !operations.is_empty())
                }),
            apply_edit: workspace
                .and_then(|workspace| workspace.apply_edit)
                .unwrap_or(false),
            show_document: window
                .and_then(|window| window.show_document.as_ref())
                .map_or(opens_unsaid, |show| show.support),
            progress: window
                .and_then(|window| window.work_done_progress)
                .unwrap_or(false),
            diagnostic_version: text
                .and_then(|text| text.publish_diagnostics.as_ref())
                .and_then(|publish| publish.version_support)
                .unwrap_or(false),
            diagnostic_tags: text
                .and_then(|text| text.publish_diagnostics.as_ref())
                .is_some_and(|publish| publish.tag_support.is_some()),
            diagnostics: text.is_some_and(|text| text.publish_diagnostics.is_some()),
            // Without a way to say that something is new, a proposal from outside would stay unseen until the user types.
            pulls_diagnostics: text.is_some_and(|text| text.diagnostic.is_some())
                && workspace
                    .and_then(|workspace| workspace.diagnostics.as_ref())
                    .and_then(|diagnostics| diagnostics.refresh_support)
                    .unwrap_or(false),
            lenses: text.is_some_and(|text| text.code_lens.is_some()),
            lens_refresh: workspace
                .and_then(|workspace| workspace.code_lens.as_ref())
                .and_then(|lens| lens.refresh_support)
                .unwrap_or(false),
            hints: text.is_some_and(|text| text.inlay_hint.is_some()),
            hint_refresh: workspace
                .and_then(|workspace| workspace.inlay_hint.as_ref())
                .and_then(|hint| hint.refresh_support)
                .unwrap_or(false),
            annotations: workspace
                .and_then(|workspace| workspace.workspace_edit.as_ref())
                .is_some_and(|edit| edit.change_annotation_support.is_some()),
            message_actions: window.is_some_and(|window| window.show_message.is_some()),
            job: None,
        }
    }

    /// Whether it is shown hunks in the ways of plain LSP: diagnostics, lenses, hints.
    pub(crate) fn is_plain(&self) -> bool {
        !self.review
    }

    /// The encoding as `initialize` answers it.
    pub(crate) fn encoding_kind(&self) -> PositionEncodingKind {
        match self.encoding {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
            Encoding::Utf32 => PositionEncodingKind::UTF32,
        }
    }
}

/// UTF-8 when the client has it, since text is UTF-8 inside; else its first choice; else UTF-16.
fn encoding(params: &InitializeParams) -> Encoding {
    let offered = params
        .capabilities
        .general
        .as_ref()
        .and_then(|general| general.position_encodings.as_deref())
        .unwrap_or_default();
    if offered.contains(&PositionEncodingKind::UTF8) {
        return Encoding::Utf8;
    }
    offered
        .iter()
        .find_map(|kind| match kind.as_str() {
            "utf-16" => Some(Encoding::Utf16),
            "utf-32" => Some(Encoding::Utf32),
            _ => None,
        })
        .unwrap_or(Encoding::Utf16)
}

/// A name fit for a receipt: lower case, no more than 32 characters, no control characters.
fn short_name(name: &str) -> String {
    name.chars()
        .filter(|c| !c.is_control())
        .take(32)
        .collect::<String>()
        .to_lowercase()
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    /// A plain client that can do everything.
    pub(crate) fn full() -> ClientProfile {
        ClientProfile {
            name: "test".to_owned(),
            encoding: Encoding::Utf16,
            review: false,
            session: false,
            action_literals: true,
            resolves_edit: true,
            action_data: true,
            document_changes: true,
            apply_edit: true,
            show_document: true,
            progress: true,
            diagnostic_version: true,
            diagnostic_tags: true,
            diagnostics: true,
            pulls_diagnostics: true,
            lenses: true,
            lens_refresh: true,
            hints: true,
            hint_refresh: true,
            annotations: true,
            message_actions: true,
            job: None,
        }
    }

    fn read(capabilities: serde_json::Value) -> ClientProfile {
        let params = json!({"capabilities": capabilities});
        ClientProfile::read(&serde_json::from_value(params).unwrap())
    }

    #[test]
    fn diagnostics_are_pulled_only_by_who_can_be_told_to_pull_again() {
        let deaf = json!({"textDocument": {"diagnostic": {}}});
        assert!(!read(deaf).pulls_diagnostics);
        let hears = json!({
            "textDocument": {"diagnostic": {}},
            "workspace": {"diagnostics": {"refreshSupport": true}},
        });
        assert!(read(hears).pulls_diagnostics);
    }
}
