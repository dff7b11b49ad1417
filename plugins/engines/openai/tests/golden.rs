//! What the adapter makes of some workloads, against golden files. `UPDATE_GOLDEN=1` writes them anew.

use bench_engine_openai::OpenAi;
use bench_sdk::engine::{Engine, Prompt, Request};
use bench_sdk::testing::{assert_golden, bodies, launch_request, request, settings};
use bench_sdk::{Error, Value};
use serde_json::json;
use std::path::Path;

#[test]
fn requests() {
    let hello = || vec![request(Prompt::Text("Hello".to_owned()))];
    let old = settings::<OpenAi>(&[("max-tokens-field", "max_tokens".into()), ("include-usage", false.into())]);
    let completions = settings::<OpenAi>(&[("api", "completions".into())]);
    let value = json!({
        "chat": bodies::<OpenAi>(&settings::<OpenAi>(&[]), hello()).unwrap(),
        "chat of an old server": bodies::<OpenAi>(&old, hello()).unwrap(),
        "completions": bodies::<OpenAi>(&completions, hello()).unwrap(),
    });
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/requests.json");
    assert_golden(&path, &value, std::env::var_os("UPDATE_GOLDEN").is_some());
}

#[test]
fn it_asks_for_nothing_that_openai_does_not_document() {
    let exact = Request { ignore_eos: true, ..request(Prompt::Text("Hello".to_owned())) };
    assert!(matches!(bodies::<OpenAi>(&settings::<OpenAi>(&[]), vec![exact]), Err(Error::Unsupported(_))));
}

#[test]
fn it_is_only_attached_to() {
    assert!(!OpenAi::describe().launchable && OpenAi::describe().programs.is_empty());
    let launch = OpenAi::launch(&launch_request("m", 0), &settings::<OpenAi>(&[]));
    assert!(matches!(launch, Err(Error::Unsupported(_))));
    let server = OpenAi::server(&settings::<OpenAi>(&[("base-path", "/api/v3".into())])).unwrap();
    assert_eq!(server.ready, "/api/v3/models");
}

#[test]
fn headers_are_sent_but_keys_are_refused() {
    let headers = |name: &str| {
        let value = Value::TextMap(vec![(name.to_owned(), "x".to_owned())]);
        settings::<OpenAi>(&[("headers", value)])
    };
    let endpoints = OpenAi::endpoints(&headers("x-team")).unwrap();
    assert!(endpoints[0].headers.contains(&("x-team".to_owned(), "x".to_owned())));
    assert!(OpenAi::check(&launch_request("m", 0), &headers("x-team")).is_empty());
    for name in ["Authorization", "api-key", "x-api-key"] {
        assert_eq!(OpenAi::check(&launch_request("m", 0), &headers(name)).len(), 1, "{name}");
        assert!(OpenAi::endpoints(&headers(name)).is_err(), "{name}");
    }
}
