//! From samples to requests that are ready to send. Every guest call that a load needs happens here.

use crate::catalog::{self, Loaded};
use crate::diagnostics::Failure;
use crate::exit::Exit;
use bench_core::adapter::Features;
use bench_core::request::{Endpoint, PreparedRequest, RequestSpec};
use bench_core::sample::{Part, Prompt, Sample};
use bench_plugin::EngineAdapter;
use bench_workload::{EnginePlan, SamplingPlan, ScenarioPlan};
use bytes::Bytes;
use std::sync::Arc;

/// Length of an answer where neither the workload nor the sample says one.
const OUTPUT_TOKENS: u32 = 128;

/// What requests of one scenario are made of.
pub(super) struct Maker<'a> {
    pub(super) engine: &'a Loaded<EngineAdapter>,
    pub(super) plan: &'a EnginePlan,
    pub(super) scenario: &'a ScenarioPlan,
    pub(super) keep_text: bool,
}

impl Maker<'_> {
    /// Encodes samples, in their order.
    ///
    /// # Errors
    /// The engine can't be asked for what a sample or the workload wants, or the adapter fails.
    pub(super) fn requests(&self, samples: &[Sample]) -> Result<Vec<PreparedRequest>, Failure> {
        let failed = |e: &bench_plugin::PluginError| {
            catalog::failure(format!("scenario `{}`: failed to encode its requests", self.scenario.name), e)
        };
        let adapter = &self.engine.adapter;
        let endpoints: Vec<Arc<Endpoint>> =
            adapter.endpoints(&self.plan.settings).map_err(|e| failed(&e))?.into_iter().map(Arc::new).collect();
        let sampling = &self.scenario.sampling;
        let specs: Vec<RequestSpec> = samples.iter().zip(0..).map(|(sample, id)| spec(id, sample, sampling)).collect();
        for spec in &specs {
            self.refuse_unsupported(&adapter.manifest().features, spec)?;
        }
        let served_as = &self.plan.model.served_as;
        let encoded = adapter.encode(served_as, &self.plan.settings, &specs).map_err(|e| failed(&e))?;
        let requests = samples.iter().zip(specs).zip(encoded).map(|((sample, spec), encoded)| {
            // The host of adapters has checked the index.
            let endpoint = endpoints.get(encoded.endpoint as usize).map(Arc::clone).ok_or_else(|| {
                Failure::new(Exit::Internal, format!("endpoint {} of a request is not there", encoded.endpoint))
            })?;
            let text = sample.prompt.digest_text();
            Ok(PreparedRequest {
                request: spec.id,
                endpoint,
                body: Bytes::from(encoded.body),
                streaming: spec.streaming,
                dataset_sample: sample.id.as_str().into(),
                prompt_sha256: bench_core::sha256(text.as_bytes()),
                prompt_text: self.keep_text.then(|| text.as_ref().into()),
                prompt_tokens_asked: sample.prompt_tokens,
                output_tokens_asked: Some(spec.max_tokens),
                session: sample.session.as_deref().map(Into::into),
                turn: sample.turn,
            })
        });
        requests.collect()
    }

    fn refuse_unsupported(&self, can: &Features, spec: &RequestSpec) -> Result<(), Failure> {
        let wants = [
            (matches!(spec.prompt, Prompt::Messages(_)) && !can.chat, "prompts of messages"),
            (matches!(spec.prompt, Prompt::Tokens(_)) && !can.token_prompt, "prompts of token ids"),
            (spec.streaming && !can.streaming, "streaming"),
            (spec.ignore_eos && !can.ignore_eos, "`ignore-eos`"),
            (spec.min_tokens.is_some() && !can.min_tokens, "`min-tokens`"),
            (!spec.stop.is_empty() && !can.stop_texts, "`stop`"),
            (spec.sampling.seed.is_some() && !can.seed, "`seed`"),
            (spec.tools.is_some() && !can.tools, "tools"),
            (spec.json_schema.is_some() && !can.json_schema, "a JSON Schema of the answer"),
            (has_image(&spec.prompt) && !can.images, "images"),
        ];
        match wants.iter().find(|(wanted, _)| *wanted) {
            None => Ok(()),
            Some((_, what)) => Err(Failure::input(format!(
                "scenario `{}`: request {} needs {what}, which engine `{}` can't do",
                self.scenario.name, spec.id, self.plan.adapter.id
            ))
            .help("change the scenario's sampling or its dataset, or take another engine")),
        }
    }
}

fn has_image(prompt: &Prompt) -> bool {
    match prompt {
        Prompt::Messages(messages) => {
            messages.iter().flat_map(|m| &m.content).any(|part| matches!(part, Part::Image(_)))
        }
        _ => false,
    }
}

fn spec(id: u64, sample: &Sample, sampling: &SamplingPlan) -> RequestSpec {
    RequestSpec {
        id,
        prompt: sample.prompt.clone(),
        max_tokens: sampling.max_tokens.or(sample.output_tokens).unwrap_or(OUTPUT_TOKENS),
        min_tokens: sampling.min_tokens,
        ignore_eos: sampling.ignore_eos,
        sampling: sample.sampling.clone().unwrap_or_else(|| sampling.sampling.clone()),
        stop: sampling.stop.clone(),
        streaming: sampling.stream,
        tools: sample.tools.clone(),
        json_schema: sample.json_schema.clone(),
        extra: sampling.extra.iter().map(|(key, value)| (key.clone(), value.to_string())).collect(),
    }
}

/// Samples for the warm-up: those of the scenario, over and over, each with a beginning of its own, so that the same
/// features and lengths are warmed and no measured prompt enters a prefix cache.
pub(super) fn warmup(samples: &[Sample], count: u32) -> Vec<Sample> {
    let changed = |(sample, n): (&Sample, u32)| {
        let mut sample = sample.clone();
        sample.id = format!("warmup-{n}");
        let mark = format!("[warm-up {n}] ");
        match &mut sample.prompt {
            Prompt::Text(text) => text.insert_str(0, &mark),
            // Another first token is another prefix.
            Prompt::Tokens(ids) => {
                let by = usize::from(ids.len() > 1);
                ids.rotate_left(by);
            }
            Prompt::Messages(messages) => {
                let parts = messages.first_mut().and_then(|m| m.content.first_mut());
                if let Some(Part::Text(text)) = parts {
                    text.insert_str(0, &mark);
                }
            }
        }
        // The dataset counted another text.
        sample.prompt_tokens = None;
        sample
    };
    samples.iter().cycle().zip(0..count).map(changed).collect()
}

/// The shortest request there is, for the probe of a launched engine: one token.
pub(super) fn probe() -> Sample {
    Sample {
        id: "probe".into(),
        prompt: Prompt::Text("Hello".into()),
        prompt_tokens: None,
        output_tokens: Some(1),
        sampling: None,
        tools: None,
        json_schema: None,
        session: None,
        turn: None,
        timestamp: None,
        labels: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warmup_shares_no_prefix_with_the_samples() {
        let of = |prompt| Sample { prompt, ..probe() };
        let samples =
            [of(Prompt::Text("one".into())), of(Prompt::Tokens(vec![1, 2, 3])), of(Prompt::Text("two".into()))];
        let warm = warmup(&samples, 4);
        let prompts: Vec<_> = warm.iter().map(|s| s.prompt.digest_text().into_owned()).collect();
        assert_eq!(prompts, ["[warm-up 0] one", "2 3 1", "[warm-up 2] two", "[warm-up 3] one"]);
        assert!(warmup(&samples, 0).is_empty());
    }
}
