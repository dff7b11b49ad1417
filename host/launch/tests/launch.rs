//! Launches real processes and sees that nothing of them is left.

mod common;

use bench_core::clock::Nanos;
use bench_core::launch::{EnvValue, ReadyCheck, StopSignal, VersionProbe};
use bench_launch::{EndedBy, ExitInfo, Grant, LaunchError, Progress};
use common::{Bench, runs, shell, wait_until, web_server};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[test]
fn a_server_becomes_ready_is_identified_and_stops_clean() {
    let bench = Bench::new();
    let plan = bench.plan(web_server(bench.port, r#"{"data": [{"id": "m", "max_model_len": 2048}]}"#));
    let mut seen = Vec::new();
    let replica = bench
        .launcher(&plan)
        .launch(&mut |progress| {
            seen.push(match progress {
                Progress::Started { .. } => "started",
                Progress::Waiting { .. } => "waiting",
                Progress::Ready { .. } => "ready",
            });
        })
        .unwrap();
    assert_eq!((seen.first(), seen.last()), (Some(&"started"), Some(&"ready")));
    assert_eq!(replica.url(), format!("http://127.0.0.1:{}", bench.port));
    let model = replica.identity().model.clone().unwrap();
    assert_eq!((model.id.as_str(), model.context), ("m", Some(2048)));
    assert!(replica.startup() > Nanos::ZERO);
    let pid = replica.serving_pid();
    assert!(runs(pid) && replica.family().contains(&i32::try_from(pid).unwrap()));
    assert_eq!(replica.pids(), [("server", pid)]);

    let report = replica.stop();
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(report.processes[0].by, EndedBy::Signal);
    assert!(!runs(pid));
    assert!(bench.log("server").contains("GET /v1/models"), "{}", bench.log("server"));
}

#[test]
fn a_server_with_another_model_is_refused_and_stopped() {
    let bench = Bench::new();
    let plan = bench.plan(web_server(bench.port, r#"{"data": [{"id": "x"}, {"id": "y"}]}"#));
    let error = bench.launch(&plan).err().expect("it serves other models").to_string();
    assert!(error.contains("does not serve `m`, it serves `x`, `y`"), "{error}");
    bench.assert_port_free();
}

#[test]
fn a_fatal_line_ends_the_wait_at_once() {
    let bench = Bench::new();
    let mut process = shell("echo loading; echo 'ERROR: CUDA out of memory, sorry' >&2; exec sleep 1000");
    process.ready.fatal_log = vec!["CUDA out of memory".into()];
    process.ready.timeout_ms = 600_000;
    let plan = bench.plan(process);
    match bench.launch(&plan).err() {
        Some(LaunchError::FatalLog { line, .. }) => assert_eq!(line, "ERROR: CUDA out of memory, sorry"),
        other => panic!("{other:?}"),
    }
    assert_eq!(bench.marked(), 0);
}

#[test]
fn an_end_before_readiness_shows_status_and_the_last_lines() {
    let bench = Bench::new();
    let plan = bench.plan(shell("for i in $(seq 1 30); do echo line $i; done; printf 'no line end'; exit 3"));
    match bench.launch(&plan).err() {
        Some(LaunchError::Exited { exit, tail, .. }) => {
            assert_eq!(exit, ExitInfo { code: Some(3), signal: None });
            assert_eq!(tail.len(), 20);
            assert_eq!((tail[0].as_str(), tail[19].as_str()), ("line 12", "no line end"));
        }
        other => panic!("{other:?}"),
    }
    assert!(bench.log("server").starts_with("line 1\nline 2\n"), "the whole log is kept");
}

#[test]
fn a_taken_port_is_refused_before_the_start() {
    let bench = Bench::new();
    let held = std::net::TcpListener::bind(("127.0.0.1", bench.port)).unwrap();
    let mut process = shell("touch started; exec sleep 1000");
    process.port = bench.port;
    let plan = bench.plan(process);
    let error = bench.launch(&plan).err().expect("the port is taken").to_string();
    assert!(error.contains("is taken by `"), "{error}");
    assert!(error.contains(&format!("(pid {})", std::process::id())), "{error}");
    assert!(!bench.folder.path().join("started").exists());
    drop(held);
}

#[test]
fn an_answer_of_another_program_is_no_readiness() {
    let bench = Bench::new();
    let mut process = shell("touch up; exec sleep 1000");
    process.port = bench.port;
    process.ready.check = ReadyCheck::Tcp;
    let plan = bench.plan(process);
    // Takes the port between the look at it and the first check.
    let (up, port) = (bench.folder.path().join("up"), bench.port);
    let impostor = std::thread::spawn(move || {
        wait_until(|| up.exists());
        std::net::TcpListener::bind(("127.0.0.1", port)).unwrap()
    });
    let error = bench.launch(&plan).err();
    assert!(matches!(error, Some(LaunchError::Impostor { .. })), "{error:?}");
    drop(impostor.join());
    assert_eq!(bench.marked(), 0);
}

#[test]
fn what_ignores_the_signal_is_killed_with_its_children() {
    let bench = Bench::new();
    // One child in the group, one that left the group and one that left its parent too.
    let plan = bench.plan(shell(
        "trap '' TERM INT; sleep 1000 & setsid sleep 1001 & (setsid sleep 1002 &) ; echo up; while :; do sleep 1; done",
    ));
    let replica = bench.launch(&plan).unwrap();
    wait_until(|| replica.family().len() >= 4);
    let report = replica.stop();
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(report.processes[0].by, EndedBy::Kill);
    assert_eq!(report.processes[0].exit.unwrap().signal, Some(9));
    assert!(report.processes[0].took >= Nanos::from_millis(300), "{report:?}");
    assert_eq!(bench.marked(), 0);
}

#[test]
fn a_cut_ends_the_grace() {
    let bench = Bench::new();
    let mut process = shell("trap '' TERM; echo up; while :; do sleep 1; done");
    process.stop.grace_ms = 600_000;
    let report = bench.launch(&bench.plan(process)).unwrap().stop_until(&AtomicBool::new(true));
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(report.processes[0].by, EndedBy::Kill);
    assert!(report.processes[0].took < Nanos::from_secs(60), "{report:?}");
}

#[test]
fn a_child_that_outlives_its_parent_is_found_and_ended() {
    let bench = Bench::new();
    let plan = bench.plan(shell("(trap '' TERM; while :; do sleep 1; done) & echo up; exec sleep 1000"));
    let replica = bench.launch(&plan).unwrap();
    let report = replica.stop();
    assert!(report.is_clean(), "{report:?}");
    assert_eq!((report.processes[0].by, report.processes[0].exit.unwrap().signal), (EndedBy::Kill, Some(15)));
    assert_eq!(bench.marked(), 0);
}

#[test]
fn the_rule_says_which_signal_comes_first() {
    for (signal, word) in [(StopSignal::Interrupt, "INT"), (StopSignal::Terminate, "TERM")] {
        let bench = Bench::new();
        let mut process =
            shell(&format!("trap 'echo got {word}; exit 0' {word}; echo up; while :; do sleep 0.05; done"));
        process.stop.signal = signal;
        process.stop.grace_ms = 20_000;
        let report = bench.launch(&bench.plan(process)).unwrap().stop();
        assert_eq!(report.processes[0].exit.unwrap().code, Some(0), "{report:?}");
        assert!(bench.log("server").contains(&format!("got {word}")));
    }
}

#[test]
fn dropping_a_replica_leaves_nothing() {
    let bench = Bench::new();
    let plan = bench.plan(shell("sleep 1000 & echo up; exec sleep 1000"));
    drop(bench.launch(&plan).unwrap());
    assert_eq!(bench.marked(), 0);
}

#[test]
fn an_engine_that_dies_under_load_is_noticed() {
    let bench = Bench::new();
    assert!(std::process::Command::new("mkfifo").arg(bench.folder.path().join("fifo")).status().unwrap().success());
    let plan = bench.plan(shell("echo up; read line < fifo; echo dying; kill -SEGV $$"));
    let mut replica = bench.launch(&plan).unwrap();
    assert_eq!(replica.poll(), None);
    std::fs::write(bench.folder.path().join("fifo"), "go\n").unwrap();
    let mut ended = None;
    wait_until(|| {
        ended = replica.poll();
        ended.is_some()
    });
    let (name, exit) = ended.unwrap();
    assert_eq!((name.as_str(), exit.signal), ("server", Some(11)));
    assert_eq!(replica.log_tail("server"), ["up", "dying"]);
    assert_eq!(replica.stop().processes[0].by, EndedBy::Itself);
}

#[test]
fn the_wait_can_be_cancelled() {
    let bench = Bench::new();
    let plan = bench.plan(shell("exec sleep 1000"));
    let mut waited = 0;
    let launched = bench.launcher(&plan).launch(&mut |progress| {
        if matches!(progress, Progress::Waiting { .. }) {
            waited += 1;
            bench.cancel.store(true, Ordering::Relaxed);
        }
    });
    assert!(matches!(launched.err(), Some(LaunchError::Cancelled)));
    assert_eq!((waited, bench.marked()), (1, 0));
}

#[test]
fn patience_ends() {
    let mut bench = Bench::new();
    bench.ready_timeout = Some(Duration::from_millis(200));
    let plan = bench.plan(shell("echo loading weights; exec sleep 1000"));
    let error = bench.launch(&plan).err().expect("it never becomes ready").to_string();
    assert!(error.contains("was not ready after 200ms (no line of its log contains `up`)"), "{error}");
    assert!(error.contains("| loading weights"), "{error}");
    assert_eq!(bench.marked(), 0);
}

#[test]
fn steps_run_first_and_all_stop_in_reverse() {
    let bench = Bench::new();
    let mut step = shell("echo built > model");
    step.name = "build".into();
    step.ready.check = ReadyCheck::Exit;
    let mut router = shell("echo up; exec sleep 1000");
    router.name = "router".into();
    let mut plan = bench.plan(step);
    plan.processes.push(shell("cat model; echo up; exec sleep 1000"));
    plan.processes.push(router);
    plan.serving = 2;
    let mut replica = bench.launch(&plan).unwrap();
    assert_eq!(replica.poll(), None);
    assert!(bench.log("server").starts_with("built\nup"));
    let report = replica.stop();
    assert_eq!(report.processes.iter().map(|p| p.process.as_str()).collect::<Vec<_>>(), ["router", "server", "build"]);
    assert_eq!(report.processes[2].by, EndedBy::Itself);
}

#[test]
fn the_environment_is_what_is_given_and_secrets_come_from_the_caller() {
    let mut bench = Bench::new();
    bench.env.insert("MINE".into(), "user".into());
    let mut process = shell("env; cat; ls -l /proc/$$/fd; echo up; exec sleep 1000");
    process.env = vec![
        ("SIM_A".into(), EnvValue::Text("1".into())),
        ("SIM_KEY".into(), EnvValue::Secret("KEY".into())),
        ("MINE".into(), EnvValue::Text("plan".into())),
    ];
    process.files = vec![("sub/config.json".into(), b"{}".to_vec())];
    // A descriptor that is not closed at exec must not get through.
    let leak = rustix::fs::open("/dev/null", rustix::fs::OFlags::RDONLY, rustix::fs::Mode::empty()).unwrap();
    let mut plan = bench.plan(process);
    let replica = bench.launch(&plan).unwrap();
    drop(leak);
    let log = bench.log("server");
    let set: Vec<&str> = log.lines().filter_map(|l| l.split_once('=')).map(|(name, _)| name).collect();
    for name in ["SIM_A", "SIM_KEY", "MINE", "PATH"] {
        assert!(set.contains(&name), "{name} in {log}");
    }
    assert!(!set.contains(&"HOME") && log.contains("SIM_KEY=hush") && log.contains("MINE=user"), "{log}");
    assert_eq!(log.matches(" -> ").count(), 3, "only stdin, stdout and stderr: {log}");
    assert_eq!(std::fs::read(bench.folder.path().join("sub/config.json")).unwrap(), b"{}");
    replica.stop();

    plan.processes[0].env.push(("SIM_B".into(), EnvValue::Secret("OTHER".into())));
    let error = bench.launch(&plan).err().expect("that secret is not given").to_string();
    assert!(error.contains("needs the secret `OTHER`"), "{error}");
}

#[test]
fn plans_that_ask_for_too_much_are_refused() {
    let mut bench = Bench::new();
    bench.grants = vec![Grant { program: "sh".into(), args: vec!["-c".into(), "echo*".into()] }];
    let granted = bench.plan(shell("echo up"));
    assert!(bench.launcher(&granted).commands().is_ok());
    let mut plans = Vec::new();
    let mut with = |says: &'static str, change: &dyn Fn(&mut bench_core::launch::ProcessPlan)| {
        let mut process = shell("echo up");
        change(&mut process);
        plans.push((says, bench.plan(process)));
    };
    with("matches no grant", &|p| p.args = vec!["-c".into(), "rm x".into()]);
    with("bound to no program", &|p| p.program = "curl".into());
    with("no executable file", &|p| p.program = "absent".into());
    with("no name of a program", &|p| p.program = "/bin/sh".into());
    with("sets `LD_PRELOAD`", &|p| p.env = vec![("LD_PRELOAD".into(), EnvValue::Text("x".into()))]);
    with("uses the secret `SSH`", &|p| p.env = vec![("SIM_A".into(), EnvValue::Secret("SSH".into()))]);
    with("lies outside its folder", &|p| p.files = vec![("../x".into(), Vec::new())]);
    with("uses device 0 of 0", &|p| p.devices = vec![0]);
    with("its name is not made of", &|p| p.name = "../server".into());
    for (says, plan) in plans {
        let error = bench.launch(&plan).err().expect(says).to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn the_command_is_args_then_extra_then_binding() {
    let mut bench = Bench::new();
    bench.extra_args = vec!["--extra".into(), "a b".into()];
    let mut process = shell("echo $0 $@; echo up; exec sleep 1000");
    process.args.push("zero".into());
    process.bind_args = vec!["--port".into(), "1".into()];
    let plan = bench.plan(process);
    let shown = bench.launcher(&plan).commands().unwrap();
    assert!(shown[0].ends_with("zero --extra 'a b' --port 1"), "{shown:?}");
    bench.launch(&plan).unwrap().stop();
    assert!(bench.log("server").starts_with("zero --extra a b --port 1\n"));
}

#[test]
fn a_program_says_its_version() {
    let mut bench = Bench::new();
    bench.server.version = VersionProbe::Command(vec!["-c".into(), "echo engine 1.2.3rc4; exit 1".into()]);
    let replica = bench.launch(&bench.plan(shell("echo up; exec sleep 1000"))).unwrap();
    assert_eq!(replica.identity().version.as_deref(), Some("1.2.3"));
    replica.stop();
}
