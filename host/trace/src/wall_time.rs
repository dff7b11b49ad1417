//! The one wall time of a run: its start.

use serde::{Deserialize, Serialize};
use std::time::{SystemTime, UNIX_EPOCH};

/// A moment by the wall clock. Every other time of a run counts from its start on the monotonic clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallTime {
    /// RFC 3339, UTC, nanoseconds.
    pub utc: String,
    /// Nanoseconds since 1970-01-01 UTC.
    pub unix_ns: u64,
}

impl WallTime {
    /// Of a system time; times before 1970 become 1970.
    pub fn from_system(time: SystemTime) -> WallTime {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        WallTime {
            utc: rfc3339(since.as_secs(), since.subsec_nanos()),
            unix_ns: u64::try_from(since.as_nanos()).unwrap_or(u64::MAX),
        }
    }
}

/// Civil date from days since 1970-01-01, counting years from March so that the leap day comes last
/// (the proleptic Gregorian calendar repeats every 146 097 days).
fn rfc3339(seconds: u64, nanos: u32) -> String {
    let (days, time) = (seconds / 86_400, seconds % 86_400);
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (time / 3_600, time / 60 % 60, time % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanos:09}Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn writes_known_moments() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000000007Z"),
            (951_782_399, "2000-02-28T23:59:59.000000007Z"),
            (951_782_400, "2000-02-29T00:00:00.000000007Z"),
            (951_868_800, "2000-03-01T00:00:00.000000007Z"),
            (1_709_164_800, "2024-02-29T00:00:00.000000007Z"),
            (1_796_083_199, "2026-11-30T23:59:59.000000007Z"),
            (4_107_542_399, "2100-02-28T23:59:59.000000007Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000000007Z"),
        ] {
            let time = WallTime::from_system(UNIX_EPOCH + Duration::new(seconds, 7));
            assert_eq!(time.utc, text);
            assert_eq!(time.unix_ns, seconds * 1_000_000_000 + 7);
        }
    }
}
