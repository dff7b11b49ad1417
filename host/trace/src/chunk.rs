//! Column chunks, page by page.
//!
//! The Parquet library's writer takes batches of arrays, and handles each value for itself: its two levels, and a
//! look-up in a hash table where there is a dictionary. A trace has some hundred values a row, nearly all of them in
//! lists. Here levels are runs and cells come straight from the record, so that what is left for each value is its
//! bytes. Pages are data pages v1 of the Parquet format: repetition levels, definition levels, values, compressed
//! together.

use crate::hybrid::Runs;
use crate::schema::{Column, compression};
use crate::values::{Dictionary, Values};
use bench_core::record::RequestRecord;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::io::{Chain, Read, Write};
use std::sync::Arc;
use zstd::bulk::Compressor;

/// Values of a page, about: 1 MiB of gaps.
const PAGE_VALUES: usize = 1 << 17;
/// Bytes of a page's values in memory, about.
const PAGE_BYTES: usize = 1 << 20;

/// One column chunk of a row group, in the making.
pub(crate) struct Chunk {
    column: &'static Column,
    descriptor: ColumnDescPtr,
    levels: Levels,
    values: Values,
    /// Entries of the page: values, nulls and empty lists.
    entries: usize,
    /// Data pages that are done, each with its header.
    pages: TrackedWrite<Vec<u8>>,
    total: Total,
}

/// Which entries are values, and which of them begin a row.
enum Levels {
    /// Each one does, and is never null.
    Required,
    /// Each one does; 0 for a null, 1 for a value.
    Optional { definition: Runs },
    /// Lists: 0 where an entry begins a row; 0 for a null list, 1 for an empty one, 2 for a value.
    Lists { repetition: Runs, definition: Runs },
}

/// What the chunk's metadata counts.
#[derive(Default)]
struct Total {
    rows: u64,
    nulls: u64,
    entries: i64,
    uncompressed: i64,
    compressed: i64,
}

/// What chunks need while they end a page; one for all of them, so that it stays in the processor's caches.
pub(crate) struct Press {
    compressor: Compressor<'static>,
    body: Vec<u8>,
    compressed: Vec<u8>,
}

impl Press {
    /// Most memory that a page leaves to the next one.
    const KEPT: usize = 4 << 20;

    /// At the level that all columns have.
    pub(crate) fn new() -> Result<Press> {
        let compressor = Compressor::new(ZstdLevel::default().compression_level())?;
        Ok(Press { compressor, body: Vec::new(), compressed: Vec::new() })
    }

    /// The bytes of a page as they are written.
    fn press(&mut self, compression: Compression) -> Result<Bytes> {
        if compression == Compression::UNCOMPRESSED {
            return Ok(Bytes::copy_from_slice(&self.body));
        }
        self.compressed.clear();
        self.compressed.reserve(zstd::zstd_safe::compress_bound(self.body.len()));
        self.compressor.compress_to_buffer(self.body.as_slice(), &mut self.compressed)?;
        Ok(Bytes::copy_from_slice(&self.compressed))
    }

    fn begin(&mut self) {
        self.body.clear();
        self.body.shrink_to(Press::KEPT);
        self.compressed.clear();
        self.compressed.shrink_to(Press::KEPT);
    }
}

impl Chunk {
    /// An empty chunk for a column.
    pub(crate) fn new(column: &'static Column, descriptor: ColumnDescPtr) -> Result<Chunk> {
        let (repetition, definition) = (Runs::default(), Runs::default());
        let levels = match (descriptor.max_rep_level(), descriptor.max_def_level()) {
            (0, 0) => Levels::Required,
            (0, 1) => Levels::Optional { definition },
            (1, 2) => Levels::Lists { repetition, definition },
            _ => return Err(ParquetError::NYI(format!("the levels of `{}`", descriptor.path()))),
        };
        Ok(Chunk {
            column,
            descriptor,
            levels,
            values: Values::new(&column.access),
            entries: 0,
            pages: TrackedWrite::new(Vec::new()),
            total: Total::default(),
        })
    }

    /// Adds a record's cell.
    pub(crate) fn push(&mut self, record: &RequestRecord, press: &mut Press) -> Result<()> {
        let access = &self.column.access;
        if self.values.ends_page_before(access, record) {
            self.end_page(press)?;
        }
        let length = self.values.push(access, record);
        match &mut self.levels {
            // What is never null in a record is never null.
            Levels::Required => {}
            Levels::Optional { definition } => definition.push(u8::from(length.is_some()), 1),
            Levels::Lists { repetition, definition } => {
                repetition.push(0, 1);
                match length {
                    None => definition.push(0, 1),
                    Some(0) => definition.push(1, 1),
                    Some(length) => {
                        repetition.push(1, length as u32 - 1);
                        definition.push(2, length as u32);
                    }
                }
            }
        }
        self.entries += length.map_or(1, |length| length.max(1));
        self.total.nulls += u64::from(length.is_none());
        self.total.rows += 1;
        let full = self.entries >= PAGE_VALUES || self.values.bytes() >= PAGE_BYTES;
        if full { self.end_page(press) } else { Ok(()) }
    }

