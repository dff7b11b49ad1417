//! Endpoints, encoded requests and stream formats.

use bench_core::decode::{DecodePlan, StreamFormat};
use bench_core::request::{EncodedRequest, Endpoint};

/// Endpoints of one engine: far more than any has.
const ENDPOINTS: usize = 16;
/// Rules of one decode plan.
const RULES: usize = 256;

/// Headers that are the client's own.
const NEVER_HEADERS: [&str; 6] =
    ["host", "content-length", "transfer-encoding", "connection", "upgrade", "accept-encoding"];

/// Checks the endpoints of an engine.
pub(crate) fn endpoints(endpoints: Vec<Endpoint>) -> Result<Vec<Endpoint>, String> {
    if endpoints.is_empty() || endpoints.len() > ENDPOINTS {
        return Err(format!("there are {} endpoints; 1 to {ENDPOINTS} can be", endpoints.len()));
    }
    for e in &endpoints {
        if !is_path(&e.path) {
            return Err(format!("`{}` is no path of a URL", e.path));
        }
        for (name, value) in &e.headers {
            // RFC 9110: a name is a token, a value has no control characters.
            let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
            if name.is_empty() || !name.bytes().all(token) {
                return Err(format!("`{}` is no name of a header", name.escape_default()));
            }
            if NEVER_HEADERS.iter().any(|n| name.eq_ignore_ascii_case(n)) {
                return Err(format!("header `{name}` is the client's own to set"));
            }
            if !value.bytes().all(|b| b == b'\t' || (b' '..=b'~').contains(&b)) {
                return Err(format!("the value of header `{name}` has characters that a header can't have"));
            }
        }
    }
    Ok(endpoints)
}

/// Checks a batch of encoded requests: one for each, in reach of the endpoints.
pub(crate) fn encoded(
    encoded: Vec<EncodedRequest>,
    asked: usize,
    endpoints: usize,
) -> Result<Vec<EncodedRequest>, String> {
    if encoded.len() != asked {
        return Err(format!("{} requests came back for {asked}", encoded.len()));
    }
    match encoded.iter().position(|e| e.endpoint as usize >= endpoints) {
        Some(i) => Err(format!("request {i} goes to endpoint {} of {endpoints}", encoded[i].endpoint)),
        None => Ok(encoded),
    }
}

/// Checks a stream format.
pub(crate) fn stream_format(format: StreamFormat) -> Result<StreamFormat, String> {
    if let Some(DecodePlan { rules, .. }) = &format.plan {
        if rules.is_empty() || rules.len() > RULES {
            return Err(format!("the decode plan has {} rules; 1 to {RULES} can be", rules.len()));
        }
        if let Some(r) = rules.iter().find(|r| !is_pointer(&r.pointer)) {
            return Err(format!("`{}` is no JSON pointer", r.pointer));
        }
    }
    Ok(format)
}

/// A path as it may stand in a request line.
pub(super) fn is_path(s: &str) -> bool {
    s.starts_with('/') && s.bytes().all(|b| (b'!'..=b'~').contains(&b) && b != b'#')
}

/// RFC 6901: empty, or tokens that start with `/`, in which `~` stands before 0 or 1 only.
pub(super) fn is_pointer(s: &str) -> bool {
    (s.is_empty() || s.starts_with('/')) && s.split('~').skip(1).all(|t| t.starts_with(['0', '1']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(path: &str, header: Option<(&str, &str)>) -> Result<Vec<Endpoint>, String> {
        let headers = header.into_iter().map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
        endpoints(vec![Endpoint { method: "POST".into(), path: path.into(), headers }])
    }

    #[test]
    fn endpoints_can_not_smuggle() {
        endpoint("/v1/chat/completions", Some(("content-type", "application/json"))).unwrap();
        endpoint("/v1?a=b", None).unwrap();
        assert!(endpoint("http://elsewhere/", None).is_err());
        assert!(endpoint("/a b", None).is_err());
        assert!(endpoint("/a\r\nX: y", None).is_err());
        assert!(endpoint("/", Some(("x", "a\r\nb: c"))).unwrap_err().contains("characters"));
        assert!(endpoint("/", Some(("Content-Length", "0"))).unwrap_err().contains("client's own"));
        assert!(endpoint("/", Some(("x y", "a"))).unwrap_err().contains("no name"));
    }

    #[test]
    fn every_request_comes_back_once() {
        let one = |endpoint| EncodedRequest { endpoint, body: Vec::new() };
        assert!(encoded(vec![one(0), one(1)], 2, 2).is_ok());
        assert_eq!(encoded(vec![one(0)], 2, 2).unwrap_err(), "1 requests came back for 2");
        assert_eq!(encoded(vec![one(0), one(2)], 2, 2).unwrap_err(), "request 1 goes to endpoint 2 of 2");
    }

    #[test]
    fn pointers() {
        assert!(is_pointer("") && is_pointer("/a/0") && is_pointer("/a~1b~0"));
        assert!(!is_pointer("a") && !is_pointer("/a~2") && !is_pointer("/a~"));
    }
}
