use super::*;

/// A toy tokenizer whose ids below 26 are the letters, 26 to 299 words, and the rest bytes that are no text. Two
/// letters `ab` in a row are one token, so that prompts shrink; the last letter's id says `xy`, which is two tokens,
/// so that they grow.
#[derive(Debug)]
struct Toy {
    state: u64,
    added: u32,
}

const AB: u32 = 400;

fn toy_text(id: u32) -> String {
    match id {
        0..25 => char::from(b'a' + id as u8).to_string(),
        26..300 => format!(" {}", char::from(b'A' + (id % 26) as u8).to_string().repeat(1 + (id as usize - 26) / 26)),
        25 => "xy".to_owned(),
        AB => "ab".to_owned(),
        _ => "\u{fffd}".to_owned(),
    }
}

fn toy_ids(text: &str) -> Vec<u32> {
    let mut ids = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = rest.strip_prefix(' ').map(|w| w.len() - w.trim_start_matches(char::is_uppercase).len());
        let length = match word {
            Some(letters) => {
                let letter = rest.as_bytes()[1] - b'A';
                ids.push(26 + u32::from(letter) + 26 * (letters as u32 - 1));
                1 + letters
            }
            None if rest.starts_with("ab") => {
                ids.push(AB);
                2
            }
            None => {
                ids.push(if first == '\u{fffd}' { 300 } else { first as u32 - 'a' as u32 });
                first.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    ids
}

impl Host for Toy {
    fn integers(&mut self, low: i64, high: i64, count: u32) -> Vec<i64> {
        let mut next = || {
            self.state = self.state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            low + ((self.state >> 33) as i64) % (high - low)
        };
        if high - low <= 1 { vec![low; count as usize] } else { (0..count).map(|_| next()).collect() }
    }
    fn encode(&self, texts: &[String]) -> Vec<Vec<u32>> {
        texts.iter().map(|text| toy_ids(text)).collect()
    }
    fn count(&self, texts: &[String], with_special: bool) -> Vec<u32> {
        let added = if with_special { self.added } else { 0 };
        texts.iter().map(|text| toy_ids(text).len() as u32 + added).collect()
    }
    fn decode(&self, sequences: &[Vec<u32>]) -> Vec<String> {
        sequences.iter().map(|ids| ids.iter().map(|id| toy_text(*id)).collect()).collect()
    }
}

const LENGTHS: Lengths = Lengths { input: 20, output: 7, prefix: 0, input_ratio: 0.0, output_ratio: 0.0 };

/// All 401 ids, or, with `size` 26, letters only.
fn sampler(rules: Rules, lengths: Lengths, size: u32, added: u32, wanted: u64) -> Sampler<Toy> {
    let vocabulary = Vocabulary { size, special: vec![3, 500], added_per_text: added };
    Sampler::new(Toy { state: 1, added }, &vocabulary, rules, &lengths, wanted).unwrap()
}

fn all(mut sampler: Sampler<Toy>, max: usize) -> Vec<Sample> {
    let mut out = Vec::new();
    loop {
        let samples = sampler.next(max).unwrap();
        assert!(samples.len() <= max);
        if samples.is_empty() {
            return out;
        }
        out.extend(samples);
    }
}

fn text(sample: &Sample) -> &str {
    let Prompt::Text(text) = &sample.prompt else { panic!("no text") };
    text
}

#[test]
fn exact_texts_have_exactly_the_length() {
    // From words, and from letters that merge and split.
    for (size, added) in [(401, 0), (401, 2), (26, 0), (26, 2)] {
        let lengths = Lengths { prefix: 9, input_ratio: 0.5, ..LENGTHS };
        let samples = all(sampler(Rules::ExactText, lengths, size, added, 200), 7);
        assert_eq!(samples.len(), 200);
        let prefix: String = text(&samples[0]).chars().take(9).collect();
        let mut seen = std::collections::BTreeSet::new();
        for sample in &samples {
            let count = toy_ids(text(sample)).len() as u32 + added;
            assert_eq!(sample.prompt_tokens, Some(count));
            assert!((9 + 10..=9 + 30).contains(&count), "{count}");
            assert!(text(sample).starts_with(&prefix));
            seen.insert(count);
        }
        assert_eq!(seen.len(), 21, "every length of the interval is drawn");
    }
}

#[test]
fn exact_tokens_have_no_special_ids() {
    let samples = all(sampler(Rules::ExactTokens, Lengths { prefix: 3, ..LENGTHS }, 401, 2, 50), 50);
    let mut prefixes = std::collections::BTreeSet::new();
    for sample in &samples {
        let Prompt::Tokens(ids) = &sample.prompt else { panic!("no ids") };
        assert_eq!((ids.len(), sample.prompt_tokens, sample.output_tokens), (23, Some(23), Some(7)));
        assert!(ids.iter().all(|id| *id < 401 && *id != 3));
        prefixes.insert(ids[..3].to_vec());
    }
    assert_eq!(prefixes.len(), 1);
}

#[test]
fn vllm_011_cuts_long_prompts_and_leaves_short_ones() {
    let mut sampler = sampler(Rules::Vllm011, Lengths { input: 26, ..LENGTHS }, 26, 0, 30);
    let samples = sampler.next(30).unwrap();
    // All letters once around: `ab` merges unless the run starts with `b`, `xy` splits: 26 in all, or 27 cut to 26.
    for sample in &samples {
        assert_eq!(sample.prompt_tokens, Some(26));
    }
    let short = super::vllm::v011(
        &Toy { state: 1, added: 0 },
        &[Request { index: 1, offset: 25, length: 5 }],
        &[],
        &(0..26).collect::<Vec<_>>(),
    );
    assert_eq!(short, [("abcde".to_owned(), 4)]);
}

#[test]
fn vllm_033_tops_short_prompts_up() {
    let mut host = Toy { state: 1, added: 0 };
    let allowed: Vec<u32> = (0..26).collect();
    let requests = [Request { index: 0, offset: 2, length: 5 }, Request { index: 1, offset: 25, length: 5 }];
    let made = super::vllm::v033(&mut host, &requests, &[], 0, (&allowed, 26));
    assert_eq!(made[0], ("cdefg".to_owned(), 5));
    assert!(made[1].0.starts_with("abcde") && made[1].1 == 5, "{made:?}");
    assert_ne!(host.state, 1, "the second one drew");
}

#[test]
fn samples_do_not_depend_on_how_they_are_asked_for() {
    for rules in [Rules::ExactText, Rules::ExactTokens, Rules::Vllm011, Rules::Vllm033] {
        let make = |max| all(sampler(rules, Lengths { input: 9000, prefix: 4, ..LENGTHS }, 26, 0, 40), max);
        assert_eq!(make(1), make(40), "{rules:?}");
    }
}

#[test]
fn notes_count_what_is_off() {
    let mut short = sampler(Rules::Vllm011, Lengths { input: 2, ..LENGTHS }, 26, 0, 500);
    let off = short.next(500).unwrap().iter().filter(|s| s.prompt_tokens != Some(2)).count() as u64;
    assert!(off > 0);
    assert_eq!(short.notes()[0].count, off);
    let mut exact = sampler(Rules::ExactText, LENGTHS, 26, 0, 50);
    exact.next(50).unwrap();
    assert_eq!(exact.notes(), []);
}

#[test]
fn prompts_without_a_token_are_refused() {
    let vocabulary = Vocabulary { size: 26, special: vec![], added_per_text: 2 };
    let open = |rules, input| {
        let lengths = Lengths { input, ..LENGTHS };
        Sampler::new(Toy { state: 1, added: 2 }, &vocabulary, rules, &lengths, 1).map(drop)
    };
    for rules in [Rules::ExactText, Rules::Vllm033] {
        assert!(matches!(open(rules, 2), Err(Error::InvalidSettings(_))), "{rules:?}");
        assert_eq!(open(rules, 3), Ok(()), "{rules:?}");
    }
    assert_eq!(open(Rules::ExactTokens, 1), Ok(()));
    assert_eq!(open(Rules::Vllm011, 2), Ok(()));
}
