//! The native decoder: runs a declared plan over the frames of an answer.

use super::place::{Found, Place};
use super::template::Template;
use crate::stream::{Edit, Frame, Frames};
use bench_core::decode::{
    DecodeError, DecodePlan, Decoded, EventKind, FinishReason, FramedResponse, ResponseDecoder, Rule, Take, Usage,
};
use serde_json::Value;
use std::ops::Range;

/// A plan made ready.
#[derive(Debug)]
pub struct PlanDecoder {
    tree: Place,
    rules: Vec<Rule>,
    finish_reasons: Vec<(String, FinishReason)>,
    done: Option<String>,
}

/// What one frame says.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) text: String,
    pub(super) reasoning: String,
    pub(super) tool: bool,
    role: bool,
    pub(super) tokens: Option<u32>,
    pub(super) finish: Option<String>,
    pub(super) usage: Option<Usage>,
    pub(super) error: Option<String>,
    /// Where each text that was taken stands in the frame, from quote to quote; `None` for one whose place
    /// is not known, or that is only new in part.
    pub(super) texts: Vec<Option<Range<usize>>>,
    /// Where values that no rule takes stand in the frame.
    pub(super) ignored: Vec<Range<usize>>,
}

/// What is remembered between the frames of one answer.
struct Progress {
    /// The form of the frame before, where only its text may change.
    template: Option<Template>,
    /// For each cumulative rule, how much of it came before: bytes of text, elements, or a count.
    before: Vec<usize>,
    /// Tokens generated, as the usage of an earlier frame said.
    generated: u32,
    /// The usage that stood beside each event, while every content event has one.
    deltas: Option<Vec<u32>>,
}

/// One answer that is being read.
struct Reading<'p> {
    plan: &'p PlanDecoder,
    progress: Progress,
    decoded: Decoded,
    fault: Option<DecodeError>,
    /// Frames so far.
    count: u32,
}

impl Reading<'_> {
    fn new(plan: &PlanDecoder) -> Reading<'_> {
        let before = vec![0; plan.rules.len()];
        let progress = Progress { template: None, before, generated: 0, deltas: Some(Vec::new()) };
        Reading { plan, progress, decoded: Decoded::default(), fault: None, count: 0 }
    }

    fn frame(&mut self, frame: Frame<'_>) {
        let number = self.count;
        self.count += 1;
        if let Some(text) = self.progress.template.as_mut().and_then(|t| t.text(&frame)) {
            self.plan.add(number, text, &mut self.progress, &mut self.decoded);
            return;
        }
        self.progress.template = None;
        if self.plan.done.as_ref().is_some_and(|d| d.as_bytes() == frame.bytes.trim_ascii()) {
            return;
        }
        match self.plan.facts(frame.bytes, &mut self.progress.before) {
            Ok(facts) => {
                self.progress.template = Template::of(frame.bytes, &facts);
                self.plan.add(number, facts, &mut self.progress, &mut self.decoded);
            }
            Err(e) => {
                self.fault.get_or_insert(DecodeError { frame: Some(number), message: format!("not JSON: {e}") });
            }
        }
    }

    fn finish(self) -> (Decoded, Option<DecodeError>) {
        let Reading { mut decoded, progress, fault, .. } = self;
        if decoded.usage_is_cumulative
            && let Some(deltas) = progress.deltas
        {
            for ((tokens, kind), delta) in decoded.tokens.iter_mut().zip(&decoded.kinds).zip(deltas) {
                if tokens.is_none() && kind.is_content() {
                    *tokens = Some(delta);
                }
            }
        }
        (decoded, fault)
    }
}

impl PlanDecoder {
    /// Makes a plan ready. `done` is the frame that ends a stream and carries nothing.
    pub fn new(plan: &DecodePlan, done: Option<&str>) -> PlanDecoder {
        PlanDecoder {
            tree: Place::tree(&plan.rules),
            rules: plan.rules.clone(),
            finish_reasons: plan.finish_reasons.clone(),
            done: done.map(str::to_owned),
        }
    }

    /// Reads all frames that can be read; the first that can't is told beside.
    pub(crate) fn read(&self, frames: &Frames) -> (Decoded, Option<DecodeError>) {
        let mut reading = Reading::new(self);
        let mut reader = frames.reader();
        while let Some(frame) = reader.next() {
            reading.frame(frame);
        }
        reading.finish()
    }

