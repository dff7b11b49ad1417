//! The reference of every key, as Markdown.

use crate::keys::{Kind, TABLES, TableDef};
use std::fmt::Write as _;

/// Every key of a workload with its values, default and meaning, as Markdown tables.
pub fn reference() -> String {
    let mut out = String::new();
    for def in TABLES {
        table(&mut out, def);
    }
    out
}

fn table(out: &mut String, def: &TableDef) {
    let title = match def.path {
        "" => "The file".to_owned(),
        "scenario" => "`[[scenario]]`".to_owned(),
        path => format!("`[{path}]`"),
    };
    // Writing to a string can't fail.
    let _ = writeln!(out, "### {title}\n\n{}\n\n| key | value | default | meaning |\n|---|---|---|---|", def.doc);
    for key in def.keys {
        let default = match (key.required, key.default) {
            (true, _) => "**required**",
            (false, "") => "-",
            (false, default) => default,
        };
        let _ = writeln!(out, "| `{}` | {} | {default} | {} |", key.name, values(&key.kind), key.doc);
    }
    out.push('\n');
}

fn values(kind: &Kind) -> String {
    match kind {
        Kind::Text => "string".to_owned(),
        Kind::Path => "path".to_owned(),
        Kind::Flag => "`true`, `false`".to_owned(),
        Kind::Integer { min, max } if *max == u64::MAX => format!("integer from {min}"),
        Kind::Integer { min, max } => format!("integer, {min} to {max}"),
        Kind::Number { min, or_equal: true, max } => format!("number, {min} to {max}"),
        Kind::Number { min, or_equal: false, max } => format!("number, above {min}, to {max}"),
        Kind::Duration { .. } => "duration: `\"1.5s\"`".to_owned(),
        Kind::Size => "size: `\"16MiB\"`".to_owned(),
        Kind::Choice(words) => {
            let words: Vec<String> =
                words.iter().filter(|w| w.later.is_none()).map(|w| format!("`\"{}\"`", w.word)).collect();
            words.join(", ")
        }
        Kind::Texts => "list of strings".to_owned(),
        Kind::Patterns => "list of lists of strings".to_owned(),
        Kind::Numbers { .. } => "list of numbers".to_owned(),
        Kind::Secretive => "table: name = string, or `{ env = \"NAME\" }`".to_owned(),
        Kind::Paths => "table: name = path".to_owned(),
        Kind::Gpus => "integer, or list of integers".to_owned(),
        Kind::Extra => "table".to_owned(),
        Kind::Options => "table: see the adapter".to_owned(),
        Kind::Table(def) => format!("table [`[{}]`]({})", def.path, anchor(def)),
        Kind::Tables(def) => format!("array of tables [`[[{}]]`]({})", def.path, anchor(def)),
    }
}

/// Where the table's heading is, as GitHub names it.
fn anchor(def: &TableDef) -> String {
    format!("#{}", def.path.replace('.', ""))
}
