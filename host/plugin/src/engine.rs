//! A loaded engine adapter.

use crate::catalog::{AdapterSource, Origin};
use crate::error::{CallError, Callee, PluginError};
use crate::runtime::Runtime;
use crate::verify;
use crate::wit::{self, EngineGuest};
use bench_core::adapter::{AdapterDiagnostic, EngineManifest, Settings};
use bench_core::decode::{DecodeError, Decoded, FramedResponse, ResponseDecoder, StreamFormat};
use bench_core::launch::{LaunchPlan, LaunchRequest, ServerInfo};
use bench_core::request::{EncodedRequest, Endpoint, RequestSpec};
use bench_core::sample::{Part, Prompt};
use std::sync::Arc;

/// Prompt bytes and requests of one call of `encode`, answer bytes and answers of one call of `decode`: a
/// batch fits the adapter's memory several times over and ends well before its deadline.
const BATCH_BYTES: usize = 4 << 20;
const BATCH_ITEMS: usize = 1024;

/// An engine adapter. Calls are synchronous; each runs in an instance of its own and is answered the same
/// whatever was called before. What it answers is verified.
pub struct EngineAdapter {
    guest: Arc<dyn EngineGuest>,
    callee: Callee,
    manifest: EngineManifest,
    source: AdapterSource,
}

impl std::fmt::Debug for EngineAdapter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineAdapter").field("adapter", &self.callee).finish_non_exhaustive()
    }
}

impl EngineAdapter {
    pub(crate) fn load(runtime: &Arc<Runtime>, source: AdapterSource) -> Result<EngineAdapter, PluginError> {
        let guest = wit::load_engine(runtime, &source)?;
        let mut callee = Callee::unknown(&source.id);
        let manifest = guest.describe().map_err(|e| callee.error("describe", e))?;
        callee.verified("describe", verify::engine_manifest(&manifest))?;
        callee = callee.introduced(&manifest.info, source.origin == Origin::Bundled)?;
        Ok(EngineAdapter { guest: guest.into(), callee, manifest, source })
    }

    /// All that the adapter may ever ask for.
    pub fn manifest(&self) -> &EngineManifest {
        &self.manifest
    }

    /// Where it came from, its digest and imports.
    pub fn source(&self) -> &AdapterSource {
        &self.source
    }

    /// What the adapter has to say of a launch. Diagnostics of severity error mean that it can't work.
    ///
    /// # Errors
    /// Where the adapter failed.
    pub fn check(&self, launch: &LaunchRequest) -> Result<Vec<AdapterDiagnostic>, PluginError> {
        self.guest.check(launch).map_err(|e| self.callee.error("check", e))
    }

    /// Number of ports that one replica needs, at least 1.
    ///
    /// # Errors
    /// Where the adapter refused, failed or broke the contract.
    pub fn ports_needed(&self, settings: &Settings) -> Result<u32, PluginError> {
        self.verified("ports-needed", self.guest.ports_needed(settings), verify::ports_needed)
    }

    /// What to start for one replica. The plan names only programs, environment variables and secrets of
    /// the manifest, ports and devices of the request, and files inside the replica's folder.
    ///
    /// # Errors
    /// Where the adapter refused, failed or broke the contract.
    pub fn launch(&self, launch: &LaunchRequest) -> Result<LaunchPlan, PluginError> {
        self.verified("launch", self.guest.launch(launch), |plan| verify::verified_plan(plan, &self.manifest, launch))
    }

    /// What to ask a server that is up.
    ///
    /// # Errors
    /// Where the adapter refused, failed or broke the contract.
    pub fn server(&self, settings: &Settings) -> Result<ServerInfo, PluginError> {
        self.verified("server", self.guest.server(settings), verify::server_info)
    }

    /// The endpoints that requests go to, at least one.
    ///
    /// # Errors
    /// Where the adapter refused, failed or broke the contract.
    pub fn endpoints(&self, settings: &Settings) -> Result<Vec<Endpoint>, PluginError> {
        self.verified("endpoints", self.guest.endpoints(settings), verify::endpoints)
    }