    /// Bytes that its rows take in memory.
    pub(crate) fn memory(&self) -> usize {
        self.values.bytes() + self.pages.inner().len()
    }

    fn end_page(&mut self, press: &mut Press) -> Result<()> {
        if self.entries == 0 {
            return Ok(());
        }
        press.begin();
        match &mut self.levels {
            Levels::Required => {}
            Levels::Optional { definition } => write_levels(definition, &mut press.body),
            Levels::Lists { repetition, definition } => {
                write_levels(repetition, &mut press.body);
                write_levels(definition, &mut press.body);
            }
        }
        let encoding = self.values.take_into(&mut press.body);
        let page = Page::DataPage {
            buf: press.press(compression(self.column))?,
            num_values: self.entries as u32,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        self.total.entries += self.entries as i64;
        self.entries = 0;
        self.total.write(&mut self.pages, CompressedPage::new(page, press.body.len()))
    }

    /// Appends the chunk to a row group, and begins an empty one. What it holds in memory it keeps for that.
    pub(crate) fn append_to<W: Write + Send>(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, W>,
        press: &mut Press,
    ) -> Result<()> {
        self.end_page(press)?;
        let mut encodings = vec![Encoding::RLE];
        let mut dictionary_page = TrackedWrite::new(Vec::new());
        match self.values.dictionary() {
            Some(dictionary) => {
                self.write_dictionary(&dictionary, &mut dictionary_page, press)?;
                encodings.extend([Encoding::PLAIN, Encoding::RLE_DICTIONARY]);
            }
            None => encodings.push(self.values.encoding()),
        }
        dictionary_page.flush()?;
        self.pages.flush()?;
        let dictionary = dictionary_page.inner().len() as i64;
        let mut metadata = ColumnChunkMetaData::builder(Arc::clone(&self.descriptor))
            .set_compression(compression(self.column))
            .set_encodings(encodings)
            .set_num_values(self.total.entries)
            .set_total_uncompressed_size(self.total.uncompressed)
            .set_total_compressed_size(self.total.compressed)
            .set_dictionary_page_offset((dictionary > 0).then_some(0))
            .set_data_page_offset(dictionary);
        if let Some(statistics) = self.values.statistics(self.total.nulls) {
            metadata = metadata.set_statistics(statistics);
        }
        let close = ColumnCloseResult {
            bytes_written: self.total.compressed as u64,
            rows_written: self.total.rows,
            metadata: metadata.build()?,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        group.append_column(&Encoded { dictionary: dictionary_page.inner(), pages: self.pages.inner() }, close)?;
        self.total = Total::default();
        self.values.begin_chunk();
        self.pages.inner_mut().clear();
        Ok(())
    }

    fn write_dictionary(
        &mut self,
        dictionary: &Dictionary,
        to: &mut TrackedWrite<Vec<u8>>,
        press: &mut Press,
    ) -> Result<()> {
        press.begin();
        press.body.extend_from_slice(&dictionary.values);
        let page = Page::DictionaryPage {
            buf: press.press(compression(self.column))?,
            num_values: dictionary.words as u32,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        self.total.write(to, CompressedPage::new(page, press.body.len()))
    }
}

/// The levels of a page: their bytes' number, and runs.
fn write_levels(levels: &mut Runs, body: &mut Vec<u8>) {
    let levels = levels.end();
    body.extend_from_slice(&(levels.len() as u32).to_le_bytes());
    body.append(levels);
}

impl Total {
    fn write(&mut self, to: &mut TrackedWrite<Vec<u8>>, page: CompressedPage) -> Result<()> {
        let written = SerializedPageWriter::new(to).write_page(page)?;
        self.uncompressed += written.uncompressed_size as i64;
        self.compressed += written.compressed_size as i64;
        Ok(())
    }
}

/// A chunk's bytes where they lie.
struct Encoded<'a> {
    dictionary: &'a [u8],
    pages: &'a [u8],
}

impl Length for Encoded<'_> {
    fn len(&self) -> u64 {
        (self.dictionary.len() + self.pages.len()) as u64
    }
}

impl<'a> ChunkReader for Encoded<'a> {
    type T = Chain<&'a [u8], &'a [u8]>;

    /// From the chunk's begin; it is never asked for another place.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        if start > 0 {
            return Err(ParquetError::NYI(format!("reading a chunk from {start}")));
        }
        Ok(self.dictionary.chain(self.pages))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut bytes = Vec::new();
        self.get_read(start)?.take(length as u64).read_to_end(&mut bytes)?;
        Ok(Bytes::from(bytes))
    }
}
