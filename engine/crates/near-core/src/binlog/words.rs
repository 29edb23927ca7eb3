//! Moments at which rows changed last, in a hash table of fixed size. Rows with the same hash share a word and invalidate each
//! other, which only costs a miss.

use std::hash::{BuildHasher, RandomState};

const WORDS: usize = 1 << 20;

pub struct Words {
    words: Vec<u64>,
    // A random hasher for each attachment, so that no client can choose rows that share a word.
    hasher: RandomState,
}

impl Default for Words {
    fn default() -> Words {
        Words { words: vec![0; WORDS], hasher: RandomState::new() }
    }
}

impl Words {
    /// Returns the number of the word for the row with this key in the table with this number.
    pub fn of(&self, table: u32, key: i128) -> u32 {
        self.hasher.hash_one((table, key)) as u32 % WORDS as u32
    }

    pub fn change(&mut self, table: u32, key: i128, moment: u64) {
        let word = self.of(table, key);
        self.words[word as usize] = moment;
    }

    pub fn changed_at(&self, word: u32) -> u64 {
        self.words[word as usize % WORDS]
    }
}
