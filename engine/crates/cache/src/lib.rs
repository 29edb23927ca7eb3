//! The store of a query cache that lives inside a database server: what is still true ([`Versions`]), what is stored
//! ([`Cache`]), and how often ([`Counter`]).
//!
//! How the parts fit together, from the outside in:
//!
//! - [`Cache`] (`store`, `division`) divides a budget among shards and decides who has to give when it is used up.
//! - A `shard` is searched without a lock through its `table` of `slot`s, each of which points at an immutable `entry`.
//! - The `writer` of a shard, one at a time, appends entries to `segment`s, makes room (`evict`, with `ghosts` of what it
//!   dropped too early) and clears up (`sweep`).
//! - All bytes come from `memory`, which keeps the budget and unmaps what no pinned reader can see any more.
//! - [`Versions`] (`cells`) stands beside all this: entries carry a stamp and cells, their owner compares them. [`Rows`] says
//!   which cells stand for the rows of a table.
//!
//! The memory model is explored by `RUSTFLAGS="--cfg loom" cargo test -p fqc-cache --release --test loom`, the cost of a hit
//! measured by `cargo run --release -p fqc-cache --example lookup`.
//!
//! Deliberately absent: SQL, sockets, threads of its own, and any decision on what is worth storing.

mod cells;
mod counters;
mod division;
mod entry;
mod evict;
mod fates;
mod ghosts;
mod hash;
mod memory;
mod rows;
mod segment;
mod shard;
mod slot;
mod store;
mod sweep;
mod sync;
mod table;
mod versions;
mod writer;

pub use counters::Counter;
pub use entry::{Entry, entry_bytes};
pub use fates::{Fate, OWNERS};
pub use rows::Rows;
pub use store::Cache;
pub use versions::{CellId, Stamp, Versions};

use std::fmt;

/// What a result is found by. `context` stands for everything that is not text; the parts are compared in full, and
/// `["ab", "c"]` differs from `["a", "bc"]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<'a> {
    pub context: u64,
    pub parts: [&'a [u8]; 2],
}

/// What the owner of the cache notes with a result; the store does not interpret it, but for `stamp` in a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Noted before the read reached the server; 48 bits.
    pub stamp: Stamp,
    /// Kept in 32 bits, saturating.
    pub rows: u64,
    /// Kept in microseconds to one part in a thousand, saturating after days.
    pub cost_ns: u64,
    pub flags: u32,
    /// Whose entry it is: its fate is counted there. Below [`OWNERS`].
    pub owner: u16,
}

/// Why a result was not stored. What was stored under its key before is gone nevertheless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotStored {
    /// The budget is zero, or too small to hold anything.
    NoBudget,
    /// The entry would take more than its fair part of the budget.
    TooLarge,
    /// Memory was freed for it, but readers that began before are still using that memory, or the system has none.
    Busy,
}

impl fmt::Display for NotStored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotStored::NoBudget => "the cache has no memory: raise its size",
            NotStored::TooLarge => "the result is too large for the cache: raise its size",
            NotStored::Busy => "the memory freed for the result is still being read: a later result will be stored",
        })
    }
}

impl std::error::Error for NotStored {}

/// A snapshot of a [`Cache`]; the fields are read one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Entries that can be found, dead ones that nobody met yet included.
    pub entries: u64,
    /// Bytes counted against the budget: all mapped memory and the fixed bookkeeping.
    pub used_bytes: u64,
    /// Bytes of the entries that can be found.
    pub live_bytes: u64,
    /// Bytes given up but still mapped, because a reader may be using them; part of `used_bytes`.
    pub retired_bytes: u64,
    pub segments: u64,
    pub inserts: u64,
    /// Entries dropped to make room.
    pub evictions: u64,
    /// Entries dropped by sweeps because they were dead.
    pub swept: u64,
}

/// Keeps every entry found under it readable. While it lives, memory that was given up stays mapped: never hold it
/// while waiting for a client.
pub struct Pin(#[expect(dead_code, reason = "what counts is that it exists")] crossbeam_epoch::Guard);

/// Enters the present epoch.
#[inline]
pub fn pin() -> Pin {
    Pin(crossbeam_epoch::pin())
}
