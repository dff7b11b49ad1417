//! Manifests.

use bench_core::adapter::{AdapterInfo, DatasetManifest, EngineManifest, Setting, SettingKind, SettingValue};
use std::collections::HashSet;

/// Checks an engine adapter's manifest.
pub(crate) fn engine_manifest(m: &EngineManifest) -> Result<(), String> {
    info(&m.info)?;
    settings(&m.settings)?;
    if let Some(s) = m.settings.iter().find(|s| s.kind == SettingKind::Source) {
        return Err(format!("setting `{}` is a source, which only datasets may have", s.key));
    }
    let mut names = HashSet::new();
    for p in &m.programs {
        if !is_name(&p.name) || !names.insert(&p.name) {
            return Err(format!(
                "program `{}` is named twice or by more than letters, digits, `-`, `_` and `.`",
                p.name
            ));
        }
    }
    for pattern in &m.env {
        let name = pattern.strip_suffix('*').unwrap_or(pattern);
        if !is_variable(name) {
            return Err(format!("`{pattern}` is no name of an environment variable, with or without a `*` at its end"));
        }
    }
    match m.secrets.iter().find(|s| !is_variable(s)) {
        Some(s) => Err(format!("`{s}` is no name of a secret")),
        None => Ok(()),
    }
}

/// Checks a dataset adapter's manifest.
pub(crate) fn dataset_manifest(m: &DatasetManifest) -> Result<(), String> {
    info(&m.info)?;
    settings(&m.settings)?;
    for need in &m.sources {
        if !m.settings.iter().any(|s| s.key == need.id && s.kind == SettingKind::Source) {
            return Err(format!("source `{}` has no setting of kind source", need.id));
        }
        if need
            .digest
            .as_ref()
            .is_some_and(|d| d.len() != 64 || !d.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
        {
            return Err(format!("the digest of source `{}` is no SHA-256 in lower-case hex", need.id));
        }
    }
    Ok(())
}

fn info(i: &AdapterInfo) -> Result<(), String> {
    if !is_kebab(&i.id) {
        return Err(format!("its id `{}` is not kebab-case", i.id));
    }
    let texts = [&i.name, &i.version, &i.summary, &i.license].into_iter().chain(&i.homepage);
    if let Some(t) = texts.into_iter().find(|t| !is_showable(t)) {
        return Err(format!("`{}` has control characters", t.escape_debug()));
    }
    let version = !i.version.is_empty() && i.version.bytes().all(|b| b.is_ascii_graphic());
    if !version || i.version.split('.').count() < 3 {
        return Err(format!("its version `{}` is not a semantic version", i.version));
    }
    Ok(())
}

fn settings(settings: &[Setting]) -> Result<(), String> {
    let mut keys = HashSet::new();
    for s in settings {
        let key = &s.key;
        if !key.split('.').all(is_kebab) {
            return Err(format!("setting `{key}` is not kebab-case"));
        }
        if ![&s.doc].into_iter().chain(&s.engine_option).chain(&s.deprecated).all(|t| is_showable(t)) {
            return Err(format!("the documentation of setting `{key}` has control characters"));
        }
        if !keys.insert(key) {
            return Err(format!("setting `{key}` is there twice"));
        }
        if let Some(default) = &s.default {
            if s.required {
                return Err(format!("setting `{key}` is required and has a default"));
            }
            if !takes(&s.kind, default) {
                return Err(format!("the default of setting `{key}` is not of its kind, or out of its range"));
            }
        }
        if let SettingKind::Choice(items) = &s.kind
            && items.is_empty()
        {
            return Err(format!("setting `{key}` is a choice between nothing"));
        }
    }
    Ok(())
}

/// Whether a value is one that a setting takes.
fn takes(kind: &SettingKind, value: &SettingValue) -> bool {
    match (kind, value) {
        (SettingKind::Integer { min, max }, SettingValue::Integer(v)) => {
            min.is_none_or(|m| *v >= m) && max.is_none_or(|m| *v <= m)
        }
        (SettingKind::Number { min, max }, SettingValue::Number(v)) => {
            v.is_finite() && min.is_none_or(|m| *v >= m) && max.is_none_or(|m| *v <= m)
        }
        (SettingKind::Choice(items), SettingValue::Text(v)) => items.iter().any(|(name, _)| name == v),
        (SettingKind::Duration | SettingKind::Size, SettingValue::Integer(v)) => *v >= 0,
        (SettingKind::Boolean, SettingValue::Boolean(_))
        | (SettingKind::Text, SettingValue::Text(_))
        | (SettingKind::TextList, SettingValue::TextList(_))
        | (SettingKind::TextMap, SettingValue::TextMap(_)) => true,
        _ => false,
    }
}

/// A text that a terminal shows as it is.
pub(super) fn is_showable(s: &str) -> bool {
    !s.contains(|c: char| c.is_control() && c != '\n' && c != '\t')
}

/// Lower-case letters and digits in words joined by single hyphens.
pub(super) fn is_kebab(s: &str) -> bool {
    s.len() <= 64
        && s.split('-').all(|w| !w.is_empty() && w.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()))
}

/// A name that is safe as part of a file name.
pub(super) fn is_name(s: &str) -> bool {
    (1..=64).contains(&s.len())
        && !s.starts_with(['.', '-'])
        && s.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// A name of an environment variable.
pub(super) fn is_variable(s: &str) -> bool {
    !s.is_empty() && !s.as_bytes()[0].is_ascii_digit() && s.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        assert!(is_kebab("llama-cpp") && is_kebab("v2"));
        assert!(!is_kebab("Llama") && !is_kebab("a--b") && !is_kebab("-a") && !is_kebab(""));
        assert!(is_name("prefill-0") && !is_name("../x") && !is_name(".x") && !is_name(""));
        assert!(is_variable("HF_TOKEN") && !is_variable("1A") && !is_variable("A=B") && !is_variable(""));
    }

    #[test]
    fn defaults_are_of_their_kind() {
        let integer = SettingKind::Integer { min: Some(1), max: None };
        assert!(takes(&integer, &SettingValue::Integer(1)));
        assert!(!takes(&integer, &SettingValue::Integer(0)));
        assert!(!takes(&integer, &SettingValue::Number(1.0)));
        assert!(!takes(&SettingKind::Source, &SettingValue::Text("x".into())));
        let choice = SettingKind::Choice(vec![("a".into(), String::new())]);
        assert!(takes(&choice, &SettingValue::Text("a".into())) && !takes(&choice, &SettingValue::Text("b".into())));
    }
}
