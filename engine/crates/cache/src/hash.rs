//! The parts of a key's hash, each bit used for one purpose: the shard, the place in the shard's index, and the tag there.

use std::hash::{BuildHasher, Hasher};

use crate::Key;

#[derive(Clone, Copy)]
pub(crate) struct Hash(pub u64);

impl Hash {
    pub fn shard(self, mask: usize) -> usize {
        self.0 as usize & mask & 0xffff
    }

    /// Where a search starts. A table of any size scales it to its own range.
    pub fn place(self) -> u32 {
        (self.0 >> 16) as u32
    }

    /// Distinguishes most other keys at the same place; 15 bits.
    pub fn tag(self) -> u16 {
        (self.0 >> 49) as u16
    }
}

/// Scales a place to `0..range`.
#[inline]
pub(crate) fn scale(place: u32, range: u32) -> usize {
    ((u64::from(place) * u64::from(range)) >> 32) as usize
}

/// Seeded per process, so that clients cannot construct collisions.
#[derive(Default)]
pub(crate) struct Seed(foldhash::quality::RandomState);

impl Seed {
    pub fn hash(&self, key: &Key) -> u64 {
        let mut hasher = self.0.build_hasher();
        hasher.write_u64(key.context);
        hasher.write_usize(key.parts[0].len());
        for part in key.parts {
            hasher.write(part);
        }
        hasher.finish()
    }

    pub fn hash_words(&self, words: [u64; 2]) -> u64 {
        let mut hasher = self.0.build_hasher();
        hasher.write_u128(u128::from(words[0]) << 64 | u128::from(words[1]));
        hasher.finish()
    }
}
