//! A light look at a frame while the clock runs: does it hold generated content?
//!
//! Only for the limit on the first token and for progress; rows are made from the full decode. It looks
//! for the last key of each content rule with a value that is not null, `""` or `[]`, so it may take
//! another key of the same name for content, never miss one.

use bench_core::decode::{DecodePlan, Take};
use memchr::memmem::Finder;

pub(crate) struct Glance {
    /// `"key"` of each rule for content; empty: any frame counts.
    keys: Vec<Finder<'static>>,
}

impl Glance {
    /// For a plan; without one any frame counts as content.
    pub(crate) fn new(plan: Option<&DecodePlan>) -> Glance {
        let content = |take: Take| matches!(take, Take::Text | Take::Reasoning | Take::ToolCall);
        let rules = plan.map_or(&[][..], |p| &p.rules);
        let mut names: Vec<String> = rules
            .iter()
            .filter(|r| content(r.take))
            .filter_map(|r| r.pointer.rsplit('/').next())
            .map(|key| format!("\"{key}\""))
            .collect();
        names.sort();
        names.dedup();
        Glance { keys: names.iter().map(|n| Finder::new(n.as_bytes()).into_owned()).collect() }
    }

    pub(crate) fn has_content(&self, frame: &[u8]) -> bool {
        self.keys.is_empty() || self.keys.iter().any(|key| key.find_iter(frame).any(|at| filled(&frame[at..], key)))
    }
}

/// `"key" : value` with a value that is something.
fn filled(from_key: &[u8], key: &Finder<'_>) -> bool {
    let rest = from_key[key.needle().len()..].trim_ascii_start();
    let Some(value) = rest.strip_prefix(b":") else { return false };
    let value = value.trim_ascii_start();
    let opens_and_closes = |open: &[u8], close: &[u8]| {
        value.strip_prefix(open).is_some_and(|inside| inside.trim_ascii_start().starts_with(close))
    };
    !value.is_empty() && !value.starts_with(b"null") && !value.starts_with(b"\"\"") && !opens_and_closes(b"[", b"]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench_core::decode::Rule;

    #[test]
    fn sees_content_and_nothing_else() {
        let rule = |p: &str, take| Rule { pointer: p.into(), take, cumulative: false };
        let g = Glance::new(Some(&DecodePlan {
            rules: vec![
                rule("/choices/0/delta/content", Take::Text),
                rule("/choices/0/delta/tool_calls", Take::ToolCall),
                rule("/choices/0/delta/role", Take::Role),
            ],
            finish_reasons: vec![],
        }));
        assert!(g.has_content(br#"{"delta":{"content":" x"}}"#));
        assert!(g.has_content(br#"{"delta":{"content" : "x"}}"#));
        assert!(g.has_content(br#"{"delta":{"content":null,"tool_calls":[{"index":0}]}}"#));
        assert!(!g.has_content(br#"{"delta":{"role":"assistant","content":""}}"#));
        assert!(!g.has_content(br#"{"delta":{"content": null, "tool_calls": [ ]}}"#));
        assert!(!g.has_content(br#"{"usage":{"total":3}}"#));
        assert!(Glance::new(None).has_content(b"anything"));
    }
}
