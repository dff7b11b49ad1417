//! The values of a page, column by column, and their encodings.

use crate::delta;
use crate::hybrid;
use crate::row::{kind_number, pack_bits};
use crate::schema::Access;
use bench_core::decode::EventKind;
use bench_core::record::RequestRecord;
use parquet::basic::Encoding;
use parquet::file::statistics::Statistics;
use std::collections::HashMap;

/// Words that a dictionary may have: their places are bytes.
const MAX_WORDS: usize = 256;

/// The values of the page in the making, and what the chunk has to know of those before.
pub(crate) enum Values {
    /// As packed differences.
    Whole { values: Vec<i64>, range: Option<(i64, i64)> },
    /// In the PLAIN encoding, as they stand in the file.
    Text(Vec<u8>),
    /// By dictionary.
    Words(Words),
    /// A byte for each.
    Flags(Vec<u8>),
    /// One after the other.
    Digests(Vec<u8>),
    /// Byte by byte.
    Gaps(Vec<i64>),
    /// Counts of up to a byte stand for themselves: the dictionary is that of all counts up to the greatest.
    Tokens { counts: Vec<u16>, places: Vec<u8>, greatest: u8 },
    /// A byte for each.
    Merged(Vec<u8>),
    /// Places in [`EventKind::ALL`], which is the dictionary.
    Kinds(Vec<u8>),
}

/// A chunk's dictionary: its values in the PLAIN encoding.
pub(crate) struct Dictionary {
    pub(crate) words: usize,
    pub(crate) values: Vec<u8>,
}

impl Values {
    /// None yet.
    pub(crate) fn new(access: &Access) -> Values {
        match access {
            Access::Whole { .. } => Values::Whole { values: Vec::new(), range: None },
            Access::Text { repeats: false, .. } => Values::Text(Vec::new()),
            Access::Text { repeats: true, .. } | Access::Word { .. } => Values::Words(Words::default()),
            Access::Flag { .. } => Values::Flags(Vec::new()),
            Access::Digest { .. } => Values::Digests(Vec::new()),
            Access::EventGap => Values::Gaps(Vec::new()),
            Access::EventTokens => Values::Tokens { counts: Vec::new(), places: Vec::new(), greatest: 0 },
            Access::EventMerged => Values::Merged(Vec::new()),
            Access::EventKind => Values::Kinds(Vec::new()),
        }
    }

    /// Takes a record's cell over, and returns the number of its values; `None` for null.
    pub(crate) fn push(&mut self, access: &Access, record: &RequestRecord) -> Option<usize> {
        match (self, access) {
            (Values::Whole { values, .. }, Access::Whole { get, .. }) => values.push(get(record)? as i64),
            (Values::Text(bytes), Access::Text { get, .. }) => push_plain(get(record)?, bytes),
            (Values::Words(words), Access::Text { get, .. }) => words.push(get(record)?),
            (Values::Words(words), Access::Word { get, .. }) => words.push(get(record)?),
            (Values::Flags(flags), Access::Flag { get, .. }) => flags.push(u8::from(get(record)?)),
            (Values::Digests(bytes), Access::Digest { get, .. }) => bytes.extend_from_slice(&get(record)?),
            (values, _) => return values.push_events(record),
        }
        Some(1)
    }

    fn push_events(&mut self, record: &RequestRecord) -> Option<usize> {
        let events = record.events.as_ref()?;
        match self {
            Values::Gaps(gaps) => gaps.extend_from_slice(&events.gap_us),
            Values::Tokens { counts, .. } => counts.extend_from_slice(events.tokens.as_ref()?),
            Values::Merged(bytes) => bytes.extend(events.merged.iter().map(|merged| u8::from(*merged))),
            Values::Kinds(places) => places.extend(events.kind.iter().map(|kind| kind_number(*kind))),
            // `Values::new` made them for the same access.
            _ => return None,
        }
        Some(events.gap_us.len())
    }

    /// The record's cell must be on another page than those before.
    pub(crate) fn ends_page_before(&self, access: &Access, record: &RequestRecord) -> bool {
        match (self, access) {
            (Values::Words(words), Access::Text { get, .. }) => get(record).is_some_and(|text| words.overflows(text)),
            _ => false,
        }
    }

