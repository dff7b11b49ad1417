//! Reasons that lie in the answers: held back, not streamed, shorter than asked, counted by a guess.

use super::{Case, Level, Reason};

/// Share of streams that came at once: some are odd, many make TTFT and ITL worthless.
const BUFFERED: (f64, f64) = (0.01, 0.5);
/// Output below this share of what was asked is another load.
const SHORT: f64 = 0.9;

pub(super) fn judge(case: &Case<'_>, reasons: &mut Vec<Reason>) {
    streams(case, reasons);
    tokens(case, reasons);
    lengths(case, reasons);
}

fn streams(case: &Case<'_>, reasons: &mut Vec<Reason>) {
    let evidence = &case.columns.evidence;
    let share = evidence.buffered as f64 / evidence.long_streams.max(1) as f64;
    if share > BUFFERED.0 {
        let level = if share > BUFFERED.1 { Level::Invalid } else { Level::Doubtful };
        reasons.push(Reason::new(
            level,
            "buffered-stream",
            format!(
                "{} of {} streams came all at once, so TTFT, TPOT and ITL are not the engine's",
                evidence.buffered, evidence.long_streams
            ),
            "something between engine and client holds answers back: switch off buffering in the proxy, or attach to \
             the engine itself",
        ));
    }
    if evidence.not_streamed > 0 {
        reasons.push(Reason::new(
            Level::Note,
            "not-streamed",
            format!(
                "{} of {} answers were not streamed: they have no TTFT, TPOT and ITL",
                evidence.not_streamed,
                case.columns.complete()
            ),
            "set `sampling.stream = true` and see whether the server streams",
        ));
    }
}

fn tokens(case: &Case<'_>, reasons: &mut Vec<Reason>) {
    let (evidence, complete) = (&case.columns.evidence, case.columns.complete());
    if evidence.counted_by_events > 0 {
        reasons.push(Reason::new(
            Level::Doubtful,
            "tokens-by-events",
            format!(
                "the output tokens of {} of {complete} answers are counted as events: the server gave no usage, and there is no \
                 tokenizer",
                evidence.counted_by_events
            ),
            "give `tokenizer.path`, or have the server report usage",
        ));
    }
    if evidence.counted_by_tokenizer > 0 {
        reasons.push(Reason::new(
            Level::Note,
            "tokens-by-tokenizer",
            format!(
                "the client's tokenizer counted the output of {} of {complete} answers",
                evidence.counted_by_tokenizer
            ),
            "have the server report usage for its own count",
        ));
    }
    let unknown = complete - case.columns.tokens.output.rows.min(complete);
    if unknown > 0 {
        reasons.push(Reason::new(
            Level::Doubtful,
            "tokens-unknown",
            format!(
                "the output tokens of {unknown} of {complete} answers are not known, so there is no token throughput"
            ),
            "give `tokenizer.path`, or have the server report usage",
        ));
    }
}

fn lengths(case: &Case<'_>, reasons: &mut Vec<Reason>) {
    let (got, asked) = case.columns.tokens.output_beside_asked;
    // Events say nothing of a length: the lines above tell where they stand for tokens.
    if case.columns.tokens.output_by_source.iter().any(|(source, known)| *source == "events" && known.rows > 0) {
        return;
    }
    if (got as f64) < asked as f64 * SHORT {
        reasons.push(Reason::new(
            Level::Doubtful,
            "output-shorter",
            format!("the model wrote {got} of the {asked} output tokens asked for"),
            "set `sampling.ignore-eos = true` if the length is meant to be exact; else compare only runs with like totals",
        ));
    }
}
