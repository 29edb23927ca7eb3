//! The store of a query cache: which results are still current ([`Versions`]), what is stored ([`Cache`]), and counts ([`Counter`]).
//!
//! How the parts fit together, from the outside in:
//!
//! - [`Cache`] (`store`, `division`) divides a budget among shards and decides which one evicts when the budget is used up.
//! - A `shard` is searched without a lock through the `slot`s of its `table`. A slot points to an immutable `entry`.
//! - The `writer` of a shard, one at a time, appends entries to `segment`s, frees memory (`evict`, with `ghosts` of what it dropped too
//!   early) and removes dead entries (`sweep`).
//! - All bytes come from `memory`, which keeps to the budget and unmaps what no pinned reader can see any more.
//! - [`Versions`] (`cells`) is independent of all this: entries carry a stamp and cells, and the owner of the cache compares them.
//!   [`Rows`] maps the rows of tables to cells.
//!
//! The memory model is explored by `RUSTFLAGS="--cfg loom" cargo test -p fqc-cache --release --test loom`, the cost of a hit
//! measured by `cargo run --release -p fqc-cache --example lookup`.
//!
//! This crate has no SQL, sockets or threads of its own, and does not decide what is worth storing.

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

/// The key of a result. `context` stands for everything that is not text; the parts are compared in full, and
/// `["ab", "c"]` differs from `["a", "bc"]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<'a> {
    pub context: u64,
    pub parts: [&'a [u8]; 2],
}

/// Data that the owner of the cache stores with a result. The store does not interpret it, except for `stamp` in a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Drawn before the read reached the server; 48 bits.
    pub stamp: Stamp,
    /// The number of rows, kept in 32 bits, saturating.
    pub rows: u64,
    /// How long the server took, kept in microseconds with an error of one part in a thousand, saturating after days.
    pub cost_ns: u64,
    pub flags: u32,
    /// The owner of the entry, for whom its fate is counted. Below [`OWNERS`].
    pub owner: u16,
}

/// Why a result was not stored. An older result with the same key is removed nevertheless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotStored {
    /// The budget is zero, or too small to hold anything.
    NoBudget,
    /// The entry would take more than half of the budget.
    TooLarge,
    /// Memory was freed for it, but readers that started before are still using that memory, or the system has none.
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

/// A snapshot of the counts of a [`Cache`]; the fields are read one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Entries that can be found, including stale ones that no request has come across yet.
    pub entries: u64,
    /// Bytes counted against the budget: all mapped memory and the fixed bookkeeping.
    pub used_bytes: u64,
    /// Bytes of the entries that can be found.
    pub live_bytes: u64,
    /// Bytes that are retired but still mapped, because a reader may be using them; part of `used_bytes`.
    pub retired_bytes: u64,
    pub segments: u64,
    pub inserts: u64,
    /// Entries dropped to make room.
    pub evictions: u64,
    /// Entries dropped by sweeps because they could no longer be served.
    pub swept: u64,
}

/// Keeps every entry found under it readable. While it lives, retired memory stays mapped: never hold it while waiting for a client.
pub struct Pin(#[expect(dead_code, reason = "what counts is that it exists")] crossbeam_epoch::Guard);

/// Enters the current epoch.
#[inline]
pub fn pin() -> Pin {
    Pin(crossbeam_epoch::pin())
}
