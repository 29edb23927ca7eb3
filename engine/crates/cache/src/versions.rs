//! Decides which results are still current: a global sequence, and one atomic word per thing that can change.
//!
//! A *cell* packs `version << 16 | in_flight`: the sequence number of its last change, and how many writes are in progress on it. One
//! load of the word reads both consistently.
//!
//! Protocol. A reader takes [`Versions::now`] as its *stamp* before its statement reaches the server, and may store the result only if
//! [`Versions::is_fresh`]; every hit makes the same test with the entry's stamp. A writer [`close`](Versions::close)s the cells before
//! it can change anything, and [`open`](Versions::open)s them after its change is visible. Hence:
//!
//! - *A result that lacks a write carries a smaller stamp than the write.* `open` draws its number after the change is visible. A stamp
//!   that reaches this number was therefore taken after the change was visible, and its read saw it.
//! - *A client that knows of a write never hits a result that lacks it.* A client learns of the write from its acknowledgement or from a
//!   read of the server, and either comes after the `close`. From there on the cell is closed, and afterwards its version is greater
//!   than the stamp.
//!
//! So a writer and a reader that do not know of each other need no common order, and nothing here is `SeqCst`. `tests/loom.rs`
//! explores all interleavings.
//!
//! One cell, [`Versions::EVERYTHING`], counts as a dependency of every result.
//!
//! Failing closed: a count of writes that would wrap and a sequence that would exceed its 48 bits close the cell for ever. This module
//! does not know what a cell stands for, and never frees one (cells live as long as their `Versions`).

use crate::cells::Cells;
use crate::sync::{AtomicU64, Ordering};

/// The number of a cell of one [`Versions`]. A cell stands for something that results depend on and that can change, such as a table or a
/// row.
///
/// The type is packed, so that an entry has no gap before its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(C, packed)]
pub struct CellId(pub u32);

/// A point in the sequence of changes of one [`Versions`]. A result that was read at this point is current while all cells that it depends
/// on have a version that is not greater, and no write in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Stamp(pub u64);

const IN_FLIGHT_BITS: u32 = 16;
/// The largest count of writes in flight on a cell. A cell that reaches it is closed for ever.
const IN_FLIGHT_MAX: u64 = (1 << IN_FLIGHT_BITS) - 1;
pub(crate) const VERSION_MAX: u64 = u64::MAX >> IN_FLIGHT_BITS;

/// Decides which results are still current. Holds all cells, each with its version and its count of writes in flight, and the sequence that
/// gives out versions and stamps. All methods may be called from any thread, and only the allocation of cells takes a lock.
pub struct Versions {
    cells: Cells,
    sequence: AtomicU64,
}

impl Versions {
    /// The cell that every result depends on without naming it. Closing it makes all results stale until it is opened; opening or advancing
    /// it makes all earlier results stale for ever.
    pub const EVERYTHING: CellId = CellId(0);

    pub fn new() -> Self {
        let versions = Versions { cells: Cells::new(), sequence: AtomicU64::new(0) };
        let first = versions.allocate();
        debug_assert_eq!(first, Self::EVERYTHING);
        versions
    }

    /// Allocates a cell that has never changed, with no write in flight. A cell is never freed. Panics like
    /// [`allocate_many`](Self::allocate_many).
    pub fn allocate(&self) -> CellId {
        self.allocate_many(1)
    }

    /// Allocates `count` cells with consecutive ids and returns the first. They have never changed, and no write is in flight on them.
    ///
    /// # Panics
    /// If the cells requested in total exceed about 16 million.
    pub fn allocate_many(&self, count: u32) -> CellId {
        CellId(self.cells.extend(count))
    }

    /// Returns the stamp of this moment, without changing anything. A session takes it before it sends a read to the server, and stores the
    /// result with it.
    pub fn now(&self) -> Stamp {
        // Acquire pairs with the Release of `draw` in `advance` and `open`: a thread that sees a number sees the change behind it.
        Stamp(self.sequence.load(Ordering::Acquire))
    }

