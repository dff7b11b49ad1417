//! How an attempt ended, in the order of precedence that [`Outcome`] documents.

use bench_core::decode::{Decoded, FinishReason};
use bench_core::outcome::Outcome;
use serde_json::Value;

/// How an exchange ended, before its content is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The answer came whole.
    Clean,
    /// There was no connection.
    NoConnection(String),
    /// One of our time limits.
    TimedOut(String),
    /// The user stopped it.
    Cancelled,
    /// Never sent; why.
    Dropped(&'static str),
    /// The connection broke.
    Reset(String),
    /// A reused connection was closed before the answer's first byte.
    Stale(String),
    /// Framing that can't be read.
    Invalid(String),
}

/// The outcome, and what went wrong.
pub(crate) fn classify(
    ending: &Ending,
    status: Option<u16>,
    body: &dyn Fn() -> Vec<u8>,
    decoded: &Decoded,
    fault: Option<String>,
) -> (Outcome, Option<String>) {
    match ending {
        Ending::NoConnection(why) => return (Outcome::ConnectError, Some(why.clone())),
        Ending::TimedOut(why) => return (Outcome::Timeout, Some(why.clone())),
        Ending::Cancelled => return (Outcome::Cancelled, Some("stopped by the user".to_owned())),
        Ending::Dropped(why) => return (Outcome::Dropped, Some((*why).to_owned())),
        Ending::Reset(why) => return (Outcome::Reset, Some(why.clone())),
        Ending::Stale(why) => return (Outcome::StaleConnection, Some(why.clone())),
        Ending::Clean | Ending::Invalid(_) => {}
    }
    if let Some(status) = status.filter(|s| !(200..300).contains(s)) {
        return (Outcome::HttpError, Some(format!("http status {status}{}", said(&body()))));
    }
    if let Some(error) = &decoded.error {
        return (Outcome::ServerError, Some(error.clone()));
    }
    if let Ending::Invalid(why) = ending {
        return (Outcome::InvalidResponse, Some(why.clone()));
    }
    if let Some(fault) = fault {
        return (Outcome::InvalidResponse, Some(fault));
    }
    let content = decoded.kinds.iter().any(|k| k.is_content());
    match &decoded.finish {
        Some((word, FinishReason::Aborted)) => {
            (Outcome::Aborted, Some(format!("the server gave up: finish reason `{word}`")))
        }
        Some(_) => (Outcome::Complete, None),
        None if content => (Outcome::Truncated, Some("the answer ended without a finish reason".to_owned())),
        None => (Outcome::Empty, Some("the answer has neither content nor a finish reason".to_owned())),
    }
}

/// What an error's body says, in the forms that servers use, shortened.
fn said(body: &[u8]) -> String {
    const MOST: usize = 500;
    let text = match serde_json::from_slice::<Value>(body) {
        Ok(json) => {
            let place = ["error", "message", "detail"].iter().find_map(|k| json.get(k)).unwrap_or(&json);
            super::plan::error_text(place)
        }
        Err(_) => String::from_utf8_lossy(body).trim().to_owned(),
    };
    if text.is_empty() {
        return String::new();
    }
    let short: String = text.chars().take(MOST).collect();
    format!(": {short}{}", if text.chars().nth(MOST).is_some() { "…" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench_core::decode::EventKind;

    fn decoded(content: bool, finish: Option<FinishReason>, error: Option<&str>) -> Decoded {
        Decoded {
            kinds: if content { vec![EventKind::Text] } else { vec![EventKind::Role] },
            finish: finish.map(|f| ("word".to_owned(), f)),
            error: error.map(str::to_owned),
            ..Decoded::default()
        }
    }

    fn outcome(ending: Ending, status: u16, d: &Decoded, fault: Option<&str>) -> Outcome {
        classify(&ending, Some(status), &Vec::new, d, fault.map(str::to_owned)).0
    }

    #[test]
    fn the_first_of_the_order_holds() {
        use FinishReason::{Aborted, Stop};
        let all_wrong = decoded(false, Some(Aborted), Some("died"));
        let invalid = || Ending::Invalid("x".into());
        assert_eq!(outcome(Ending::Reset("x".into()), 500, &all_wrong, Some("x")), Outcome::Reset);
        assert_eq!(outcome(Ending::TimedOut("x".into()), 500, &all_wrong, None), Outcome::Timeout);
        assert_eq!(outcome(Ending::Cancelled, 500, &all_wrong, None), Outcome::Cancelled);
        assert_eq!(outcome(invalid(), 500, &all_wrong, Some("x")), Outcome::HttpError);
        assert_eq!(outcome(invalid(), 200, &all_wrong, Some("x")), Outcome::ServerError);
        assert_eq!(outcome(invalid(), 200, &decoded(true, Some(Aborted), None), None), Outcome::InvalidResponse);
        let clean = |d: &Decoded, fault| outcome(Ending::Clean, 200, d, fault);
        assert_eq!(clean(&decoded(true, Some(Aborted), None), Some("x")), Outcome::InvalidResponse);
        assert_eq!(clean(&decoded(true, Some(Aborted), None), None), Outcome::Aborted);
        assert_eq!(clean(&decoded(true, None, None), None), Outcome::Truncated);
        assert_eq!(clean(&decoded(false, None, None), None), Outcome::Empty);
        assert_eq!(clean(&decoded(false, Some(Stop), None), None), Outcome::Complete);
        assert_eq!(clean(&decoded(true, Some(Stop), None), None), Outcome::Complete);
    }

    #[test]
    fn an_http_error_says_what_the_server_said() {
        let say =
            |body: &str| classify(&Ending::Clean, Some(404), &|| body.as_bytes().to_vec(), &Decoded::default(), None).1;
        assert_eq!(say(r#"{"error":{"message":"no such model"}}"#).unwrap(), "http status 404: no such model");
        assert_eq!(say(r#"{"object":"error","message":"flat"}"#).unwrap(), "http status 404: flat");
        assert_eq!(say(r#"{"detail":"Not Found"}"#).unwrap(), "http status 404: Not Found");
        assert_eq!(say("Internal Server Error\n").unwrap(), "http status 404: Internal Server Error");
        assert_eq!(say("").unwrap(), "http status 404");
    }
}
