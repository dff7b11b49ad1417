//! Records and runs for the tests and the bench.
#![allow(dead_code, unreachable_pub, reason = "each test or bench uses some of it")]

use bench_core::clock::Nanos;
use bench_core::decode::EventKind;
use bench_core::load::{ArrivalProcess, Limits, LoadKind, LoadSpec, Slo};
use bench_core::outcome::Outcome;
use bench_core::record::{Events, Phase, RequestRecord, Stamp, TokenSource};
use bench_core::sample::SampleNote;
use bench_trace::{
    AdapterRun, ClientStats, EngineRun, FORMAT, Hardware, LaunchedProcess, RunInfo, RunState, ScenarioInfo, Seeds,
    ThreadStats, TokenizerInfo, WallTime, Window,
};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// SplitMix64 (Steele, Lea, Flood 2014).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize].clone()
    }

    /// `None` in a third of the cases.
    fn maybe<T>(&mut self, make: impl FnOnce(&mut Random) -> T) -> Option<T> {
        (self.below(3) > 0).then(|| make(self))
    }

    /// Anything that a row may hold, with a liking for the ends.
    fn whole(&mut self) -> u64 {
        match self.below(4) {
            0 => 0,
            1 => i64::MAX as u64,
            2 => self.below(1_000),
            _ => self.next() >> 1,
        }
    }

    fn small(&mut self) -> u32 {
        match self.below(3) {
            0 => u32::MAX,
            1 => 0,
            _ => self.next() as u32,
        }
    }

    fn nanos(&mut self) -> Nanos {
        Nanos(self.whole())
    }

    fn text(&mut self) -> String {
        let words = [
            "",
            "a",
            "größer",
            "\u{0}",
            "\u{feff}",
            "🦀👩‍👩‍👧",
            "data: [DONE]\n\n",
            "\"'\\,;\t\r\n",
            "\u{10ffff}",
            "日本語",
        ];
        (0..self.below(6)).map(|_| self.pick(&words)).collect()
    }

    fn shared(&mut self) -> Arc<str> {
        Arc::from(self.text())
    }

    fn digest(&mut self) -> [u8; 32] {
        std::array::from_fn(|_| self.next() as u8)
    }

    fn events(&mut self) -> Events {
        let n = self.pick(&[0, 1, 2, 7, 300]);
        Events {
            gap_us: (0..n)
                .map(|_| match self.below(8) {
                    0 => i64::MAX,
                    1 => i64::MIN,
                    2 => -1,
                    _ => self.below(50_000) as i64,
                })
                .collect(),
            tokens: self.maybe(|r| (0..n).map(|_| r.pick(&[0, 1, 1, 2, u16::MAX])).collect()),
            merged: (0..n).map(|_| self.below(2) == 0).collect(),
            kind: (0..n).map(|_| self.pick(&EventKind::ALL)).collect(),
        }
    }

    /// A record with every field anything that it may be; it need not make sense.
    pub fn record(&mut self, text: bool) -> RequestRecord {
        RequestRecord {
            scenario: self.shared(),
            stage: self.maybe(Random::shared),
            candidate: self.maybe(Random::shared),
            repeat: self.small(),
            request: self.whole(),
            attempt: self.small(),
            session: self.maybe(Random::shared),
            turn: self.maybe(Random::small),
            replica: self.small(),
            worker: self.small(),
            phase: self.pick(&[Phase::Warmup, Phase::Measure, Phase::Cooldown, Phase::Probe]),
            dataset_sample: self.maybe(Random::shared),
            prompt_sha256: self.maybe(Random::digest),
            scheduled: self.nanos(),
            admitted: self.maybe(Random::nanos),
            sent: self.maybe(Random::nanos),
            first_byte: self.maybe(Random::nanos),
            first_token: self.maybe(Random::nanos),
            first_content: self.maybe(Random::nanos),
            last_token: self.maybe(Random::nanos),
            end: self.nanos(),
            stamp: self.maybe(|r| r.pick(&[Stamp::Kernel, Stamp::Read])),
            stamp_lag: self.maybe(Random::nanos),
            events: self.maybe(Random::events),
            streamed: self.maybe(|r| r.below(2) == 0),
            prompt_tokens_asked: self.maybe(Random::small),
            prompt_tokens: self.maybe(Random::small),
            cached_tokens: self.maybe(Random::small),
            output_tokens_asked: self.maybe(Random::small),
            output_tokens: self.maybe(Random::small),
            reasoning_tokens: self.maybe(Random::small),
            token_source: self.maybe(|r| {
                r.pick(&[TokenSource::Usage, TokenSource::UsageCumulative, TokenSource::Tokenizer, TokenSource::Events])
            }),
            outcome: self.pick(&Outcome::ALL),
            http_status: self.maybe(|r| r.next() as u16),
            finish_reason: self.maybe(Random::text),
            error: self.maybe(Random::text),
            bytes_sent: self.whole(),
            bytes_received: self.whole(),
            connection_reused: self.maybe(|r| r.below(2) == 0),
            dns: self.maybe(Random::nanos),
            connect: self.maybe(Random::nanos),
            tls: self.maybe(Random::nanos),
            output_sha256: self.maybe(Random::digest),
            prompt_text: if text { self.maybe(Random::shared) } else { None },
            output_text: if text { self.maybe(Random::text) } else { None },
            reasoning_text: if text { self.maybe(Random::text) } else { None },
        }
    }

    /// A request as a real engine answers it: `events` events, some 20 ms apart (drifting between 18 and 22, with a
    /// jitter of 300 µs and a stall of 30 to 150 ms at one event of fifty), of one token mostly.
    pub fn realistic(&mut self, request: u64, events: usize) -> RequestRecord {
        let scheduled = Nanos(request * 1_000_000 + self.below(900_000));
        let sent = scheduled + Nanos(20_000 + self.below(60_000));
        let (begin, end) = (18_000 + self.below(4_000) as i64, 18_000 + self.below(4_000) as i64);
        let mut gap_us = Vec::with_capacity(events);
        gap_us.push(50_000 + self.below(20_000) as i64);
        for i in 1..events {
            let drift = begin + (end - begin) * i as i64 / events as i64;
            // The sum of four draws is close to a normal one; each draw has 16 bits.
            let draws = self.next();
            let draw = |n: u32| (((draws >> (16 * n)) & 0xffff) as i64 * 520) >> 16;
            let jitter = (0..4).map(draw).sum::<i64>() - 1_040;
            let stall = if self.below(50) == 0 { 30_000 + self.below(120_000) as i64 } else { 0 };
            gap_us.push(drift + jitter + stall);
        }
        let tokens: Vec<u16> = (0..events)
            .map(|_| match self.below(32) {
                0 => 2 + self.below(4) as u16,
                1 | 2 => 2,
                _ => 1,
            })
            .collect();
        let output: u32 = tokens.iter().map(|n| u32::from(*n)).sum();
        let at = |us: i64| Nanos(sent.0 + us as u64 * 1_000);
        let (first, last) = (at(gap_us[0]), at(gap_us.iter().sum()));
        RequestRecord {
            scenario: Arc::from("measured"),
            stage: None,
            candidate: None,
            repeat: 0,
            request,
            attempt: 0,
            session: None,
            turn: None,
            replica: 0,
            worker: (request % 2) as u32,
            phase: Phase::Measure,
            dataset_sample: Some(Arc::from(format!("sample-{}", self.below(100_000)))),
            prompt_sha256: Some(self.digest()),
            scheduled,
            admitted: Some(scheduled + Nanos(self.below(2_000))),
            sent: Some(sent),
            first_byte: Some(sent + Nanos(1_000_000 + self.below(9_000_000))),
            first_token: Some(first),
            first_content: Some(first),
            last_token: Some(last),
            end: last + Nanos(self.below(200_000)),
            stamp: Some(Stamp::Kernel),
            stamp_lag: Some(Nanos(self.below(900_000))),
            streamed: Some(true),
            events: Some(Events {
                tokens: Some(tokens),
                merged: (0..events).map(|_| self.below(20) == 0).collect(),
                kind: vec![EventKind::Text; events],
                gap_us,
            }),
            prompt_tokens_asked: Some(200 + self.below(300) as u32),
            prompt_tokens: Some(210 + self.below(300) as u32),
            cached_tokens: Some(0),
            output_tokens_asked: Some(output),
            output_tokens: Some(output),
            reasoning_tokens: None,
            token_source: Some(TokenSource::Usage),
            outcome: Outcome::Complete,
            http_status: Some(200),
            finish_reason: Some("length".to_owned()),
            error: None,
            bytes_sent: 900 + self.below(2_000),
            bytes_received: 200 * events as u64 + self.below(100),
            connection_reused: Some(true),
            dns: None,
            connect: None,
            tls: None,
            output_sha256: Some(self.digest()),
            prompt_text: None,
            output_text: None,
            reasoning_text: None,
        }
    }
}

