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
//!
//! The words of comments are explained in `docs/concepts/words.md`.

mod cells;
mod counters;
mod division;
mod ended_by_owner;
mod entry;
mod evict;
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
pub use ended_by_owner::{EndedEntries, OWNERS};
pub use entry::{Entry, entry_bytes};
pub use rows::Rows;
pub use store::Cache;
pub use versions::{CellId, Stamp, Versions};

use std::fmt;

/// The key of a stored result. Two keys are equal only if `context` and both parts are equal in full; `["ab", "c"]` differs from
/// `["a", "bc"]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<'a> {
    /// A number that the owner of the cache chooses for everything besides the parts that distinguishes results, such as the account and
    /// the settings of a session. A result is refused as too large if the number needs more than 48 bits.
    pub context: u64,
    /// Two byte strings, for example the text of a statement and its parameters. Either may be empty.
    pub parts: [&'a [u8]; 2],
}

/// Data that the owner of the cache stores with a result, and reads through [`Entry`]. The cache itself uses only `owner`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// The value of [`Versions::now`] before the read reached the server, kept in 48 bits, saturating.
    pub stamp: Stamp,
    /// The number of rows of the result, kept in 32 bits, saturating.
    pub rows: u64,
    /// How long the server took to compute the result, in nanoseconds. Kept in microseconds with an error of up to one part in a thousand,
    /// saturating after days.
    pub cost_ns: u64,
    /// Bits whose meaning the owner of the cache defines. [`Entry::mark`] sets more of them later.
    pub flags: u32,
    /// A number that groups entries, for example by kind of statement: [`Cache::ended_entries`] counts for each owner how its entries
    /// ended. Entries of owners from [`OWNERS`] on are stored, but not counted.
    pub owner: u16,
}

/// Why [`Cache::insert`] did not store a result. An older result with the same key is removed nevertheless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotStored {
    /// The budget is zero, or too small to hold any entry.
    NoBudget,
    /// The entry would take more than half of the budget, or one of its sizes or numbers does not fit into the entry's header.
    TooLarge,
    /// Temporary: memory was evicted for the entry, but pinned readers may still be using it, or the system has no memory. A later
    /// insertion can succeed.
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

/// The counts of a [`Cache`]. They are read one after the other, so they may not add up while other threads change the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Entries that can be found now, including stale ones that no request and no sweep has come across yet.
    pub entries: u64,
    /// Bytes counted against the budget: all mapped memory and the fixed bookkeeping.
    pub used_bytes: u64,
    /// Bytes of the entries that can be found.
    pub live_bytes: u64,
    /// Bytes that were freed but are still mapped, because a reader with a [`Pin`] may be using them; part of `used_bytes`.
    pub retired_bytes: u64,
    /// Segments in use; a segment is a run of pages that holds entries and is freed as a whole.
    pub segments: u64,
    /// Results stored since the cache was created, including those that replaced an older one.
    pub inserts: u64,
    /// Entries dropped to make room, since the cache was created.
    pub evictions: u64,
    /// Entries dropped by [`Cache::sweep`] because they could no longer be served, since the cache was created.
    pub swept: u64,
}

/// A guard from [`pin`]: every [`Entry`] that was found with it stays readable until it is dropped. While it lives, no memory that the
/// cache frees is unmapped or reused, so hold it only briefly, never while waiting for a client.
pub struct Pin(#[expect(dead_code, reason = "what counts is that it exists")] crossbeam_epoch::Guard);

/// Returns a guard for reading the cache: take it before [`Cache::get`], and drop it when the entry has been used. It takes no lock and
/// never waits. A thread may hold several guards.
#[inline]
pub fn pin() -> Pin {
    Pin(crossbeam_epoch::pin())
}
