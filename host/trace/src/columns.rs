//! The columns of the trace, in their order. `README.md` is generated from this table.

use crate::cell::{Text, Whole, Word};
use crate::schema::{Access, Column};

const NEVER: Option<&str> = None;
const NOT_OPENED: Option<&str> = Some("no connection was opened for this attempt");
const NOT_SENT: Option<&str> = Some("it was never sent");
const NO_ANSWER: Option<&str> = Some("no byte of an answer came");
const NOT_STREAMED: Option<&str> = Some("the answer was not streamed, or no answer came");
const NOT_KNOWN: Option<&str> = Some("not known");

macro_rules! column {
    ($name:literal, $unit:literal, $null:expr, $access:expr, $doc:literal) => {
        Column { name: $name, unit: $unit, null: $null, doc: $doc, text: false, access: $access }
    };
}
macro_rules! whole {
    ($field:ident) => {
        Access::Whole { get: |r| Whole::get(&r.$field), set: |r, v| Whole::set(&mut r.$field, v) }
    };
}
macro_rules! text {
    ($field:ident, repeats: $repeats:literal) => {
        Access::Text {
            get: |r| Text::get(&r.$field),
            set: |r, v, last| Text::set(&mut r.$field, v, last),
            repeats: $repeats,
        }
    };
}
macro_rules! word {
    ($field:ident) => {
        Access::Word { get: |r| Word::get(&r.$field), set: |r, v| Word::set(&mut r.$field, v) }
    };
}
macro_rules! flag {
    ($field:ident) => {
        Access::Flag { get: |r| r.$field, set: |r, v| r.$field = Some(v) }
    };
}
macro_rules! digest {
    ($field:ident) => {
        Access::Digest { get: |r| r.$field, set: |r, v| r.$field = Some(v) }
    };
}

