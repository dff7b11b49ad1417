//! The version of the trace's format.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The format that this version of bench-host writes.
pub const FORMAT: FormatVersion = FormatVersion { major: 1, minor: 1 };

/// Version of the trace's format. A new column is a new minor version, anything that an old reader would
/// misread a new major one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct FormatVersion {
    /// Breaks old readers.
    pub major: u16,
    /// Adds to what is there.
    pub minor: u16,
}

impl FormatVersion {
    /// Whether this version of bench-host reads the format: any minor version of its own major version.
    /// Columns that a newer minor version added are passed over, those that an older one lacks are null.
    pub fn check_readable(self) -> Result<(), VersionError> {
        if self.major == FORMAT.major { Ok(()) } else { Err(VersionError::Unreadable { found: self }) }
    }
}

impl fmt::Display for FormatVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for FormatVersion {
    type Err = VersionError;
    fn from_str(s: &str) -> Result<FormatVersion, VersionError> {
        let parsed = s
            .split_once('.')
            .and_then(|(major, minor)| Some(FormatVersion { major: major.parse().ok()?, minor: minor.parse().ok()? }));
        parsed.ok_or_else(|| VersionError::NoVersion { found: s.to_owned() })
    }
}

impl From<FormatVersion> for String {
    fn from(v: FormatVersion) -> String {
        v.to_string()
    }
}

impl TryFrom<String> for FormatVersion {
    type Error = VersionError;
    fn try_from(s: String) -> Result<FormatVersion, VersionError> {
        s.parse()
    }
}

/// Why a format can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// Another major version.
    #[error(
        "trace format {found} can't be read by this bench-host, which reads {}.x; use a release of bench-host that \
         writes format {}.x", FORMAT.major, found.major
    )]
    Unreadable {
        /// The file's version.
        found: FormatVersion,
    },
    /// Not `major.minor`.
    #[error("`{found}` is no version of the trace's format: expected two numbers such as `{FORMAT}`")]
    NoVersion {
        /// What stands there.
        found: String,
    },
    /// The file does not say.
    #[error("the file's metadata has no `bench.format`: it was not written by bench-host")]
    Absent,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_minor_version_of_its_major_version() {
        let version = |s: &str| s.parse::<FormatVersion>().unwrap();
        assert!(version("1.0").check_readable().is_ok());
        assert!(version("1.65535").check_readable().is_ok());
        for other in ["0.9", "2.0"] {
            let error = version(other).check_readable().unwrap_err();
            assert!(error.to_string().contains(other), "{error}");
        }
    }

    #[test]
    fn refuses_what_is_no_version() {
        for text in ["", "1", "1.", ".1", "1.2.3", "-1.0", "1.99999", "v1.0"] {
            assert_eq!(text.parse::<FormatVersion>(), Err(VersionError::NoVersion { found: text.to_owned() }));
        }
        assert_eq!(serde_json::to_string(&FORMAT).unwrap(), format!("\"{FORMAT}\""));
        assert_eq!(serde_json::from_str::<FormatVersion>("\"1.1\"").unwrap(), FORMAT);
    }
}
