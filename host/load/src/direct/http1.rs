//! Answers of HTTP/1.1, read incrementally wherever the network cuts them (RFC 9112). A byte of a body is
//! looked at once and never copied here.

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

/// Greatest head of an answer, bytes.
const MOST_HEAD: usize = 400 << 10;
/// Most headers of an answer.
const MOST_HEADERS: usize = 100;
/// Most bytes of extensions or trailers in a chunked body: nobody reads them.
const MOST_UNREAD: u32 = 16 << 10;

/// Bytes that are no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpFault {
    /// The head can't be read.
    #[error("invalid http head: {0}")]
    Head(#[from] httparse::Error),
    /// The head is too large.
    #[error("the http head is greater than 400 KiB")]
    HeadTooLarge,
    /// A `content-length` that is none, or several that differ.
    #[error("invalid content-length")]
    Length,
    /// HTTP/1.0 knows no transfer codings.
    #[error("transfer-encoding in an http/1.0 answer")]
    UnexpectedCoding,
    /// A chunk that breaks the form.
    #[error("invalid chunk: {0}")]
    Chunk(&'static str),
}

/// The head of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerHead {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Whether the connection may take another request after it.
    pub keeps_alive: bool,
}

/// A piece of an answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'b> {
    /// Its head; comes once.
    Head(Box<AnswerHead>),
    /// Bytes of the body, without their framing.
    Body(&'b [u8]),
    /// The answer is whole; comes once. What follows is none of it.
    End,
}

/// Reads one answer.
#[derive(Debug, Default)]
pub struct AnswerReader {
    state: State,
    /// A head that is not whole yet.
    head: Vec<u8>,
    /// Bytes of extensions and trailers so far.
    unread: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Head,
    /// A body of this many more bytes.
    Sized(u64),
    UntilClose,
    Chunked(Chunk),
    End,
    Over,
}

/// Where in a chunked body the next byte stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chunk {
    /// Before a size's first digit.
    Start,
    Size(u64),
    /// Behind a size's digits, in blanks.
    Blank(u64),
    Extension(u64),
    SizeLf(u64),
    Data(u64),
    DataCr,
    DataLf,
    /// At the start of a trailer line, or of the last one.
    EndCr,
    Trailer,
    TrailerLf,
    EndLf,
}

impl AnswerReader {
    /// The next piece of the answer in `input`, which is cut to what comes after it; `None` where more
    /// bytes are needed, or the answer is over.
    ///
    /// # Errors
    /// The bytes are no answer. The reader is of no more use then.
    pub fn next<'b>(&mut self, input: &mut &'b [u8]) -> Result<Option<Piece<'b>>, HttpFault> {
        loop {
            match self.state {
                State::Over => return Ok(None),
                State::End | State::Sized(0) => {
                    self.state = State::Over;
                    return Ok(Some(Piece::End));
                }
                _ if input.is_empty() => return Ok(None),
                State::Head => {
                    // Interim answers may come before it.
                    if let Some(head) = self.head(input)? {
                        return Ok(Some(head));
                    }
                }
                State::UntilClose => return Ok(Some(Piece::Body(std::mem::take(input)))),
                State::Sized(left) => {
                    let (body, left) = cut(input, left);
                    self.state = State::Sized(left);
                    return Ok(Some(Piece::Body(body)));
                }
                State::Chunked(Chunk::Data(left)) => {
                    let (body, left) = cut(input, left);
                    self.state = State::Chunked(if left == 0 { Chunk::DataCr } else { Chunk::Data(left) });
                    return Ok(Some(Piece::Body(body)));
                }
                State::Chunked(chunk) => self.framing(chunk, input)?,
            }
        }
    }

    /// The server closed the connection: whether the answer is whole with that.
    pub fn ends_at_close(&self) -> bool {
        self.state == State::UntilClose
    }

    fn head<'b>(&mut self, input: &mut &'b [u8]) -> Result<Option<Piece<'b>>, HttpFault> {
        // Nearly always it comes in one piece.
        let kept = self.head.len();
        if kept > 0 {
            self.head.extend_from_slice(input);
        }
        let bytes = if kept > 0 { &self.head[..] } else { *input };
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut answer = httparse::Response::new(&mut headers);
        let httparse::Status::Complete(size) = answer.parse(bytes)? else {
            if bytes.len() > MOST_HEAD {
                return Err(HttpFault::HeadTooLarge);
            }
            if kept == 0 {
                self.head.extend_from_slice(input);
            }
            *input = &[];
            return Ok(None);
        };
        let status = StatusCode::from_u16(answer.code.unwrap_or(0)).map_err(|_| httparse::Error::Status)?;
        let is_old = answer.version == Some(0);
        let headers = header_map(answer.headers)?;
        *input = &input[size - kept..];
        self.head = Vec::new();
        // A switch of protocols, which nobody asked for, is no interim answer: nothing follows it that is HTTP.
        let switched = status == StatusCode::SWITCHING_PROTOCOLS;
        if status.is_informational() && !switched {
            return Ok(None);
        }
        self.state = body(status, &headers, is_old)?;
        let keeps_alive = keeps_alive(&headers, is_old) && self.state != State::UntilClose && !switched;
        Ok(Some(Piece::Head(Box::new(AnswerHead { status, headers, keeps_alive }))))
    }

    /// Takes framing of a chunked body up to the next data, or all that there is.
    fn framing(&mut self, mut chunk: Chunk, input: &mut &[u8]) -> Result<(), HttpFault> {
        while let Some((&byte, rest)) = input.split_first() {
            *input = rest;
            chunk = match (chunk, byte) {
                (Chunk::Start, _) => Chunk::Size(digit(byte).ok_or(HttpFault::Chunk("a size without digits"))?),
                (Chunk::Size(n) | Chunk::Blank(n) | Chunk::Extension(n), b'\r') => Chunk::SizeLf(n),
                (Chunk::Size(n) | Chunk::Blank(n), b' ' | b'\t') => Chunk::Blank(n),
                (Chunk::Size(n) | Chunk::Blank(n), b';') => Chunk::Extension(n),
                (Chunk::Size(n), _) => {
                    let digit = digit(byte).ok_or(HttpFault::Chunk("a size with other than digits"))?;
                    let shifted = n.checked_mul(16).ok_or(HttpFault::Chunk("a size that is too great"))?;
                    Chunk::Size(shifted + digit)
                }
                (Chunk::Blank(_), _) => return Err(HttpFault::Chunk("a size with blanks in it")),
                (Chunk::Extension(_), b'\n') => return Err(HttpFault::Chunk("an extension with a line's end")),
                (Chunk::Extension(_) | Chunk::Trailer, _) if byte != b'\r' => {
                    self.unread += 1;
                    if self.unread > MOST_UNREAD {
                        return Err(HttpFault::Chunk("extensions or trailers of over 16 KiB"));
                    }
                    chunk
                }
                (Chunk::SizeLf(0), b'\n') => Chunk::EndCr,
                (Chunk::SizeLf(n), b'\n') => Chunk::Data(n),
                (Chunk::SizeLf(_), _) => return Err(HttpFault::Chunk("a size without its line's end")),
                (Chunk::DataCr, b'\r') => Chunk::DataLf,
                (Chunk::DataLf, b'\n') => Chunk::Start,
                (Chunk::DataCr | Chunk::DataLf, _) => return Err(HttpFault::Chunk("data beyond its size")),
                (Chunk::EndCr, b'\r') => Chunk::EndLf,
                (Chunk::EndCr, _) => Chunk::Trailer,
                (Chunk::Trailer, _) => Chunk::TrailerLf,
                (Chunk::TrailerLf, b'\n') => Chunk::EndCr,
                (Chunk::EndLf, b'\n') => {
                    self.state = State::End;
                    return Ok(());
                }
                (Chunk::TrailerLf | Chunk::EndLf, _) => return Err(HttpFault::Chunk("a trailer without its end")),
                (Chunk::Data(_), _) => chunk,
                (Chunk::Extension(n), _) => Chunk::Extension(n),
            };
            if matches!(chunk, Chunk::Data(_)) {
                break;
            }
        }
        self.state = State::Chunked(chunk);
        Ok(())
    }
}

