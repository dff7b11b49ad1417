//! The tools' command lines: `--name value` pairs and words.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A command line, split into options and words.
#[derive(Clone, Debug, Default)]
pub struct Args {
    values: BTreeMap<String, String>,
    words: Vec<String>,
}

/// What is wrong with a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgsError(String);

impl fmt::Display for ArgsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ArgsError {}

impl Args {
    /// Takes `--name value` where the name is among `known`, and words.
    pub fn parse(args: impl IntoIterator<Item = String>, known: &[&str]) -> Result<Args, ArgsError> {
        let mut parsed = Args::default();
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let Some(name) = arg.strip_prefix("--") else {
                parsed.words.push(arg);
                continue;
            };
            if !known.contains(&name) {
                let known: Vec<String> = known.iter().map(|k| format!("`--{k}`")).collect();
                return Err(ArgsError(format!("`{arg}` is no option here: there are {}", known.join(", "))));
            }
            let value = args.next().ok_or_else(|| ArgsError(format!("`{arg}` needs a value after it")))?;
            parsed.values.insert(name.to_owned(), value);
        }
        Ok(parsed)
    }

    /// An option's value, where it was given.
    pub fn given<T: FromStr>(&self, name: &str) -> Result<Option<T>, ArgsError> {
        let Some(text) = self.values.get(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| ArgsError(format!("`{text}` is no value of `--{name}`")))
    }

    /// An option's value, or the default.
    pub fn value<T: FromStr>(&self, name: &str, default: T) -> Result<T, ArgsError> {
        Ok(self.given(name)?.unwrap_or(default))
    }

    /// A value of so many microseconds, in nanoseconds.
    pub fn micros(&self, name: &str, default: u64) -> Result<u64, ArgsError> {
        Ok(self.value(name, default)?.saturating_mul(1000))
    }

    /// `1` or `0`.
    pub fn switch(&self, name: &str, default: bool) -> Result<bool, ArgsError> {
        match self.value(name, u8::from(default))? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(ArgsError(format!("`--{name}` is 0 or 1, not {other}"))),
        }
    }

    /// What is no option.
    pub fn words(&self) -> &[String] {
        &self.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Args, ArgsError> {
        Args::parse(line.split_whitespace().map(str::to_owned), &["rate", "lag"])
    }

    #[test]
    fn options_and_words() {
        let args = parse("stamps --rate 5 ttft").unwrap();
        assert_eq!(args.words(), ["stamps", "ttft"]);
        assert_eq!(args.micros("rate", 0), Ok(5000));
        assert_eq!(args.given::<u32>("lag"), Ok(None));
        assert_eq!(args.switch("lag", true), Ok(true));
    }

    #[test]
    fn mistakes_are_told() {
        assert_eq!(
            parse("--speed 5").unwrap_err().to_string(),
            "`--speed` is no option here: there are `--rate`, `--lag`"
        );
        assert_eq!(parse("--rate").unwrap_err().to_string(), "`--rate` needs a value after it");
        let wrong = parse("--rate x --lag 2").unwrap();
        assert_eq!(wrong.value("rate", 1.0).unwrap_err().to_string(), "`x` is no value of `--rate`");
        assert!(wrong.switch("lag", false).is_err());
    }
}
