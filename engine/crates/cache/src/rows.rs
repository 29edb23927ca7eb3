//! Cells for the rows of tables: one fixed array for all rows of all tables, and one for all blocks of neighbouring keys.
//!
//! A row's cell follows from a keyed hash of its table and its key. If two rows share a cell, a write of one invalidates results of the
//! other: that costs a miss, and can never let a stale result through. A *block* is 64 neighbouring keys, for range reads.
//!
//! Protocol. A write of known rows closes and opens the cells of those rows and of their blocks. A read of known rows depends on
//! the cells of its rows, and a read of a range on those of its blocks. Both also depend on the cell that stands for writes of
//! unknown rows. Which statements touch which rows is decided elsewhere.

use crate::hash::Seed;
use crate::{CellId, Versions};

/// The number of neighbouring keys in a block, as the exponent of a power of two: 64 keys.
const BLOCK_BITS: u32 = 6;

/// Maps the rows of tables to cells of a [`Versions`]. Rows may share a cell, so a write of one row can invalidate results of another.
pub struct Rows {
    seed: Seed,
    rows: Span,
    blocks: Span,
}

/// Cells with consecutive ids; their number is a power of two.
struct Span {
    first: u32,
    mask: u32,
}

impl Span {
    fn new(versions: &Versions, bits: u32) -> Self {
        Span { first: versions.allocate_many(1 << bits).0, mask: (1 << bits) - 1 }
    }

    fn cell(&self, hash: u64) -> CellId {
        CellId(self.first + (hash as u32 & self.mask))
    }
}

impl Rows {
    /// Allocates `2^row_bits` cells for rows, and `2^block_bits` for blocks of 64 neighbouring keys. The more cells, the fewer rows share
    /// one. Cells take memory only once they are used. Panics if `versions` cannot allocate so many.
    pub fn new(versions: &Versions, row_bits: u32, block_bits: u32) -> Self {
        let (rows, blocks) = (Span::new(versions, row_bits), Span::new(versions, block_bits));
        Rows { seed: Seed::default(), rows, blocks }
    }

    /// Returns the cell of the row with this primary key. `table` is a number that is unique to the table. Some rows share a cell. The same
    /// arguments give the same cell as long as this `Rows` lives.
    pub fn row(&self, table: u32, key: i128) -> CellId {
        // Within one table keys are all signed or all unsigned: cutting them to 64 bits keeps them apart.
        self.rows.cell(self.seed.hash_words([u64::from(table), key as u64]))
    }

    /// Returns the cell of the block of 64 neighbouring keys that `key` is in. `table` is a number that is unique to the table.
    pub fn block(&self, table: u32, key: i128) -> CellId {
        self.blocks.cell(self.seed.hash_words([u64::from(table), (key >> BLOCK_BITS) as u64]))
    }

    /// Returns the cells of all blocks of 64 neighbouring keys that the range from `low` to `high` touches, both included. None if that is
    /// more than `most` blocks. `table` is a number that is unique to the table.
    pub fn blocks(&self, table: u32, low: i128, high: i128, most: usize) -> Option<impl Iterator<Item = CellId>> {
        let (first, last) = (low >> BLOCK_BITS, high >> BLOCK_BITS);
        let fits = last - first < most as i128;
        fits.then(|| (first..=last).map(move |block| self.block(table, block << BLOCK_BITS)))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn rows() -> Rows {
        Rows::new(&Versions::new(), 20, 17)
    }

    #[test]
    fn a_row_has_one_cell_and_its_block_another() {
        let rows = rows();
        assert_eq!(rows.row(1, 7), rows.row(1, 7));
        assert_eq!(rows.block(1, 0), rows.block(1, 63));
        assert_eq!(rows.block(1, -1), rows.block(1, -64));
        let ids =
            [rows.row(1, 7), rows.row(1, 8), rows.row(2, 7), rows.block(1, 7), rows.block(1, 64), rows.block(1, -1)];
        let distinct: std::collections::HashSet<_> = ids.into_iter().collect();
        assert!(distinct.len() > 4, "keys, tables and kinds are told apart, but for an accident");
    }

    #[test]
    fn a_range_has_the_blocks_of_all_its_keys() {
        let rows = rows();
        for (low, high) in [(0, 0), (-70, 70), (63, 64), (i128::from(i64::MAX) - 3, i128::from(i64::MAX))] {
            let blocks: Vec<_> = rows.blocks(3, low, high, 16).expect("few").collect();
            assert!((low..=high).all(|key| blocks.contains(&rows.block(3, key))));
        }
        assert_eq!(rows.blocks(3, 5, 4, 16).expect("few").count(), 1);
        assert_eq!(rows.blocks(3, 64, 63, 16).expect("none").count(), 0);
        assert!(rows.blocks(3, 0, 16 * 64, 16).is_none());
        assert!(rows.blocks(3, 0, 16 * 64 - 1, 16).is_some());
    }
}
