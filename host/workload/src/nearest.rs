//! "Did you mean": the known word that is nearest to a mistyped one.

/// The nearest of `known`, where one is near enough to be meant. Case does not count, and `_` is `-`.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |s: &str| s.to_lowercase().replace('_', "-");
    let word = plain(word);
    let limit = ((word.chars().count() + 1) / 3).min(4);
    known
        .into_iter()
        .map(|k| (distance(&word, &plain(k)), k))
        .filter(|(d, _)| *d <= limit)
        .min_by_key(|(d, _)| *d)
        .map(|(_, k)| k)
}

/// "did you mean `x`?", and else the list of what there is.
pub(crate) fn suggestion(word: &str, what: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(k) => format!("did you mean `{k}`?"),
        None if known.is_empty() => format!("there are no {what} here"),
        None => format!("{what}: {}", list(known)),
    }
}

/// Words in backticks, with commas.
pub(crate) fn list(words: &[&str]) -> String {
    words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ")
}

/// Edits from one word to the other: insert, delete, replace, swap of neighbours
/// (the optimal string alignment distance).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, d) in [("", "", 0), ("a", "", 1), ("rate", "raet", 1), ("kitten", "sitting", 3), ("tp", "pt", 1)] {
            assert_eq!(distance(a, b), d, "{a} {b}");
        }
    }

    #[test]
    fn suggests_what_is_near_only() {
        let known = ["concurrency", "rate", "requests"];
        assert_eq!(nearest("concurency", known), Some("concurrency"));
        assert_eq!(nearest("Requests", known), Some("requests"));
        assert_eq!(nearest("warmup", known), None);
        assert_eq!(nearest("max_num_seqs", ["max-num-seqs"]), Some("max-num-seqs"));
    }
}
