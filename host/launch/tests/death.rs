//! An engine ends with the program that launched it, however that ends.

mod common;

use common::{Bench, runs, shell, wait_until};
use std::process::{Command, Stdio};
use std::sync::Arc;

#[test]
fn a_kill_of_the_launching_program_ends_the_engine() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("pid");
    let mut program = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "launches_and_waits", "--ignored"])
        .env("NOTE", &note)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut engine = None;
    wait_until(|| {
        engine = std::fs::read_to_string(&note).ok().and_then(|pid| pid.parse::<u32>().ok());
        engine.is_some()
    });
    let engine = engine.unwrap();
    assert!(runs(engine));
    program.kill().unwrap();
    program.wait().unwrap();
    wait_until(|| !runs(engine));
}

#[test]
#[ignore = "the program that the test above kills"]
fn launches_and_waits() {
    let bench = Bench::new();
    let replica = bench.launch(&bench.plan(shell("echo up; exec sleep 1000"))).unwrap();
    // Written aside first, so that a reader sees all of it or nothing.
    let note = std::path::PathBuf::from(std::env::var("NOTE").unwrap());
    let aside = note.with_extension("new");
    std::fs::write(&aside, replica.serving_pid().to_string()).unwrap();
    std::fs::rename(&aside, &note).unwrap();
    loop {
        std::thread::park();
    }
}

#[test]
fn the_end_of_the_launching_thread_does_not_end_the_engine() {
    let bench = Arc::new(Bench::new());
    let fifo = bench.folder.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let inner = Arc::clone(&bench);
    let launch = move || inner.launch(&inner.plan(shell("echo up; read line < fifo; echo more; exec sleep 1000")));
    let mut replica = std::thread::spawn(launch).join().unwrap().unwrap();
    // The thread is gone; an engine that went with it would read nothing and say nothing.
    std::fs::write(&fifo, "go\n").unwrap();
    wait_until(|| bench.log("server").contains("more"));
    assert_eq!(replica.poll(), None);
    assert!(replica.stop().is_clean());
}
