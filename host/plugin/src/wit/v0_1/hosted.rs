//! What the host offers: log, generators, the tokenizer, granted files.

use super::bindings::dataset::bench::dataset::samples;
use super::bindings::dataset::bench::host::{random, source, tokenizer};
use super::bindings::engine::bench::adapter::types;
use super::bindings::engine::bench::engine::{launch, requests, responses};
use super::bindings::engine::bench::host::log;
use crate::granted::{GrantedFile, Malformed};
use crate::records::{RecordFormat, Records};
use crate::state::{HostState, LogLevel, breach};
use crate::tokenizer::Tokenizer;
use bench_core::random::{NumpyGenerator, NumpyLegacy, PythonRandom};
use std::sync::Arc;
use wasmtime::Result;
use wasmtime::component::Resource;

/// The tokenizer behind a handle.
#[expect(unreachable_pub, reason = "generated bindings name it in a `pub use`")]
pub type SharedTokenizer = Arc<Tokenizer>;

// Packages that are types only.
impl types::Host for HostState {}
impl launch::Host for HostState {}
impl requests::Host for HostState {}
impl responses::Host for HostState {}
impl samples::Host for HostState {}

impl log::Host for HostState {
    fn log(&mut self, level: log::Level, message: String) -> Result<()> {
        let level = match level {
            log::Level::Trace => LogLevel::Trace,
            log::Level::Debug => LogLevel::Debug,
            log::Level::Info => LogLevel::Info,
            log::Level::Warn => LogLevel::Warn,
            log::Level::Error => LogLevel::Error,
        };
        self.log.line(level, &message);
        Ok(())
    }
}

impl random::Host for HostState {}

impl random::HostPythonRandom for HostState {
    fn new(&mut self, seed: u64) -> Result<Resource<PythonRandom>> {
        Ok(self.table.push(PythonRandom::new(seed))?)
    }

    fn floats(&mut self, this: Resource<PythonRandom>, count: u32) -> Result<Vec<f64>> {
        self.may_hand_over("python-random.floats", count.into(), 8)?;
        let g = self.table.get_mut(&this)?;
        Ok((0..count).map(|_| g.random()).collect())
    }

    fn below(&mut self, this: Resource<PythonRandom>, n: u64, count: u32) -> Result<Vec<u64>> {
        self.may_hand_over("python-random.below", count.into(), 8)?;
        not_zero("python-random.below", n)?;
        let g = self.table.get_mut(&this)?;
        Ok((0..count).map(|_| g.below(n)).collect())
    }

    fn shuffle(&mut self, this: Resource<PythonRandom>, n: u32) -> Result<Vec<u32>> {
        self.may_hand_over("python-random.shuffle", n.into(), 4)?;
        let g = self.table.get_mut(&this)?;
        let mut items: Vec<u32> = (0..n).collect();
        g.shuffle(&mut items);
        Ok(items)
    }

    fn choices(&mut self, this: Resource<PythonRandom>, n: u32, count: u32) -> Result<Vec<u32>> {
        self.may_hand_over("python-random.choices", count.into(), 4)?;
        not_zero("python-random.choices", n.into())?;
        let g = self.table.get_mut(&this)?;
        Ok(g.choices(n, count as usize))
    }

    fn drop(&mut self, this: Resource<PythonRandom>) -> Result<()> {
        self.table.delete(this)?;
        Ok(())
    }
}

impl random::HostNumpyLegacy for HostState {
    fn new(&mut self, seed: u32) -> Result<Resource<NumpyLegacy>> {
        Ok(self.table.push(NumpyLegacy::new(seed))?)
    }

    fn floats(&mut self, this: Resource<NumpyLegacy>, count: u32) -> Result<Vec<f64>> {
        self.may_hand_over("numpy-legacy.floats", count.into(), 8)?;
        let g = self.table.get_mut(&this)?;
        Ok((0..count).map(|_| g.random()).collect())
    }

