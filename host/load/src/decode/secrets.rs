//! Keeps secrets out of rows: servers repeat the key that they refuse.

const MASK: &str = "[secret]";
/// Shorter values are no secrets, and would mask ordinary words.
const LEAST: usize = 4;

/// The values that must not stand in a row.
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    /// The values themselves, and what follows the scheme in `Bearer VALUE`.
    pub(crate) fn new(values: &[String]) -> Secrets {
        let mut all: Vec<String> = values
            .iter()
            .flat_map(|v| [Some(v.as_str()), v.split_once(' ').map(|(_, rest)| rest)])
            .flatten()
            .map(str::trim)
            .filter(|v| v.len() >= LEAST)
            .map(str::to_owned)
            .collect();
        // The longest first, so that no part of one is left beside its mask.
        all.sort_by_key(|v| std::cmp::Reverse(v.len()));
        Secrets(all)
    }

    /// Masks every secret in a text, and the beginning of one at the end of a text that was cut.
    pub(crate) fn mask(&self, text: String) -> String {
        let mut text = text;
        for secret in &self.0 {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), MASK);
            }
            let end = text.trim_end_matches('…').len();
            let begun = (LEAST..secret.len())
                .rev()
                .filter(|n| secret.is_char_boundary(*n))
                .find(|n| text[..end].ends_with(&secret[..*n]));
            if let Some(n) = begun {
                text.replace_range(end - n..end, MASK);
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_whole_and_cut() {
        let secrets = Secrets::new(&["Bearer sk-0123456789".to_owned(), "abc".to_owned()]);
        let mask = |t: &str| secrets.mask(t.to_owned());
        assert_eq!(mask("Incorrect API key: sk-0123456789."), "Incorrect API key: [secret].");
        assert_eq!(mask("got Bearer sk-0123456789"), "got [secret]");
        assert_eq!(mask("key sk-01234…"), "key [secret]…");
        assert_eq!(mask("abc, a sketch"), "abc, a sketch");
    }
}
