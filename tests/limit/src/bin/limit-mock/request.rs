//! Requests out of a connection's bytes, however they are cut.

use memchr::memmem;

/// A whole request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    /// It asks for a stream; all but POST is answered at once.
    pub(crate) is_post: bool,
    /// It asks for the list of models.
    pub(crate) is_models: bool,
    /// Its `x-request-id`.
    pub(crate) id: String,
}

/// Reads one request after another.
#[derive(Debug, Default)]
pub(crate) struct RequestReader {
    /// Bytes not yet taken, bodies left out where they can be.
    bytes: Vec<u8>,
    /// A head that came, and how much of its body did not.
    waiting: Option<(Request, usize)>,
}

impl RequestReader {
    /// Takes what one read gave.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
        if let Some((_, left)) = &mut self.waiting
            && self.bytes.is_empty()
        {
            let body = bytes.len().min(*left);
            *left -= body;
            bytes = &bytes[body..];
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next request, when its last byte has come.
    pub(crate) fn take(&mut self) -> Option<Request> {
        if self.waiting.is_none() {
            let end = memmem::find(&self.bytes, b"\r\n\r\n")?;
            self.waiting = Some(head(&self.bytes[..end]));
            self.bytes.drain(..end + 4);
        }
        let (_, left) = self.waiting.as_mut()?;
        let body = self.bytes.len().min(*left);
        self.bytes.drain(..body);
        *left -= body;
        self.waiting.take_if(|(_, left)| *left == 0).map(|(request, _)| request)
    }
}

/// A request, and the length of its body.
fn head(bytes: &[u8]) -> (Request, usize) {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let is_post = first.next() == Some("POST");
    let path = first.next().unwrap_or_default().split('?').next().unwrap_or_default();
    let mut request = Request { is_post, is_models: path.ends_with("/models"), id: String::new() };
    let mut length = 0;
    for (name, value) in lines.filter_map(|l| l.split_once(':')) {
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        } else if name.eq_ignore_ascii_case("x-request-id") {
            value.trim().clone_into(&mut request.id);
        }
    }
    (request, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_at_every_split() {
        let bytes =
            b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nX-Request-Id: bench-1-0-2-0\r\nContent-Length: 7\r\n\
            \r\n{\"\r\n\r\n}GET /v1/models?x HTTP/1.1\r\naccept: */*\r\n\r\nPOST / HTTP/1.1\r\n\r\n";
        let post = Request { is_post: true, is_models: false, id: "bench-1-0-2-0".to_owned() };
        let get = Request { is_models: true, ..Request::default() };
        let bare = Request { is_post: true, ..Request::default() };
        for i in 0..bytes.len() {
            for j in i..bytes.len() {
                let mut reader = RequestReader::default();
                let mut taken = Vec::new();
                for part in [&bytes[..i], &bytes[i..j], &bytes[j..]] {
                    reader.push(part);
                    taken.extend(std::iter::from_fn(|| reader.take()));
                }
                assert_eq!(taken, [post.clone(), get.clone(), bare.clone()], "{i} {j}");
                assert!(reader.bytes.is_empty());
            }
        }
    }

    #[test]
    fn a_large_body_is_not_kept() {
        let mut reader = RequestReader::default();
        reader.push(b"POST / HTTP/1.1\r\ncontent-length: 1000000\r\n\r\n");
        for _ in 0..1000 {
            assert_eq!(reader.take(), None);
            reader.push(&[b'x'; 1000]);
            assert!(reader.bytes.is_empty());
        }
        assert!(reader.take().is_some());
    }
}
