//! What a line of the file says.

use bench_sdk::dataset::{Message, Part, Prompt, Role, Sample};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::num::NonZeroU32;

/// A line as it is written; other keys are left alone.
#[derive(Deserialize)]
struct Line {
    prompt: Option<String>,
    messages: Option<Vec<Written>>,
    output_tokens: Option<NonZeroU32>,
    session: Option<Value>,
    timestamp: Option<f64>,
    labels: Option<Map<String, Value>>,
}

/// A message in OpenAI's form.
#[derive(Deserialize)]
struct Written {
    role: Speaker,
    content: Value,
    tool_call_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Speaker {
    #[serde(alias = "developer")]
    System,
    User,
    Assistant,
    Tool,
}

/// Why a line gives no sample: one clause, for people.
pub(crate) type Reason = String;

/// Reads a line. The sample's turn is left open.
pub(crate) fn sample(id: String, line: &[u8]) -> Result<Sample, Reason> {
    let line: Line = serde_json::from_slice(line).map_err(|e| e.to_string())?;
    let prompt = match (line.prompt, line.messages) {
        (Some(text), None) => Prompt::Text(text),
        (None, Some(messages)) if !messages.is_empty() => {
            Prompt::Messages(messages.into_iter().map(message).collect::<Result<_, _>>()?)
        }
        (None, Some(_)) => return Err("`messages` is empty".to_owned()),
        (Some(_), Some(_)) => return Err("it has both `prompt` and `messages`".to_owned()),
        (None, None) => return Err("it has neither `prompt` nor `messages`".to_owned()),
    };
    if line.timestamp.is_some_and(|t| t < 0.0) {
        return Err("`timestamp` is negative".to_owned());
    }
    let labels = line.labels.unwrap_or_default().into_iter().map(|(key, value)| {
        let text = scalar(value).ok_or_else(|| format!("label `{key}` is neither a text nor a number"))?;
        Ok((key, text))
    });
    Ok(Sample {
        output_tokens: line.output_tokens.map(NonZeroU32::get),
        session: line.session.map(|id| scalar(id).ok_or("`session` is neither a text nor a number")).transpose()?,
        timestamp: line.timestamp,
        labels: labels.collect::<Result<_, Reason>>()?,
        ..Sample::new(id, prompt)
    })
}

fn message(written: Written) -> Result<Message, Reason> {
    let content = match written.content {
        Value::String(text) => vec![Part::Text(text)],
        Value::Array(parts) => parts.iter().map(part).collect::<Result<_, _>>()?,
        _ => return Err("the `content` of a message is neither a text nor a list of parts".to_owned()),
    };
    let role = match written.role {
        Speaker::System => Role::System,
        Speaker::User => Role::User,
        Speaker::Assistant => Role::Assistant,
        Speaker::Tool => Role::Tool,
    };
    Ok(Message { role, content, tool_call_id: written.tool_call_id })
}

fn part(part: &Value) -> Result<Part, Reason> {
    let text = |pointer: &str| part.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    match text("/type").as_deref() {
        Some("text") => text("/text").map(Part::Text),
        Some("image_url") => text("/image_url/url").map(Part::Image),
        _ => None,
    }
    .ok_or_else(|| "a part of a message is neither `text` nor `image_url`".to_owned())
}

fn scalar(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Sample, Reason> {
        sample("0".to_owned(), line.as_bytes())
    }

    #[test]
    fn reads_all_that_a_line_may_say() {
        let line = r#"{"prompt": "hi", "output_tokens": 7, "session": 12, "timestamp": 1.5, "other": [],
                       "labels": {"kind": "coding", "level": 3, "hard": true}}"#;
        let label = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let expected = Sample {
            output_tokens: Some(7),
            session: Some("12".to_owned()),
            timestamp: Some(1.5),
            labels: vec![label("kind", "coding"), label("level", "3"), label("hard", "true")],
            ..Sample::new("0", Prompt::Text("hi".to_owned()))
        };
        assert_eq!(read(line), Ok(expected));
        assert_eq!(
            read(r#"{"prompt": "\ud83d\ude00", "labels": null}"#),
            Ok(Sample::new("0", Prompt::Text("😀".into())))
        );
    }

    #[test]
    fn reads_messages() {
        let line = r#"{"messages": [{"role": "developer", "content": "be brief"},
            {"role": "user", "content": [{"type": "text", "text": "what is it?"},
                                         {"type": "image_url", "image_url": {"url": "data:,"}}]},
            {"role": "tool", "content": "4", "tool_call_id": "c1"}]}"#;
        let text = |t: &str| Part::Text(t.to_owned());
        let message = |role, content, id: Option<&str>| Message { role, content, tool_call_id: id.map(str::to_owned) };
        let expected = vec![
            message(Role::System, vec![text("be brief")], None),
            message(Role::User, vec![text("what is it?"), Part::Image("data:,".to_owned())], None),
            message(Role::Tool, vec![text("4")], Some("c1")),
        ];
        assert_eq!(read(line), Ok(Sample::new("0", Prompt::Messages(expected))));
    }

    #[test]
    fn says_what_is_wrong() {
        let cases = [
            (r#"{"prompt": "x""#, "EOF"),
            (r#"{}"#, "neither `prompt` nor `messages`"),
            (r#"{"prompt": "x", "messages": [{"role": "user", "content": "x"}]}"#, "both"),
            (r#"{"messages": []}"#, "empty"),
            (r#"{"prompt": 5}"#, "expected a string"),
            (r#"{"prompt": "x", "output_tokens": 0}"#, "nonzero"),
            (r#"{"prompt": "x", "output_tokens": -1}"#, "-1"),
            (r#"{"prompt": "x", "timestamp": -0.5}"#, "negative"),
            (r#"{"prompt": "x", "labels": {"a": []}}"#, "label `a`"),
            (r#"{"prompt": "x", "session": {}}"#, "`session`"),
            (r#"{"messages": [{"role": "wizard", "content": "x"}]}"#, "wizard"),
            (r#"{"messages": [{"role": "user", "content": 1}]}"#, "`content`"),
            (r#"{"messages": [{"role": "user", "content": [{"type": "audio"}]}]}"#, "part"),
            (r#"{"prompt": "\ud800"}"#, "hex escape"),
            ("[]", "0"),
        ];
        for (line, what) in cases {
            let reason = read(line).unwrap_err();
            assert!(reason.contains(what), "{line}: {reason}");
        }
        assert!(sample(String::new(), b"{\"prompt\": \"\xff\"}").is_err());
    }
}
