//! A result as it stands in the ring: a head of words, the cells it depends on, then the bytes of its key and of its value.

use crate::sync::{AtomicU64, Ordering};
use foldhash::quality::FixedState;
use std::hash::{BuildHasher, Hasher};

pub(crate) const HEAD: usize = 10;

/// Identifies a result. `context` stands for everything but the text that a result depends on. The parts are compared in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<'a> {
    pub context: u64,
    pub parts: [&'a [u8]; 2],
}

/// A result that may be served while no cell in `cells` is closed or has a version after `stamp`, and until the moment `until`.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    pub stamp: u64,
    pub until: u64,
    pub rows: u64,
    /// Only the writer interprets these flags.
    pub flags: u32,
    pub cells: &'a [u32],
    pub value: &'a [u8],
}

impl Key<'_> {
    pub(crate) fn hash(&self, seed: u64) -> u64 {
        let mut hasher = FixedState::with_seed(seed).build_hasher();
        hasher.write_u64(self.context);
        hasher.write_usize(self.parts[0].len());
        self.parts.iter().for_each(|part| hasher.write(part));
        hasher.finish()
    }
}

/// The first words of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub hash: u64,
    pub generation: u64,
    pub context: u64,
    pub stamp: u64,
    pub until: u64,
    pub rows: u64,
    pub flags: u32,
    pub cells: u32,
    pub parts: [u32; 2],
    pub value: u32,
}

fn halves(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn low_and_high(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

impl Head {
    /// Returns none if a length has no room in its field.
    pub fn of(key: &Key, record: &Record, hash: u64, generation: u64) -> Option<Head> {
        let [first, second] = key.parts.map(|part| u32::try_from(part.len()).ok());
        Some(Head {
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

    /// Returns none if these words are no head.
    pub fn read(words: [u64; HEAD]) -> Option<Head> {
        let [length, hash, generation, context, stamp, until, rows, flags_and_cells, parts, value] = words;
        let [flags, cells] = low_and_high(flags_and_cells);
        let parts = low_and_high(parts);
        let value = u32::try_from(value).ok()?;
        let head = Head { hash, generation, context, stamp, until, rows, flags, cells, parts, value };
        (head.length() == length).then_some(head)
    }

    /// Returns the length of the whole record in words.
    pub fn length(&self) -> u64 {
        self.bytes_begin() + self.bytes().div_ceil(8)
    }

    fn bytes_begin(&self) -> u64 {
        HEAD as u64 + u64::from(self.cells).div_ceil(2)
    }

    fn bytes(&self) -> u64 {
        u64::from(self.parts[0]) + u64::from(self.parts[1]) + u64::from(self.value)
    }

    /// Returns the parts of the key and the value, given the record's bytes.
    pub fn texts<'r>(&self, record: &'r [u8]) -> [&'r [u8]; 3] {
        let rest = &record[self.bytes_begin() as usize * 8..];
        let (first, rest) = rest.split_at(self.parts[0] as usize);
        let (second, rest) = rest.split_at(self.parts[1] as usize);
        [first, second, &rest[..self.value as usize]]
    }

    pub fn is_of(&self, key: &Key, hash: u64, generation: u64) -> bool {
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

/// Returns the cells of a record, given its bytes.
pub(crate) fn cells_of(record: &[u8], count: u32) -> impl Iterator<Item = u32> {
    let cells = record[HEAD * 8..].chunks_exact(4).take(count as usize);
    cells.map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

/// Writes bytes one after the other into words.
pub(crate) struct Pen<'a> {
    words: std::slice::Iter<'a, AtomicU64>,
    word: [u8; 8],
    filled: usize,
}

impl<'a> Pen<'a> {
    pub fn new(words: &'a [AtomicU64]) -> Pen<'a> {
        Pen { words: words.iter(), word: [0; 8], filled: 0 }
    }

    pub fn word(&mut self, word: u64) {
        // Relaxed: a reader looks whether it has been overtaken, see `Reader::find`.
        if let Some(place) = self.words.next() {
            place.store(word, Ordering::Relaxed);
        }
    }

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

    pub fn end(&mut self) {
        if self.filled > 0 {
            self.word(u64::from_le_bytes(self.word));
            (self.word, self.filled) = ([0; 8], 0);
        }
    }
}
