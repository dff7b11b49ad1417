//! What the host offers datasets, seen from inside the sandbox, and datasets that misbehave.

use bench_core::adapter::{SettingValue, Settings, TokenizerNeed};
use bench_core::random::{NumpyGenerator, NumpyLegacy, PythonRandom};
use bench_core::sample::{Prompt, Sample};
use bench_plugin::{
    AdapterError, AdapterKind, DatasetAdapter, DatasetInputs, DatasetReader, Limits, PluginError, Tokenizer,
};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

static ADAPTER: LazyLock<DatasetAdapter> = LazyLock::new(|| {
    let host = crate::common::host(Limits::default());
    host.dataset(crate::common::guest(&host, AdapterKind::Dataset)).unwrap()
});

fn inputs(mode: &str, path: Option<PathBuf>) -> DatasetInputs {
    DatasetInputs {
        settings: Settings::from([("mode".to_owned(), SettingValue::Text(mode.to_owned()))]),
        sources: path.into_iter().map(|p| ("path".to_owned(), p)).collect(),
        tokenizer: None,
        seed: 42,
        wanted: 10,
    }
}

fn open(mode: &str) -> Result<DatasetReader, PluginError> {
    ADAPTER.open(inputs(mode, None))
}

/// All texts of a mode that reads `content`.
fn read(mode: &str, content: &[u8]) -> Result<Vec<String>, PluginError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.bin");
    std::fs::write(&path, content).unwrap();
    texts(&mut ADAPTER.open(inputs(mode, Some(path)))?)
}

fn texts(reader: &mut DatasetReader) -> Result<Vec<String>, PluginError> {
    let mut texts = Vec::new();
    loop {
        let samples = reader.next(4)?;
        if samples.is_empty() {
            return Ok(texts);
        }
        texts.extend(samples.into_iter().map(|s: Sample| match s.prompt {
            Prompt::Text(t) => t,
            other => panic!("{other:?}"),
        }));
    }
}

fn breach(result: Result<impl std::fmt::Debug, PluginError>) -> String {
    match result {
        Err(PluginError::Contract { what, .. }) => what,
        other => panic!("not a breach of the contract: {other:?}"),
    }
}

#[test]
fn samples_come_until_the_run_has_enough() {
    let mut reader = open("").unwrap();
    assert_eq!(reader.count().unwrap(), Some(10));
    assert_eq!(texts(&mut reader).unwrap(), (0..10).map(|i| i.to_string()).collect::<Vec<_>>());
    assert!(reader.next(5).unwrap().is_empty());
    let notes = reader.notes().unwrap();
    assert_eq!((notes[0].code.as_str(), notes[0].message.as_str(), notes[0].count), ("fine", "said\u{fffd}", 3));
    assert_eq!(ADAPTER.needs_tokenizer(&Settings::new()).unwrap(), TokenizerNeed::IfPresent);
}

#[test]
fn generators_are_the_hosts() {
    let got = texts(&mut open("generators").unwrap()).unwrap();
    let (mut p, mut l, mut g) = (PythonRandom::new(42), NumpyLegacy::new(42), NumpyGenerator::new(42));
    fn three<T>(mut f: impl FnMut() -> T) -> Vec<T> {
        (0..3).map(|_| f()).collect()
    }
    let floats = three(|| p.random());
    let below = three(|| p.below(1000));
    let mut nine: Vec<u32> = (0..9).collect();
    p.shuffle(&mut nine);
    assert_eq!(got[0], format!("{floats:?} {below:?} {nine:?} {:?}", p.choices(7, 5)));
    let floats = three(|| l.random());
    let below = three(|| l.below(1000));
    let nine = l.permutation(9);
    assert_eq!(got[1], format!("{floats:?} {below:?} {nine:?} {:?}", three(|| l.gamma(0.5, 2.0))));
    let floats = three(|| g.random());
    assert_eq!(got[2], format!("{floats:?} {:?}", three(|| g.integers(-5, 1000))));
}

