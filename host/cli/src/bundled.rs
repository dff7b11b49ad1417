//! The adapters that the build script made.

use bench_plugin::BundledAdapter;

/// Every bundled adapter.
pub static BUNDLED: &[BundledAdapter] = include!(concat!(env!("OUT_DIR"), "/plugins.rs"));
