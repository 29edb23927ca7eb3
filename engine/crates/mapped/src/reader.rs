//! The side of the processes that read the mapped memory.

use crate::connection::{ConnectionSlot, ConnectionState, Context};
use crate::entry::{HEAD, Key, RecordHead, cells_of};
use crate::layout::{
    GENERATION_AT, IndexSlot, LEASE_END_AT, Layout, MAGIC, MAGIC_AT, OPENINGS_AT, RESERVED_AT, SEED_AT, SIZES_AT,
};
use crate::sync::{AtomicU64, Ordering, fence};
use crate::writer::CLOSED;

/// The cell that stands for everything. Every result depends on it.
const EVERYTHING: u32 = 0;
/// The number of times that a reader reads the cells again because some were opened while it read them.
const MOST_LOOKS: usize = 4;

/// Looks up results in the memory that a [`Writer`](crate::Writer) of another process fills. It never changes the memory and never waits.
pub struct Reader<M> {
    memory: M,
    layout: Layout,
    seed: u64,
    /// A record is copied here before any part of it is used.
    copy: Vec<u8>,
}

/// A result that was found. Its value has been appended to the caller's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundRecord {
    /// The number of rows in the result.
    pub rows: u64,
    /// The flags of the record, which only the writer interprets.
    pub flags: u32,
}

/// The reason why nothing was found. The caller's bytes are unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissReason {
    /// No lease is running: nothing may be served at present, or the writer is stopped.
    NoLease,
    /// There is no result with this key.
    Absent,
    /// The result depends on something that has changed, or it has expired.
    Stale,
}

/// The conditions of a connection that a result has to meet.
struct Bounds {
    /// The result's stamp must not be earlier.
    since: u64,
    /// The cell for everything must not have a later version.
    newest: u64,
    /// The time in nanoseconds after which nothing may be served to the connection.
    until: u64,
}

impl<M: AsRef<[AtomicU64]>> Reader<M> {
    /// Creates a reader of this memory. Returns none if no writer of this layout has prepared the memory yet.
    pub fn new(memory: M) -> Option<Reader<M>> {
        let words = memory.as_ref();
        // Acquire: sizes and seed were written before.
        (words.get(MAGIC_AT)?.load(Ordering::Acquire) == MAGIC).then_some(())?;
        let layout = Layout::unpacked(words.get(SIZES_AT)?.load(Ordering::Relaxed), words.len())?;
        let seed = words.get(SEED_AT)?.load(Ordering::Relaxed);
        Some(Reader { memory, layout, seed, copy: Vec::new() })
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        &self.memory.as_ref()[at]
    }

    /// Appends the value of this key's record to `into`, if there is one that is current. Otherwise `into` is unchanged. `clock` returns
    /// the time in nanoseconds by the clock of the writer's leases, and is called once at most.
    ///
    /// The order of the steps is the proof that the result is current:
    /// 1. The generation is read, and the end of the lease. So the writer had this lease, or a longer one, when the next step began.
    /// 2. The record is copied. The writer moves the ring's end before it overwrites anything, so the end says whether the copy is whole.
    /// 3. The cells are read, and again if some were opened during that. When the first of them is read, all are open and unchanged,
    ///    since a cell that is closed can only be opened. This is the moment at which the result is current: a change of what a cell
    ///    stands for goes on only after the writer has closed the cell, or after the lease is over.
    /// 4. The generation is read once more. If it is the same, the lease and the cells were those of the record's own attachment.
    /// 5. The clock is read last. If the lease of step 1 still runs, it ran at step 3, too, however long this thread was stopped.
    pub fn find(
        &mut self,
        key: &Key,
        clock: impl FnOnce() -> u64,
        into: &mut Vec<u8>,
    ) -> Result<FoundRecord, MissReason> {
        let generation = self.word(GENERATION_AT).load(Ordering::Acquire);
        self.find_in(generation, key, Bounds { since: 0, newest: u64::MAX, until: u64::MAX }, clock, into)
    }

    /// Appends the value of a read's record to `into`, if there is one that is current, for a read of this connection
    /// in one of its contexts. `connection` is what [`connection`](Self::connection) has returned; it is compared with
    /// the memory in the same steps as in [`find`](Self::find). `parts` are those of the result's key. Whether the
    /// client has sent and received as many bytes as `connection` says is for the caller to check. After an error,
    /// `into` is unchanged, and the read has to be answered elsewhere.
    pub fn find_for(
        &mut self,
        connection: &ConnectionState,
        context: &Context,
        parts: [&[u8]; 2],
        clock: impl FnOnce() -> u64,
        into: &mut Vec<u8>,
    ) -> Result<FoundRecord, MissReason> {
        let generation = self.word(GENERATION_AT).load(Ordering::Acquire);
        if generation != connection.generation {
            return Err(MissReason::NoLease);
        }
        if context.number == 0 {
            return Err(MissReason::Absent);
        }
        let key = Key { context: context.number, parts };
        let ConnectionState { since, until, .. } = *connection;
        self.find_in(generation, &key, Bounds { since, newest: context.stamp, until }, clock, into)
    }

