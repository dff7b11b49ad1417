//! A file as a row of records, split while it is read.

mod json_array;
mod lines;
mod split;
#[cfg(test)]
mod tests;
mod window;

pub(crate) use split::RecordFormat;
#[expect(unreachable_pub, reason = "generated bindings name it in a `pub use`")]
pub use split::Records;
