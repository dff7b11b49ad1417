//! Samples and what is said of them.

use super::manifest::is_kebab;
use crate::tokenizer::Tokenizer;
use bench_core::sample::{Prompt, Sample, SampleNote};

/// Bytes of a sample's id.
const ID_BYTES: usize = 1024;

/// Checks a batch of samples. `max` is what was asked for, `left` what the run still wants.
pub(crate) fn samples(
    samples: Vec<Sample>,
    max: u32,
    left: u64,
    tokenizer: Option<&Tokenizer>,
) -> Result<Vec<Sample>, String> {
    if samples.len() > max as usize {
        return Err(format!("{} samples came for {max}", samples.len()));
    }
    if samples.len() as u64 > left {
        return Err(format!("{} samples came where the run wants {left} more", samples.len()));
    }
    for (i, s) in samples.iter().enumerate() {
        sample(s, tokenizer).map_err(|e| format!("sample {i} of the batch (id `{}`): {e}", s.id.escape_debug()))?;
    }
    Ok(samples)
}

fn sample(s: &Sample, tokenizer: Option<&Tokenizer>) -> Result<(), String> {
    if s.id.is_empty() || s.id.len() > ID_BYTES || s.id.contains(char::is_control) {
        return Err("its id is empty, too long or has control characters".to_owned());
    }
    match &s.prompt {
        Prompt::Tokens(ids) => {
            if ids.is_empty() {
                return Err("its prompt has no tokens".to_owned());
            }
            if s.prompt_tokens.is_some_and(|n| n as usize != ids.len()) {
                return Err(format!("it says {:?} prompt tokens and has {}", s.prompt_tokens, ids.len()));
            }
            let greatest = tokenizer.map_or(u32::MAX, Tokenizer::greatest_id);
            if let Some(id) = ids.iter().find(|id| **id > greatest) {
                return Err(format!("token {id} is not in the vocabulary, whose greatest id is {greatest}"));
            }
        }
        Prompt::Messages(messages) if messages.is_empty() => return Err("its prompt has no messages".to_owned()),
        Prompt::Messages(_) | Prompt::Text(_) => {}
    }
    if s.output_tokens == Some(0) {
        return Err("it asks for 0 output tokens".to_owned());
    }
    if s.turn.is_some() && s.session.is_none() {
        return Err("it has a turn and no session".to_owned());
    }
    if s.timestamp.is_some_and(|t| !t.is_finite() || t < 0.0) {
        return Err("its timestamp is no time from 0 on".to_owned());
    }
    if let Some(sampling) = &s.sampling {
        let p = sampling.top_p.unwrap_or(1.0);
        if !(sampling.temperature.is_finite() && sampling.temperature >= 0.0 && p > 0.0 && p <= 1.0) {
            return Err("its sampling parameters are out of range".to_owned());
        }
    }
    Ok(())
}

/// Checks notes.
pub(crate) fn notes(notes: Vec<SampleNote>) -> Result<Vec<SampleNote>, String> {
    match notes.iter().find(|n| !is_kebab(&n.code)) {
        Some(n) => Err(format!("the code of a note, `{}`, is not kebab-case", n.code.escape_debug())),
        None => Ok(notes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(change: impl FnOnce(&mut Sample)) -> Result<Vec<Sample>, String> {
        let mut s = Sample {
            id: "1".into(),
            prompt: Prompt::Text("hello".into()),
            prompt_tokens: None,
            output_tokens: Some(8),
            sampling: None,
            tools: None,
            json_schema: None,
            session: None,
            turn: None,
            timestamp: None,
            labels: Vec::new(),
        };
        change(&mut s);
        samples(vec![s], 1, 1, None)
    }

    #[test]
    fn lies_are_noticed() {
        one(|_| {}).unwrap();
        assert!(one(|s| s.id.clear()).is_err());
        assert!(one(|s| s.prompt = Prompt::Tokens(Vec::new())).is_err());
        assert!(one(|s| s.prompt = Prompt::Messages(Vec::new())).is_err());
        assert!(one(|s| s.output_tokens = Some(0)).is_err());
        assert!(one(|s| s.turn = Some(0)).is_err());
        assert!(one(|s| s.timestamp = Some(f64::NAN)).is_err());
        let counted = one(|s| {
            s.prompt = Prompt::Tokens(vec![1, 2]);
            s.prompt_tokens = Some(3);
        });
        assert!(counted.unwrap_err().contains("says Some(3)"));
    }

    #[test]
    fn never_more_than_wanted() {
        let s = one(|_| {}).unwrap();
        let two = [s.clone(), s].concat();
        assert!(samples(two.clone(), 1, 9, None).unwrap_err().contains("2 samples came for 1"));
        assert!(samples(two, 2, 1, None).unwrap_err().contains("wants 1 more"));
    }
}
