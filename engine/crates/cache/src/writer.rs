//! The operations of the holder of a shard's lock: insert, remove, evict, and maintain the index.
//!
//! An entry is alive exactly as long as a slot points to it. Replacing and removing only change the slot; the bytes stay in their segment
//! until that is retired as a whole.

use std::ptr::NonNull;
use std::sync::{Arc, MutexGuard};

use crate::Key;
use crate::division::{LEAST_SEGMENT_BYTES, SEGMENTS_PER_SHARD};
use crate::ended_by_owner::EndedByOwner;
use crate::entry::{Draft, RawEntry};
use crate::ghosts;
use crate::hash::Hash;
use crate::memory::Memory;
use crate::segment::{HEAD, Queue, Segment};
use crate::shard::{Shard, State};
use crate::slot::IndexSlot;
use crate::table::Table;

/// The error of an operation that needs this many bytes more than the budget has left. Nothing was stored; the caller can make room and
/// retry.
#[derive(Debug)]
pub(crate) struct MissingBytes(pub usize);

/// An entry that can be found through the index of its shard, and the slot that points to it.
#[derive(Clone, Copy)]
pub(crate) struct LiveEntry {
    /// The number of the slot in the index.
    pub at: usize,
    pub slot: IndexSlot,
    pub entry: RawEntry,
    /// Where the search for the entry's key starts in the index, see [`Hash::place`].
    pub place: u32,
    /// The size of the entry.
    pub bytes: usize,
}

/// The holder of a shard's lock, which alone may change the shard. Dropping it releases the lock.
pub(crate) struct Writer<'a> {
    shard: &'a Shard,
    pub(crate) state: MutexGuard<'a, State>,
    pub(crate) memory: &'a Arc<Memory>,
    ended_by_owner: &'a EndedByOwner,
    segment_bytes: usize,
}

impl<'a> Writer<'a> {
    /// Waits for the shard's lock. `segment_bytes` is the size of the largest segments for entries that do not get a segment of their own.
    pub fn lock(
        shard: &'a Shard,
        memory: &'a Arc<Memory>,
        ended_by_owner: &'a EndedByOwner,
        segment_bytes: usize,
    ) -> Self {
        Writer { shard, state: shard.state(), memory, ended_by_owner, segment_bytes }
    }

    /// Stores an entry, or replaces the one with the same key. Evicts nothing: if fewer than `spare` bytes of the budget would remain, it
    /// returns the number of bytes to make room for, and an older entry with the key stays. `spare` is for evictions to move entries into.
    pub fn insert(&mut self, draft: &Draft, spare: u64) -> Result<(), MissingBytes> {
        let found = self.find(draft.hash, draft.key);
        if found.is_none() {
            self.reserve_slot(spare)?;
        }
        let main = match found {
            Some((_, slot, _)) => slot.is_main(),
            None => self.is_ghost(draft.hash),
        };
        let at = self.place(main, draft.size(), spare)?;
        // SAFETY: `place` has reserved these bytes for this entry alone.
        let entry = unsafe { draft.write(at) };
        match found {
            Some((at, slot, old_bytes)) => {
                self.note_end(slot);
                self.table().set(at, IndexSlot::new(slot.tag(), entry, main, slot.uses()));
                self.state.counts.live_bytes -= old_bytes as u64;
            }
            None => self.add(draft.hash, entry, main),
        }
        self.state.counts.live_bytes += draft.size() as u64;
        self.state.counts.inserts += 1;
        Ok(())
    }

    fn add(&mut self, hash: Hash, entry: RawEntry, main: bool) {
        if main {
            // SAFETY: the lock is held, and the borrow ends here.
            ghosts::recall(unsafe { self.table().bucket(hash.place()) }, hash.tag());
        }
        let slot = IndexSlot::new(hash.tag(), entry, main, 0);
        self.state.filled += self.table().add(hash.place(), slot);
        self.state.counts.entries += 1;
    }

    /// Removes the entry with this key. Returns false if there was none.
    pub fn remove(&mut self, hash: Hash, key: &Key) -> bool {
        let Some((at, slot, bytes)) = self.find(hash, key) else { return false };
        self.drop_entry(at, slot, bytes);
        true
    }

