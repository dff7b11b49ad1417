//! What a server says it is.

use crate::error::LaunchError;
use crate::options::HttpGet;
use bench_core::launch::ModelList;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// A GET of a small document.
const ANSWER: Duration = Duration::from_secs(10);

/// One served model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedModel {
    /// Name to ask for.
    pub id: String,
    /// Longest prompt and answer together, in tokens.
    pub context: Option<u64>,
}

/// What a server says it is; `None` where it does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The model that the load asks for.
    pub model: Option<ServedModel>,
    /// Version of the engine.
    pub version: Option<String>,
}

/// Reads the list of models.
pub(crate) fn models(http: &dyn HttpGet, root: &str, list: &ModelList) -> Result<Vec<ServedModel>, LaunchError> {
    let url = format!("{root}{}", list.path);
    let document = document(http, &url)?;
    let wrong = |what: String| LaunchError::Server { url: url.clone(), what };
    let elements = document
        .pointer(&list.list)
        .and_then(Value::as_array)
        .ok_or_else(|| wrong(format!("has no list of models at `{}`", list.list)))?;
    let model = |element: &Value| {
        let id = element.pointer(&list.id).and_then(Value::as_str);
        let id = id.ok_or_else(|| wrong(format!("lists a model without a name at `{}`", list.id)))?;
        let context = list.context.as_ref().and_then(|pointer| element.pointer(pointer)).and_then(Value::as_u64);
        Ok(ServedModel { id: id.to_owned(), context })
    };
    elements.iter().map(model).collect()
}

/// The one asked for, or an error that says which there are.
pub(crate) fn choose(served: Vec<ServedModel>, asked: &str, root: &str) -> Result<ServedModel, LaunchError> {
    if let Some(model) = served.iter().find(|model| model.id == asked) {
        return Ok(model.clone());
    }
    Err(LaunchError::OtherModel {
        url: root.to_owned(),
        model: asked.to_owned(),
        served: served.into_iter().map(|model| model.id).collect(),
    })
}

/// The version in a document of the server; `None` where it has none.
pub(crate) fn version(http: &dyn HttpGet, root: &str, path: &str, pointer: &str) -> Option<String> {
    match document(http, &format!("{root}{path}")).ok()?.pointer(pointer)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn document(http: &dyn HttpGet, url: &str) -> Result<Value, LaunchError> {
    let wrong = |what: String| LaunchError::Server { url: url.to_owned(), what };
    let (status, body) = http.get(url, ANSWER).map_err(|error| wrong(format!("can't be had: {error}")))?;
    match status {
        200..=299 => serde_json::from_slice(&body).map_err(|error| wrong(format!("is not JSON: {error}"))),
        401 | 403 => Err(wrong(format!("answers with status {status}: the API key is missing or wrong"))),
        _ => Err(wrong(format!("answers with status {status}"))),
    }
}

/// The first dotted number of a text: `0.11.0` of `vLLM 0.11.0rc1`.
pub(crate) fn dotted_number(text: &str) -> Option<&str> {
    text.split(|c: char| !c.is_ascii_digit() && c != '.')
        .map(|run| run.trim_matches('.'))
        .find(|run| run.contains('.') && !run.contains(".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_in_the_wild() {
        for (text, version) in [
            ("0.11.0", Some("0.11.0")),
            ("vllm 0.11.0rc1+cu129", Some("0.11.0")),
            ("INFO 12 ready...\nversion: 1.2.\n", Some("1.2")),
            ("version: 6123 (abc)", None),
            ("", None),
        ] {
            assert_eq!(dotted_number(text), version, "{text}");
        }
    }
}
