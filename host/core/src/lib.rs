//! The nouns that every part of bench-host shares. No I/O, no async, no threads.

pub mod adapter;
pub mod clock;
pub mod decode;
mod digest;
mod hex;
pub mod launch;
pub mod load;
pub mod outcome;
pub mod random;
pub mod record;
pub mod request;
pub mod sample;
pub mod tokens;

pub use digest::sha256;
pub use hex::hex;
