//! The settings of the protocol.

use super::Dialect;
use crate::{Setting, Settings};

/// Which endpoint takes the load.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    Chat,
    Completions,
}

impl Api {
    pub(super) fn of(settings: &Settings) -> Api {
        match settings.text("api") {
            Some("completions") => Api::Completions,
            _ => Api::Chat,
        }
    }
}

/// Path before `/chat/completions`, without a trailing slash.
pub(super) fn base_path(settings: &Settings) -> String {
    let path = settings.text("base-path").unwrap_or("/v1").trim_matches('/');
    if path.is_empty() { String::new() } else { format!("/{path}") }
}

pub(super) fn settings(dialect: &Dialect) -> Vec<Setting> {
    let mut settings = vec![
        Setting::choice(
            "api",
            &[
                ("chat", "`/v1/chat/completions`: the server applies the model's chat template."),
                ("completions", "`/v1/completions`: the prompt goes to the model as it is."),
            ],
        )
        .default("chat")
        .doc("Endpoint that the load goes to. Prompts of token ids need `completions`, messages need `chat`."),
    ];
    if dialect.continuous_usage {
        settings.push(Setting::boolean("continuous-usage").default(true).doc(
            "Ask for token counts with every event of a stream. Events that carry several tokens can't be told \
             from others without them.",
        ));
    }
    settings
}