#[test]
fn a_request_that_can_not_be_met_is_a_breach() {
    assert!(breach(open("below-nothing")).contains("`python-random.below` was asked for a number below 0"));
    assert!(breach(open("gamma-of-nothing")).contains("shape NaN"));
    assert!(breach(open("wide")).contains("at most 2^32 - 1"));
    assert!(breach(open("shuffle")).contains("a call may hand over 64 MiB"));
    assert!(breach(read("read-huge", b"x")).contains("`source.read` was asked for 4294967295 items"));
    assert!(open("handles").is_err());
}

#[test]
fn a_granted_file_is_read_anywhere() {
    let got = read("read", b"0123456789").unwrap();
    assert_eq!(got, ["path", "data.bin", "10", "[51, 52, 53, 54, 55] [56, 57] []"]);
}

#[test]
fn records_come_with_their_offsets() {
    assert_eq!(read("lines", b"a\r\n\nbc\nd").unwrap(), ["0:a", "4:bc", "7:d"]);
    assert_eq!(read("json", b" [ {\"a\": [1]},2 , \"]\"]\n").unwrap(), ["3:{\"a\": [1]}", "14:2", "18:\"]\""]);
}

#[test]
fn a_file_that_is_cut_off_is_an_error_that_names_the_byte() {
    match read("json", b"[{\"a\": 1}, {\"b\": \"c") {
        Err(PluginError::Adapter { error: AdapterError::Malformed { what, offset, message }, .. }) => {
            assert_eq!((what.as_str(), offset), ("data.bin", Some(19)));
            assert!(message.contains("inside a string of the record that starts at byte 11"), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn lies_about_samples_are_noticed() {
    let mut more = open("more").unwrap();
    assert!(breach(more.next(4)).contains("10 samples came for 4"));
    assert!(more.next(4).unwrap_err().to_string().contains("an earlier call of this reader failed"));
    assert!(breach(open("bad-note").unwrap().notes()).contains("`Bad Note`, is not kebab-case"));
}

#[test]
fn a_reader_that_trapped_is_gone() {
    let mut reader = open("trap").unwrap();
    assert!(matches!(reader.next(1), Err(PluginError::Fault { call: "reader.next", .. })));
    assert!(matches!(reader.next(1), Err(PluginError::Fault { .. })));
    assert!(matches!(reader.notes(), Err(PluginError::Fault { .. })));
}

#[test]
fn only_named_sources_are_granted() {
    let missing = ADAPTER.open(inputs("read", Some("/nowhere/data.bin".into())));
    assert!(matches!(missing, Err(PluginError::Read { .. })));
    let folder = ADAPTER.open(inputs("read", Some(std::env::temp_dir())));
    assert!(folder.unwrap_err().to_string().contains("no regular file"));
    let mut other = inputs("", None);
    other.sources = vec![("other".to_owned(), "Cargo.toml".into())];
    assert!(ADAPTER.open(other).unwrap_err().to_string().contains("`other`, which is no source"));
}

#[test]
fn the_tokenizer_is_the_hosts() {
    assert_eq!(texts(&mut open("tokenizer").unwrap()).unwrap(), ["none"]);
    let path = crate::common::root().join("tests/.cache/tokenizer-qwen3/tokenizer.json");
    assert!(path.is_file(), "run tests/fetch.sh");
    let t = Arc::new(Tokenizer::load(&path).unwrap());
    let mut with = inputs("tokenizer", None);
    with.tokenizer = Some(t.clone());
    let got = texts(&mut ADAPTER.open(with).unwrap()).unwrap();
    assert_eq!(got[0], format!("151643 0 {}", t.special_ids().len()));
    let both = ["Hello, world!", "<|im_start|>ä\u{1f680}"];
    let ids: Vec<Vec<u32>> = both.iter().map(|s| t.encode(s, false).unwrap()).collect();
    let counts: Vec<usize> = ids.iter().map(Vec::len).collect();
    assert_eq!(got[1], format!("{ids:?} {counts:?}"));
    assert_eq!(got[2], format!("{both:?}"));

    let mut lie = inputs("unknown-token", None);
    lie.tokenizer = Some(t);
    assert!(breach(ADAPTER.open(lie).unwrap().next(1)).contains("token 4000000000 is not in the vocabulary"));
}