/// Every column of the trace, in the order of the file.
pub const COLUMNS: &[Column] = &[
    column!("scenario", "", NEVER, text!(scenario, repeats: true), "Scenario of the workload."),
    column!("stage", "", Some("no study"), text!(stage, repeats: true), "Stage of the study."),
    column!("candidate", "", Some("no study"), text!(candidate, repeats: true), "Candidate of the stage."),
    column!("repeat", "from 0", NEVER, whole!(repeat), "Number of the repeat."),
    column!(
        "request",
        "from 0",
        NEVER,
        whole!(request),
        "Number of the request in its scenario, repeat and phase, in the order of arrival."
    ),
    column!(
        "attempt",
        "from 0",
        NEVER,
        whole!(attempt),
        "Number of the attempt; more than 0 only after a `stale_connection`."
    ),
    column!("session", "", Some("no session"), text!(session, repeats: true), "Session that the request belongs to."),
    column!("turn", "from 0", Some("no session"), whole!(turn), "Place of the request in its session."),
    column!("replica", "from 0", NEVER, whole!(replica), "Server that the request went to."),
    column!("worker", "from 0", NEVER, whole!(worker), "Load thread that sent it."),
    column!("phase", "`warmup`, `measure`, `cooldown`, `probe`", NEVER, word!(phase), "What the request was for."),
    column!(
        "dataset_sample",
        "",
        Some("no sample of a dataset"),
        text!(dataset_sample, repeats: false),
        "Id of the sample in its dataset; the same for the same data whatever the seed."
    ),
    column!("prompt_sha256", "SHA-256", NOT_KNOWN, digest!(prompt_sha256), "Digest of the prompt's UTF-8 text."),
    column!("scheduled_ns", "ns since run start", NEVER, whole!(scheduled), "When the request was due."),
    column!(
        "admitted_ns",
        "ns since run start",
        Some("the run ended before a slot was free"),
        whole!(admitted),
        "When a slot was free for it."
    ),
    column!(
        "sent_ns",
        "ns since run start",
        NOT_SENT,
        whole!(sent),
        "When the whole request was handed to the kernel."
    ),
    column!("first_byte_ns", "ns since run start", NO_ANSWER, whole!(first_byte), "First byte of the answer."),
    column!(
        "first_token_ns",
        "ns since run start",
        Some("no content came, or the answer was not streamed"),
        whole!(first_token),
        "First event with generated content on any channel: text, reasoning or tool call."
    ),
    column!(
        "first_content_ns",
        "ns since run start",
        Some("only reasoning or nothing came, or the answer was not streamed"),
        whole!(first_content),
        "First event with text or a tool call."
    ),
    column!(
        "last_token_ns",
        "ns since run start",
        Some("no content came, or the answer was not streamed"),
        whole!(last_token),
        "Last event with generated content."
    ),
    column!("end_ns", "ns since run start", NEVER, whole!(end), "When the attempt was over."),
    column!(
        "stamp",
        "`kernel`, `read`",
        NO_ANSWER,
        word!(stamp),
        "Where the times of the events come from: the kernel's receive stamp, or the moment of the client's read."
    ),
    column!(
        "stamp_lag_ns",
        "ns",
        Some("`stamp` is not `kernel`"),
        whole!(stamp_lag),
        "Greatest time from the kernel's stamp to the client's read among the events."
    ),
    column!(
        "event_gap_us",
        "µs",
        NOT_STREAMED,
        Access::EventGap,
        "Gap before each event of the stream, the first from `sent_ns`. Times are rounded to µs since `sent_ns` \
         before the differences are taken, so that sums never drift."
    ),
    column!(
        "event_tokens",
        "tokens",
        Some("tokens of the events are not known"),
        Access::EventTokens,
        "New tokens of each event."
    ),
    column!(
        "event_merged",
        "",
        NOT_STREAMED,
        Access::EventMerged,
        "Whether each event came in one read with another one, so that its time is that of the read's last byte."
    ),
    column!(
        "event_kind",
        "`role`, `text`, `reasoning`, `tool`, `usage`, `other`",
        NOT_STREAMED,
        Access::EventKind,
        "Kind of each event; `text`, `reasoning` and `tool` are generated content."
    ),
    column!(
        "streamed",
        "",
        NO_ANSWER,
        flag!(streamed),
        "Whether the answer came as a stream of events. Where it did not, its latency is `end_ns` - `sent_ns`."
    ),
    column!(
        "prompt_tokens_asked",
        "tokens",
        Some("the dataset does not count"),
        whole!(prompt_tokens_asked),
        "Length of the prompt as the dataset counted it."
    ),
    column!(
        "prompt_tokens",
        "tokens",
        Some("the server did not say"),
        whole!(prompt_tokens),
        "Length of the prompt as the server counted it, its template included."
    ),
    column!(
        "cached_tokens",
        "tokens",
        Some("the server did not say"),
        whole!(cached_tokens),
        "Tokens of the prompt that the server had in its cache."
    ),
    column!(
        "output_tokens_asked",
        "tokens",
        Some("no length was asked for"),
        whole!(output_tokens_asked),
        "Length that the answer should have."
    ),
    column!(
        "output_tokens",
        "tokens",
        NOT_KNOWN,
        whole!(output_tokens),
        "Tokens generated; `token_source` says who counted. Never the number that was asked for."
    ),
    column!(
        "reasoning_tokens",
        "tokens",
        Some("the server did not say"),
        whole!(reasoning_tokens),
        "Tokens of `output_tokens` that were reasoning."
    ),
    column!(
        "token_source",
        "`usage`, `usage_cumulative`, `tokenizer`, `events`",
        Some("`output_tokens` is null"),
        word!(token_source),
        "Who counted `output_tokens`: the server's final usage, its running usage, the client's tokenizer, or one \
         token for each event with content."
    ),
    column!(
        "outcome",
        "`complete`, `truncated`, `aborted`, `server_error`, `http_error`, `reset`, `timeout`, `cancelled`, `empty`, \
         `dropped`, `connect_error`, `invalid_response`, `stale_connection`",
        NEVER,
        word!(outcome),
        "How the attempt ended. Only `complete` enters latency figures; all but `stale_connection` enter the failure \
         rate."
    ),
    column!("http_status", "", Some("no answer's head came"), whole!(http_status), "HTTP status of the answer."),
    column!(
        "finish_reason",
        "",
        Some("none came"),
        text!(finish_reason, repeats: true),
        "The engine's own word for the end of the answer."
    ),
    column!("error", "", Some("nothing went wrong"), text!(error, repeats: true), "What went wrong, in words."),
    column!("bytes_sent", "bytes", NEVER, whole!(bytes_sent), "Bytes of the request handed to the kernel."),
    column!("bytes_received", "bytes", NEVER, whole!(bytes_received), "Bytes of the answer on the wire."),
    column!(
        "connection_reused",
        "",
        Some("there was no connection"),
        flag!(connection_reused),
        "Whether the connection had served a request before."
    ),
    column!(
        "dns_ns",
        "ns",
        Some("no connection was opened for this attempt, or the address was known"),
        whole!(dns),
        "How long it took to look up the server's name. Before `sent_ns`, as the next two."
    ),
    column!("connect_ns", "ns", NOT_OPENED, whole!(connect), "How long the TCP connection took."),
    column!(
        "tls_ns",
        "ns",
        Some("no TLS connection was opened for this attempt"),
        whole!(tls),
        "How long the TLS handshake took."
    ),
    column!(
        "output_sha256",
        "SHA-256",
        Some("no answer's text came"),
        digest!(output_sha256),
        "Digest of the answer's UTF-8 text, without its reasoning."
    ),
    Column { text: true, ..column!("prompt_text", "", NOT_KNOWN, text!(prompt_text, repeats: false), "The prompt.") },
    Column {
        text: true,
        ..column!("output_text", "", Some("none came"), text!(output_text, repeats: false), "The answer's text.")
    },
    Column {
        text: true,
        ..column!(
            "reasoning_text",
            "",
            Some("none came"),
            text!(reasoning_text, repeats: false),
            "The answer's reasoning."
        )
    },
];