    /// Returns the number of the slot that points to the entry with this key, the slot, and the entry's size in bytes. None if there is no
    /// such entry.
    fn find(&self, hash: Hash, key: &Key) -> Option<(usize, IndexSlot, usize)> {
        // SAFETY: under the lock, what a slot points to is mapped.
        let view = |entry: RawEntry| unsafe { entry.view() };
        let (at, slot) = self.shard.table()?.find(hash, |entry| view(entry).matches(key))?;
        Some((at, slot, view(slot.entry()?).size()))
    }

    /// True if an entry with this hash was recently evicted from the small queue, which new entries enter. Rarely true by mistake.
    fn is_ghost(&self, hash: Hash) -> bool {
        // SAFETY: the lock is held, and the borrow ends here.
        ghosts::contains(unsafe { self.table().bucket(hash.place()) }, hash.tag())
    }

    /// Returns the index of the shard. Panics if there is none yet: call it only after [`reserve_slot`](Self::reserve_slot), or while the
    /// shard has entries.
    pub(crate) fn table(&self) -> Table {
        self.shard.table().expect("a shard with entries has a table")
    }

    /// Removes the entry of slot number `at` from the index, and counts how it ended for its owner. `slot` is the content of that slot,
    /// `bytes` the size of the entry. Its bytes stay in the segment until that is retired.
    pub(crate) fn drop_entry(&mut self, at: usize, slot: IndexSlot, bytes: usize) {
        self.note_end(slot);
        let emptied = self.table().free(at);
        self.state.filled -= emptied;
        self.state.counts.entries -= 1;
        self.state.counts.live_bytes -= bytes as u64;
    }

    fn note_end(&self, slot: IndexSlot) {
        // SAFETY: under the lock, what a slot points to is mapped.
        let owner = slot.entry().map(|entry| unsafe { entry.view().owner() });
        owner.into_iter().for_each(|owner| self.ended_by_owner.note(owner, slot));
    }

    /// Returns the main queue or, if `main` is false, the small one, which new entries enter.
    pub(crate) fn queue(&self, main: bool) -> &Queue {
        if main { &self.state.main } else { &self.state.small }
    }

    pub(crate) fn queue_mut(&mut self, main: bool) -> &mut Queue {
        if main { &mut self.state.main } else { &mut self.state.small }
    }

    /// Reserves `size` bytes for an entry at the young end of the main or the small queue, in a new segment if necessary. The caller must
    /// write the entry there. Err if fewer than `spare` bytes of the budget would remain.
    pub(crate) fn place(&mut self, main: bool, size: usize, spare: u64) -> Result<NonNull<u8>, MissingBytes> {
        if self.deserves_single(size) {
            let mut segment = self.map_segment(self.memory.round_up(HEAD + size), true, spare)?;
            let at = segment.append(size);
            self.queue_mut(main).push(segment);
            self.note_held();
            return Ok(at.expect("made to measure"));
        }
        if let Some(at) = self.queue_mut(main).append(size) {
            return Ok(at);
        }
        let segment = self.map_segment(self.next_segment_bytes(size), false, spare)?;
        self.queue_mut(main).open(segment);
        self.note_held();
        Ok(self.queue_mut(main).append(size).expect("smaller than a segment"))
    }

    /// Returns the size of the next segment for an entry of `size` bytes. The unused end of a segment would be much for a shard that holds
    /// little, so the segment is at most a 64th of what the shard holds, but has room for some such entries.
    fn next_segment_bytes(&self, size: usize) -> usize {
        let held = self.segments_bytes() as usize / SEGMENTS_PER_SHARD as usize;
        let bytes = held.max(HEAD + 4 * size).max(LEAST_SEGMENT_BYTES);
        self.memory.round_up(bytes).min(self.segment_bytes)
    }

    /// True if an entry of this size gets a segment of its own, because it would leave much of the current segment unused.
    fn deserves_single(&self, size: usize) -> bool {
        let large = (self.segment_bytes / 4).max(4 * self.memory.page());
        size > large || HEAD + size > self.segment_bytes
    }

    fn map_segment(&self, bytes: usize, single: bool, spare: u64) -> Result<Segment, MissingBytes> {
        let start = self.memory.map_any(bytes, spare).ok_or(MissingBytes(bytes))?;
        // SAFETY: pages of this size, not in use elsewhere.
        Ok(unsafe { Segment::format(start, bytes, single) })
    }

    pub(crate) fn segments_bytes(&self) -> u64 {
        self.state.small.bytes() + self.state.main.bytes()
    }

