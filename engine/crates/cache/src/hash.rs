//! The parts of a key's hash, each bit used for one purpose: the shard, the place in the shard's index, and the tag there.

use std::hash::{BuildHasher, Hasher};

use crate::Key;

/// The hash of a key, seeded by [`Seed`].
#[derive(Clone, Copy)]
pub(crate) struct Hash(pub u64);

impl Hash {
    /// The number of the key's shard. `mask` is the number of shards minus one.
    pub fn shard(self, mask: usize) -> usize {
        self.0 as usize & mask & 0xffff
    }

    /// Where the search for the key starts in the index of its shard, as a fraction of 2^32; [`scale`] turns it into a slot number.
    pub fn place(self) -> u32 {
        (self.0 >> 16) as u32
    }

    /// Returns 15 bits that distinguish the key from most other keys with the same place, so that their entries need not be read.
    pub fn tag(self) -> u16 {
        (self.0 >> 49) as u16
    }
}

/// Scales a place ([`Hash::place`]) to `0..range`.
#[inline]
pub(crate) fn scale(place: u32, range: u32) -> usize {
    ((u64::from(place) * u64::from(range)) >> 32) as usize
}

/// The random seed of all hashes of one cache, so that clients cannot construct keys that collide.
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
