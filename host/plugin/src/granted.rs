//! A file that the user granted to a dataset: random access and records, never its path.

use crate::records::{RecordFormat, Records};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// An opened file under the key of the setting that granted it.
#[derive(Clone, Debug)]
#[expect(unreachable_pub, reason = "generated bindings name it in a `pub use`")]
pub struct GrantedFile {
    pub(crate) id: String,
    /// The last part of its path.
    pub(crate) name: String,
    pub(crate) size: u64,
    file: Arc<File>,
}

/// Input from outside that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) what: String,
    pub(crate) offset: Option<u64>,
    pub(crate) message: String,
}

impl GrantedFile {
    /// Opens a regular file.
    pub(crate) fn open(id: &str, path: &Path) -> std::io::Result<GrantedFile> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is no regular file"));
        }
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Ok(GrantedFile { id: id.to_owned(), name, size: metadata.len(), file: Arc::new(file) })
    }

    /// Up to `length` bytes from `offset`; fewer only at the end.
    pub(crate) fn read(&self, offset: u64, length: usize) -> Result<Vec<u8>, Malformed> {
        let there = usize::try_from(self.size.saturating_sub(offset)).unwrap_or(usize::MAX).min(length);
        let mut bytes = vec![0; there];
        let mut filled = 0;
        while filled < there {
            match self.read_at(&mut bytes[filled..], offset + filled as u64)? {
                0 => break,
                n => filled += n,
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }

    /// One read at an offset; 0 at the end.
    pub(crate) fn read_at(&self, into: &mut [u8], offset: u64) -> Result<usize, Malformed> {
        loop {
            match self.file.read_at(into, offset) {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                result => return result.map_err(|e| self.malformed(offset, format!("it can't be read: {e}"))),
            }
        }
    }

    /// The file's records, from the start. `longest` bounds one record.
    pub(crate) fn records(&self, format: RecordFormat, longest: usize) -> Records {
        Records::new(self.clone(), format, longest)
    }

    /// An error at a byte of this file.
    pub(crate) fn malformed(&self, offset: u64, message: String) -> Malformed {
        Malformed { what: self.name.clone(), offset: Some(offset), message }
    }
}