/// The first `most` bytes, and how many are left to come.
fn cut<'b>(input: &mut &'b [u8], most: u64) -> (&'b [u8], u64) {
    let n = usize::try_from(most).unwrap_or(usize::MAX).min(input.len());
    let (taken, rest) = input.split_at(n);
    *input = rest;
    (taken, most - n as u64)
}

fn digit(byte: u8) -> Option<u64> {
    (byte as char).to_digit(16).map(u64::from)
}

fn header_map(headers: &[httparse::Header<'_>]) -> Result<HeaderMap, HttpFault> {
    let mut map = HeaderMap::with_capacity(headers.len());
    for h in headers {
        let name = HeaderName::from_bytes(h.name.as_bytes()).map_err(|_| httparse::Error::HeaderName)?;
        let value = HeaderValue::from_bytes(h.value).map_err(|_| httparse::Error::HeaderValue)?;
        map.append(name, value);
    }
    Ok(map)
}

/// How the body ends (RFC 9112, section 6.3).
fn body(status: StatusCode, headers: &HeaderMap, is_old: bool) -> Result<State, HttpFault> {
    if [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED, StatusCode::SWITCHING_PROTOCOLS].contains(&status) {
        return Ok(State::End);
    }
    if let Some(coding) = headers.get_all(header::TRANSFER_ENCODING).iter().next_back() {
        if is_old {
            return Err(HttpFault::UnexpectedCoding);
        }
        let last = coding.to_str().unwrap_or_default().rsplit(',').next().unwrap_or_default().trim();
        let chunked = last.eq_ignore_ascii_case("chunked");
        return Ok(if chunked { State::Chunked(Chunk::Start) } else { State::UntilClose });
    }
    let mut length = None;
    for value in headers.get_all(header::CONTENT_LENGTH) {
        for one in value.to_str().map_err(|_| HttpFault::Length)?.split(',').map(str::trim) {
            let is_number = !one.is_empty() && one.bytes().all(|b| b.is_ascii_digit());
            let n = one.parse::<u64>().ok().filter(|_| is_number).ok_or(HttpFault::Length)?;
            if length.replace(n).is_some_and(|before| before != n) {
                return Err(HttpFault::Length);
            }
        }
    }
    Ok(length.map_or(State::UntilClose, State::Sized))
}

fn keeps_alive(headers: &HeaderMap, is_old: bool) -> bool {
    let says = |word: &str| {
        let values = headers.get_all(header::CONNECTION).iter();
        values.filter_map(|v| v.to_str().ok()).flat_map(|v| v.split(',')).any(|w| w.trim().eq_ignore_ascii_case(word))
    };
    if is_old { says("keep-alive") } else { !says("close") }
}
