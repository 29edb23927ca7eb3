//! When rows changed last. Rows that share a word outdate each other, which costs a miss and nothing else.

use std::hash::{BuildHasher, RandomState};

const WORDS: usize = 1 << 20;

pub struct Words {
    words: Vec<u64>,
    // Drawn anew for each attachment, so that nobody chooses rows that share a word.
    hasher: RandomState,
}

impl Default for Words {
    fn default() -> Words {
        Words { words: vec![0; WORDS], hasher: RandomState::new() }
    }
}

impl Words {
    /// Of the row with this key, in the table with this number.
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
