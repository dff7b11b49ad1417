//! Versions whose rules are known.

use std::str::FromStr;

/// A version of the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 0.11.
    V0_11,
    /// 0.33.
    V0_33,
}

/// Not a version whose rules are known.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is not a tool whose rules are known; use `vllm-0.11` or `vllm-0.33`")]
pub struct UnknownVersion(String);

impl FromStr for Version {
    type Err = UnknownVersion;
    fn from_str(word: &str) -> Result<Version, UnknownVersion> {
        match word {
            "vllm-0.11" => Ok(Version::V0_11),
            "vllm-0.33" => Ok(Version::V0_33),
            other => Err(UnknownVersion(other.to_owned())),
        }
    }
}