    /// Advances the sequence without changing a cell, and returns the new stamp. A stamp from [`now`](Self::now) that reaches this one was
    /// therefore taken after this call started.
    pub fn pass(&self) -> Stamp {
        Stamp(self.draw())
    }

    /// Notes that a write on the cell begins. Call it before the write can change anything. Nothing that depends on the cell is fresh until
    /// each `close` has been followed by one [`open`](Self::open), [`open_all`](Self::open_all) or [`reopen`](Self::reopen). Never waits.
    pub fn close(&self, cell: CellId) {
        update(self.cells.get(cell.0), |word| if is_stuck(word) { word } else { word + 1 });
    }

    /// Gives the cell a new version, which makes all results stale that depend on it and were read earlier. Writes in flight stay in
    /// flight.
    pub fn advance(&self, cell: CellId) {
        let number = self.draw();
        update(self.cells.get(cell.0), |word| raise(word, number));
    }

    /// Ends a write that [`close`](Self::close) began. Call it once the change is visible. In one step, the cell gets a new version and one
    /// write less is in flight.
    pub fn open(&self, cell: CellId) {
        let number = self.draw();
        update(self.cells.get(cell.0), |word| one_less(raise(word, number)));
    }

    /// Ends a write on each of these cells, as [`open`](Self::open) does for one: call it once the change is visible.
    /// All cells get the same new version, and one write less is in flight on each.
    pub fn open_all(&self, cells: &[CellId]) {
        let number = self.draw();
        for cell in cells {
            update(self.cells.get(cell.0), |word| one_less(raise(word, number)));
        }
    }

    /// Ends a write that [`close`](Self::close) began and that has changed nothing: one write less is in flight, and the version stays, so
    /// results that were fresh before the write are fresh again.
    pub fn reopen(&self, cell: CellId) {
        update(self.cells.get(cell.0), one_less);
    }

    /// True if a result that was read at `stamp` and depends on these cells is current: neither they nor [`EVERYTHING`](Self::EVERYTHING)
    /// have a write in flight or a version greater than `stamp`.
    pub fn is_fresh(&self, cells: &[CellId], stamp: Stamp) -> bool {
        self.is_unchanged(Self::EVERYTHING, stamp) && cells.iter().all(|&cell| self.is_unchanged(cell, stamp))
    }

    fn is_unchanged(&self, cell: CellId, stamp: Stamp) -> bool {
        // Acquire pairs with the Release in `update`: a thread that finds a cell open sees what the writer left.
        let word = self.cells.get(cell.0).load(Ordering::Acquire);
        word & IN_FLIGHT_MAX == 0 && word >> IN_FLIGHT_BITS <= stamp.0
    }

    /// True if no write is in flight on the cell at this moment.
    pub fn is_open(&self, cell: CellId) -> bool {
        // Acquire, as in `is_unchanged`.
        self.cells.get(cell.0).load(Ordering::Acquire) & IN_FLIGHT_MAX == 0
    }

    /// Returns the cell's version, that is, the sequence number of its last change (0 if it never changed). None while a write is in flight
    /// on it.
    pub fn version_if_open(&self, cell: CellId) -> Option<u64> {
        // Acquire, as in `is_unchanged`.
        let word = self.cells.get(cell.0).load(Ordering::Acquire);
        (word & IN_FLIGHT_MAX == 0).then_some(word >> IN_FLIGHT_BITS)
    }

    fn draw(&self) -> u64 {
        // Release pairs with the Acquire in `now`; Acquire orders a later number after all earlier ones.
        self.sequence.fetch_add(1, Ordering::AcqRel) + 1
    }
}

impl Default for Versions {
    fn default() -> Self {
        Self::new()
    }
}

fn one_less(word: u64) -> u64 {
    let ends = !is_stuck(word) && word & IN_FLIGHT_MAX > 0;
    word - u64::from(ends)
}

fn is_stuck(word: u64) -> bool {
    word & IN_FLIGHT_MAX == IN_FLIGHT_MAX
}

