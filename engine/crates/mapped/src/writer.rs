//! The side of the one process that writes the mapped memory.

use crate::connection::{ConnectionSlot, ConnectionState};
use crate::entry::{HEAD, Key, Record, RecordHead, WordWriter, words_of_cells};
use crate::layout::{
    GENERATION_AT, IndexSlot, LEASE_END_AT, Layout, MAGIC, MAGIC_AT, OPENINGS_AT, RESERVED_AT, SEED_AT, SIZES_AT,
};
use crate::sync::{AtomicU64, Ordering, fence};
use std::collections::BTreeSet;

/// The lowest bit of a cell's word. It is set while a table or rows, which the cell stands for, are being changed.
pub(crate) const CLOSED: u64 = 1;

/// The number of cells whose words share a page of memory. A page takes no room until one of them is touched.
const PAGE: u32 = 512;

/// Fills the memory that [`Reader`](crate::Reader)s of other processes look up results in. It never waits for a reader.
pub struct Writer<M> {
    memory: M,
    layout: Layout,
    seed: u64,
    /// The number of attachments so far.
    generation: u64,
    /// The position up to which the ring was written.
    reserved: u64,
    /// The pages of cells that were written in this attachment. The next one starts with zeros in them.
    touched: BTreeSet<u32>,
}

impl<M: AsRef<[AtomicU64]>> Writer<M> {
    /// Creates the array in memory that is all zeros. Returns none if the memory is smaller than the layout. Nothing is found
    /// in it before [`attach`](Self::attach) and [`grant_lease`](Self::grant_lease). `seed` should be random, so that clients
    /// cannot construct collisions of hashes.
    pub fn new(memory: M, layout: Layout, seed: u64) -> Option<Writer<M>> {
        (memory.as_ref().len() >= layout.words()).then_some(())?;
        // Position zero stands for no result.
        let mut writer =
            Writer { memory, layout, seed, generation: 0, reserved: layout.ring(), touched: BTreeSet::new() };
        writer.word(SIZES_AT).store(layout.packed(), Ordering::Relaxed);
        writer.word(SEED_AT).store(seed, Ordering::Relaxed);
        writer.word(RESERVED_AT).store(writer.reserved, Ordering::Relaxed);
        writer.word(MAGIC_AT).store(MAGIC, Ordering::Release);
        writer.detach();
        Some(writer)
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        &self.memory.as_ref()[at]
    }

    /// Makes all results invisible for good, and ends the lease. All cells are open and have version zero again.
    pub fn detach(&mut self) {
        // A reader that sees one of the stores below sees this one, too, since each of those is a release after it.
        self.word(GENERATION_AT).store(0, Ordering::Release);
        self.word(LEASE_END_AT).store(0, Ordering::Release);
        for page in std::mem::take(&mut self.touched) {
            (page * PAGE..=page * PAGE + (PAGE - 1))
                .filter_map(|cell| self.layout.cell(cell))
                .for_each(|at| self.word(at).store(0, Ordering::Release));
        }
    }

    /// Starts a new attachment, that is, a new generation of results. Those of an earlier attachment are never found again. A lease must
    /// be granted before anything is found.
    pub fn attach(&mut self) {
        self.detach();
        self.generation += 1;
        self.word(GENERATION_AT).store(self.generation, Ordering::Release);
    }

    /// Lets results be served until this time, in nanoseconds of the clock that readers use. An earlier time than before has no effect;
    /// only [`detach`](Self::detach) and [`revoke_lease`](Self::revoke_lease) end a lease early.
    pub fn grant_lease(&mut self, until: u64) {
        if self.word(LEASE_END_AT).load(Ordering::Relaxed) < until {
            self.word(LEASE_END_AT).store(until, Ordering::Release);
        }
    }

    /// Ends the lease. Once this has returned, no reader that starts finds anything before the next [`grant_lease`](Self::grant_lease).
    pub fn revoke_lease(&mut self) {
        self.word(LEASE_END_AT).store(0, Ordering::Release);
    }

    /// Marks the table or rows of this cell as being changed. Once this has returned, no reader that starts finds a result that depends
    /// on the cell, until it is opened. Returns false if there can be no such cell; such results cannot be found anyway.
    pub fn close(&mut self, cell: u32) -> bool {
        self.change(cell, |word| word | CLOSED)
    }

    /// Ends the change that [`close`](Self::close) has announced, and raises the cell's version to `version`: from here
    /// on results that depend on the cell are found if their stamp is this version or a later one. Returns false if
    /// there can be no such cell.
    pub fn open(&mut self, cell: u32, version: u64) -> bool {
        let open = version.min(u64::MAX >> 1) << 1;
        self.change(cell, |word| open.max(word & !CLOSED))
    }

    /// Ends the changes of these cells in one step, each with its version: a reader sees all of them open, or none. The
    /// server does not announce a change of a cell if another closed cell already prevents the results that depend on
    /// both from being served. So both must become known together.
    pub fn open_all(&mut self, cells: &[(u32, u64)]) {
        let changes = |(cell, version): &&(u32, u64)| {
            let word = self.layout.cell(*cell).map(|at| self.word(at).load(Ordering::Relaxed));
            word.is_none_or(|word| word & CLOSED != 0 || word >> 1 < *version)
        };
        let changed: Vec<_> = cells.iter().filter(changes).copied().collect();
        if changed.is_empty() {
            return;
        }
        let openings = self.word(OPENINGS_AT).load(Ordering::Relaxed);
        self.word(OPENINGS_AT).store(openings + 1, Ordering::Relaxed);
        // A reader that sees one of the cells opened sees that this step has started, too, since each opening is a release after it.
        fence(Ordering::Release);
        changed.into_iter().for_each(|(cell, version)| _ = self.open(cell, version));
        self.word(OPENINGS_AT).store(openings + 2, Ordering::Release);
    }

