//! From kept frames to rows, off the I/O threads.

pub(crate) mod outcome;
pub(crate) mod place;
pub(crate) mod plan;
pub(crate) mod record;
pub(crate) mod secrets;
pub(crate) mod stage;
pub(crate) mod template;
mod tokens;
