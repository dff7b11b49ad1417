//! Commands as a person would type them, for showing only: no shell ever runs them.

/// A command line that a POSIX shell reads as this program with these arguments.
pub fn shell_line<'a>(program: &'a str, args: impl IntoIterator<Item = &'a String>) -> String {
    let mut line = quote(program);
    for arg in args {
        line.push(' ');
        line.push_str(&quote(arg));
    }
    line
}

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_shell_reads_back_what_was_written() {
        let words: Vec<String> =
            ["--a=b", "", "two words", "it's", "$HOME", "{\"k\": 1}", "a\\b", "*", "ü", "line\nbreak"]
                .map(String::from)
                .to_vec();
        let line = shell_line("printf", std::iter::once(&"%s\\0".to_owned()).chain(&words));
        let out = Command::new("sh").arg("-c").arg(&line).output().unwrap();
        assert_eq!(String::from_utf8(out.stdout).unwrap(), words.join("\0") + "\0");
    }

    #[test]
    fn plain_commands_stay_plain() {
        let args = ["serve", "Qwen/Qwen3-32B", "-tp", "4"].map(String::from);
        assert_eq!(shell_line("vllm", &args), "vllm serve Qwen/Qwen3-32B -tp 4");
    }
}
