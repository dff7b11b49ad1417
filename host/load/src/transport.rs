//! The ways in which a load's bytes can come and go.

use crate::direct::{Io, Uring};
use crate::job::LoadError;
use serde::{Deserialize, Serialize};

/// How bytes come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Transport {
    /// io_uring with our own HTTP/1.1: the least work for each token. Linux 6.1 or later, and often closed in
    /// containers.
    #[serde(rename = "io_uring")]
    Uring,
    /// epoll with our own HTTP/1.1.
    #[serde(rename = "epoll")]
    Epoll,
    /// hyper over a tap on the socket: the general way, and the only one for https.
    #[serde(rename = "hyper")]
    Hyper,
}

impl Transport {
    /// All of them.
    pub const ALL: [Transport; 3] = [Transport::Uring, Transport::Epoll, Transport::Hyper];

    /// Its name in workloads and traces.
    pub const fn as_str(self) -> &'static str {
        match self {
            Transport::Uring => "io_uring",
            Transport::Epoll => "epoll",
            Transport::Hyper => "hyper",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Transport> {
        Transport::ALL.into_iter().find(|t| t.as_str() == name)
    }

    /// Whether this machine offers it to this process.
    pub fn is_there(self) -> bool {
        self != Transport::Uring || Uring::open().is_ok()
    }

    /// The one that was asked for, or the best that there is. https and cold connections go over hyper alone.
    ///
    /// # Errors
    /// The one asked for is not there, or can't do what the load needs.
    pub(crate) fn choose(asked: Option<Transport>, tls: bool, cold: bool) -> Result<Transport, LoadError> {
        let refused = |asked: Transport, why: String| Err(LoadError::Transport(asked.as_str(), why));
        match asked {
            None | Some(Transport::Hyper) if tls || cold => Ok(Transport::Hyper),
            Some(asked) if tls || cold => {
                let what = if tls { "do https" } else { "open a connection for each request" };
                refused(asked, format!("can't {what}; leave `transport` out, or use `hyper`"))
            }
            None if Transport::Uring.is_there() => Ok(Transport::Uring),
            None => Ok(Transport::Epoll),
            Some(Transport::Uring) => match Uring::open() {
                Ok(_) => Ok(Transport::Uring),
                Err(e) => refused(
                    Transport::Uring,
                    format!(
                        "is not there ({e}); it needs Linux 6.1, and containers often forbid it: leave `transport` \
                         out, or use `epoll`"
                    ),
                ),
            },
            Some(other) => Ok(other),
        }
    }
}
