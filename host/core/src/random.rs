//! Generators of CPython and of numpy, bit for bit.

mod mt19937;
mod numpy_legacy;
mod pcg64;
mod python;

pub use mt19937::Mt19937;
pub use numpy_legacy::NumpyLegacy;
pub use pcg64::NumpyGenerator;
pub use python::PythonRandom;