    /// Publishes how many bytes the shard holds; [`Cache`](crate::Cache) chooses the shard that evicts by this. Call it after each change
    /// of the queues.
    pub(crate) fn note_held(&self) {
        self.shard.set_held(self.segments_bytes());
    }

    /// Releases a segment that was taken out of its queue and that no slot of the index points into, as soon as no reader uses it.
    pub(crate) fn retire(&self, segment: Segment) {
        // SAFETY: the callers have moved or dropped all its entries.
        unsafe { segment.retire(self.memory) };
        self.note_held();
    }

    /// Iterates over the entries of a segment that can still be found, each with its slot as it is when the iterator reaches it. The
    /// iterator does not borrow the segment: use it up before the segment is retired.
    pub(crate) fn live_entries(&self, segment: &Segment) -> impl Iterator<Item = LiveEntry> + use<> {
        let table = self.shard.table();
        let entries = table.map(|_| segment.entries());
        entries.into_iter().flatten().filter_map(move |entry| {
            // SAFETY: the caller keeps the segment mapped.
            let view = unsafe { entry.view() };
            let (place, bytes) = (view.place(), view.size());
            let (at, slot) = table?.find_entry(place, entry)?;
            Some(LiveEntry { at, slot, entry, place, bytes })
        })
    }

    /// Copies an entry to the young end of the queue (main or small) that it is in, and lets its slot in the index
    /// point to the copy, with an unchanged use count. Returns false, and changes nothing, if there is no memory.
    pub(crate) fn relocate(&mut self, living: &LiveEntry) -> bool {
        let LiveEntry { at, slot, entry, bytes, .. } = *living;
        let Ok(copy) = self.place(slot.is_main(), bytes, 0) else { return false };
        // SAFETY: both have this size, and `copy` is not visible to any other thread.
        unsafe { entry.copy_to(copy, bytes) };
        let moved = IndexSlot::new(slot.tag(), RawEntry::at(copy), slot.is_main(), slot.uses());
        self.table().set(at, moved);
        true
    }

    /// Ensures that the index exists and has a free slot. Err if fewer than `spare` bytes of the budget would remain.
    fn reserve_slot(&mut self, spare: u64) -> Result<(), MissingBytes> {
        let capacity = self.shard.table().map_or(0, Table::capacity);
        // At three quarters, a search that fails reads about eight slots, one or two cache lines.
        if self.state.filled < capacity / 4 * 3 { Ok(()) } else { self.rebuild(spare) }
    }

    /// Replaces the index by one that is half full. Err, and nothing is changed, if fewer than `spare` bytes of the budget would remain.
    fn rebuild(&mut self, spare: u64) -> Result<(), MissingBytes> {
        let slots = 2 * (self.state.counts.entries as usize + 1);
        let bytes = Table::bytes_for(slots, self.memory);
        let start = self.memory.map(bytes, spare).ok_or(MissingBytes(bytes))?;
        // SAFETY: fresh pages of this size.
        let table = unsafe { Table::format(start, bytes) };
        self.state.filled = self.shard.table().map_or(0, |old| table.fill_from(old));
        self.replace_table(Some(table));
        Ok(())
    }

    fn replace_table(&mut self, table: Option<Table>) {
        let old = self.shard.table();
        self.shard.publish(table);
        if let Some(old) = old {
            // SAFETY: just replaced, so it can no longer be found, and `old` is not used after this.
            unsafe { old.retire(self.memory) };
        }
    }

    /// Replaces the index by a smaller one if it has become far too large, and drops it if there are no entries.
    pub fn trim_table(&mut self) {
        let Some(table) = self.shard.table() else { return };
        let entries = self.state.counts.entries as usize;
        if entries == 0 {
            self.state.filled = 0;
            self.replace_table(None);
        } else if Table::bytes_for(4 * (entries + 1), self.memory) < table.bytes() {
            // If there is no memory for a smaller table, the current one stays.
            let _ = self.rebuild(0);
        }
    }

    /// Removes all entries, the index and all segments. Their memory is released once no reader uses it.
    pub fn clear(&mut self) {
        self.state.filled = 0;
        self.state.counts.entries = 0;
        self.state.counts.live_bytes = 0;
        self.replace_table(None);
        for main in [false, true] {
            while let Some(segment) = self.queue_mut(main).pop() {
                self.retire(segment);
            }
        }
    }
}