    /// Bytes that the page takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Values::Whole { values, .. } | Values::Gaps(values) => 8 * values.len(),
            Values::Tokens { counts, .. } => 2 * counts.len(),
            Values::Words(words) => words.places.len() + words.plain.len(),
            Values::Text(bytes)
            | Values::Flags(bytes)
            | Values::Digests(bytes)
            | Values::Merged(bytes)
            | Values::Kinds(bytes) => bytes.len(),
        }
    }

    /// The encoding of a page without a dictionary.
    pub(crate) const fn encoding(&self) -> Encoding {
        match self {
            Values::Whole { .. } => Encoding::DELTA_BINARY_PACKED,
            Values::Gaps(_) => Encoding::BYTE_STREAM_SPLIT,
            _ => Encoding::PLAIN,
        }
    }

    /// Writes the page's values, and begins with none again.
    pub(crate) fn take_into(&mut self, body: &mut Vec<u8>) -> Encoding {
        let mut encoding = self.encoding();
        match self {
            Values::Whole { values, range } => {
                let (least, most) = range.unwrap_or((i64::MAX, i64::MIN));
                let wider = values.iter().fold((least, most), |(least, most), v| (least.min(*v), most.max(*v)));
                *range = Some(wider).filter(|(least, most)| least <= most);
                delta::encode(values, body);
                values.clear();
            }
            Values::Text(bytes) | Values::Digests(bytes) => {
                body.extend_from_slice(bytes);
                bytes.clear();
            }
            Values::Words(words) => encoding = words.take_into(body),
            Values::Flags(bytes) | Values::Merged(bytes) => {
                pack_bits(bytes, |flag| *flag, body);
                bytes.clear();
            }
            Values::Gaps(gaps) => {
                split_bytes(gaps, body);
                gaps.clear();
            }
            Values::Tokens { counts, places, greatest } => {
                encoding = match u8::try_from(counts.iter().copied().fold(0, u16::max)) {
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
            }
            Values::Kinds(places) => {
                encoding = encode_places(places, EventKind::ALL.len(), body);
                places.clear();
            }
        }
        encoding
    }

    /// The chunk's dictionary, where it has one.
    pub(crate) fn dictionary(&self) -> Option<Dictionary> {
        let mut values = Vec::new();
        let words = match self {
            Values::Tokens { greatest, .. } => {
                values.extend((0..=u32::from(*greatest)).flat_map(u32::to_le_bytes));
                usize::from(*greatest) + 1
            }
            Values::Kinds(_) => {
                EventKind::ALL.iter().for_each(|kind| push_plain(kind.as_str(), &mut values));
                EventKind::ALL.len()
            }
            Values::Words(words) if !words.words.is_empty() => {
                words.words.iter().for_each(|word| push_plain(word, &mut values));
                words.words.len()
            }
            _ => return None,
        };
        Some(Dictionary { words, values })
    }

    /// What a reader may want to know of the chunk before it reads it.
    pub(crate) fn statistics(&self, nulls: u64) -> Option<Statistics> {
        match self {
            Values::Whole { range, .. } => {
                let (least, most) = range.unzip();
                Some(Statistics::int64(least, most, None, Some(nulls), false))
            }
            _ => None,
        }
    }

    /// Begins a chunk: forgets what there was in the one before.
    pub(crate) fn begin_chunk(&mut self) {
        match self {
            Values::Whole { range, .. } => *range = None,
            Values::Tokens { greatest, .. } => *greatest = 0,
            Values::Words(words) => *words = Words::default(),
            _ => {}
        }
    }
}

/// Texts of which most are like one before.
#[derive(Default)]
pub(crate) struct Words {
    words: Vec<String>,
    place_of: HashMap<String, u8>,
    /// Of the page's values, unless the dictionary is full.
    places: Vec<u8>,
    /// The page's values in the PLAIN encoding, once it is.
    plain: Vec<u8>,
    full: bool,
}

impl Words {
    /// The dictionary has no room for the text: from here on pages are plain.
    fn overflows(&self, text: &str) -> bool {
        !self.full && self.words.len() == MAX_WORDS && !self.place_of.contains_key(text)
    }

    fn push(&mut self, text: &str) {
        if let Some(last) = self.places.last().filter(|place| self.words[usize::from(**place)] == text) {
            return self.places.push(*last);
        }
        if self.overflows(text) {
            self.full = true;
        }
        if self.full {
            return push_plain(text, &mut self.plain);
        }
        let place = match self.place_of.get(text) {
            Some(place) => *place,
            None => {
                let place = self.words.len() as u8;
                self.words.push(text.to_owned());
                self.place_of.insert(text.to_owned(), place);
                place
            }
        };
        self.places.push(place);
    }

    fn take_into(&mut self, body: &mut Vec<u8>) -> Encoding {
        // Not all readers know a dictionary without words.
        if self.full && self.places.is_empty() || self.words.is_empty() {
            body.append(&mut self.plain);
            return Encoding::PLAIN;
        }
        let encoding = encode_places(&self.places, self.words.len(), body);
        self.places.clear();
        encoding
    }
}

/// Parquet's PLAIN encoding of a text: its length and its bytes.
fn push_plain(text: &str, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
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

    #[test]
    fn a_full_dictionary_leaves_the_words_that_it_has() {
        let mut words = Words::default();
        (0..MAX_WORDS).for_each(|i| words.push(&i.to_string()));
        assert!(!words.overflows("7") && words.overflows("new"));
        words.push("7");
        let mut body = Vec::new();
        assert_eq!(words.take_into(&mut body), Encoding::RLE_DICTIONARY);
        words.push("new");
        words.push("7");
        body.clear();
        assert_eq!(words.take_into(&mut body), Encoding::PLAIN);
        assert_eq!(body, b"\x03\0\0\0new\x01\0\0\x007");
        assert_eq!((words.words.len(), words.full), (MAX_WORDS, true));
    }
}