    /// Replaces the word of a cell. Returns false if there can be no such cell.
    fn change(&mut self, cell: u32, to: impl FnOnce(u64) -> u64) -> bool {
        let Some(at) = self.layout.cell(cell) else { return false };
        self.touched.insert(cell / PAGE);
        let word = self.word(at);
        word.store(to(word.load(Ordering::Relaxed)), Ordering::Release);
        true
    }

    /// Returns true if a result with this key was put in this attachment, with this stamp or a later one, and was not overwritten since.
    /// It may be one that must not be served any more.
    pub fn has(&self, key: &Key, stamp: u64) -> bool {
        let hash = key.hash(self.seed);
        let words = self.memory.as_ref();
        let slots = words[self.layout.bucket(hash)].iter().map(|word| IndexSlot(word.load(Ordering::Relaxed)));
        slots.filter(|slot| slot.is_for(hash)).any(|slot| {
            self.head_at(slot).is_some_and(|head| head.matches(key, hash, self.generation) && head.stamp >= stamp)
        })
    }

    /// Returns the head of the record in this slot. None if it was overwritten, or was never written.
    fn head_at(&self, slot: IndexSlot) -> Option<RecordHead> {
        let position = slot.position();
        (position + self.layout.ring() >= self.reserved).then_some(())?;
        let range = self.layout.words_at(position, HEAD as u64)?;
        let mut words = [0; HEAD];
        words.iter_mut().zip(&self.memory.as_ref()[range]).for_each(|(to, from)| *to = from.load(Ordering::Relaxed));
        RecordHead::read(words)
    }

    /// Stores a record under this key, and overwrites the oldest ones. Returns false if the record is too large to be stored.
    pub fn put(&mut self, key: &Key, record: &Record) -> bool {
        let hash = key.hash(self.seed);
        let Some(head) = RecordHead::of(key, record, hash, self.generation) else { return false };
        let length = head.length();
        if length > self.layout.ring() / 2 {
            return false;
        }
        let position = self.reserve(length);
        let Some(range) = self.layout.words_at(position, length) else { return false };
        let words = self.memory.as_ref();
        let mut writer = WordWriter::new(&words[range]);
        head.words().into_iter().chain(words_of_cells(record.cells)).for_each(|word| writer.word(word));
        key.parts.iter().chain([&record.value]).for_each(|bytes| writer.bytes(bytes));
        writer.end();
        // A reader that finds the slot sees what was written above.
        self.index_slot(key, hash).store(IndexSlot::of(hash, position).0, Ordering::Release);
        true
    }

    /// Reserves a slot for the connection with this token. None if there is no free one, or if the token is zero. Nothing is found for
    /// the connection before [`set_connection`](Self::set_connection).
    pub fn reserve_slot(&mut self, token: u64) -> Option<ConnectionSlot> {
        let slot = self
            .layout
            .connection_slots(token)
            .map(ConnectionSlot::at)
            .find(|slot| slot.is_free(self.memory.as_ref()))?;
        (token != 0)
            .then(|| slot.write(self.memory.as_ref(), &ConnectionState { token, ..ConnectionState::default() }))?;
        Some(slot)
    }

    /// Lets readers answer reads of this connection, in the present attachment, as long as its state is `connection`.
    /// `connection.generation` is ignored.
    pub fn set_connection(&mut self, slot: &ConnectionSlot, connection: &ConnectionState) {
        slot.write(self.memory.as_ref(), &ConnectionState { generation: self.generation, ..*connection });
    }

    /// Frees the slot: from here on readers answer nothing on its connection.
    pub fn free_slot(&mut self, slot: ConnectionSlot) {
        slot.write(self.memory.as_ref(), &ConnectionState::default());
    }

    /// Reserves this many words of the ring, and announces that to readers before they are written. Returns the position of the first
    /// one.
    fn reserve(&mut self, length: u64) -> u64 {
        let room = self.layout.ring() - self.reserved % self.layout.ring();
        let position = if length <= room { self.reserved } else { self.reserved + room };
        self.reserved = position + length;
        self.word(RESERVED_AT).store(self.reserved, Ordering::Relaxed);
        // A reader that sees one of the words that follow sees this one, too, after a fence of its own.
        fence(Ordering::Release);
        position
    }

    /// Returns the slot of the index for this key: the one that it has, or an empty one, or the one of the oldest result.
    fn index_slot(&self, key: &Key, hash: u64) -> &AtomicU64 {
        let bucket = &self.memory.as_ref()[self.layout.bucket(hash)];
        let worth = |word: &&AtomicU64| {
            let slot = IndexSlot(word.load(Ordering::Relaxed));
            let is_same = || self.head_at(slot).is_some_and(|head| head.matches(key, hash, self.generation));
            if slot.is_for(hash) && is_same() { 0 } else { slot.position() + 1 }
        };
        bucket.iter().min_by_key(worth).unwrap_or(&bucket[0])
    }
}
