//! Everything over io_uring, where the machine has it.
#![allow(clippy::unwrap_used, reason = "a failure fails the test")]

mod common;
mod transport;

use bench_load::Transport;

fn transport() -> Transport {
    // Containers often forbid it. Then these tests are those over epoll once more.
    if Transport::Uring.is_there() { Transport::Uring } else { Transport::Epoll }
}
