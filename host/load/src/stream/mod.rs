//! Framing: how the bytes of an answer fall into frames, wherever the network cuts them.

mod framer;
mod frames;
mod glance;
mod inflate;
mod jsonlines;
mod sse;

pub use framer::{FrameLimits, Framer, FramingError};
pub use frames::{Edit, Frame, FrameReader, Frames, Mark};
pub(crate) use glance::Glance;
pub(crate) use inflate::{Encoding, Inflate};
