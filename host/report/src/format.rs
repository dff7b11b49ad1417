//! A summary as people and programs read it.

pub mod csv;
pub mod json;
pub mod markdown;
pub mod terminal;
mod text;