    fn facts(&self, frame: &[u8], before: &mut [usize]) -> Result<Facts, serde_json::Error> {
        let lossy;
        let frame = match std::str::from_utf8(frame) {
            Ok(_) => frame,
            Err(_) => {
                lossy = String::from_utf8_lossy(frame);
                lossy.as_bytes()
            }
        };
        let mut facts = Facts::default();
        let place = |raw: &str| {
            let from = raw.as_ptr() as usize - frame.as_ptr() as usize;
            from..from + raw.len()
        };
        self.tree.read(frame, &mut |found| {
            let (rule, value, raw) = match found {
                Found::Taken(rule, value, raw) => (rule, value, raw),
                Found::Ignored(raw) => return facts.ignored.push(place(raw)),
            };
            let Rule { take, cumulative, .. } = self.rules[rule];
            if matches!(take, Take::Text | Take::Reasoning) && value.as_str().is_some_and(|s| !s.is_empty()) {
                facts.texts.push(raw.filter(|_| !cumulative).map(place));
            }
            self.rules[rule].take(value, &mut before[rule], &mut facts);
        })?;
        Ok(facts)
    }

    fn add(&self, frame: u32, facts: Facts, progress: &mut Progress, decoded: &mut Decoded) {
        let generated = facts.usage.and_then(|u| u.generated_tokens);
        let mut tokens = facts.tokens;
        let mut delta = generated.map(|g| g.saturating_sub(progress.generated));
        let mut content = false;
        let mut event = |decoded: &mut Decoded, kind: EventKind| {
            let end = if kind == EventKind::Reasoning { decoded.reasoning.len() } else { decoded.text.len() };
            decoded.frames.push(frame);
            decoded.kinds.push(kind);
            decoded.text_ends.push(end);
            if kind.is_content() {
                // A frame with several channels gives its tokens to the first of them.
                decoded.tokens.push(tokens);
                tokens = tokens.map(|_| 0);
                match (delta, &mut progress.deltas) {
                    (Some(d), Some(deltas)) => deltas.push(d),
                    _ => progress.deltas = None,
                }
                delta = delta.map(|_| 0);
                content = true;
            } else {
                decoded.tokens.push(None);
                if let Some(deltas) = &mut progress.deltas {
                    deltas.push(0);
                }
            }
        };
        if !facts.reasoning.is_empty() {
            decoded.reasoning.push_str(&facts.reasoning);
            event(decoded, EventKind::Reasoning);
        }
        if !facts.text.is_empty() {
            decoded.text.push_str(&facts.text);
            event(decoded, EventKind::Text);
        }
        if facts.tool {
            event(decoded, EventKind::Tool);
        }
        if facts.reasoning.is_empty() && facts.text.is_empty() && !facts.tool {
            let kind = match facts {
                Facts { error: Some(_), .. } => EventKind::Other,
                Facts { role: true, .. } => EventKind::Role,
                Facts { usage: Some(_), .. } => EventKind::Usage,
                _ => EventKind::Other,
            };
            event(decoded, kind);
        }
        if let Some(generated) = generated.filter(|_| content) {
            progress.generated = generated;
            decoded.usage_is_cumulative |= facts.finish.is_none();
        }
        if let Some(usage) = facts.usage {
            let all = decoded.usage.get_or_insert_default();
            all.prompt_tokens = usage.prompt_tokens.or(all.prompt_tokens);
            all.cached_tokens = usage.cached_tokens.or(all.cached_tokens);
            all.generated_tokens = usage.generated_tokens.or(all.generated_tokens);
            all.reasoning_tokens = usage.reasoning_tokens.or(all.reasoning_tokens);
        }
        if let Some(word) = facts.finish {
            let meaning = self.meaning(&word);
            decoded.finish = Some((word, meaning));
        }
        if decoded.error.is_none() {
            decoded.error = facts.error;
        }
    }

    fn meaning(&self, word: &str) -> FinishReason {
        let listed = self.finish_reasons.iter().find(|(w, _)| w == word);
        listed.map_or_else(|| default_meaning(word), |(_, meaning)| *meaning)
    }
}