fn raise(word: u64, number: u64) -> u64 {
    if number > VERSION_MAX {
        return word | IN_FLIGHT_MAX;
    }
    let version = (word >> IN_FLIGHT_BITS).max(number);
    version << IN_FLIGHT_BITS | word & IN_FLIGHT_MAX
}

fn update(cell: &AtomicU64, change: impl Fn(u64) -> u64) {
    // Release pairs with the Acquire in `is_unchanged`, and keeps the draw of the number before the word that carries it.
    // Acquire keeps what the writer does next (its change, after `close`) after the new word.
    let change = |word| Some(change(word));
    let _ = cell.fetch_update(Ordering::AcqRel, Ordering::Relaxed, change);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_new_cell_is_fresh_from_the_beginning() {
        let versions = Versions::new();
        let cell = versions.allocate();
        assert!(versions.is_fresh(&[cell], Stamp(0)));
        assert!(versions.is_fresh(&[], Stamp(0)));
    }

    #[test]
    fn a_write_kills_older_stamps_and_spares_later_ones() {
        let versions = Versions::new();
        let (written, other) = (versions.allocate(), versions.allocate());
        let before = versions.now();
        versions.close(written);
        assert!(!versions.is_fresh(&[written], versions.now()), "closed while in flight");
        versions.open(written);
        assert!(!versions.is_fresh(&[other, written], before));
        assert!(versions.is_fresh(&[other], before));
        assert!(versions.is_fresh(&[other, written], versions.now()));
    }

    #[test]
    fn a_cell_opens_when_its_last_write_ends() {
        let versions = Versions::new();
        let cell = versions.allocate();
        versions.close(cell);
        versions.close(cell);
        versions.open(cell);
        assert!(!versions.is_fresh(&[cell], versions.now()));
        versions.advance(cell);
        assert!(!versions.is_fresh(&[cell], versions.now()), "advancing ends no write");
        versions.open(cell);
        assert!(versions.is_fresh(&[cell], versions.now()));
    }

    #[test]
    fn everything_is_a_part_of_every_result() {
        let versions = Versions::new();
        let cell = versions.allocate();
        let before = versions.now();
        versions.close(Versions::EVERYTHING);
        assert!(!versions.is_fresh(&[cell], versions.now()) && !versions.is_fresh(&[], versions.now()));
        versions.open(Versions::EVERYTHING);
        assert!(!versions.is_fresh(&[cell], before) && !versions.is_fresh(&[], before));
        assert!(versions.is_fresh(&[cell], versions.now()));
    }

    #[test]
    fn advance_kills_without_closing() {
        let versions = Versions::new();
        let cell = versions.allocate();
        let before = versions.now();
        versions.advance(cell);
        assert!(!versions.is_fresh(&[cell], before));
        assert!(versions.is_fresh(&[cell], versions.now()));
    }

    #[test]
    fn an_open_without_a_close_leaves_nothing_in_flight() {
        let versions = Versions::new();
        let cell = versions.allocate();
        versions.open(cell);
        versions.close(cell);
        assert!(!versions.is_fresh(&[cell], versions.now()));
        versions.open(cell);
        assert!(versions.is_fresh(&[cell], versions.now()));
    }

    #[test]
    #[cfg_attr(miri, ignore = "thousands of steps, none of them unsafe")]
    fn too_many_writes_close_the_cell_for_ever() {
        let versions = Versions::new();
        let cell = versions.allocate();
        for _ in 0..IN_FLIGHT_MAX + 2 {
            versions.close(cell);
        }
        for _ in 0..2 * IN_FLIGHT_MAX {
            versions.open(cell);
        }
        assert!(!versions.is_fresh(&[cell], Stamp(u64::MAX)));
    }

    #[test]
    fn an_exhausted_sequence_closes_what_changes() {
        let versions = Versions::new();
        let (changed, untouched) = (versions.allocate(), versions.allocate());
        versions.sequence.store(VERSION_MAX, Ordering::Relaxed);
        versions.close(changed);
        versions.open(changed);
        assert!(!versions.is_fresh(&[changed], Stamp(u64::MAX)));
        assert!(versions.is_fresh(&[untouched], versions.now()));
    }
}
