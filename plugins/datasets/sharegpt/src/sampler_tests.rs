use super::*;

/// A data set of records in memory; a token is a word; the generators are simple and seedless.
struct Memory(Vec<u8>);

impl Host for Memory {
    fn name(&self) -> String {
        "memory".to_owned()
    }
    fn read(&self, offset: u64, length: u32) -> Result<Vec<u8>, Error> {
        Ok(self.0[offset as usize..][..length as usize].to_vec())
    }
    fn count(&self, texts: &[String]) -> Vec<u32> {
        texts.iter().map(|text| text.split_whitespace().count() as u32).collect()
    }
    fn shuffle(&self, n: u32) -> Vec<u32> {
        (0..n).rev().collect()
    }
    fn choices(&self, n: u32, count: u32) -> Vec<u32> {
        (0..count).map(|i| i % n).collect()
    }
    fn choice(&self, n: u32, count: u32) -> Vec<u32> {
        (0..count).map(|i| n - 1 - i % n).collect()
    }
}

const OPTIONS: Options =
    Options { rules: Rules::Vllm011, output_len: None, oversample: true, shuffle: true, wanted: 100 };

fn sampler(records: &[&str], options: Options) -> Sampler<Memory> {
    let (mut index, mut bytes) = (Index::default(), Vec::new());
    for record in records {
        index.add(bytes.len() as u64, record.as_bytes());
        bytes.extend_from_slice(record.as_bytes());
    }
    Sampler::new(Memory(bytes), index, options)
}

