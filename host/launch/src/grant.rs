//! What the user lets a plan start.

use crate::error::LaunchError;
use crate::shell::shell_line;
use bench_core::launch::{EnvValue, LaunchPlan, ProcessPlan};
use std::path::{Component, Path};

/// Commands that one program may be started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Name of the program in the plan.
    pub program: String,
    /// One pattern an argument: `*` stands for any text inside one argument, and a last pattern `**` for any number
    /// of arguments.
    pub args: Vec<String>,
}

impl Grant {
    /// Any arguments.
    pub fn any(program: &str) -> Grant {
        Grant { program: program.into(), args: vec!["**".into()] }
    }

    /// Whether these arguments are allowed.
    pub fn allows(&self, program: &str, args: &[String]) -> bool {
        self.program == program && match_args(&self.args, args)
    }
}

fn match_args(patterns: &[String], args: &[String]) -> bool {
    match (patterns, args) {
        ([last], _) if last == "**" => true,
        ([], []) => true,
        ([pattern, patterns @ ..], [arg, args @ ..]) => match_text(pattern, arg) && match_args(patterns, args),
        _ => false,
    }
}

fn match_text(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(head) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    // `split` gives at least one part: what must stand at the end.
    let tail = parts.pop().unwrap_or_default();
    for part in parts {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(tail)
}

/// Refuses a plan that holds what no plan may hold, before anything of it is started.
pub(crate) fn check_plan(plan: &LaunchPlan, env_allowed: &[String], secrets: &[String]) -> Result<(), LaunchError> {
    for (place, process) in plan.processes.iter().enumerate() {
        let bad = |what: String| Err(LaunchError::BadPlan { process: process.name.clone(), what });
        if process.name.is_empty() || !process.name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
            return bad("its name is not made of letters, digits, `-`, `_` and `.`".into());
        }
        if plan.processes[..place].iter().any(|other| other.name == process.name) {
            return bad("its name comes twice".into());
        }
        if process.program.is_empty() || process.program.contains('/') {
            return bad(format!("`{}` is no name of a program", process.program));
        }
        if let Some(arg) = process.args.iter().chain(&process.bind_args).find(|arg| arg.contains('\0')) {
            return bad(format!("the argument {arg:?} holds a zero byte"));
        }
        check_env(process, env_allowed, secrets)?;
        if let Some((path, _)) = process.files.iter().find(|(path, _)| !is_inside(Path::new(path))) {
            return bad(format!("the file `{path}` lies outside its folder"));
        }
    }
    if plan.serving as usize >= plan.processes.len() {
        let what = format!("process number {} is to serve and there are {}", plan.serving, plan.processes.len());
        return Err(LaunchError::BadPlan { process: "plan".into(), what });
    }
    Ok(())
}

fn check_env(process: &ProcessPlan, allowed: &[String], secrets: &[String]) -> Result<(), LaunchError> {
    for (name, value) in &process.env {
        let what = match value {
            _ if name.is_empty() || name.contains(['=', '\0']) => format!("`{name}` is no environment variable"),
            _ if !allowed.iter().any(|pattern| match_text(pattern, name)) => {
                format!("it sets `{name}`, which the adapter's manifest does not ask for")
            }
            EnvValue::Secret(secret) if !secrets.contains(secret) => {
                format!("it uses the secret `{secret}`, which the adapter's manifest does not ask for")
            }
            EnvValue::Text(text) if text.contains('\0') => format!("`{name}` holds a zero byte"),
            _ => continue,
        };
        return Err(LaunchError::BadPlan { process: process.name.clone(), what });
    }
    Ok(())
}

/// A relative path that can't leave its folder.
fn is_inside(path: &Path) -> bool {
    path.components().next().is_some() && path.components().all(|c| matches!(c, Component::Normal(_)))
}

/// Refuses a command that no grant allows. Where the user gave none for the program, binding it is the grant.
pub(crate) fn check_command(program: &str, args: &[String], grants: &[Grant]) -> Result<(), LaunchError> {
    let own: Vec<&Grant> = grants.iter().filter(|grant| grant.program == program).collect();
    if own.is_empty() || own.iter().any(|grant| grant.allows(program, args)) {
        return Ok(());
    }
    Err(LaunchError::NotGranted {
        program: program.into(),
        line: shell_line(program, args),
        grants: own.iter().map(|grant| shell_line(program, &grant.args)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(String::from).collect()
    }

    #[test]
    fn patterns_stand_for_arguments() {
        for (pattern, args, allowed) in [
            ("serve * **", "serve m --port 1", true),
            ("serve * **", "serve m", true),
            ("serve * **", "serve", false),
            ("serve *", "serve m --port", false),
            ("serve", "serve", true),
            ("serve", "run", false),
            ("", "", true),
            ("", "x", false),
            ("--port=*", "--port=80", true),
            ("--port=*", "--host=80", false),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXcYb", false),
            ("ab*ba", "aba", false),
            ("** x", "y z x", false),
        ] {
            let grant = Grant { program: "p".into(), args: words(pattern) };
            assert_eq!(grant.allows("p", &words(args)), allowed, "{pattern} on {args}");
            assert!(!grant.allows("q", &words(args)));
        }
    }

    #[test]
    fn without_a_grant_the_binding_is_the_grant() {
        let args = words("-m module");
        assert!(check_command("python3", &args, &[]).is_ok());
        assert!(check_command("python3", &args, &[Grant::any("vllm")]).is_ok());
        let narrow = [Grant { program: "python3".into(), args: words("-m other **") }];
        let error = check_command("python3", &args, &narrow).unwrap_err().to_string();
        assert!(error.contains("`python3 -m module` matches no grant"), "{error}");
    }

    #[test]
    fn files_stay_in_their_folder() {
        for (path, inside) in
            [("a", true), ("a/b", true), ("/a", false), ("../a", false), ("a/../b", false), ("", false)]
        {
            assert_eq!(is_inside(Path::new(path)), inside, "{path}");
        }
    }
}
