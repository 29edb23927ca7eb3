//! Moments at which rows changed last, in a hash table of fixed size. Rows with the same hash share a word and invalidate each
//! other, which only costs a miss.

use std::hash::{BuildHasher, RandomState};

/// The number of words, each for the rows that share a hash.
const SLOTS: usize = 1 << 20;

/// For each row, by the hash of its key, the moment of its last change: a number that grows with the log. Zero if it has not
/// changed.
pub struct RowVersions {
    versions: Vec<u64>,
    // A random hasher for each attachment, so that no client can choose rows that share a word.
    hasher: RandomState,
}

impl Default for RowVersions {
    fn default() -> RowVersions {
        RowVersions { versions: vec![0; SLOTS], hasher: RandomState::new() }
    }
}

impl RowVersions {
    /// Returns the number of the word for the row with this key in the table with this number. Other rows may have the same word.
    pub fn slot(&self, table: u32, key: i128) -> u32 {
        self.hasher.hash_one((table, key)) as u32 % SLOTS as u32
    }

    /// Notes that the row with this key in the table with this number has changed at this moment.
    pub fn set(&mut self, table: u32, key: i128, moment: u64) {
        let slot = self.slot(table, key);
        self.versions[slot as usize] = moment;
    }

    /// Returns the moment at which one of the rows with this word changed last. Zero if none has changed.
    pub fn changed_at(&self, slot: u32) -> u64 {
        self.versions[slot as usize % SLOTS]
    }
}
