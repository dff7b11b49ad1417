//! Compressed bodies, decompressed frame by frame so that each event keeps its own time.

use super::framer::FramingError;
use flate2::write::{MultiGzDecoder, ZlibDecoder};
use std::io::{self, Write};

/// How a body is compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Gzip,
    /// The `deflate` of HTTP: a zlib stream.
    Deflate,
    /// One that we don't ask for and can't read, by its name.
    Unknown(String),
}

/// An incremental decompressor.
#[derive(Debug)]
pub(crate) enum Inflate {
    Gzip(MultiGzDecoder<Vec<u8>>),
    Deflate(ZlibDecoder<Vec<u8>>),
    Unknown(String),
}

impl Inflate {
    pub(crate) fn new(encoding: Encoding) -> Inflate {
        match encoding {
            Encoding::Gzip => Inflate::Gzip(MultiGzDecoder::new(Vec::new())),
            Encoding::Deflate => Inflate::Deflate(ZlibDecoder::new(Vec::new())),
            Encoding::Unknown(name) => Inflate::Unknown(name),
        }
    }

    /// All that `bytes` and what came before them give, in `out`.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), FramingError> {
        let feed = |w: &mut dyn Write| -> io::Result<()> {
            w.write_all(bytes)?;
            w.flush()
        };
        let (fed, inner) = match self {
            Inflate::Gzip(d) => (feed(d), d.get_mut()),
            Inflate::Deflate(d) => (feed(d), d.get_mut()),
            Inflate::Unknown(name) => {
                let what = format!("content-encoding `{name}`, which was not asked for, can't be read");
                return Err(FramingError::Compression(what));
            }
        };
        fed.map_err(|e| FramingError::Compression(e.to_string()))?;
        out.clear();
        std::mem::swap(out, inner);
        Ok(())
    }

    /// The body is over: its checksum has to be there.
    pub(crate) fn finish(&mut self) -> Result<(), FramingError> {
        match self {
            Inflate::Gzip(d) => d.try_finish(),
            Inflate::Deflate(d) => d.try_finish(),
            Inflate::Unknown(_) => Ok(()),
        }
        .map_err(|e| FramingError::Compression(e.to_string()))
    }
}
