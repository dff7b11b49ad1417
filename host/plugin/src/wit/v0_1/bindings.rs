//! Generated from `sdk/wit/0.1.0`.

use crate::catalog::AdapterKind;

/// This version.
pub(crate) const VERSION: &str = "0.1.0";

/// What a component of a kind may import: the functions of its world, and packages that are types only.
pub(crate) fn imports(kind: AdapterKind) -> &'static [&'static str] {
    match kind {
        AdapterKind::Engine => &[
            "bench:host/log@0.1.0",
            "bench:adapter/types@0.1.0",
            "bench:engine/launch@0.1.0",
            "bench:engine/requests@0.1.0",
            "bench:engine/responses@0.1.0",
        ],
        AdapterKind::Dataset => &[
            "bench:host/log@0.1.0",
            "bench:host/random@0.1.0",
            "bench:host/tokenizer@0.1.0",
            "bench:host/source@0.1.0",
            "bench:adapter/types@0.1.0",
            "bench:engine/requests@0.1.0",
            "bench:dataset/samples@0.1.0",
        ],
    }
}

/// The world `engine-adapter`.
#[allow(missing_docs, unreachable_pub, clippy::all, reason = "generated code")]
pub(crate) mod engine {
    wasmtime::component::bindgen!({
        path: "../../sdk/wit/0.1.0",
        world: "bench:worlds/engine-adapter",
        imports: { default: trappable },
    });
}

/// The world `dataset-adapter`.
#[allow(missing_docs, unreachable_pub, clippy::all, reason = "generated code")]
pub(crate) mod dataset {
    wasmtime::component::bindgen!({
        path: "../../sdk/wit/0.1.0",
        world: "bench:worlds/dataset-adapter",
        imports: { default: trappable },
        with: {
            "bench:adapter/types": super::engine::bench::adapter::types,
            "bench:engine/requests": super::engine::bench::engine::requests,
            "bench:host/log": super::engine::bench::host::log,
            "bench:host/random.python-random": bench_core::random::PythonRandom,
            "bench:host/random.numpy-legacy": bench_core::random::NumpyLegacy,
            "bench:host/random.numpy-generator": bench_core::random::NumpyGenerator,
            "bench:host/tokenizer.tokenizer": crate::wit::v0_1::hosted::SharedTokenizer,
            "bench:host/source.source": crate::granted::GrantedFile,
            "bench:host/source.records": crate::records::Records,
        },
    });
}
