//! Everything over epoll.
#![allow(clippy::unwrap_used, reason = "a failure fails the test")]

mod common;
mod transport;

use bench_load::Transport;

fn transport() -> Transport {
    Transport::Epoll
}