fn record(turns: &[(&str, &str)]) -> String {
    let turns: Vec<String> =
        turns.iter().map(|(from, value)| format!(r#"{{"from": "{from}", "value": "{value}"}}"#)).collect();
    format!(r#"{{"id": "x", "conversations": [{}]}}"#, turns.join(", "))
}

fn words(n: usize) -> String {
    vec!["w"; n].join(" ")
}

/// Ids and token counts of all samples.
fn all(sampler: &mut Sampler<Memory>) -> Vec<(String, u32, u32)> {
    let mut out = Vec::new();
    loop {
        let samples = sampler.next(3).unwrap();
        assert!(samples.len() <= 3);
        if samples.is_empty() {
            return out;
        }
        out.extend(samples.into_iter().map(|s| (s.id, s.prompt_tokens.unwrap(), s.output_tokens.unwrap())));
    }
}

fn ids(samples: &[(String, u32, u32)]) -> Vec<&str> {
    samples.iter().map(|(id, ..)| id.as_str()).collect()
}

fn note(sampler: &Sampler<Memory>, code: &str) -> Option<(String, u64, u64)> {
    let note = sampler.notes().into_iter().find(|n| n.code == code)?;
    Some((note.message, note.count, note.offset.unwrap()))
}

#[test]
fn keeps_by_length_in_shuffled_order() {
    let lengths = [(4, 4), (3, 9), (9, 3), (1024, 1024), (1025, 5), (1000, 1049), (5, 6)];
    let records: Vec<String> =
        lengths.iter().map(|&(p, a)| record(&[("human", &words(p)), ("gpt", &words(a))])).collect();
    let records: Vec<&str> = records.iter().map(String::as_str).collect();
    let options = Options { oversample: false, ..OPTIONS };
    let mut plain = sampler(&records, options);
    let expected = vec![("6".to_owned(), 5, 6), ("3".to_owned(), 1024, 1024), ("0".to_owned(), 4, 4)];
    assert_eq!(all(&mut plain), expected);
    assert_eq!(note(&plain, "length-filter").unwrap().1, 4);

    // A fixed length waives the answer's least length, and only that.
    let mut fixed = sampler(&records, Options { output_len: Some(2), ..options });
    assert_eq!(ids(&all(&mut fixed)), ["6", "5", "3", "2", "0"]);
    let mut long = sampler(&records, Options { output_len: Some(1100), ..options });
    assert_eq!(ids(&all(&mut long)), ["6", "2", "0"]);
    let mut unshuffled = sampler(&records, Options { shuffle: false, ..options });
    assert_eq!(ids(&all(&mut unshuffled)), ["0", "3", "6"]);
    let mut two = sampler(&records, Options { wanted: 2, ..OPTIONS });
    assert_eq!(ids(&all(&mut two)), ["6", "3"]);
    assert_eq!(note(&two, "length-filter").unwrap().1, 2, "records after the last wanted one were not visited");
}

#[test]
fn repeats_where_the_data_has_too_few() {
    let records: Vec<String> = (5..8).map(|n| record(&[("human", &words(n)), ("gpt", &words(n))])).collect();
    let records: Vec<&str> = records.iter().map(String::as_str).collect();
    let options = Options { wanted: 7, ..OPTIONS };
    let mut old = sampler(&records, options);
    assert_eq!(ids(&all(&mut old)), ["2", "1", "0", "2", "1", "0", "2"]);
    assert_eq!(note(&old, "oversampled").unwrap().1, 4);
    let mut new = sampler(&records, Options { rules: Rules::Vllm033, ..options });
    assert_eq!(ids(&all(&mut new)), ["2", "1", "0", "0", "1", "2", "0"]);
    let none = sampler(&["{}"], options).next(1).unwrap_err();
    assert!(matches!(none, Error::Malformed(m) if m.message.contains("no record")));
}

#[test]
fn survives_bad_records_and_says_so() {
    let good = record(&[("human", "a b c d"), ("gpt", "a b c d")]);
    let lone = record(&[("human", r"a b c d \ud800"), ("gpt", "a b c d")]);
    let late = record(&[("human", "a b c d"), ("gpt", "a b c d"), ("human", r"\udfff")]);
    let records = [
        good.as_str(),
        r#"{"id": "no conversations"}"#,
        r#"{"conversations": [{"from": "human", "value": "x"}]}"#,
        r#"{"conversations": [1, 2]}"#,
        r#"{"conversations": "text"}"#,
        r#"{"conversations": null}"#,
        r#"{"conversations": [}"#,
        "17",
        &lone,
        &late,
    ];
    let mut sampler = sampler(&records, Options { oversample: false, ..OPTIONS });
    // Half a pair in a turn that is not used does no harm.
    assert_eq!(ids(&all(&mut sampler)), ["9", "0"]);
    let notes: Vec<(String, u64)> = sampler.notes().into_iter().map(|n| (n.message, n.count)).collect();
    let expected = [
        (Flaw::NoConversations, 1),
        (Flaw::FewTurns, 1),
        (Flaw::NotList, 2),
        (Flaw::NotJson, 1),
        (Flaw::NotObject, 1),
        (Flaw::LoneSurrogate, 1),
        (Flaw::NoText, 1),
    ];
    assert_eq!(notes, expected.map(|(flaw, count)| (flaw.message().to_owned(), count)));
    assert_eq!(note(&sampler, "few-turns").unwrap().2, (records[0].len() + records[1].len()) as u64);
}

#[test]
fn says_how_many_prompts_are_an_assistants() {
    let records = [
        record(&[("gpt", "g g g g"), ("human", "h h h h"), ("gpt", "i i i i i")]),
        record(&[("system", "s s s s"), ("human", "p p p p p"), ("gpt", "q q q q")]),
        record(&[("human", "a a a a"), ("human", "b b b b"), ("bing", "c c c c")]),
        record(&[("gpt", "a a a a"), ("gpt", "b b b b")]),
    ];
    let records: Vec<&str> = records.iter().map(String::as_str).collect();
    let options = Options { oversample: false, shuffle: false, ..OPTIONS };
    let mut first = sampler(&records, Options { rules: Rules::Vllm033, ..options });
    let samples = first.next(10).unwrap();
    let speakers: Vec<&str> = samples.iter().map(|s| s.labels[0].1.as_str()).collect();
    assert_eq!(speakers, ["gpt", "system", "human", "gpt"]);
    assert_eq!(note(&first, "assistant-prompt").unwrap().1, 2);

    let mut people = sampler(&records, Options { rules: Rules::Dialogue, ..options });
    let samples = people.next(10).unwrap();
    let prompts: Vec<_> = samples.iter().map(|s| (&s.prompt, s.output_tokens.unwrap())).collect();
    let text = |t: &str| Prompt::Text(t.to_owned());
    assert_eq!(prompts, [(&text("h h h h"), 5), (&text("p p p p p"), 4), (&text("b b b b"), 4)]);
    assert_eq!(note(&people, "no-person").unwrap().1, 1);
    assert_eq!(note(&people, "assistant-prompt"), None);
}
