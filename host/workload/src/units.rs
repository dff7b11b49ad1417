//! Lengths of time and sizes as people write them.

use bench_core::clock::Nanos;

/// Nothing that a benchmark waits for is longer: a year of 366 days.
pub(crate) const LONGEST: Nanos = Nanos::from_secs(366 * 24 * 3600);

const TIMES: &[(&str, u64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

const SIZES: &[(&str, u64)] = &[
    ("B", 1),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// Pattern of a length of time, for the schema: one or more numbers, each with its unit.
pub(crate) const DURATION_PATTERN: &str = r"^\s*([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h|d))+\s*$";
/// Pattern of a size, for the schema.
pub(crate) const SIZE_PATTERN: &str = r"^\s*[0-9]+(\.[0-9]+)?(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)\s*$";

/// `"250ms"`, `"1.5s"`, `"1h30m"`: exact to the nanosecond.
pub(crate) fn duration(text: &str) -> Result<Nanos, String> {
    let mut rest = text.trim();
    let mut total = 0u64;
    if rest.is_empty() {
        return Err("is empty".to_owned());
    }
    while !rest.is_empty() {
        let (part, after) = amount(rest, TIMES, "a unit of time (`ns`, `us`, `ms`, `s`, `m`, `h`, `d`)")?;
        total = total.saturating_add(part);
        rest = after;
    }
    if total > LONGEST.0 {
        return Err("is longer than a year".to_owned());
    }
    Ok(Nanos(total))
}

/// `"64KiB"`, `"16GiB"`, `"1.5GB"`: bytes.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let (bytes, rest) =
        amount(text.trim(), SIZES, "a unit of size (`B`, `KiB`, `MiB`, `GiB`, `TiB`, `kB`, `MB`, ...)")?;
    if !rest.is_empty() {
        return Err(format!("has `{rest}` after the size"));
    }
    if bytes > 1 << 60 {
        return Err("is greater than an exbibyte".to_owned());
    }
    Ok(bytes)
}

/// The number and unit at the start of `text`, as a whole number of the smallest unit, and what comes after.
fn amount<'t>(text: &'t str, units: &[(&str, u64)], expected: &str) -> Result<(u64, &'t str), String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || fraction.is_empty() || fraction.contains('.') {
        return Err(if rest.starts_with('-') { "is negative" } else { "does not start with a number" }.to_owned());
    }
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
    let (unit, after) = rest.split_at(end);
    let Some((_, scale)) = units.iter().find(|(name, _)| *name == unit) else {
        return Err(if unit.is_empty() {
            format!("lacks {expected}")
        } else {
            format!("has `{unit}` where {expected} is expected")
        });
    };
    let fraction = fraction.trim_end_matches('0');
    let too_long = || "has too many digits".to_owned();
    let digits: u128 = format!("{whole}{fraction}").parse().map_err(|_| too_long())?;
    let power = u32::try_from(fraction.len()).ok().and_then(|n| 10u128.checked_pow(n)).ok_or_else(too_long)?;
    let scaled = digits.checked_mul(u128::from(*scale)).ok_or_else(too_long)?;
    if scaled % power != 0 {
        let smallest = units[0].0;
        return Err(format!("is no whole number of `{smallest}`"));
    }
    Ok((u64::try_from(scaled / power).unwrap_or(u64::MAX), after.trim_start()))
}

/// The length of time as one would write it: exact, in the greatest unit that keeps it short.
pub(crate) fn show_duration(time: Nanos) -> String {
    let exact = |scale: u64| time.0.is_multiple_of(scale) && time.0 > 0;
    for (unit, scale) in TIMES.iter().rev().filter(|(unit, _)| *unit != "µs") {
        if exact(*scale) {
            return format!("{}{unit}", time.0 / scale);
        }
    }
    "0s".to_owned()
}

/// The size as one would write it: exact, in the greatest binary unit that keeps it whole.
pub(crate) fn show_size(bytes: u64) -> String {
    let whole = SIZES.iter().rev().find(|(unit, scale)| unit.len() == 3 && bytes > 0 && bytes.is_multiple_of(*scale));
    whole.map_or_else(|| format!("{bytes}B"), |(unit, scale)| format!("{}{unit}", bytes / scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, ns) in [
            ("250ms", 250_000_000),
            ("1.5s", 1_500_000_000),
            ("2m", 120_000_000_000),
            ("1h30m", 5_400_000_000_000),
            ("0.1us", 100),
            (" 10 s ", 10_000_000_000),
            ("0s", 0),
            ("1.50s", 1_500_000_000),
            ("3µs", 3_000),
        ] {
            assert_eq!(duration(text), Ok(Nanos(ns)), "{text}");
        }
        for (text, why) in [
            ("", "empty"),
            ("5", "lacks a unit"),
            ("5 parsecs", "`parsecs`"),
            ("-1s", "negative"),
            ("s", "number"),
            ("1.s", "number"),
            ("0.5ns", "whole"),
            ("400d", "year"),
            ("99999999999999999999999999999999999999999s", "digits"),
            ("1.2.3s", "number"),
        ] {
            let error = duration(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(size("16GiB"), Ok(16 << 30));
        assert_eq!(size("1.5 KiB"), Ok(1536));
        assert_eq!(size("100B"), Ok(100));
        for text in ["16", "16G", "GiB", "0.3B", "9999999TiB", "1GiB2"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_shown_as_they_are_read() {
        for text in ["16GiB", "1536KiB", "1000B", "0B", "3TiB"] {
            assert_eq!(show_size(size(text).unwrap()), text);
        }
    }

    #[test]
    fn durations_are_shown_as_they_are_read() {
        for text in ["250ms", "1500ms", "2m", "90m", "6h", "3us", "1ns", "1d", "0s"] {
            assert_eq!(show_duration(duration(text).unwrap()), text);
        }
    }
}
