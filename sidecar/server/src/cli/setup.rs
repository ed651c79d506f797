//! `redline mode`, `models` and `env`: what sessions run with.
//!
//! Owns: how these read on a terminal. Must not know: when a change counts; that is the hub's.

use redline_protocol::v1::{
    EnvResult, ListEnvParams, ListModelsParams, ListModelsResult, Mode, Model, PatchEnvParams,
    SetModeParams, SetModeResult, method,
};
use serde_json::json;

use super::{
    Context,
    args::{Env, ModeName},
    sessions::mode_word,
    shapes::snake,
    show::status_of,
    terminal::{Style, clean, wrap},
};
use crate::failure::{Failure, exit};

/// Says how much agents may do by themselves here, or changes it.
pub(crate) fn mode(context: &mut Context<'_>, wanted: Option<ModeName>) -> Result<i32, Failure> {
    let mut client = context.client()?;
    let now = match wanted {
        None => status_of(&mut client).map(|status| status.mode),
        Some(wanted) => {
            let params = SetModeParams {
                session_id: None,
                mode_id: wanted.into(),
            };
            let set = client.request::<SetModeResult>(method::SESSION_SET_MODE, &params);
            set.map(|set| mode_word(set.mode_id).to_owned())
        }
    };
    client.close();
    let now = now?;
    if context.terminal.json {
        context.terminal.object(&json!({ "mode": now }));
    } else {
        let means = match now.as_str() {
            "auto" => "what can be undone runs by itself; a turn commits its own edits at its end",
            "plan" => "nothing runs until a plan is approved; then what the plan lists",
            _ => "everything but proposing edits waits for you",
        };
        context.terminal.say(&format!("{now}: {means}\n"));
    }
    Ok(exit::DONE)
}

impl From<ModeName> for Mode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Manual => Self::Manual,
            ModeName::Plan => Self::Plan,
            ModeName::Auto => Self::Auto,
        }
    }
}

/// Lists the models that can be asked.
pub(crate) fn models(context: &mut Context<'_>) -> Result<i32, Failure> {
    let mut client = context.client()?;
    let progress = super::progress::Progress::start("asking the servers");
    let listed =
        client.request::<ListModelsResult>(method::MODEL_LIST, &ListModelsParams::default());
    drop(progress);
    client.close();
    let listed = listed?;
    if context.terminal.json {
        let object = snake(&listed)?;
        context.terminal.object(&object);
        return Ok(exit::DONE);
    }
    let (paint, width) = (context.terminal.paint, context.terminal.width);
    for model in &listed.models {
        let mut text = paint.text(Style::Title, &clean(&model.id));
        text.push_str(&format!("\n  {}\n", facts(model)));
        context.terminal.say(&text);
    }
    for notice in &listed.notices {
        for line in wrap(notice, "! ", width) {
            let line = paint.text(Style::Warning, &line);
            context.terminal.say(&format!("{line}\n"));
        }
    }
    Ok(exit::DONE)
}

/// What is known of a model; what is not is left out.
fn facts(model: &Model) -> String {
    let mut facts = Vec::new();
    if model.configured {
        facts.push("configured".to_owned());
    }
    facts.push(match model.credentials.as_str() {
        "ready" => "credentials ready".to_owned(),
        other => format!("credentials {}", clean(other)),
    });
    match model.reachable {
        Some(true) => facts.push("answers".to_owned()),
        Some(false) => facts.push("does not answer".to_owned()),
        None => {}
    }
    if let Some(tokens) = model.context_window {
        facts.push(format!("{tokens} tokens"));
    }
    let abilities = [
        (model.tools, "tools"),
        (model.reasoning, "reasoning"),
        (model.images, "images"),
        (model.parallel_calls, "parallel calls"),
    ];
    for (known, name) in abilities {
        match known {
            Some(true) => facts.push(name.to_owned()),
            Some(false) => facts.push(format!("no {name}")),
            None => {}
        }
    }
    facts.join(" · ")
}

/// Lists the variables that commands run in, or changes some.
pub(crate) fn env(context: &mut Context<'_>, options: Env) -> Result<i32, Failure> {
    let mut patch = PatchEnvParams {
        unset: options.unset,
        ..PatchEnvParams::default()
    };
    for pair in &options.set {
        let (name, value) = pair.split_once('=').ok_or_else(|| {
            Failure::usage(
                format!("{pair:?} is not NAME=VALUE"),
                "redline env RUST_LOG=debug --unset PAGER",
            )
        })?;
        patch.set.insert(name.to_owned(), value.to_owned());
    }
    let mut client = context.client()?;
    let answer = if patch.set.is_empty() && patch.unset.is_empty() {
        client.request::<EnvResult>(method::ENV_LIST, &ListEnvParams::default())
    } else {
        client.request::<EnvResult>(method::ENV_PATCH, &patch)
    };
    client.close();
    let env = answer?;
    if context.terminal.json {
        let object = snake(&env)?;
        context.terminal.object(&object);
        return Ok(exit::DONE);
    }
    for variable in &env.variables {
        let line = format!("{}={}", clean(&variable.name), clean(&variable.value));
        let source = context
            .terminal
            .paint
            .text(Style::Dim, &format!("({})", variable.source));
        context.terminal.say(&format!("{line} {source}\n"));
    }
    Ok(exit::DONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_lists_only_what_is_known_of_it() {
        let model = Model {
            id: "local/m".to_owned(),
            name: "m".to_owned(),
            configured: true,
            credentials: "missing MY_KEY".to_owned(),
            reachable: None,
            context_window: Some(8192),
            tools: Some(true),
            reasoning: None,
            images: Some(false),
            parallel_calls: None,
        };
        assert_eq!(
            facts(&model),
            "configured · credentials missing MY_KEY · 8192 tokens · tools · no images"
        );
    }
}
