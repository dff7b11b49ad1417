//! Column chunks of the event lists, page by page.
//!
//! The lists hold nearly all values of a trace, and a general writer handles each value for itself: its two levels,
//! and a look-up in a hash table where there is a dictionary. Here levels are runs, so that what is left for each
//! value is its bytes. Pages are data pages v1 of the Parquet format: repetition levels, definition levels, values,
//! compressed together.

use crate::hybrid::{self, Runs};
use crate::row::{kind_number, pack_bits};
use crate::schema::Access;
use bench_core::decode::EventKind;
use bench_core::record::Events;
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
/// Room for the row that makes a page full, unless it is a very long one.
const PAGE_CAPACITY: usize = PAGE_VALUES + PAGE_VALUES / 16;

/// One column chunk of a row group, in the making.
pub(crate) struct EventChunk {
    column: ColumnDescPtr,
    values: Values,
    /// Per entry, 0 where it begins a row.
    repetition: Runs,
    /// Per entry, 0 for a null list, 1 for an empty one, 2 for a value.
    definition: Runs,
    /// Entries of the page: values, null lists and empty ones.
    entries: u32,
    /// The page before and after its compression; kept for their memory.
    body: Vec<u8>,
    compressed: Vec<u8>,
    /// Data pages that are done, each with its header.
    pages: TrackedWrite<Vec<u8>>,
    compressor: Compressor<'static>,
    total: Total,
}

/// The values of the page in the making.
enum Values {
    Gaps(Vec<i64>),
    /// Counts of up to a byte stand for themselves: the dictionary is that of all counts up to the greatest.
    Tokens {
        counts: Vec<u16>,
        places: Vec<u8>,
        greatest: u8,
    },
    /// A byte for each.
    Merged(Vec<u8>),
    /// Places in [`EventKind::ALL`], which is the dictionary.
    Kinds(Vec<u8>),
}

/// What the chunk's metadata counts.
#[derive(Default)]
struct Total {
    rows: u64,
    entries: i64,
    uncompressed: i64,
    compressed: i64,
}

impl EventChunk {
    /// An empty chunk for a column of lists.
    pub(crate) fn new(column: ColumnDescPtr, access: &Access) -> Result<EventChunk> {
        let values = match access {
            Access::EventGap => Values::Gaps(Vec::with_capacity(PAGE_CAPACITY)),
            Access::EventTokens => {
                Values::Tokens { counts: Vec::with_capacity(PAGE_CAPACITY), places: Vec::new(), greatest: 0 }
            }
            Access::EventMerged => Values::Merged(Vec::with_capacity(PAGE_CAPACITY)),
            Access::EventKind => Values::Kinds(Vec::with_capacity(PAGE_CAPACITY)),
            _ => return Err(ParquetError::NYI(format!("`{}` as events", column.path()))),
        };
        if (column.max_rep_level(), column.max_def_level()) != (1, 2) {
            return Err(ParquetError::NYI(format!("`{}` is no list of values that are never null", column.path())));
        }
        Ok(EventChunk {
            column,
            values,
            repetition: Runs::default(),
            definition: Runs::default(),
            entries: 0,
            body: Vec::new(),
            compressed: Vec::new(),
            pages: TrackedWrite::new(Vec::new()),
            compressor: Compressor::new(ZstdLevel::default().compression_level())?,
            total: Total::default(),
        })
    }

    /// Adds the list of a row.
    pub(crate) fn push(&mut self, events: Option<&Events>) -> Result<()> {
        let length = events.and_then(|events| self.values.push(events));
        self.repetition.push(0, 1);
        match length.map(|length| length as u32) {
            None => self.definition.push(0, 1),
            Some(0) => self.definition.push(1, 1),
            Some(length) => {
                self.repetition.push(1, length - 1);
                self.definition.push(2, length);
            }
        }
        self.entries += length.map_or(1, |length| length.max(1) as u32);
        self.total.rows += 1;
        if self.entries as usize >= PAGE_VALUES { self.end_page() } else { Ok(()) }
    }

    /// Bytes that its rows take in memory.
    pub(crate) fn memory(&self) -> usize {
        let page = match &self.values {
            Values::Gaps(gaps) => 8 * gaps.len(),
            Values::Tokens { counts, .. } => 2 * counts.len(),
            Values::Merged(bytes) | Values::Kinds(bytes) => bytes.len(),
        };
        page + self.pages.inner().len()
    }

