//! Tests the cells of rows within a table: writes of known rows, of unknown rows, and of a row whose key is known only at the end.
//!
//! The table has two rows. The cell `any` changes with every write, and a read of the whole table depends on it; `whole` changes only
//! with writes of unknown rows; each row has a cell of its own.

use cache::{CellId, Stamp, Versions};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

/// A model of a table with two rows, its cells, and a cache of three results.
struct Table {
    versions: Versions,
    any: CellId,
    whole: CellId,
    rows: [CellId; 2],
    values: [AtomicU64; 2],
    /// The cached results of row 0, of row 1 and of their sum: `(value + 1) << 32 | stamp`.
    cached: [AtomicU64; 3],
    acknowledged: [AtomicU64; 2],
}

const SUM: usize = 2;

impl Table {
    fn new() -> Self {
        let versions = Versions::new();
        let [any, whole, first, second] = std::array::from_fn(|_| versions.allocate());
        let zeroes = || AtomicU64::new(0);
        Table {
            versions,
            any,
            whole,
            rows: [first, second],
            values: [zeroes(), zeroes()],
            cached: [zeroes(), zeroes(), zeroes()],
            acknowledged: [zeroes(), zeroes()],
        }
    }

    fn change(&self, row: usize) -> u64 {
        self.values[row].fetch_add(1, Ordering::AcqRel) + 1
    }

    fn acknowledge(&self, row: usize, value: u64) {
        self.acknowledged[row].fetch_max(value, Ordering::AcqRel);
    }

    fn write_closing(&self, row: usize, cells: &[CellId]) {
        cells.iter().for_each(|cell| self.versions.close(*cell));
        let value = self.change(row);
        self.versions.open_all(cells);
        self.acknowledge(row, value);
    }

    fn write_row(&self, row: usize) {
        self.write_closing(row, &[self.any, self.rows[row]]);
    }

    fn write_unknown(&self, row: usize) {
        self.write_closing(row, &[self.any, self.whole]);
    }

    /// Writes a row as an INSERT with a generated key does: the key is known only at the end, so all rows are closed until then.
    fn write_generated(&self, row: usize) {
        [self.any, self.whole].into_iter().for_each(|cell| self.versions.close(cell));
        let value = self.change(row);
        self.versions.close(self.rows[row]);
        self.versions.open_all(&[self.any, self.rows[row]]);
        self.versions.reopen(self.whole);
        self.acknowledge(row, value);
    }

    fn cells(&self, what: usize) -> Vec<CellId> {
        if what == SUM { vec![self.any] } else { vec![self.whole, self.rows[what]] }
    }

    fn hit(&self, what: usize) -> Option<u64> {
        let cached = self.cached[what].load(Ordering::Acquire);
        let stamp = Stamp(cached & u64::from(u32::MAX));
        let is_hit = cached != 0 && self.versions.is_fresh(&self.cells(what), stamp);
        is_hit.then(|| (cached >> 32) - 1)
    }

    fn read(&self, what: usize) -> u64 {
        self.hit(what).unwrap_or_else(|| {
            let stamp = self.versions.now();
            let value = |row: usize| self.values[row].load(Ordering::Acquire);
            let value = if what == SUM { value(0) + value(1) } else { value(what) };
            if self.versions.is_fresh(&self.cells(what), stamp) {
                self.cached[what].store((value + 1) << 32 | stamp.0, Ordering::Release);
            }
            value
        })
    }

    fn known(&self, what: usize) -> u64 {
        let known = |row: usize| self.acknowledged[row].load(Ordering::Acquire);
        if what == SUM { known(0) + known(1) } else { known(what) }
    }

    /// Reads row `what`, or the sum of both rows for [`SUM`], twice. Asserts that no acknowledged write is missing, and that the second
    /// value is not older than the first.
    fn read_twice(&self, what: usize) {
        let known = self.known(what);
        let first = self.read(what);
        assert!(first >= known, "read {first} of {what}, although {known} was acknowledged");
        let second = self.read(what);
        assert!(first <= second, "read {first} of {what}, then {second}");
    }
}

fn explore(writer: fn(&Table), other: fn(&Table), reads: [usize; 2]) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(1);
    model.check(move || {
        let table = Arc::new(Table::new());
        let spawn = |run: fn(&Table)| {
            let table = Arc::clone(&table);
            thread::spawn(move || run(&table))
        };
        let threads = [spawn(writer), spawn(other)];
        reads.into_iter().for_each(|what| table.read_twice(what));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let values = [0, 1].map(|row| table.values[row].load(Ordering::Acquire));
        for (what, value) in [values[0], values[1], values[0] + values[1]].into_iter().enumerate() {
            assert_eq!(table.read(what), value);
            assert_eq!(table.hit(what), Some(value), "a quiet table is stored and hit");
        }
    });
}

#[test]
fn a_write_of_a_row_is_seen_by_reads_of_it_and_of_the_table() {
    explore(|table| table.write_row(0), |table| table.read_twice(0), [0, SUM]);
}

#[test]
fn a_write_of_unknown_rows_is_seen_by_all() {
    explore(|table| table.write_unknown(1), |table| table.read_twice(1), [1, SUM]);
}

#[test]
fn known_and_unknown_writes_meet() {
    explore(|table| table.write_row(0), |table| table.write_unknown(0), [0, SUM]);
}

#[test]
fn a_row_known_at_the_end_is_seen_by_reads_of_it_and_of_the_table() {
    explore(|table| table.write_generated(1), |table| table.read_twice(1), [1, SUM]);
}

#[test]
fn a_write_of_one_row_leaves_the_other_alive() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let table = Arc::new(Table::new());
        table.read(1);
        let writer = {
            let table = Arc::clone(&table);
            thread::spawn(move || table.write_row(0))
        };
        assert_eq!(table.hit(1), Some(0), "while row 0 is written");
        writer.join().unwrap();
        assert_eq!(table.hit(1), Some(0), "and after");
    });
}
