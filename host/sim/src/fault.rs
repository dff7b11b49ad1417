//! Scripted faults: what goes wrong, at which request.

use crate::config::ConfigError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A fault and its turn: every `every`-th request, counted from 1 (`refuse`: every `every`-th connection).
///
/// Written `KIND:every=N[,after=K][,code=C]`, for example `reset:every=10,after=5`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fault {
    /// What goes wrong.
    pub kind: FaultKind,
    /// Strikes at the requests whose number is a multiple of this.
    pub every: u64,
    /// Tokens streamed before a fault in the middle of a stream strikes.
    pub after: u32,
    /// HTTP status of `status`.
    pub code: u16,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The connection is closed as soon as it is accepted.
    Refuse,
    /// The request is never answered.
    Silent,
    /// The answer is an HTTP error of status `code` with an error object.
    Status,
    /// An error object in a 200 answer, after `after` tokens.
    ErrorInStream,
    /// The connection is reset (RST) after `after` tokens.
    Reset,
    /// The stream ends well-formed after `after` tokens, without finish reason or `[DONE]`.
    EndWithoutFinish,
    /// Nothing more comes after `after` tokens; the connection stays open.
    Stall,
    /// The stream ends after `after` tokens with finish reason `abort`.
    Abort,
    /// The answer is right, but comes in TCP segments of one byte.
    SlowDrip,
    /// After `after` tokens comes an event that is not JSON; the stream then goes on.
    Garbage,
    /// The answer is 200 with no body at all.
    Empty,
}

const KINDS: [(&str, FaultKind); 11] = [
    ("refuse", FaultKind::Refuse),
    ("silent", FaultKind::Silent),
    ("status", FaultKind::Status),
    ("error-in-stream", FaultKind::ErrorInStream),
    ("reset", FaultKind::Reset),
    ("end-without-finish", FaultKind::EndWithoutFinish),
    ("stall", FaultKind::Stall),
    ("abort", FaultKind::Abort),
    ("slow-drip", FaultKind::SlowDrip),
    ("garbage", FaultKind::Garbage),
    ("empty", FaultKind::Empty),
];

impl FaultKind {
    /// The kind's name in a fault.
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// It strikes inside an answer, after some tokens.
    pub(crate) fn is_midway(self) -> bool {
        use FaultKind::{Abort, EndWithoutFinish, ErrorInStream, Garbage, Reset, Stall};
        matches!(self, Abort | EndWithoutFinish | ErrorInStream | Garbage | Reset | Stall)
    }
}

impl Fault {
    /// It is this request's (or connection's) turn; the first is number 1.
    pub(crate) fn strikes(&self, number: u64) -> bool {
        number.is_multiple_of(self.every)
    }
}

impl FromStr for Fault {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Fault, ConfigError> {
        let bad = |reason: String| ConfigError::Fault { text: text.into(), reason };
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let Some((_, kind)) = KINDS.iter().find(|(n, _)| *n == name.trim()) else {
            let names: Vec<_> = KINDS.iter().map(|(n, _)| format!("`{n}`")).collect();
            return Err(bad(format!("the kinds are {}", names.join(", "))));
        };
        let mut fault = Fault { kind: *kind, every: 0, after: 1, code: 503 };
        for pair in rest.split(',').map(str::trim).filter(|p| !p.is_empty()) {
            let (key, value) = pair.split_once('=').ok_or_else(|| bad(format!("`{pair}` has no `=`")))?;
            let number = value.parse::<u64>().map_err(|_| bad(format!("`{value}` is no whole number")))?;
            match key {
                "every" => fault.every = number,
                "after" if kind.is_midway() => {
                    fault.after = u32::try_from(number).map_err(|_| bad(format!("`{number}` is too many tokens")))?;
                }
                "code" if *kind == FaultKind::Status => match u16::try_from(number) {
                    Ok(code @ 400..=599) => fault.code = code,
                    _ => return Err(bad(format!("`code` is {number}; it must be from 400 to 599"))),
                },
                _ => return Err(bad(format!("`{name}` takes no `{key}`"))),
            }
        }
        if fault.every == 0 {
            return Err(bad("`every` is missing or 0".into()));
        }
        Ok(fault)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:every={}", self.kind.name(), self.every)?;
        if self.kind.is_midway() {
            write!(f, ",after={}", self.after)?;
        }
        if self.kind == FaultKind::Status {
            write!(f, ",code={}", self.code)?;
        }
        Ok(())
    }
}

impl TryFrom<String> for Fault {
    type Error = ConfigError;
    fn try_from(text: String) -> Result<Fault, ConfigError> {
        text.parse()
    }
}

impl From<Fault> for String {
    fn from(fault: Fault) -> String {
        fault.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_reads_back_what_it_writes() {
        for (name, kind) in KINDS {
            let fault: Fault = format!("{name}:every=3").parse().unwrap();
            assert_eq!((fault.kind, fault.every), (kind, 3));
            assert_eq!(fault.to_string().parse::<Fault>().unwrap(), fault);
        }
        let fault: Fault = "reset:every=10,after=5".parse().unwrap();
        assert_eq!((fault.every, fault.after), (10, 5));
        assert!(fault.strikes(10) && fault.strikes(20) && !fault.strikes(5));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (text, says) in [
            ("explode:every=1", "the kinds are"),
            ("reset", "`every` is missing or 0"),
            ("reset:every=0", "`every` is missing or 0"),
            ("reset:every=x", "no whole number"),
            ("reset:every", "has no `=`"),
            ("refuse:every=2,after=1", "takes no `after`"),
            ("status:every=2,code=200", "from 400 to 599"),
            ("reset:every=2,code=500", "takes no `code`"),
        ] {
            let error = text.parse::<Fault>().unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
