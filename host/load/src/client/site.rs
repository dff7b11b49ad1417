//! A server's address, resolved before the load.

use crate::job::{LoadError, Target};
use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use rustls_pki_types::ServerName;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

/// A server that requests go to.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// Name to check the certificate against, for https.
    pub(crate) tls: Option<ServerName<'static>>,
    /// Name and port, where a name has to be looked up.
    pub(crate) name: Option<(String, u16)>,
    /// Addresses in the resolver's order.
    pub(crate) addresses: Vec<SocketAddr>,
    /// The `host` header.
    pub(crate) host: HeaderValue,
    /// Path before the endpoint's, without a slash at its end.
    pub(crate) base: String,
    /// Headers of every request; marked as sensitive.
    pub(crate) headers: HeaderMap,
}

impl Site {
    /// Looks the server up.
    pub(crate) fn resolve(target: &Target) -> Result<Site, LoadError> {
        let site = Site::new(&target.url)?;
        let mut headers = HeaderMap::new();
        for (name, value) in &target.headers {
            // The value is a secret: errors name only the header.
            let bad = |what: &str| fault(&target.url, format!("header `{name}` {what}; mend it"));
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad("is no header name"))?;
            let mut value = HeaderValue::from_str(value).map_err(|_| bad("has a value that can't be sent"))?;
            value.set_sensitive(true);
            headers.append(name, value);
        }
        Ok(Site { headers, ..site })
    }

    fn new(url: &str) -> Result<Site, LoadError> {
        const FORM: &str = "write it as `http://host:port`";
        let uri: Uri = url.parse().map_err(|e| fault(url, format!("is no URL ({e}); {FORM}")))?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(fault(url, format!("has no scheme or no host; {FORM}")));
        };
        let port = match (authority.port_u16(), scheme) {
            (Some(port), "http" | "https") => port,
            (None, "http") => 80,
            (None, "https") => 443,
            _ => return Err(fault(url, format!("has the scheme `{scheme}`; use http or https"))),
        };
        let host = authority.host();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let addresses: Vec<SocketAddr> = (bare, port)
            .to_socket_addrs()
            .map_err(|e| fault(url, format!("host `{bare}` can't be looked up ({e}); check its name")))?
            .collect();
        let tls = if scheme == "https" {
            let name = ServerName::try_from(bare.to_owned());
            Some(name.map_err(|e| fault(url, format!("host `{bare}` can't be in a certificate ({e})")))?)
        } else {
            None
        };
        let named = authority.port_u16().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let host = HeaderValue::from_str(&named).map_err(|e| fault(url, format!("host can't be sent ({e})")))?;
        let path = uri.path().trim_end_matches('/');
        let base = path.strip_suffix("/v1").unwrap_or(path).to_owned();
        let name = bare.parse::<IpAddr>().is_err().then(|| (bare.to_owned(), port));
        Ok(Site { tls, name, addresses, host, base, headers: HeaderMap::new() })
    }
}

fn fault(url: &str, why: String) -> LoadError {
    // A password may stand before an @.
    let shown = url.rsplit_once('@').map_or(url, |(_, rest)| rest);
    LoadError::Target { url: shown.to_owned(), why }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(url: &str) -> Result<Site, LoadError> {
        Site::resolve(&Target { url: url.into(), headers: vec![("authorization".into(), "Bearer hush".into())] })
    }

    #[test]
    fn takes_roots_with_and_without_v1() {
        for (url, base) in [
            ("http://127.0.0.1:8000", ""),
            ("http://127.0.0.1:8000/", ""),
            ("http://127.0.0.1:8000/v1/", ""),
            ("http://127.0.0.1:8000/proxy/v1", "/proxy"),
        ] {
            let s = site(url).unwrap();
            assert_eq!((s.base.as_str(), s.host.to_str().unwrap()), (base, "127.0.0.1:8000"), "{url}");
        }
        let s = site("https://[::1]").unwrap();
        assert_eq!(s.addresses[0].to_string(), "[::1]:443");
        assert!(s.tls.is_some());
    }

    #[test]
    fn errors_say_what_to_do_and_no_secret() {
        for url in ["127.0.0.1:8000", "ftp://127.0.0.1", "http://"] {
            let text = site(url).unwrap_err().to_string();
            assert!(text.contains("http"), "{text}");
        }
        let bad = Target { url: "http://127.0.0.1".into(), headers: vec![("authorization".into(), "hush\n".into())] };
        let text = Site::resolve(&bad).unwrap_err().to_string();
        assert!(!text.contains("hush") && text.contains("authorization"), "{text}");
        let debug = format!("{:?} {bad:?}", site("http://127.0.0.1").unwrap());
        assert!(!debug.contains("hush"), "{debug}");
    }
}
