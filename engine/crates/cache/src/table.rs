//! The index of one shard: an open-addressed table that is searched without a lock, followed by the shard's ghosts.
//!
//! One mapping: `Head`, then `capacity` slots, then a bucket of ghosts for every 16 slots. A search goes up from the key's place until an
//! empty slot. Only the holder of the shard's lock writes slots, except for the use counts, which any reader increments. A table never
//! grows: a new one is filled and replaces it.

use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::entry::RawEntry;
use crate::ghosts::Bucket;
use crate::hash::{Hash, scale};
use crate::memory::Memory;
use crate::slot::IndexSlot;

#[repr(C, align(64))]
pub(crate) struct Head {
    bytes: usize,
    capacity: u32,
}

const GROUP: usize = 16;
const GROUP_BYTES: usize = GROUP * size_of::<AtomicU64>() + size_of::<Bucket>();

/// A handle to the index of a shard. It does not own the index, which must stay mapped as long as the handle is used: take it from the
/// shard under the shard's lock or a pin, and use it only while that is held.
#[derive(Clone, Copy)]
pub(crate) struct Table(NonNull<Head>);

impl Table {
    /// Returns the bytes, in whole pages, of an index with at least this many slots.
    pub fn bytes_for(slots: usize, memory: &Memory) -> usize {
        memory.round_up(size_of::<Head>() + slots.div_ceil(GROUP) * GROUP_BYTES)
    }

    /// Creates an empty index in fresh pages, with as many slots as fit.
    ///
    /// # Safety
    /// `start` points to `bytes` zeroed bytes that are not in use elsewhere.
    pub unsafe fn format(start: NonNull<u8>, bytes: usize) -> Self {
        let capacity = (bytes - size_of::<Head>()) / GROUP_BYTES * GROUP;
        let head = Head { bytes, capacity: u32::try_from(capacity).unwrap_or(u32::MAX) };
        let table = Table(start.cast());
        // SAFETY: within the pages, and aligned as pages are. Zeroes are valid slots and ghosts.
        unsafe { table.0.write(head) };
        table
    }

    /// Returns the index at this address; `None` if it is null.
    ///
    /// # Safety
    /// `head` is that of a table which stays mapped as long as the result is used.
    pub unsafe fn from_ptr(head: *mut Head) -> Option<Self> {
        NonNull::new(head).map(Table)
    }

    pub fn as_ptr(self) -> *mut Head {
        self.0.as_ptr()
    }

    pub fn bytes(self) -> usize {
        // SAFETY: mapped and formatted, see `Table`.
        unsafe { (*self.0.as_ptr()).bytes }
    }

    /// The number of slots.
    pub fn capacity(self) -> u32 {
        // SAFETY: mapped and formatted, see `Table`.
        unsafe { (*self.0.as_ptr()).capacity }
    }

    pub fn slots<'a>(self) -> &'a [AtomicU64] {
        // SAFETY: mapped, see `Table`; `format` chose the capacity so that the slots lie within the pages.
        unsafe {
            let first = self.0.add(1).cast::<AtomicU64>();
            slice::from_raw_parts(first.as_ptr(), self.capacity() as usize)
        }
    }

    /// Returns the fingerprints of recently evicted entries for the keys around `place` (see [`Hash::place`]).
    ///
    /// # Safety
    /// The caller holds the shard's lock, and drops the previous bucket before it calls this again.
    pub unsafe fn bucket<'a>(self, place: u32) -> &'a mut Bucket {
        let at = scale(place, self.capacity() / GROUP as u32);
        // SAFETY: `at` is below the number of buckets; the lock makes the borrow unique.
        unsafe { self.ghosts().add(at).as_mut() }
    }

    fn ghosts(self) -> NonNull<Bucket> {
        // SAFETY: the buckets follow the slots, within the pages.
        unsafe { self.0.add(1).cast::<AtomicU64>().add(self.capacity() as usize).cast() }
    }

    /// Searches for the entry of a key with this hash. `is_it` is asked about each entry on the way that has the same tag. Returns the
    /// number and the content of the slot that points to the entry, or `None`.
    #[inline]
    pub fn find(self, hash: Hash, is_it: impl Fn(RawEntry) -> bool) -> Option<(usize, IndexSlot)> {
        let tag = hash.tag();
        self.search(hash.place(), |slot| slot.tag() == tag && slot.entry().is_some_and(&is_it))
    }

    /// Returns the number and the content of the slot that points to `entry`; `place` is that of the entry. `None` if the entry was
    /// replaced or removed.
    pub fn find_entry(self, place: u32, entry: RawEntry) -> Option<(usize, IndexSlot)> {
        self.search(place, |slot| slot.entry() == Some(entry))
    }

