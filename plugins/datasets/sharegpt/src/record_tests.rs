use super::*;

#[test]
fn counts_as_python_does() {
    let taken = [
        r#"{"conversations": [1, 2]}"#,
        r#"{"conversations": [], "conversations": [[], {}]}"#,
        r#" {"a": {"conversations": []}, "\u0063onversations": [{"value": "]"}, "["]} "#,
        r#"{"conversations": "ab"}"#,
        r#"{"conversations": {"a": 1, "b": 2}}"#,
        r#"{"conversations": "\ud800\ud800"}"#,
    ];
    for record in taken {
        assert_eq!(has_two_turns(record.as_bytes()), Ok(()), "{record}");
    }
    let refused = [
        (r#"{"conversations": [1, 2], "conversations": [3]}"#, Flaw::FewTurns),
        (r#"{"conversations": "\ud83d\ude00"}"#, Flaw::FewTurns),
        (r#"{"conversations": {"a": 1, "\u0061": 2}}"#, Flaw::FewTurns),
        (r#"{"conversations": 12}"#, Flaw::NotList),
        (r#"{"a": {"conversations": [1, 2]}}"#, Flaw::NoConversations),
        (r#"[{"conversations": [1, 2]}]"#, Flaw::NotObject),
        (r#"{"conversations": [1, 2]} x"#, Flaw::NotJson),
        (r#"{"conversations": [1, 2], "a": nope}"#, Flaw::NotJson),
    ];
    for (record, flaw) in refused {
        assert_eq!(has_two_turns(record.as_bytes()), Err(flaw), "{record}");
    }
}

#[test]
fn the_last_of_equal_keys_counts() {
    let record = br#"{"conversations": [0, 0, 0], "conversations":
        [{"from": "a", "value": "x", "from": "b", "value": "y\n"}, {"value": "z", "value": 5}]}"#;
    let turns = turns(record).unwrap();
    assert_eq!(turns.len(), 2);
    assert_eq!(turns[0].speaker().as_deref(), Some("b"));
    assert_eq!(turns[0].value().unwrap(), "y\n");
    assert_eq!(turns[1].value(), Err(Flaw::NoText));
}
