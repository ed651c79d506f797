//! What one client can do, read once from its `initialize`.
//!
//! Owns: every question "may this be sent to that client".
//! Must not know: editors by name; the name is kept for receipts only.

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
                .is_some_and(|show| show.support),
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
            message_actions: window.is_some_and(|window| window.show_message.is_some()),
            job: None,
        }
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
