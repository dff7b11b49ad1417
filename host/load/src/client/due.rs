//! When an answer has taken too long.

use bench_core::clock::Nanos;
use bench_core::load::Limits;

/// How far an answer is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stage {
    /// When it was asked for.
    pub(crate) from: Nanos,
    /// Generated content came.
    pub(crate) has_content: bool,
    /// When the latest event came.
    pub(crate) last_event: Option<Nanos>,
}

/// What the limits say of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// A limit is reached; in words.
    Over(String),
    /// Look again at this time: no limit can be reached before it.
    Again(Nanos),
}

/// Looks at the limits. It may be asked too early, so limits that count from what has not come yet are
/// taken to begin now.
pub(crate) fn due(limits: &Limits, stage: Stage, now: Nanos) -> Due {
    let whole = (stage.from + limits.request_timeout, limits.request_timeout, "the answer did not end");
    let first = limits.first_token_timeout.filter(|_| !stage.has_content);
    let first = first.map(|l| (stage.from + l, l, "no generated content came"));
    let gap = limits.inter_token_timeout.zip(stage.last_event);
    let gap = gap.map(|(l, event)| (event + l, l, "no further event came"));
    let mut again = limits.inter_token_timeout.map_or(Nanos(u64::MAX), |l| now + l);
    for (due, limit, what) in [Some(whole), first, gap].into_iter().flatten() {
        if now >= due {
            return Due::Over(format!("{what} within {limit}"));
        }
        again = again.min(due);
    }
    Due::Again(again)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_limit_that_is_reached_is_told() {
        let s = Nanos::from_secs;
        let limits = Limits {
            request_timeout: s(60),
            first_token_timeout: Some(s(5)),
            inter_token_timeout: Some(s(2)),
            ..Limits::default()
        };
        let at = |has_content, last_event: Option<u64>, now| {
            due(&limits, Stage { from: s(10), has_content, last_event: last_event.map(s) }, s(now))
        };
        assert_eq!(at(false, None, 10), Due::Again(s(12)));
        assert_eq!(at(false, None, 14), Due::Again(s(15)));
        assert_eq!(at(false, None, 15), Due::Over("no generated content came within 5s".into()));
        assert_eq!(at(true, Some(15), 16), Due::Again(s(17)));
        assert_eq!(at(true, Some(15), 17), Due::Over("no further event came within 2s".into()));
        assert_eq!(at(true, Some(69), 70), Due::Over("the answer did not end within 60s".into()));
    }
}