/// A run with something in every field.
pub fn info(text: bool) -> RunInfo {
    RunInfo {
        format: FORMAT,
        bench_host: "0.1.0".into(),
        name: "naïve 🦀".into(),
        started: WallTime::from_system(UNIX_EPOCH + Duration::new(1_796_083_200, 123_456_789)),
        monotonic_origin_ns: Some(77),
        command: vec!["bench-host".into(), "run".into(), "w.toml".into()],
        state: RunState::Running,
        interrupted: false,
        recovery: None,
        text,
        plan: serde_json::json!({"name": "naïve 🦀", "rate": 0.1, "big": u64::MAX, "none": null}),
        plan_sha256: "ab".repeat(32),
        seeds: Seeds { samples: 42, order: Some(1), arrival: u64::MAX },
        tokenizer: Some(TokenizerInfo { name: "tokenizer.json".into(), sha256: "cd".repeat(32) }),
        adapters: vec![AdapterRun {
            id: "sim".into(),
            kind: "engine".into(),
            version: "0.1.0".into(),
            sha256: "ef".repeat(32),
            origin: "bundled".into(),
        }],
        engine: Some(EngineRun {
            adapter: "sim".into(),
            version: Some("0.1.0".into()),
            model: "m".into(),
            attached: false,
            urls: vec!["http://127.0.0.1:8000".into()],
            processes: vec![LaunchedProcess {
                name: "server".into(),
                replica: 0,
                command: vec!["sim".into(), "--port".into(), "8000".into()],
                end: None,
            }],
            models: vec!["m".into()],
            context: Some(4096),
            facts: vec![("b".into(), "2".into()), ("a".into(), "1".into())],
            startup: Some(Nanos(5)),
        }),
        selftest: None,
        hardware: Hardware { platform: "linux x86_64".into(), ..Hardware::default() },
        scenarios: vec![ScenarioInfo {
            name: "measured".into(),
            dataset: "jsonl".into(),
            load: LoadSpec {
                kind: LoadKind::Poisson { rate: 0.1 },
                requests: Some(10),
                duration: None,
                max_concurrency: None,
                process: ArrivalProcess::Bench,
            },
            limits: Limits::default(),
            slo: Slo { ttft: Some(Nanos::from_millis(200)), ..Slo::default() },
            samples: Some(10),
            notes: vec![SampleNote {
                code: "skipped-record".into(),
                message: "no prompt".into(),
                count: 2,
                offset: Some(17),
            }],
        }],
        windows: vec![Window {
            scenario: "measured".into(),
            repeat: 0,
            phase: Phase::Measure,
            start: Nanos(1),
            end: Some(Nanos(2)),
            requests: Some(10),
            client: Some(ClientStats {
                transport: "epoll".into(),
                threads: vec![ThreadStats { cpu: Nanos(3), wall: Nanos(4) }],
                clock_steps: 0,
                health: None,
            }),
        }],
    }
}

/// The same run at its end.
pub fn finished(text: bool) -> RunInfo {
    RunInfo { state: RunState::Finished, ..info(text) }
}
