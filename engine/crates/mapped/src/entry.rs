//! A result as it is stored in the ring: a head of words, the numbers of the cells that it depends on, then the bytes of key and value.

use crate::sync::{AtomicU64, Ordering};
use foldhash::quality::FixedState;
use std::hash::{BuildHasher, Hasher};

/// The number of 64-bit words at the start of a stored result that come before the numbers of its cells.
pub(crate) const HEAD: usize = 10;

/// Identifies a result. `context` stands for everything that can change a result, except for the read itself: account, schema and
/// settings. The parts are the read, and are compared in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<'a> {
    pub context: u64,
    pub parts: [&'a [u8]; 2],
}

/// A result with its dependencies. Each is a cell: a table, some rows, or (cell 0) everything. The result may be served until the time
/// `until`, while neither cell 0 nor a cell in `cells` is closed, that is, being changed, or has a version after `stamp`.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The version up to which all changes are included in the result.
    pub stamp: u64,
    /// The time at which the result becomes too old, in nanoseconds of the clock that leases are measured by.
    pub until: u64,
    /// The number of rows in the result.
    pub rows: u64,
    /// Flags that only the writer interprets.
    pub flags: u32,
    /// The numbers of the tables or rows that the result depends on.
    pub cells: &'a [u32],
    /// The bytes that answer the read.
    pub value: &'a [u8],
}

impl Key<'_> {
    /// Returns a hash of the whole key. The seed is that of the memory.
    pub(crate) fn hash(&self, seed: u64) -> u64 {
        let mut hasher = FixedState::with_seed(seed).build_hasher();
        hasher.write_u64(self.context);
        hasher.write_usize(self.parts[0].len());
        self.parts.iter().for_each(|part| hasher.write(part));
        hasher.finish()
    }
}

/// The first words of a record: the fields of its key and result that have a fixed size, and the lengths of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordHead {
    pub hash: u64,
    /// The attachment in which the record was put; see [`GENERATION_AT`](crate::layout::GENERATION_AT).
    pub generation: u64,
    pub context: u64,
    pub stamp: u64,
    pub until: u64,
    pub rows: u64,
    pub flags: u32,
    /// The number of cells.
    pub cells: u32,
    /// The lengths of the key's parts in bytes.
    pub parts: [u32; 2],
    /// The length of the value in bytes.
    pub value: u32,
}

/// Packs two halves into a word.
fn halves(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn low_and_high(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

impl RecordHead {
    /// Returns the head for a record. None if one of its lengths has no room in its field; the record cannot be stored then.
    pub fn of(key: &Key, record: &Record, hash: u64, generation: u64) -> Option<RecordHead> {
        let [first, second] = key.parts.map(|part| u32::try_from(part.len()).ok());
        Some(RecordHead {
            hash,
            generation,
            context: key.context,
            stamp: record.stamp,
            until: record.until,
            rows: record.rows,
            flags: record.flags,
            cells: u32::try_from(record.cells.len()).ok()?,
            parts: [first?, second?],
            value: u32::try_from(record.value.len()).ok()?,
        })
    }

    /// Encodes the head. The first word is the length of the whole record.
    pub fn words(&self) -> [u64; HEAD] {
        [
            self.length(),
            self.hash,
            self.generation,
            self.context,
            self.stamp,
            self.until,
            self.rows,
            halves(self.flags, self.cells),
            halves(self.parts[0], self.parts[1]),
            u64::from(self.value),
        ]
    }

    /// Decodes what [`words`](Self::words) encoded. None if these words are no head.
    pub fn read(words: [u64; HEAD]) -> Option<RecordHead> {
        let [length, hash, generation, context, stamp, until, rows, flags_and_cells, parts, value] = words;
        let [flags, cells] = low_and_high(flags_and_cells);
        let parts = low_and_high(parts);
        let value = u32::try_from(value).ok()?;
        let head = RecordHead { hash, generation, context, stamp, until, rows, flags, cells, parts, value };
        (head.length() == length).then_some(head)
    }

    /// Returns the length of the whole record in words.
    pub fn length(&self) -> u64 {
        self.bytes_begin() + self.bytes().div_ceil(8)
    }

    /// Returns the offset of the first part of the key, in words.
    fn bytes_begin(&self) -> u64 {
        HEAD as u64 + u64::from(self.cells).div_ceil(2)
    }

    /// Returns the length of the key's parts and the value together, in bytes.
    fn bytes(&self) -> u64 {
        u64::from(self.parts[0]) + u64::from(self.parts[1]) + u64::from(self.value)
    }

    /// Returns the two parts of the key and the value, given all bytes of the record. Panics if there are too few.
    pub fn parts_and_value<'r>(&self, record: &'r [u8]) -> [&'r [u8]; 3] {
        let rest = &record[self.bytes_begin() as usize * 8..];
        let (first, rest) = rest.split_at(self.parts[0] as usize);
        let (second, rest) = rest.split_at(self.parts[1] as usize);
        [first, second, &rest[..self.value as usize]]
    }

    /// Returns true if the head may belong to a record with this key, put in the attachment with the number
    /// `generation`. `hash` is that of the key, whose parts are still to be compared.
    pub fn matches(&self, key: &Key, hash: u64, generation: u64) -> bool {
        let lengths = key.parts.map(<[u8]>::len);
        self.hash == hash
            && self.generation == generation
            && self.context == key.context
            && self.parts.map(|length| length as usize) == lengths
    }
}

/// Packs two cells into each word.
pub(crate) fn words_of_cells(cells: &[u32]) -> impl Iterator<Item = u64> {
    cells.chunks(2).map(|pair| halves(pair[0], pair.get(1).copied().unwrap_or_default()))
}

/// Returns the first `count` cells of a record, given its bytes.
pub(crate) fn cells_of(record: &[u8], count: u32) -> impl Iterator<Item = u32> {
    let cells = record[HEAD * 8..].chunks_exact(4).take(count as usize);
    cells.map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

/// Writes words and bytes one after the other into these words of the ring. Whatever does not fit is dropped.
pub(crate) struct WordWriter<'a> {
    words: std::slice::Iter<'a, AtomicU64>,
    word: [u8; 8],
    filled: usize,
}

impl<'a> WordWriter<'a> {
    pub fn new(words: &'a [AtomicU64]) -> WordWriter<'a> {
        WordWriter { words: words.iter(), word: [0; 8], filled: 0 }
    }

    /// Writes a word. Bytes that were written before must have been completed with [`end`](Self::end).
    pub fn word(&mut self, word: u64) {
        // Relaxed: a reader looks whether it has been overtaken, see `Reader::find`.
        if let Some(target) = self.words.next() {
            target.store(word, Ordering::Relaxed);
        }
    }

    /// Writes bytes right after those written before.
    pub fn bytes(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let taken = bytes.len().min(8 - self.filled);
            self.word[self.filled..self.filled + taken].copy_from_slice(&bytes[..taken]);
            (self.filled, bytes) = (self.filled + taken, &bytes[taken..]);
            if self.filled == 8 {
                self.end();
            }
        }
    }

    /// Completes the last word with zeros.
    pub fn end(&mut self) {
        if self.filled > 0 {
            self.word(u64::from_le_bytes(self.word));
            (self.word, self.filled) = ([0; 8], 0);
        }
    }
}
