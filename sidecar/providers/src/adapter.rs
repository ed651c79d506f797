//! The adapters by name: from a configuration to a provider, and from recorded bytes to events.

use std::sync::Arc;

use url::Url;

use crate::anthropic::{self, AnthropicOptions, AnthropicProvider};
use crate::chat::{self, ChatOptions, ChatProvider};
use crate::ollama::{self, OllamaOptions, OllamaProvider};
use crate::responses::{self, ResponsesProvider};
use crate::stream::{Decoder, End, Framing, Progress};
use crate::{BaseUrlError, ChatRequest, Connection, Event, Provider, base_url, count};

/// The APIs that models are asked over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Api {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    OpenAiResponses,
    /// OpenAI Chat Completions.
    OpenAiChat,
    /// Ollama's own.
    Ollama,
}

/// What one API knows and the others do not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApiOptions {
    /// Anthropic: the API's version, a date.
    pub version: Option<String>,
    /// Chat Completions: send reasoning back with the conversation.
    pub replay_reasoning: bool,
    /// Ollama: the context to ask for, in tokens.
    pub num_ctx: Option<u64>,
}

impl Api {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Anthropic,
        Self::OpenAiResponses,
        Self::OpenAiChat,
        Self::Ollama,
    ];

    /// The name in configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => anthropic::NAME,
            Self::OpenAiResponses => responses::NAME,
            Self::OpenAiChat => chat::NAME,
            Self::Ollama => ollama::NAME,
        }
    }

    /// The API of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|api| api.name() == name)
    }

    /// Where the vendor itself answers; none for an API that has no one vendor.
    pub fn default_base_url(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("https://api.anthropic.com"),
            Self::OpenAiResponses => Some("https://api.openai.com/v1"),
            Self::OpenAiChat => None,
            Self::Ollama => Some("http://127.0.0.1:11434"),
        }
    }

    /// The environment variable that usually holds the vendor's key.
    pub fn default_key_env(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::OpenAiResponses => Some("OPENAI_API_KEY"),
            Self::OpenAiChat | Self::Ollama => None,
        }
    }

    /// The URL that is asked under a base URL as users type it.
    ///
    /// # Errors
    ///
    /// [`BaseUrlError`] when `base` is not an http or https URL.
    pub fn endpoint(self, base: &str) -> Result<Url, BaseUrlError> {
        match self {
            Self::Anthropic => base_url::messages(base),
            Self::OpenAiResponses => base_url::responses(base),
            Self::OpenAiChat => base_url::chat_completions(base),
            Self::Ollama => base_url::ollama_chat(base),
        }
    }

    /// Makes a provider; nothing is connected yet.
    ///
    /// # Errors
    ///
    /// [`BaseUrlError`] when the base URL is not one.
    pub fn open(
        self,
        connection: Connection,
        options: ApiOptions,
    ) -> Result<Arc<dyn Provider>, BaseUrlError> {
        let ApiOptions {
            version,
            replay_reasoning,
            num_ctx,
        } = options;
        Ok(match self {
            Self::Anthropic => Arc::new(AnthropicProvider::new(
                connection,
                AnthropicOptions { version },
            )?),
            Self::OpenAiResponses => Arc::new(ResponsesProvider::new(connection)?),
            Self::OpenAiChat => Arc::new(ChatProvider::new(
                connection,
                ChatOptions { replay_reasoning },
            )?),
            Self::Ollama => Arc::new(OllamaProvider::new(connection, OllamaOptions { num_ctx })?),
        })
    }

    /// Reads an answer to `request` from recorded bytes, without a server.
    pub fn decoder(self, request: &ChatRequest) -> AnswerDecoder {
        let sse = Framing::Sse;
        AnswerDecoder(match self {
            Self::Anthropic => {
                Inner::Anthropic(Decoder::new(sse, anthropic::Assembler::new(request)))
            }
            Self::OpenAiResponses => {
                Inner::Responses(Decoder::new(sse, responses::Assembler::new(request)))
            }
            Self::OpenAiChat => Inner::Chat(Decoder::new(sse, chat::Assembler::new(request))),
            Self::Ollama => {
                let assembler = ollama::Assembler::new(request, count::estimate(request));
                Inner::Ollama(Decoder::new(Framing::Lines, assembler))
            }
        })
    }
}

impl std::fmt::Display for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// From the bytes of one answer's stream to events; what a provider does between its socket and its
/// reader.
#[derive(Debug)]
pub struct AnswerDecoder(Inner);

#[derive(Debug)]
enum Inner {
    Anthropic(Decoder<anthropic::Assembler>),
    Responses(Decoder<responses::Assembler>),
    Chat(Decoder<chat::Assembler>),
    Ollama(Decoder<ollama::Assembler>),
}

impl AnswerDecoder {
    /// Takes in one read, cut anywhere, and appends the events that it completes. Returns whether more
    /// is wanted.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<Event>) -> bool {
        let progress = match &mut self.0 {
            Inner::Anthropic(decoder) => decoder.push(bytes, out),
            Inner::Responses(decoder) => decoder.push(bytes, out),
            Inner::Chat(decoder) => decoder.push(bytes, out),
            Inner::Ollama(decoder) => decoder.push(bytes, out),
        };
        progress == Progress::More
    }

    /// Ends the answer as a closed connection does. The last event is always [`Event::Done`].
    pub fn finish(self, out: &mut Vec<Event>) {
        match self.0 {
            Inner::Anthropic(decoder) => decoder.finish(End::Closed, out),
            Inner::Responses(decoder) => decoder.finish(End::Closed, out),
            Inner::Chat(decoder) => decoder.finish(End::Closed, out),
            Inner::Ollama(decoder) => decoder.finish(End::Closed, out),
        }
    }
}
