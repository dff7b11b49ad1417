//! The load client that asks the kernel itself, without an async runtime: plain HTTP/1.1, with the least work
//! that a token can cost.

mod core;
mod epoll;
mod exchange;
mod http1;
mod io;
mod pace;
mod sends;
mod table;
mod uring;
mod worker;

pub(crate) use epoll::Epoll;
pub use http1::{AnswerHead, AnswerReader, HttpFault, Piece};
pub(crate) use io::Io;
pub(crate) use uring::Uring;
pub(crate) use worker::Direct;
