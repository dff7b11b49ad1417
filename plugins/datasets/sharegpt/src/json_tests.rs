use super::*;

fn valid(text: &[u8]) -> bool {
    let read = |mut reader: Reader<'_>| reader.skip().and_then(|()| reader.finish());
    Reader::new(text).and_then(read).is_ok()
}

fn string(json: &str) -> Text<'_> {
    Reader::new(json.as_bytes()).unwrap().text().unwrap()
}

#[test]
fn takes_and_refuses_what_python_does() {
    let taken = [
        "null",
        " true\n",
        "false",
        "NaN",
        "-Infinity",
        "Infinity",
        "0",
        "-0",
        "10.25e+3",
        "1E5",
        "[]",
        "[ ]",
        "{}",
        "[1, [2, {\"a\": [3]}]]",
        r#"{"a" : 1 , "a" : 2}"#,
        r#""\ud800""#,
        r#""\"\\\/\b\f\n\r\t\u00e9""#,
        "\"\u{7f}é😀\"",
    ];
    for text in taken {
        assert!(valid(text.as_bytes()), "`{text}` is taken");
    }
    let refused = [
        "",
        " ",
        "nul",
        "01",
        "1.",
        ".5",
        "+1",
        "-",
        "1e",
        "-NaN",
        "[1,]",
        "[,]",
        "[1 2]",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{\"a\":1]",
        "[1",
        "\"",
        r#""\x""#,
        r#""\u12g4""#,
        r#""\u123""#,
        "\"a\nb\"",
        "\"\0\"",
        "1 2",
        "'a'",
        "\u{a0}1",
    ];
    for text in refused {
        assert!(!valid(text.as_bytes()), "`{text}` is refused");
    }
    assert!(!valid(b"\"\xff\""), "no UTF-8");
}

#[test]
fn depth_is_bounded() {
    let nested = |n: usize| [vec![b'['; n], vec![b']'; n]].concat();
    assert!(valid(&nested(900)));
    assert!(!valid(&nested(901)));
    assert!(!valid(&vec![b'['; 1 << 20]));
}

#[test]
fn finds_the_end_of_a_string_wherever_it_lies() {
    for length in 0..40 {
        for odd in ["", r"\n", r#"\""#, "é", "\u{ff}"] {
            let text = format!("\"{}{odd}{}\" ", "x".repeat(length), "y".repeat(length % 7));
            let mut reader = Reader::new(text.as_bytes()).unwrap();
            reader.text().unwrap();
            assert_eq!(reader.at, text.len() - 1, "{text}");
        }
        let control = format!("\"{}\u{1f}\"", "x".repeat(length));
        assert_eq!(Reader::new(control.as_bytes()).unwrap().text().unwrap_err().at, length + 1);
    }
}

#[test]
fn decodes_escapes() {
    assert_eq!(string(r#""a\"b\\c\/\b\f\n\r\tz""#).decode().unwrap(), "a\"b\\c/\u{8}\u{c}\n\r\tz");
    assert_eq!(string(r#""\u00E9\u4e2d\ud83d\ude00!""#).decode().unwrap(), "é中😀!");
    assert_eq!(string("\"plain é\"").decode().unwrap(), "plain é");
    for lone in
        [r#""\ud83d""#, r#""\ude00""#, r#""\ud83dx""#, r#""\ud83d\u0041""#, r#""\ud83d\ud83d""#, r#""\ude00\ud83d""#]
    {
        assert_eq!(string(lone).decode(), None, "{lone}");
    }
    // A first half that is alone does not swallow the pair after it.
    assert_eq!(string(r#""\ud83d\ud83d\ude00""#).code_points(), [0xd83d, 0x1f600]);
    assert_eq!(string(r#""a\ud800\n""#).code_points(), [0x61, 0xd800, 0x0a]);
    assert!(string(r#""\u0063onversations""#).is("conversations"));
    assert!(!string(r#""conversation\u0000""#).is("conversations"));
}