    /// Encodes requests, one for each, in order, in batches.
    ///
    /// # Errors
    /// Where the adapter refused, failed or broke the contract.
    pub fn encode(
        &self,
        served_as: &str,
        settings: &Settings,
        requests: &[RequestSpec],
    ) -> Result<Vec<EncodedRequest>, PluginError> {
        let endpoints = self.endpoints(settings)?.len();
        let mut encoded = Vec::with_capacity(requests.len());
        let mut left = requests;
        while !left.is_empty() {
            let (batch, rest) = left.split_at(batch(left, request_bytes));
            let answer = self.guest.encode(served_as, settings, batch);
            encoded.extend(self.verified("encode", answer, |e| verify::encoded(e, batch.len(), endpoints))?);
            left = rest;
        }
        Ok(encoded)
    }

    /// How answers are framed and read. Without a plan the adapter decodes: see [`EngineAdapter::decoder`].
    ///
    /// # Errors
    /// Where the adapter refused, failed or broke the contract.
    pub fn decoding(&self, settings: &Settings) -> Result<StreamFormat, PluginError> {
        self.verified("decoding", self.guest.decoding(settings), verify::stream_format)
    }

    /// The adapter as a decoder of whole answers, for a stream format without a plan.
    pub fn decoder(&self) -> Box<dyn ResponseDecoder> {
        Box::new(GuestDecoder { guest: self.guest.clone(), callee: self.callee.clone(), failed: None })
    }

    fn verified<T>(
        &self,
        call: &'static str,
        answer: Result<T, CallError>,
        verify: impl FnOnce(T) -> Result<T, String>,
    ) -> Result<T, PluginError> {
        let answer = answer.map_err(|e| self.callee.error(call, e))?;
        self.callee.verified(call, verify(answer))
    }
}

/// How many of the items go into one call: at least one.
fn batch<T>(items: &[T], weight: impl Fn(&T) -> usize) -> usize {
    let mut bytes = 0;
    let fits = |item: &&T| {
        bytes += weight(item);
        bytes <= BATCH_BYTES
    };
    items.iter().take(BATCH_ITEMS).take_while(fits).count().max(1)
}

fn request_bytes(r: &RequestSpec) -> usize {
    let prompt = match &r.prompt {
        Prompt::Text(t) => t.len(),
        // About what an id takes as JSON text.
        Prompt::Tokens(ids) => ids.len() * 8,
        Prompt::Messages(m) => m
            .iter()
            .flat_map(|m| &m.content)
            .map(|p| match p {
                Part::Text(t) | Part::Image(t) => t.len(),
            })
            .sum(),
    };
    let extra: usize = r.extra.iter().map(|(k, v)| k.len() + v.len()).sum();
    prompt + extra + r.tools.as_ref().map_or(0, String::len) + r.json_schema.as_ref().map_or(0, String::len)
}

/// An adapter that decodes by itself.
struct GuestDecoder {
    guest: Arc<dyn EngineGuest>,
    callee: Callee,
    /// Set by the first call that failed: none follows it.
    failed: Option<String>,
}

impl ResponseDecoder for GuestDecoder {
    fn decode(&mut self, mut responses: Vec<FramedResponse>) -> Vec<Result<Decoded, DecodeError>> {
        let mut decoded = Vec::with_capacity(responses.len());
        while !responses.is_empty() {
            let n = batch(&responses, |r| r.frames.iter().map(String::len).sum());
            let rest = responses.split_off(n);
            decoded.extend(self.batch(responses));
            responses = rest;
        }
        decoded
    }
}

impl GuestDecoder {
    fn batch(&mut self, responses: Vec<FramedResponse>) -> Vec<Result<Decoded, DecodeError>> {
        let asked = responses.len();
        if self.failed.is_none() {
            match self.guest.decode(responses) {
                Ok(decoded) => return decoded,
                Err(e) => self.failed = Some(self.callee.error("decode", e).to_string()),
            }
        }
        let message = self.failed.clone().unwrap_or_default();
        vec![Err(DecodeError { frame: None, message }); asked]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_bounded_by_bytes_and_items() {
        assert_eq!(batch(&[1usize; 3000], |b| *b), BATCH_ITEMS);
        assert_eq!(batch(&[BATCH_BYTES / 2; 5], |b| *b), 2);
        assert_eq!(batch(&[BATCH_BYTES + 1, 1], |b| *b), 1);
    }
}
