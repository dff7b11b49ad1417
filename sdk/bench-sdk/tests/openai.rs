//! Requests as OpenAI-compatible servers get them.

use bench_sdk::engine::{Encoded, Message, Part, Prompt, Request, Role, Sampling};
use bench_sdk::openai::Dialect;
use bench_sdk::testing::request;
use bench_sdk::{Error, Settings};

const FULL: Dialect = Dialect {
    token_prompts: true,
    ignore_eos: true,
    min_tokens: true,
    top_k: true,
    continuous_usage: true,
    images: true,
};

fn body(dialect: &Dialect, settings: &Settings, request: Request) -> Result<String, Error> {
    let encoded = dialect.encode("m", settings, &[request])?;
    let [Encoded { endpoint: 0, body }] = encoded.as_slice() else { panic!("one request, one body: {encoded:?}") };
    let text = String::from_utf8(body.clone()).expect("a body is text");
    serde_json::from_str::<serde_json::Value>(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    Ok(text)
}

fn text() -> Prompt {
    Prompt::Text("say \"hi\"\n😀".to_owned())
}

fn completions() -> Settings {
    Settings::default().with("api", "completions")
}

#[test]
fn a_chat_request_has_the_keys_of_vllms_own_client_in_their_order() {
    assert_eq!(
        body(&Dialect::OPENAI, &Settings::default(), request(text())).unwrap(),
        r#"{"model":"m","messages":[{"role":"user","content":"say \"hi\"\n😀"}],"temperature":0.0,"max_completion_tokens":16,"stream":true,"stream_options":{"include_usage":true}}"#
    );
}

#[test]
fn a_completion_request_has_a_prompt() {
    let settings = completions();
    assert_eq!(
        body(&FULL, &settings, Request { streaming: false, ..request(text()) }).unwrap(),
        r#"{"model":"m","prompt":"say \"hi\"\n😀","temperature":0.0,"max_tokens":16,"stream":false}"#
    );
    let ids = body(&FULL, &settings, request(Prompt::Tokens(vec![1, 151_642]))).unwrap();
    assert!(ids.starts_with(r#"{"model":"m","prompt":[1,151642],"#), "{ids}");
}

#[test]
fn everything_that_can_be_asked_is_asked() {
    let message = |role, content, tool_call_id: Option<&str>| Message {
        role,
        content,
        tool_call_id: tool_call_id.map(str::to_owned),
    };
    let all = Request {
        min_tokens: Some(16),
        ignore_eos: true,
        sampling: Sampling { temperature: 0.7, top_p: Some(0.95), top_k: Some(20), seed: Some(u64::MAX) },
        stop: vec!["\n".to_owned(), "</s>".to_owned()],
        tools: Some(r#"[{"type":"function"}]"#.to_owned()),
        json_schema: Some(r#"{"type":"object"}"#.to_owned()),
        extra: vec![
            ("chat_template_kwargs".to_owned(), r#"{"enable_thinking":false}"#.to_owned()),
            ("temperature".to_owned(), "1".to_owned()),
        ],
        ..request(Prompt::Messages(vec![
            message(Role::System, vec![Part::Text("be brief".to_owned())], None),
            message(
                Role::User,
                vec![Part::Text("what?".to_owned()), Part::Image("data:image/png;base64,AA==".to_owned())],
                None,
            ),
            message(Role::Assistant, vec![Part::Text("I look".to_owned())], None),
            message(Role::Tool, vec![Part::Text("a cat".to_owned())], Some("call-1")),
        ]))
    };
    assert_eq!(
        body(&FULL, &Settings::default(), all).unwrap(),
        concat!(
            r#"{"model":"m","messages":[{"role":"system","content":"be brief"},"#,
            r#"{"role":"user","content":[{"type":"text","text":"what?"},"#,
            r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]},"#,
            r#"{"role":"assistant","content":"I look"},"#,
            r#"{"role":"tool","content":"a cat","tool_call_id":"call-1"}],"#,
            r#""top_p":0.95,"top_k":20,"seed":18446744073709551615,"max_completion_tokens":16,"min_tokens":16,"#,
            r#""stop":["\n","</s>"],"stream":true,"#,
            r#""stream_options":{"include_usage":true,"continuous_usage_stats":true},"ignore_eos":true,"#,
            r#""tools":[{"type":"function"}],"response_format":{"type":"json_schema","#,
            r#""json_schema":{"name":"answer","schema":{"type":"object"}}},"#,
            r#""chat_template_kwargs":{"enable_thinking":false},"temperature":1}"#
        )
    );
}

#[test]
fn settings_choose_fields_and_paths() {
    let settings = Settings::default()
        .with("max-tokens-field", "max_tokens")
        .with("include-usage", false)
        .with("base-path", "/api/v3/");
    let text = body(&Dialect::OPENAI, &settings, request(text())).unwrap();
    assert!(text.contains(r#""max_tokens":16,"#) && !text.contains("stream_options"), "{text}");
    assert_eq!(Dialect::OPENAI.endpoints(&settings)[0].path, "/api/v3/chat/completions");
    assert_eq!(Dialect::OPENAI.models(&settings, None).path, "/api/v3/models");
    assert_eq!(Dialect::OPENAI.endpoints(&completions())[0].path, "/v1/completions");
    assert_eq!(Dialect::OPENAI.endpoints(&Settings::default().with("base-path", ""))[0].path, "/chat/completions");
    let quiet = Settings::default().with("continuous-usage", false);
    assert!(!body(&FULL, &quiet, request(Prompt::Text(String::new()))).unwrap().contains("continuous_usage_stats"));
}

#[test]
fn what_a_dialect_does_not_know_is_refused() {
    let asked = |change: &dyn Fn(&mut Request)| {
        let mut request = request(text());
        change(&mut request);
        body(&Dialect { images: false, ..Dialect::OPENAI }, &Settings::default(), request)
    };
    let image = || {
        let content = vec![Part::Image("data:,".to_owned())];
        Prompt::Messages(vec![Message { role: Role::User, content, tool_call_id: None }])
    };
    for (change, word) in [
        (&(|r: &mut Request| r.ignore_eos = true) as &dyn Fn(&mut Request), "ignore-eos"),
        (&|r: &mut Request| r.min_tokens = Some(1), "min-tokens"),
        (&|r: &mut Request| r.sampling.top_k = Some(1), "top-k"),
        (&|r: &mut Request| r.prompt = Prompt::Tokens(vec![1]), "token ids"),
        (&|r: &mut Request| r.prompt = image(), "picture"),
    ] {
        match asked(change) {
            Err(Error::Unsupported(what)) => assert!(what.contains(word), "{what}"),
            other => panic!("{word}: {other:?}"),
        }
    }
    assert!(asked(&|_| {}).is_ok());
}

#[test]
fn a_prompt_that_the_endpoint_cannot_take_names_the_setting() {
    let messages = Prompt::Messages(Vec::new());
    for (settings, prompt, other) in
        [(Settings::default(), Prompt::Tokens(vec![1]), "completions"), (completions(), messages, "chat")]
    {
        match body(&FULL, &settings, request(prompt)) {
            Err(Error::InvalidSettings(diagnostics)) => {
                assert_eq!(diagnostics[0].key.as_deref(), Some("api"));
                assert!(diagnostics[0].help.as_deref().is_some_and(|help| help.contains(other)));
            }
            wrong => panic!("{wrong:?}"),
        }
    }
}

#[test]
fn text_that_should_be_json_is_checked() {
    for broken in ["", "{", "[1,]", "nul", "1 2"] {
        let extra = Request { extra: vec![("x".to_owned(), broken.to_owned())], ..request(text()) };
        let tools = Request { tools: Some(broken.to_owned()), ..request(text()) };
        let schema = Request { json_schema: Some(broken.to_owned()), ..request(text()) };
        for request in [extra, tools, schema] {
            assert!(matches!(body(&FULL, &Settings::default(), request), Err(Error::Malformed(_))), "{broken}");
        }
    }
}
