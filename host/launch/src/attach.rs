//! Attaches to a server that runs already. Only documents are fetched: no inference request is ever sent.

use crate::error::LaunchError;
use crate::identity::{self, Identity};
use crate::options::HttpGet;
use bench_core::launch::{ServerInfo, VersionProbe};

/// A server that somebody else runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attached {
    /// Root of the server, without `/v1`.
    pub url: String,
    /// What it says it is.
    pub identity: Identity,
}

/// The root of a server: without trailing slashes, and without a trailing `/v1`, which people copy from other tools.
pub fn server_root(url: &str) -> &str {
    let url = url.trim_end_matches('/');
    url.strip_suffix("/v1").unwrap_or(url).trim_end_matches('/')
}

/// Sees that the server at `url` runs and serves `model`.
///
/// # Errors
/// [`LaunchError::Server`] where it does not answer as it should, [`LaunchError::OtherModel`] where it serves others.
pub fn attach(url: &str, server: &ServerInfo, model: &str, http: &dyn HttpGet) -> Result<Attached, LaunchError> {
    let root = server_root(url);
    let model = match &server.models {
        Some(list) => Some(identity::choose(identity::models(http, root, list)?, model, root)?),
        None => None,
    };
    let version = match &server.version {
        VersionProbe::Http { path, pointer } => identity::version(http, root, path, pointer),
        // The program runs elsewhere.
        VersionProbe::Command(_) | VersionProbe::None => None,
    };
    Ok(Attached { url: root.to_owned(), identity: Identity { model, version } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots() {
        for url in ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/", "http://h:1//"] {
            assert_eq!(server_root(url), "http://h:1", "{url}");
        }
        assert_eq!(server_root("https://h/api/v1"), "https://h/api");
    }
}
