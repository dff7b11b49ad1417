//! One GET, for probes of readiness, identity and metrics.

use crate::client::connect::Opener;
use crate::client::request::Template;
use crate::client::site::Site;
use crate::client::tls::Trust;
use crate::clockmap::WorkerClock;
use crate::figures::ThreadFigures;
use crate::job::{LoadError, Target};
use bench_core::clock::{MonotonicClock, Nanos};
use bench_core::request::Endpoint;
use bytes::Bytes;
use hyper::body::{Body, Incoming};
use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::{Builder, LocalOptions};

/// Greatest body that is taken.
const MOST: usize = 16 << 20;

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpAnswer {
    /// HTTP status.
    pub status: u16,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, at most 16 MiB.
    pub body: Vec<u8>,
}

/// No answer.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The URL or a header can't be used.
    #[error(transparent)]
    Request(#[from] LoadError),
    /// No connection.
    #[error("{0}")]
    Connect(String),
    /// The connection broke, or what came is no HTTP.
    #[error("the answer of `{0}` can't be read: {1}")]
    Answer(String, String),
    /// It took too long.
    #[error("`{0}` did not answer within {1:?}")]
    TimedOut(String, Duration),
    /// The body is too large.
    #[error("the answer of `{0}` is greater than 16 MiB")]
    TooLarge(String),
    /// The operating system refused a runtime.
    #[error("can't start a request: {0}; raise the limits of this user")]
    Start(io::Error),
}

/// GETs a URL and waits for the answer, whatever its status; redirects are not followed. `headers` are
/// taken for secrets: no error shows them.
///
/// # Errors
/// There was no answer, or it can't be read.
pub fn get(url: &str, headers: &[(String, String)], timeout: Duration) -> Result<HttpAnswer, HttpError> {
    get_trusting(url, headers, timeout, &Trust::default())
}

/// As [`get`], with other certificates trusted.
///
/// # Errors
/// As [`get`].
pub fn get_trusting(
    url: &str,
    headers: &[(String, String)],
    timeout: Duration,
    trust: &Trust,
) -> Result<HttpAnswer, HttpError> {
    let (root, path) = split(url);
    let site = Site::resolve(&Target { url: root.to_owned(), headers: headers.to_vec() })?;
    let endpoint = Endpoint { method: "GET".to_owned(), path: path.to_owned(), headers: Vec::new() };
    let template = Template::new(&endpoint, &site)?;
    let tls = if site.tls.is_some() { Some(trust.connector().map_err(LoadError::from)?) } else { None };
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default());
    let runtime = runtime.map_err(HttpError::Start)?;
    let opener = Opener {
        clock: Rc::new(WorkerClock::new(MonotonicClock::start())),
        figures: Rc::new(RefCell::new(ThreadFigures::new())),
        tls,
        timeout: Nanos::from(timeout),
        cold: false,
    };
    // The query may hold a secret.
    let shown = url.split('?').next().unwrap_or_default();
    runtime.block_on(async {
        tokio::time::timeout(timeout, exchange(&opener, &site, &template, shown))
            .await
            .map_err(|_| HttpError::TimedOut(shown.to_owned(), timeout))?
    })
}

/// Root of a server, and the path with its query.
fn split(url: &str) -> (&str, &str) {
    let from = url.find("://").map_or(0, |at| at + 3);
    match url[from..].find(['/', '?']) {
        Some(at) => url.split_at(from + at),
        None => (url, "/"),
    }
}

async fn exchange(opener: &Opener, site: &Site, template: &Template, url: &str) -> Result<HttpAnswer, HttpError> {
    let unreadable = |e: hyper::Error| HttpError::Answer(url.to_owned(), e.to_string());
    let mut connection = opener.open(site).await.map_err(|e| HttpError::Connect(e.to_string()))?;
    let request = template.request(Bytes::new(), None, &connection.wire);
    let mut response = pin!(connection.sender.send_request(request));
    let mut over = false;
    let mut drive = |cx: &mut std::task::Context<'_>| {
        over = over || Pin::new(&mut connection.driver).poll(cx).is_ready();
    };
    let response = poll_fn(|cx| {
        drive(cx);
        response.as_mut().poll(cx)
    })
    .await
    .map_err(unreadable)?;
    let (head, mut incoming): (_, Incoming) = response.into_parts();
    let mut body = Vec::new();
    poll_fn(|cx| {
        loop {
            drive(cx);
            match Pin::new(&mut incoming).poll_frame(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(Ok(())),
                Poll::Ready(Some(Err(e))) => return Poll::Ready(Err(unreadable(e))),
                Poll::Ready(Some(Ok(frame))) => {
                    body.extend_from_slice(frame.data_ref().map_or(&[][..], |d| d));
                    if body.len() > MOST {
                        return Poll::Ready(Err(HttpError::TooLarge(url.to_owned())));
                    }
                }
            }
        }
    })
    .await?;
    let headers = head
        .headers
        .iter()
        .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        .collect();
    Ok(HttpAnswer { status: head.status.as_u16(), headers, body })
}