/// What the words mean that a plan doesn't list: OpenAI's, and those that engines use for giving up.
fn default_meaning(word: &str) -> FinishReason {
    match word {
        "stop" => FinishReason::Stop,
        "length" => FinishReason::Length,
        "tool_calls" | "function_call" => FinishReason::ToolCalls,
        "content_filter" => FinishReason::ContentFilter,
        "abort" | "aborted" | "error" | "cancelled" | "timeout" => FinishReason::Aborted,
        _ => FinishReason::Other,
    }
}

impl ResponseDecoder for PlanDecoder {
    fn decode(&mut self, responses: Vec<FramedResponse>) -> Vec<Result<Decoded, DecodeError>> {
        responses
            .iter()
            .map(|r| {
                let mut reading = Reading::new(self);
                let mut before = 0;
                for frame in &r.frames {
                    let whole = [Edit { at: 0, old: before, new: frame.len() }];
                    before = frame.len();
                    reading.frame(Frame { bytes: frame.as_bytes(), edits: &whole });
                }
                match reading.finish() {
                    (_, Some(fault)) => Err(fault),
                    (decoded, None) => Ok(decoded),
                }
            })
            .collect()
    }
}

trait Taking {
    fn take(&self, value: &Value, before: &mut usize, facts: &mut Facts);
}

impl Taking for Rule {
    /// Takes what stands at the rule's place.
    fn take(&self, value: &Value, before: &mut usize, facts: &mut Facts) {
        let number = || // A number that no answer has is no count.
            value.as_u64().and_then(|n| u32::try_from(n).ok());
        match self.take {
            Take::Text => add_text(&mut facts.text, new_text(value, self.cumulative, before)),
            Take::Reasoning => add_text(&mut facts.reasoning, new_text(value, self.cumulative, before)),
            Take::ToolCall => facts.tool |= is_something(value),
            Take::Role => facts.role |= is_something(value),
            Take::TokenIds => {
                let n = value.as_array().map(|a| u32::try_from(a.len()).unwrap_or(u32::MAX));
                facts.tokens = facts.tokens.or(new_count(n, self.cumulative, before));
            }
            Take::TokenCount => facts.tokens = facts.tokens.or(new_count(number(), self.cumulative, before)),
            Take::FinishReason => {
                if let Some(word) = value.as_str().filter(|w| !w.is_empty()) {
                    facts.finish = Some(word.to_owned());
                }
            }
            Take::PromptTokens => set(facts, number(), |u| &mut u.prompt_tokens),
            Take::CachedPromptTokens => set(facts, number(), |u| &mut u.cached_tokens),
            Take::GeneratedTokens => set(facts, number(), |u| &mut u.generated_tokens),
            Take::ReasoningTokens => set(facts, number(), |u| &mut u.reasoning_tokens),
            Take::Error => {
                if !value.is_null() && facts.error.is_none() {
                    facts.error = Some(error_text(value));
                }
            }
        }
    }
}

fn set(facts: &mut Facts, number: Option<u32>, field: impl Fn(&mut Usage) -> &mut Option<u32>) {
    if number.is_some() {
        *field(facts.usage.get_or_insert_default()) = number;
    }
}

/// Adds what a rule took. Engines say the same under an old and a new key; then it is taken once.
fn add_text(so_far: &mut String, text: &str) {
    if so_far != text {
        so_far.push_str(text);
    }
}

/// The text that is new: all of it, or what is beyond what came before.
fn new_text<'v>(value: &'v Value, cumulative: bool, before: &mut usize) -> &'v str {
    let text = value.as_str().unwrap_or_default();
    if !cumulative {
        return text;
    }
    let new = text.get(*before..).unwrap_or_default();
    *before = (*before).max(text.len());
    new
}

fn new_count(count: Option<u32>, cumulative: bool, before: &mut usize) -> Option<u32> {
    let count = count?;
    if !cumulative {
        return Some(count);
    }
    let new = count.saturating_sub(*before as u32);
    *before = (*before).max(count as usize);
    Some(new)
}

fn is_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(s) => !s.is_empty(),
        Value::Array(a) => !a.is_empty(),
        _ => true,
    }
}

/// What an error says: a string, an object's `message`, else its JSON.
pub(super) fn error_text(value: &Value) -> String {
    let text = value.as_str().or_else(|| value.get("message").and_then(Value::as_str));
    text.map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
