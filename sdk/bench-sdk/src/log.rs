//! Messages for the log of the run. In native tests they go nowhere.

use crate::bindings::engine::bench::host::log::Level;

/// Something that only a developer of the adapter wants to see.
pub fn debug(message: &str) {
    log(Level::Debug, message);
}

/// Something good to know.
pub fn info(message: &str) {
    log(Level::Info, message);
}

/// Something that is probably not what was meant.
pub fn warn(message: &str) {
    log(Level::Warn, message);
}

fn log(level: Level, message: &str) {
    if cfg!(target_family = "wasm") {
        crate::bindings::engine::bench::host::log::log(level, message);
    }
}
