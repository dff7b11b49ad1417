use super::{RecordFormat, Records};
use crate::granted::{GrantedFile, Malformed};
use std::io::Write;

const LONGEST: usize = 100;

fn open(content: &[u8], format: RecordFormat) -> Records {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    // The file stays readable after its name is gone.
    GrantedFile::open("path", file.path()).unwrap().records(format, LONGEST)
}

/// All records until the end or the first error.
fn all(content: &[u8], format: RecordFormat) -> (Vec<(u64, String)>, Option<Malformed>) {
    let mut records = open(content, format);
    let mut found = Vec::new();
    loop {
        match records.next(2, 1 << 20) {
            Err(e) => {
                assert_eq!(records.next(2, 1 << 20).unwrap_err(), e, "an error stays");
                return (found, Some(e));
            }
            Ok(batch) if batch.ends.is_empty() => return (found, None),
            Ok(batch) => {
                let mut start = 0;
                for (offset, end) in batch.offsets.iter().zip(&batch.ends) {
                    let bytes = &batch.bytes[start..*end as usize];
                    start = *end as usize;
                    let at = *offset as usize;
                    assert_eq!(&content[at..at + bytes.len()], bytes, "the offset finds the record again");
                    found.push((*offset, String::from_utf8(bytes.to_vec()).unwrap()));
                }
                assert_eq!(start, batch.bytes.len());
            }
        }
    }
}

fn json(content: &str) -> (Vec<String>, Option<(u64, String)>) {
    let (found, error) = all(content.as_bytes(), RecordFormat::JsonArray);
    (found.into_iter().map(|(_, text)| text).collect(), error.map(|e| (e.offset.unwrap(), e.message)))
}

fn lines(content: &str) -> Vec<(u64, String)> {
    let (found, error) = all(content.as_bytes(), RecordFormat::Lines);
    assert_eq!(error, None);
    found
}

#[test]
fn lines_without_their_ends() {
    let owned = |v: &[(u64, &str)]| v.iter().map(|(o, t)| (*o, (*t).to_owned())).collect::<Vec<_>>();
    assert_eq!(
        lines("one\ntwo\r\n\r\n\n three \nfour"),
        owned(&[(0, "one"), (4, "two"), (12, " three "), (20, "four")])
    );
    assert_eq!(lines("\u{feff}one\n"), owned(&[(3, "one")]));
    assert_eq!(lines("a line of more than a chunk\nb"), owned(&[(0, "a line of more than a chunk"), (28, "b")]));
    assert_eq!(lines(""), owned(&[]));
    assert_eq!(lines("\n\n"), owned(&[]));
}

#[test]
fn a_record_may_not_be_too_long() {
    let long = "x".repeat(LONGEST + 1);
    let (found, error) = all(format!("ok\n{long}\n").as_bytes(), RecordFormat::Lines);
    assert_eq!(found.len(), 1);
    assert_eq!(error.unwrap().offset, Some(3));
    for element in [format!("\"{long}\""), format!("[{long}]"), long.clone()] {
        let (found, error) = json(&format!("[1, {element}, 2]"));
        assert_eq!(found, ["1"]);
        let (offset, message) = error.unwrap();
        assert_eq!(offset, 4);
        assert!(message.contains("longer than 100 bytes"), "{message}");
    }
}

const DOCUMENTS: [&str; 9] = [
    "[]",
    " [ ] \n",
    "\u{feff}\t[1]",
    r#"[{"a": [1, {"b": "]}"}]}, "x,y]", -1.5e3 ,true,null, [[],{}]]"#,
    r#"["\"", "\\", "\\\"", "\u005b\\", ""]"#,
    r#"[{"id": "QWJhYvA_0", "conversations": [{"from": "human", "value": "a\nb"}]}]"#,
    "[\n  1,\n  2\n]\n\n\n\n\n\n\n\n\n\n\n",
    r#"[{"\ud83d\ude80": "\ud83d"}]"#,
    r#"["ä🚀", {"ö": ["ü"]}]"#,
];

#[test]
fn elements_are_what_a_json_parser_says() {
    for document in DOCUMENTS {
        let expected: Vec<Box<serde_json::value::RawValue>> =
            serde_json::from_str(document.trim_start_matches('\u{feff}')).unwrap();
        let (found, error) = json(document);
        assert_eq!(error, None, "{document}");
        assert_eq!(found, expected.iter().map(|r| r.get()).collect::<Vec<_>>(), "{document}");
    }
}

#[test]
fn a_file_cut_off_anywhere_is_an_error_at_its_end() {
    for document in DOCUMENTS {
        let whole = json(document).0;
        for cut in 0..document.trim_end().len() {
            let (found, error) = all(&document.as_bytes()[..cut], RecordFormat::JsonArray);
            let found: Vec<String> = found.into_iter().map(|(_, text)| text).collect();
            assert!(whole.starts_with(&found), "{document} cut at {cut}");
            let error = error.unwrap_or_else(|| panic!("{document} cut at {cut} is no error"));
            // Half a byte order mark is no white space; it is the first byte that is wrong.
            let half_a_mark = document.starts_with('\u{feff}') && (1..3).contains(&cut);
            assert_eq!(error.offset, Some(if half_a_mark { 0 } else { cut as u64 }), "{document} cut at {cut}");
        }
    }
}

#[test]
fn what_was_open_is_said() {
    let message = |content| json(content).1.unwrap().1;
    assert_eq!(
        message(" [{\"a\": \"b"),
        "the file is cut off: it ends at byte 10, inside a string of the record that starts at byte 2, of the array that \
         starts at byte 1"
    );
    assert_eq!(message("[{}, "), "the file is cut off: it ends at byte 5, inside the array that starts at byte 0");
    assert_eq!(message(""), "an array is expected, but the file ends here");
}

#[test]
fn garbage_is_an_error_at_its_byte() {
    for (content, records, offset) in [
        ("{\"a\": 1}", 0, 0),
        ("x[1]", 0, 0),
        ("[1] 2", 1, 4),
        ("[{} {}]", 1, 4),
        ("[{}x, {}]", 1, 3),
        ("[1,,2]", 1, 3),
        ("[1,]", 1, 3),
        ("[,1]", 0, 1),
        ("[{]}]", 0, 2),
        ("[}]", 0, 1),
        ("[1}]", 1, 2),
        ("[[1}, 2]", 0, 3),
        ("[tru\"e\"]", 1, 4),
    ] {
        let (found, error) = json(content);
        assert_eq!(found.len(), records, "{content}");
        assert_eq!(error.unwrap().0, offset, "{content}");
    }
    let deep = "[".repeat(2000);
    assert!(open(deep.as_bytes(), RecordFormat::JsonArray).next(1, 1).is_err());
}

#[test]
fn batches_are_bounded() {
    let mut records = open(b"[\"aaaaaaaa\", \"bbbbbbbb\", \"cccccccc\", 1]", RecordFormat::JsonArray);
    assert_eq!(records.next(9, 1).unwrap().ends, [10], "one record always fits");
    let two = records.next(9, 44).unwrap();
    assert_eq!((two.ends, two.offsets), (vec![10, 20], vec![13, 25]));
    assert_eq!(records.next(0, 100).unwrap().ends.len(), 0);
    assert_eq!(records.next(9, 100).unwrap().bytes, b"1");
    assert!(records.next(9, 100).unwrap().ends.is_empty());
}
