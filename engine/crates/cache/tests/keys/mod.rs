//! Keys, metadata and budgets as the tests use them.

#![allow(dead_code, reason = "each test binary uses its own part")]

use cache::{Key, Meta, Stamp};

pub fn key<'a>(context: u64, text: &'a [u8], parameters: &'a [u8]) -> Key<'a> {
    Key { context, parts: [text, parameters] }
}

/// Returns metadata with this stamp, of a result with one row that took the server a millisecond.
pub fn meta(stamp: u64) -> Meta {
    Meta { stamp: Stamp(stamp), rows: 1, cost_ns: 1_000_000, flags: 0, owner: 0 }
}

/// Budgets in bytes to run tests with: none, some that are too small or barely useful, and some with several shards.
pub const BUDGETS: &[usize] =
    if cfg!(miri) { &[0, 100 << 10, 2 << 20] } else { &[0, 4096, 64 << 10, 100_000, 1 << 20, 3 << 20, 16 << 20] };

/// A small deterministic random generator (xorshift64*). The field is its state, which must not start as 0.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    /// Returns a number below `limit`, which must not be 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
