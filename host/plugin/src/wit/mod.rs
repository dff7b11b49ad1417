//! Versions of the contract. Each has a module that turns its types into those of `bench-core`; nothing
//! else knows them.

mod guest;
mod v0_1;

pub(crate) use guest::{DatasetGuest, EngineGuest, Inputs, NEWEST, ReaderGuest, load_dataset, load_engine};
