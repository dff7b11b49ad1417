//! Requests as hyper sends them, rendered as far as possible before the load.

use super::site::Site;
use super::tap::Wire;
use crate::job::LoadError;
use bench_core::request::Endpoint;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, header};
use hyper::body::{Body, Frame, SizeHint};
use std::convert::Infallible;
use std::io::Write;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

const USER_AGENT: HeaderValue = HeaderValue::from_static(concat!("bench-host/", env!("CARGO_PKG_VERSION")));
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A request's body: its bytes, once.
pub(crate) struct Payload {
    bytes: Option<Bytes>,
    wire: Rc<Wire>,
}

impl Payload {
    pub(crate) fn new(bytes: Bytes, wire: Rc<Wire>) -> Payload {
        let bytes = Some(bytes).filter(|b| !b.is_empty());
        wire.body_taken.set(bytes.is_none());
        Payload { bytes, wire }
    }
}

impl Body for Payload {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.bytes.take().map(|b| {
            self.wire.body_taken.set(true);
            self.wire.handed_over.set(false);
            Ok(Frame::data(b))
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.as_ref().map_or(0, |b| b.len() as u64))
    }
}

/// What all requests to one endpoint of one server share.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    /// The head as bytes, up to what is each request's own.
    rendered: Vec<u8>,
}

impl Template {
    pub(crate) fn new(endpoint: &Endpoint, site: &Site) -> Result<Template, LoadError> {
        let fault = |why: String| LoadError::Endpoint { path: endpoint.path.clone(), why };
        let method = endpoint.method.parse().map_err(|_| fault(format!("`{}` is no method", endpoint.method)))?;
        let slash = if endpoint.path.starts_with('/') { "" } else { "/" };
        let path = format!("{}{slash}{}", site.base, endpoint.path);
        let uri = path.parse().map_err(|e| fault(format!("is no path ({e})")))?;
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, site.host.clone());
        headers.insert(header::USER_AGENT, USER_AGENT);
        headers.insert(header::ACCEPT, HeaderValue::from_static("*/*"));
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if method == Method::POST || method == Method::PUT {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        for (name, value) in &endpoint.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| fault(format!("`{name}` is no header")))?;
            let value = HeaderValue::from_str(value).map_err(|_| fault(format!("header `{name}` has a bad value")))?;
            headers.insert(name, value);
        }
        for (name, value) in &site.headers {
            headers.insert(name, value.clone());
        }
        let rendered = render(&method, &uri, &headers);
        Ok(Template { method, uri, headers, rendered })
    }

    /// Writes the head of one request, whose body has this many bytes, in the place of what stands in `into`.
    pub(crate) fn head(&self, into: &mut Vec<u8>, id_prefix: &str, (request, attempt): (u64, u32), body: usize) {
        into.clear();
        into.extend_from_slice(&self.rendered);
        // Writing to a vector fails never.
        let _ = write!(into, "{REQUEST_ID}: {id_prefix}-{request}-{attempt}\r\n");
        if body > 0 || self.method != Method::GET {
            let _ = write!(into, "content-length: {body}\r\n");
        }
        into.extend_from_slice(b"\r\n");
    }

    /// One request; `id` is sent as `x-request-id`.
    pub(crate) fn request(&self, body: Bytes, id: Option<&str>, wire: &Rc<Wire>) -> Request<Payload> {
        let mut request = Request::new(Payload::new(body, wire.clone()));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        if let Some(id) = id.and_then(|id| HeaderValue::from_str(id).ok()) {
            request.headers_mut().insert(REQUEST_ID, id);
        }
        request
    }
}

/// The request line and the headers that all requests share.
fn render(method: &Method, uri: &Uri, headers: &HeaderMap) -> Vec<u8> {
    let mut head = format!("{method} {uri} HTTP/1.1\r\n").into_bytes();
    // What each request brings itself is not sent twice.
    let own = [REQUEST_ID, header::CONTENT_LENGTH, header::TRANSFER_ENCODING];
    for (name, value) in headers.iter().filter(|(name, _)| !own.contains(name)) {
        head.extend_from_slice(name.as_str().as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head
}