    #[inline]
    fn search(self, place: u32, is_it: impl Fn(IndexSlot) -> bool) -> Option<(usize, IndexSlot)> {
        let slots = self.slots();
        let mut at = scale(place, self.capacity());
        for _ in 0..slots.len() {
            // Acquire pairs with the Release in `set`: a thread that sees an address sees the entry written there.
            let slot = IndexSlot(slots[at].load(Ordering::Acquire));
            if slot == IndexSlot::EMPTY {
                return None;
            }
            if is_it(slot) {
                return Some((at, slot));
            }
            at = if at + 1 == slots.len() { 0 } else { at + 1 };
        }
        None
    }

    /// Counts a use of an entry. `at` and `slot` are the number and the content of its slot as they were found; if the slot has changed
    /// since, or its use count is at the maximum, nothing is counted.
    #[inline]
    pub fn bump(self, at: usize, slot: IndexSlot) {
        if slot.uses() < IndexSlot::MAX_USES {
            // Relaxed: the new word carries the same address, and a read-modify-write continues the release sequence of `set`. An equal
            // word means the same entry: its memory cannot be reused while the reader is pinned.
            let (old, new) = (slot.0, slot.with_one_use_more().0);
            let order = Ordering::Relaxed;
            let _ = self.slots()[at].compare_exchange(old, new, order, order);
        }
    }

    /// Replaces the content of slot number `at`. Only under the shard's lock.
    pub fn set(self, at: usize, slot: IndexSlot) {
        // Release pairs with the Acquire in `search`. A use that is counted at the same time may be lost.
        self.slots()[at].store(slot.0, Ordering::Release);
    }

    /// Writes a slot to the first free place from `place` on, where a search finds it. Only under the shard's lock. Returns 1 if that place
    /// was empty, 0 if it had been left by a removed entry. Panics if all slots are taken.
    pub fn add(self, place: u32, slot: IndexSlot) -> u32 {
        let is_free = |slot: &AtomicU64| self.load(slot).entry().is_none();
        let slots = self.slots();
        let from = scale(place, self.capacity());
        let (before, after) = slots.split_at(from);
        let at = match after.iter().position(is_free) {
            Some(at) => from + at,
            None => before.iter().position(is_free).expect("a table is never full"),
        };
        let taken = self.load(&slots[at]) == IndexSlot::EMPTY;
        self.set(at, slot);
        u32::from(taken)
    }

    /// Frees slot number `at`. Only under the shard's lock. Returns how many slots became empty by that, as if they had never been
    /// used: 0 if searches still have to pass this one.
    pub fn free(self, mut at: usize) -> u32 {
        let slots = self.slots();
        self.set(at, IndexSlot::REMOVED);
        let next = if at + 1 == slots.len() { 0 } else { at + 1 };
        if self.load(&slots[next]) != IndexSlot::EMPTY {
            return 0;
        }
        // The next slot is empty, so no search needs to continue past these.
        let mut freed = 0;
        while self.load(&slots[at]) == IndexSlot::REMOVED {
            self.set(at, IndexSlot::EMPTY);
            freed += 1;
            at = at.checked_sub(1).unwrap_or(slots.len() - 1);
        }
        freed
    }

    /// Copies the slots of `old` that point to entries into this empty table and, if both have the same size, the fingerprints of evicted
    /// entries. Returns the number of slots copied.
    pub fn fill_from(self, old: Table) -> u32 {
        let mut filled = 0;
        for slot in old.slots() {
            let slot = self.load(slot);
            if let Some(entry) = slot.entry() {
                // SAFETY: under the shard's lock, what a slot points to is mapped.
                filled += self.add(unsafe { entry.view() }.place(), slot);
            }
        }
        if self.capacity() == old.capacity() {
            let (from, to) = (old.ghosts(), self.ghosts());
            let buckets = self.capacity() as usize / GROUP;
            // SAFETY: both have this many buckets, and only the holder of the lock ever accesses ghosts.
            unsafe { to.copy_from_nonoverlapping(from, buckets) };
        }
        filled
    }

    fn load(self, slot: &AtomicU64) -> IndexSlot {
        // Relaxed: a holder of the shard's lock wrote the slot, this one or an earlier one.
        IndexSlot(slot.load(Ordering::Relaxed))
    }

    /// Releases the index's pages as soon as no pinned reader can be using them; does not wait for that.
    ///
    /// # Safety
    /// The table came from `memory`, can no longer be found, and is not used after this.
    pub unsafe fn retire(self, memory: &Arc<Memory>) {
        // SAFETY: the caller's guarantee.
        unsafe { memory.retire(self.0.cast(), self.bytes(), false) };
    }
}
