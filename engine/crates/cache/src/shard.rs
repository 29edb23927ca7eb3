//! One part of the cache: an index that is searched without a lock, and the state of its single writer.

use locks::Mutex;
use std::ptr::null_mut;
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::hash::Hash;
use crate::segment::Queue;
use crate::slot::IndexSlot;
use crate::table::{Head, Table};
use crate::{Entry, Key, Pin};

/// One independent part of the cache: an index that any thread searches without a lock, and the state of the one writer, behind a lock.
/// Padded to two cache lines, because processors prefetch them in pairs.
#[repr(align(128))]
pub(crate) struct Shard {
    /// The index; null while there is none.
    table: AtomicPtr<Head>,
    /// The bytes of the segments in both queues, kept here so that the shard to evict from is chosen without locks.
    held: AtomicU64,
    state: Mutex<State>,
}

/// The state of a shard that only the holder of the shard's lock reads and changes.
#[derive(Default)]
pub(crate) struct State {
    /// The segments of new entries.
    pub small: Queue,
    /// The segments of entries that were used, or requested again soon after their eviction.
    pub main: Queue,
    /// The number of slots of the index that are not [`IndexSlot::EMPTY`]: those of entries, and those that removed entries have left.
    pub filled: u32,
    pub counts: Counts,
    /// The number of the next segment to sweep, counted through `small`, then `main`.
    pub cursor: usize,
}

/// The counts of one shard; see the fields of the same names in [`Stats`](crate::Stats).
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub entries: u64,
    pub live_bytes: u64,
    pub inserts: u64,
    pub evictions: u64,
    pub swept: u64,
}

impl Shard {
    pub fn new() -> Self {
        Shard { table: AtomicPtr::new(null_mut()), held: AtomicU64::new(0), state: Mutex::default() }
    }

    /// Returns the entry with this key, or None, and counts a use of it. It may be stale: the caller must check.
    #[inline]
    pub fn get<'g>(&self, hash: Hash, key: &Key, _pin: &'g Pin) -> Option<Entry<'g>> {
        let table = self.table()?;
        // SAFETY: what a slot points to is unmapped only after the pins that could have read the slot are gone.
        let view = |entry: crate::entry::RawEntry| unsafe { entry.view::<'g>() };
        let (at, slot) = table.find(hash, |entry| view(entry).matches(key))?;
        table.bump(at, slot);
        slot.entry().map(view)
    }

    /// Returns the index, or None while there is none. The caller must hold the shard's lock or a pin as long as it uses the index.
    #[inline]
    pub fn table(&self) -> Option<Table> {
        // Acquire pairs with the Release in `publish`: a thread that sees a table sees its slots.
        // SAFETY: a table that was published stays mapped for every thread that is pinned or holds the lock at this time.
        unsafe { Table::from_ptr(self.table.load(Ordering::Acquire)) }
    }

    /// Lets readers find this index from now on; with None they find no entry. The caller must hold the shard's lock, and must retire
    /// the previous index.
    pub fn publish(&self, table: Option<Table>) {
        // Release pairs with the Acquire in `table`.
        self.table.store(table.map_or(null_mut(), Table::as_ptr), Ordering::Release);
    }

    /// Returns the bytes of the shard's segments, as the holder of the lock last noted them.
    pub fn held(&self) -> u64 {
        // Relaxed: only a hint, which the holder of the lock checks.
        self.held.load(Ordering::Relaxed)
    }

    pub fn set_held(&self, bytes: u64) {
        // Relaxed: see `held`.
        self.held.store(bytes, Ordering::Relaxed);
    }

    /// Calls `visit` for every entry that can be found, stale ones included, without the lock.
    pub fn visit<'g>(&self, _pin: &'g Pin, visit: &mut impl FnMut(Entry<'g>)) {
        let slots = self.table().map_or(&[][..], |table| table.slots());
        for slot in slots {
            // Acquire pairs with the Release of `Table::set`: a thread that sees an address sees the entry written there.
            if let Some(entry) = IndexSlot(slot.load(Ordering::Acquire)).entry() {
                // SAFETY: as in `get`.
                visit(unsafe { entry.view::<'g>() });
            }
        }
    }

    /// Waits for the shard's lock. Panics if a thread has panicked while it held it.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("a writer panicked inside this shard")
    }
}