    fn end_page(&mut self) -> Result<()> {
        if self.entries == 0 {
            return Ok(());
        }
        self.body.clear();
        for levels in [&mut self.repetition, &mut self.definition] {
            let levels = levels.end();
            self.body.extend_from_slice(&(levels.len() as u32).to_le_bytes());
            self.body.extend_from_slice(levels);
            levels.clear();
        }
        let encoding = self.values.take_into(&mut self.body);
        let page = Page::DataPage {
            buf: compress(&mut self.compressor, &self.body, &mut self.compressed)?,
            num_values: self.entries,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        self.total.entries += i64::from(self.entries);
        self.entries = 0;
        self.total.write(&mut self.pages, CompressedPage::new(page, self.body.len()))
    }

    /// Appends the chunk to a row group, and begins an empty one. What it holds in memory it keeps for that.
    pub(crate) fn append_to<W: Write + Send>(&mut self, group: &mut SerializedRowGroupWriter<'_, W>) -> Result<()> {
        self.end_page()?;
        let mut encodings = vec![Encoding::RLE];
        let mut dictionary_page = TrackedWrite::new(Vec::new());
        match self.values.dictionary() {
            Some(Dictionary { words, values }) => {
                let page = Page::DictionaryPage {
                    buf: compress(&mut self.compressor, &values, &mut self.compressed)?,
                    num_values: words as u32,
                    encoding: Encoding::PLAIN,
                    is_sorted: false,
                };
                self.total.write(&mut dictionary_page, CompressedPage::new(page, values.len()))?;
                encodings.extend([Encoding::PLAIN, Encoding::RLE_DICTIONARY]);
            }
            None => encodings.push(self.values.encoding()),
        }
        dictionary_page.flush()?;
        self.pages.flush()?;
        let dictionary = dictionary_page.inner().len() as i64;
        let metadata = ColumnChunkMetaData::builder(Arc::clone(&self.column))
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_encodings(encodings)
            .set_num_values(self.total.entries)
            .set_total_uncompressed_size(self.total.uncompressed)
            .set_total_compressed_size(self.total.compressed)
            .set_dictionary_page_offset((dictionary > 0).then_some(0))
            .set_data_page_offset(dictionary)
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: self.total.compressed as u64,
            rows_written: self.total.rows,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        group.append_column(&Encoded { dictionary: dictionary_page.inner(), pages: self.pages.inner() }, close)?;
        self.total = Total::default();
        self.values.clear_dictionary();
        self.pages.inner_mut().clear();
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

fn compress(compressor: &mut Compressor<'static>, body: &[u8], scratch: &mut Vec<u8>) -> Result<Bytes> {
    scratch.clear();
    scratch.reserve(zstd::zstd_safe::compress_bound(body.len()));
    compressor.compress_to_buffer(body, scratch)?;
    Ok(Bytes::copy_from_slice(scratch))
}

impl Total {
    fn write(&mut self, to: &mut TrackedWrite<Vec<u8>>, page: CompressedPage) -> Result<()> {
        let written = SerializedPageWriter::new(to).write_page(page)?;
        self.uncompressed += written.uncompressed_size as i64;
        self.compressed += written.compressed_size as i64;
        Ok(())
    }
}

/// A chunk's dictionary: its values in the PLAIN encoding.
struct Dictionary {
    words: usize,
    values: Vec<u8>,
}

impl Values {
    /// Takes a list over and returns its length; `None` for a null one.
    fn push(&mut self, events: &Events) -> Option<usize> {
        match self {
            Values::Gaps(gaps) => gaps.extend_from_slice(&events.gap_us),
            Values::Tokens { counts, .. } => counts.extend_from_slice(events.tokens.as_ref()?),
            Values::Merged(bytes) => bytes.extend(events.merged.iter().map(|merged| u8::from(*merged))),
            Values::Kinds(places) => places.extend(events.kind.iter().map(|kind| kind_number(*kind))),
        }
        Some(events.gap_us.len())
    }

    /// Writes the page's values, and begins with none again.
    fn take_into(&mut self, body: &mut Vec<u8>) -> Encoding {
        match self {
            Values::Gaps(gaps) => {
                split_bytes(gaps, body);
                gaps.clear();
                self.encoding()
            }
            Values::Tokens { counts, places, greatest } => {
                let encoding = match u8::try_from(counts.iter().copied().fold(0, u16::max)) {
                    Ok(most) => {
                        *greatest = most.max(*greatest);
                        places.clear();
                        places.extend(counts.iter().map(|count| *count as u8));
                        encode_places(places, usize::from(*greatest) + 1, body)
                    }
                    Err(_) => {
                        body.extend(counts.iter().flat_map(|count| u32::from(*count).to_le_bytes()));
                        Encoding::PLAIN
                    }
                };
                counts.clear();
                encoding
            }
            Values::Merged(bytes) => {
                pack_bits(bytes, |flag| *flag, body);
                bytes.clear();
                self.encoding()
            }
            Values::Kinds(places) => {
                let encoding = encode_places(places, EventKind::ALL.len(), body);
                places.clear();
                encoding
            }
        }
    }

    /// That of a page without a dictionary.
    const fn encoding(&self) -> Encoding {
        match self {
            Values::Gaps(_) => Encoding::BYTE_STREAM_SPLIT,
            _ => Encoding::PLAIN,
        }
    }

    fn clear_dictionary(&mut self) {
        if let Values::Tokens { greatest, .. } = self {
            *greatest = 0;
        }
    }

    fn dictionary(&self) -> Option<Dictionary> {
        match self {
            Values::Gaps(_) | Values::Merged(_) => None,
            Values::Tokens { greatest, .. } => {
                let values = (0..=u32::from(*greatest)).flat_map(u32::to_le_bytes);
                Some(Dictionary { words: usize::from(*greatest) + 1, values: values.collect() })
            }
            Values::Kinds(_) => {
                let mut values = Vec::new();
                for word in EventKind::ALL.map(EventKind::as_str) {
                    values.extend_from_slice(&(word.len() as u32).to_le_bytes());
                    values.extend_from_slice(word.as_bytes());
                }
                Some(Dictionary { words: EventKind::ALL.len(), values })
            }
        }
    }
}

/// Places in a dictionary of `words`: the bits that each takes, and the places.
fn encode_places(places: &[u8], words: usize, body: &mut Vec<u8>) -> Encoding {
    let width = bit_width(words);
    body.push(width);
    hybrid::encode(places, width, body);
    Encoding::RLE_DICTIONARY
}

/// Bits that the places in a dictionary of `words` take. Not all readers know a width of 0.
fn bit_width(words: usize) -> u8 {
    (usize::BITS - words.saturating_sub(1).leading_zeros()).max(1) as u8
}

/// Parquet's BYTE_STREAM_SPLIT: the first bytes of all values, then the second ones, and so on.
fn split_bytes(values: &[i64], body: &mut Vec<u8>) {
    let begin = body.len();
    body.resize(begin + 8 * values.len(), 0);
    let used = 64 - values.iter().fold(0, |bits, v| bits | v).leading_zeros() as usize;
    // Streams above the greatest value's bytes are zeros, as they stand.
    let streams = body[begin..].chunks_exact_mut(values.len().max(1)).take(used.div_ceil(8));
    for (place, stream) in streams.enumerate() {
        match place {
            0 => split_stream::<0>(values, stream),
            1 => split_stream::<1>(values, stream),
            2 => split_stream::<2>(values, stream),
            3 => split_stream::<3>(values, stream),
            4 => split_stream::<4>(values, stream),
            5 => split_stream::<5>(values, stream),
            6 => split_stream::<6>(values, stream),
            _ => split_stream::<7>(values, stream),
        }
    }
}

/// Byte `PLACE` of every value; eight at a time, so that they are stored as one word.
fn split_stream<const PLACE: usize>(values: &[i64], stream: &mut [u8]) {
    let (eights, rest) = values.as_chunks::<8>();
    let (words, last) = stream.as_chunks_mut::<8>();
    for (word, eight) in words.iter_mut().zip(eights) {
        *word = std::array::from_fn(|i| eight[i].to_le_bytes()[PLACE]);
    }
    for (byte, value) in last.iter_mut().zip(rest) {
        *byte = value.to_le_bytes()[PLACE];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_split_by_their_place() {
        let mut body = vec![9];
        split_bytes(&[0x0102, 0x0304, -1], &mut body);
        assert_eq!(body[..7], [9, 2, 4, 255, 1, 3, 255]);
        assert_eq!(body[7..], [[0, 0, 255]; 6].concat());
        body.clear();
        split_bytes(&[0x0102, 0x0304], &mut body);
        assert_eq!(body, [2, 4, 1, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        split_bytes(&[], &mut body);
        assert_eq!(body.len(), 16);
    }

    #[test]
    fn places_take_the_bits_of_the_greatest() {
        assert_eq!([1, 2, 3, 6, 256].map(bit_width), [1, 1, 2, 3, 8]);
    }
}
