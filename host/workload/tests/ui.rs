//! Golden pairs: `tests/ui/valid/*.toml` gives the plan in the `.json` beside it (and its warnings in the
//! `.warn`, if there are any), `tests/ui/invalid/*.toml` the rendered mistakes in the `.err`. A line
//! `#--set key=value` is an override. `BENCH_BLESS=1` writes what is there now.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use bench_workload::{Override, Plan, Report, read};
use miette::{GraphicalReportHandler, GraphicalTheme};
use std::fs;
use std::path::{Path, PathBuf};
use support::TestCatalog;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ui").join(name)
}

fn workloads(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    files
}

fn read_file(file: &Path) -> Result<(Plan, Report), Report> {
    let text = fs::read_to_string(file).unwrap();
    let overrides: Vec<Override> =
        text.lines().filter_map(|l| l.strip_prefix("#--set ")).map(|o| o.parse().unwrap()).collect();
    let name = file.file_name().unwrap().to_string_lossy();
    read(&name, &text, Path::new("/base"), &overrides, &TestCatalog)
}

fn render(report: &Report) -> String {
    let handler =
        GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(100).with_links(false);
    let mut out = String::new();
    for d in report.located() {
        handler.render_report(&mut out, &d).unwrap();
        out.push('\n');
    }
    // Lines of an editor's file have no blanks at their ends.
    out.lines().map(|l| format!("{}\n", l.trim_end())).collect()
}

/// Compares with the golden file, or writes it; says what differs.
fn compare(golden: &Path, actual: &str) -> Option<String> {
    if std::env::var_os("BENCH_BLESS").is_some() {
        if actual.is_empty() {
            let _ = fs::remove_file(golden);
        } else {
            fs::write(golden, actual).unwrap();
        }
        return None;
    }
    let expected = fs::read_to_string(golden).unwrap_or_default();
    (expected != actual).then(|| format!("{}\n--- expected\n{expected}\n--- actual\n{actual}", golden.display()))
}

#[test]
fn valid_files_give_their_plan() {
    let files = workloads(&folder("valid"));
    assert!(files.len() >= 8, "{}", files.len());
    let mut wrong = Vec::new();
    for file in files {
        match read_file(&file) {
            Ok((plan, warnings)) => {
                let json = serde_json::to_string_pretty(&plan).unwrap() + "\n";
                assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), plan, "a plan survives its JSON");
                wrong.extend(compare(&file.with_extension("json"), &json));
                wrong.extend(compare(&file.with_extension("warn"), &render(&warnings)));
            }
            Err(report) => wrong.push(format!("{}\n{}", file.display(), render(&report))),
        }
    }
    assert!(wrong.is_empty(), "{}\n(BENCH_BLESS=1 writes them anew)", wrong.join("\n"));
}

#[test]
fn invalid_files_give_their_mistakes() {
    let files = workloads(&folder("invalid"));
    assert!(files.len() >= 25, "{}", files.len());
    let mut wrong = Vec::new();
    for file in files {
        match read_file(&file) {
            Ok(_) => wrong.push(format!("{} is valid", file.display())),
            Err(report) => wrong.extend(compare(&file.with_extension("err"), &render(&report))),
        }
    }
    assert!(wrong.is_empty(), "{}\n(BENCH_BLESS=1 writes them anew)", wrong.join("\n"));
}

#[test]
fn every_message_keeps_the_style() {
    for file in workloads(&folder("invalid")) {
        for d in read_file(&file).unwrap_err().diagnostics {
            assert!(!d.message.ends_with('.'), "{}: {}", file.display(), d.message);
            assert!(!d.message.starts_with(char::is_uppercase), "{}: {}", file.display(), d.message);
            assert!(d.help.is_none_or(|h| !h.ends_with('.')), "{}: {}", file.display(), d.message);
        }
    }
}