    fn below(&mut self, this: Resource<NumpyLegacy>, high: u64, count: u32) -> Result<Vec<u64>> {
        self.may_hand_over("numpy-legacy.below", count.into(), 8)?;
        not_zero("numpy-legacy.below", high)?;
        let g = self.table.get_mut(&this)?;
        Ok((0..count).map(|_| g.below(high)).collect())
    }

    fn permutation(&mut self, this: Resource<NumpyLegacy>, n: u32) -> Result<Vec<u32>> {
        self.may_hand_over("numpy-legacy.permutation", n.into(), 4)?;
        Ok(self.table.get_mut(&this)?.permutation(n))
    }

    fn gammas(&mut self, this: Resource<NumpyLegacy>, shape: f64, scale: f64, count: u32) -> Result<Vec<f64>> {
        self.may_hand_over("numpy-legacy.gammas", count.into(), 8)?;
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if !positive(shape) || !positive(scale) {
            return breach(format!(
                "`numpy-legacy.gammas` was asked for shape {shape} and scale {scale}; both must be above 0"
            ));
        }
        let g = self.table.get_mut(&this)?;
        Ok((0..count).map(|_| g.gamma(shape, scale)).collect())
    }

    fn drop(&mut self, this: Resource<NumpyLegacy>) -> Result<()> {
        self.table.delete(this)?;
        Ok(())
    }
}

impl random::HostNumpyGenerator for HostState {
    fn new(&mut self, seed: u64) -> Result<Resource<NumpyGenerator>> {
        Ok(self.table.push(NumpyGenerator::new(seed))?)
    }

    fn floats(&mut self, this: Resource<NumpyGenerator>, count: u32) -> Result<Vec<f64>> {
        self.may_hand_over("numpy-generator.floats", count.into(), 8)?;
        let g = self.table.get_mut(&this)?;
        Ok((0..count).map(|_| g.random()).collect())
    }

    fn integers(&mut self, this: Resource<NumpyGenerator>, low: i64, high: i64, count: u32) -> Result<Vec<i64>> {
        self.may_hand_over("numpy-generator.integers", count.into(), 8)?;
        if low >= high || high.abs_diff(low) > u64::from(u32::MAX) {
            return breach(format!(
                "`numpy-generator.integers` was asked for {low}..{high}; high must be above low by at most 2^32 - 1"
            ));
        }
        let g = self.table.get_mut(&this)?;
        Ok((0..count).map(|_| g.integers(low, high)).collect())
    }

    fn drop(&mut self, this: Resource<NumpyGenerator>) -> Result<()> {
        self.table.delete(this)?;
        Ok(())
    }
}

fn not_zero(call: &str, n: u64) -> Result<()> {
    if n == 0 {
        return breach(format!("`{call}` was asked for a number below 0"));
    }
    Ok(())
}

/// Counts down what a call may still hand over.
fn take_room(room: &mut usize, call: &str, bytes: usize) -> Result<()> {
    match room.checked_sub(bytes) {
        Some(left) => *room = left,
        None => return breach(format!("`{call}` would hand over more than a call may; ask for less at once")),
    }
    Ok(())
}

impl tokenizer::Host for HostState {}

impl tokenizer::HostTokenizer for HostState {
    fn name(&mut self, this: Resource<SharedTokenizer>) -> Result<String> {
        Ok(self.table.get(&this)?.name().to_owned())
    }

    fn vocabulary_size(&mut self, this: Resource<SharedTokenizer>) -> Result<u32> {
        Ok(self.table.get(&this)?.vocabulary_size())
    }

    fn special_ids(&mut self, this: Resource<SharedTokenizer>) -> Result<Vec<u32>> {
        Ok(self.table.get(&this)?.special_ids().to_vec())
    }

    fn added_per_text(&mut self, this: Resource<SharedTokenizer>) -> Result<u32> {
        Ok(self.table.get(&this)?.added_per_text())
    }