    /// Returns the slot of the connection with this token. None if the writer has not reserved one.
    pub fn connection_slot(&self, token: u64) -> Option<ConnectionSlot> {
        let mut slots = self.layout.connection_slots(token).map(ConnectionSlot::at);
        slots.find(|slot| token != 0 && slot.belongs_to(self.memory.as_ref(), token))
    }

    /// Returns the circumstances of the connection with this token. None if the slot belongs to another connection by now, or is being
    /// changed; nothing may be answered then.
    pub fn connection(&self, slot: &ConnectionSlot, token: u64) -> Option<ConnectionState> {
        slot.read(self.memory.as_ref()).filter(|connection| connection.token == token)
    }

    /// Returns the end of the lease as the writer has published it, in nanoseconds: the first moment at which nothing may be served. Zero
    /// if there is no lease.
    pub fn lease_ends(&self) -> u64 {
        self.word(LEASE_END_AT).load(Ordering::Acquire)
    }

    /// Finds a record that was put in the attachment with the number `generation` and meets these bounds, and appends
    /// its value to `into`. After an error, `into` is unchanged.
    fn find_in(
        &mut self,
        generation: u64,
        key: &Key,
        bounds: Bounds,
        clock: impl FnOnce() -> u64,
        into: &mut Vec<u8>,
    ) -> Result<FoundRecord, MissReason> {
        let until = self.word(LEASE_END_AT).load(Ordering::Acquire);
        if generation == 0 || until == 0 {
            return Err(MissReason::NoLease);
        }
        let head = self.copy_of(key, generation).ok_or(MissReason::Absent)?;
        if head.stamp < bounds.since || !self.are_unchanged(&head, bounds.newest) {
            return Err(MissReason::Stale);
        }
        if self.word(GENERATION_AT).load(Ordering::Acquire) != generation {
            return Err(MissReason::NoLease);
        }
        let now = clock();
        if now >= until {
            return Err(MissReason::NoLease);
        }
        if now >= head.until.min(bounds.until) {
            return Err(MissReason::Stale);
        }
        into.extend_from_slice(head.parts_and_value(&self.copy)[2]);
        Ok(FoundRecord { rows: head.rows, flags: head.flags })
    }

    /// Returns true if the copied record was current at some moment during the call: none of its cells was being changed or had a version
    /// after the record's stamp, and the cell for everything had no version after `newest`. False: it was not, or that cannot be said.
    fn are_unchanged(&self, head: &RecordHead, newest: u64) -> bool {
        for _ in 0..MOST_LOOKS {
            let openings = self.word(OPENINGS_AT).load(Ordering::Acquire);
            let is_unchanged = |cell| self.is_unchanged(cell, head.stamp);
            let are_unchanged = self.is_unchanged(EVERYTHING, head.stamp.min(newest))
                && cells_of(&self.copy, head.cells).all(is_unchanged);
            if !are_unchanged {
                return false;
            }
            fence(Ordering::Acquire);
            if openings & 1 == 0 && self.word(OPENINGS_AT).load(Ordering::Relaxed) == openings {
                return true;
            }
        }
        false
    }

    /// Returns true if what the cell stands for is not being changed, and has no version after `stamp`. Acquire: loads that follow in the
    /// program happen after this one.
    fn is_unchanged(&self, cell: u32, stamp: u64) -> bool {
        let at = self.layout.cell(cell);
        at.map(|at| self.word(at).load(Ordering::Acquire)).is_some_and(|word| word & CLOSED == 0 && word >> 1 <= stamp)
    }

    /// Copies the record with this key into `copy`, and returns its head. None if no such record was put in the
    /// attachment with the number `generation`.
    fn copy_of(&mut self, key: &Key, generation: u64) -> Option<RecordHead> {
        let hash = key.hash(self.seed);
        for at in self.layout.bucket(hash) {
            // Acquire: the record was written before its slot.
            let slot = IndexSlot(self.word(at).load(Ordering::Acquire));
            if slot.is_for(hash)
                && let Some(head) = self.copy_at(slot.position(), key, hash, generation)
            {
                return Some(head);
            }
        }
        None
    }

    /// Copies the record at this position of the ring into `copy`, and returns its head. None if it has another key, or is being
    /// overwritten.
    fn copy_at(&mut self, position: u64, key: &Key, hash: u64, generation: u64) -> Option<RecordHead> {
        let words = self.memory.as_ref();
        let mut head = [0; HEAD];
        let source = &words[self.layout.words_at(position, HEAD as u64)?];
        head.iter_mut().zip(source).for_each(|(to, from)| *to = from.load(Ordering::Relaxed));
        self.copy.clear();
        self.copy.extend(head.iter().flat_map(|word| word.to_le_bytes()));
        let head = RecordHead::read(head).filter(|head| head.matches(key, hash, generation))?;
        let source = &words[self.layout.words_at(position, head.length())?];
        let rest = source[HEAD..].iter();
        rest.for_each(|word| self.copy.extend_from_slice(&word.load(Ordering::Relaxed).to_le_bytes()));
        // The loads above come before the one below, and see no word that was written after what it sees.
        fence(Ordering::Acquire);
        let is_whole = words[RESERVED_AT].load(Ordering::Relaxed) <= position.saturating_add(self.layout.ring());
        let has_key = || head.parts_and_value(&self.copy)[..2] == key.parts;
        (is_whole && has_key()).then_some(head)
    }
}