    fn count(&mut self, this: Resource<SharedTokenizer>, texts: Vec<String>, add_special: bool) -> Result<Vec<u32>> {
        let t = self.table.get(&this)?;
        texts.iter().map(|text| Ok(t.count_tokens(text, add_special)?)).collect()
    }

    fn encode(
        &mut self,
        this: Resource<SharedTokenizer>,
        texts: Vec<String>,
        add_special: bool,
    ) -> Result<Vec<Vec<u32>>> {
        let t = self.table.get(&this)?;
        let mut room = self.output_bytes;
        let mut encoded = Vec::with_capacity(texts.len());
        for text in &texts {
            let ids = t.encode(text, add_special)?;
            take_room(&mut room, "tokenizer.encode", size_of_val(ids.as_slice()))?;
            encoded.push(ids);
        }
        Ok(encoded)
    }

    fn decode(&mut self, this: Resource<SharedTokenizer>, sequences: Vec<Vec<u32>>) -> Result<Vec<String>> {
        let t = self.table.get(&this)?;
        let mut room = self.output_bytes;
        let mut decoded = Vec::with_capacity(sequences.len());
        for ids in &sequences {
            let text = t.decode(ids)?;
            take_room(&mut room, "tokenizer.decode", text.len())?;
            decoded.push(text);
        }
        Ok(decoded)
    }

    fn drop(&mut self, this: Resource<SharedTokenizer>) -> Result<()> {
        self.table.delete(this)?;
        Ok(())
    }
}

impl source::Host for HostState {}

impl source::HostSource for HostState {
    fn id(&mut self, this: Resource<GrantedFile>) -> Result<String> {
        Ok(self.table.get(&this)?.id.clone())
    }

    fn name(&mut self, this: Resource<GrantedFile>) -> Result<String> {
        Ok(self.table.get(&this)?.name.clone())
    }

    fn size(&mut self, this: Resource<GrantedFile>) -> Result<u64> {
        Ok(self.table.get(&this)?.size)
    }

    fn read(
        &mut self,
        this: Resource<GrantedFile>,
        offset: u64,
        length: u32,
    ) -> Result<std::result::Result<Vec<u8>, types::MalformedInput>> {
        self.may_hand_over("source.read", length.into(), 1)?;
        Ok(self.table.get(&this)?.read(offset, length as usize).map_err(malformed))
    }

    fn records(
        &mut self,
        this: Resource<GrantedFile>,
        format: source::RecordFormat,
    ) -> Result<std::result::Result<Resource<Records>, types::MalformedInput>> {
        let format = match format {
            source::RecordFormat::Lines => RecordFormat::Lines,
            source::RecordFormat::JsonArray => RecordFormat::JsonArray,
        };
        let records = self.table.get(&this)?.records(format, self.output_bytes / 2);
        Ok(Ok(self.table.push(records)?))
    }

    fn drop(&mut self, this: Resource<GrantedFile>) -> Result<()> {
        self.table.delete(this)?;
        Ok(())
    }
}

impl source::HostRecords for HostState {
    fn next(
        &mut self,
        this: Resource<Records>,
        max: u32,
        max_bytes: u32,
    ) -> Result<std::result::Result<source::Batch, types::MalformedInput>> {
        let most = self.output_bytes.min(max_bytes as usize);
        let batch = self.table.get_mut(&this)?.next(max as usize, most);
        Ok(batch.map_err(malformed).map(|b| source::Batch { bytes: b.bytes, ends: b.ends, offsets: b.offsets }))
    }

    fn drop(&mut self, this: Resource<Records>) -> Result<()> {
        self.table.delete(this)?;
        Ok(())
    }
}

fn malformed(m: Malformed) -> types::MalformedInput {
    types::MalformedInput { what: m.what, offset: m.offset, message: m.message }
}
