//! The version cells of one table, and the mapping from a result's cells to tables.
//!
//! A table has three consecutive cells: any change, changes of unknown rows, and definitions.

use cache::{CellId, Versions};

/// Allocates the three cells of a new table, and returns the first: the cell of any change.
pub fn allocate(versions: &Versions) -> CellId {
    versions.allocate_many(3)
}

/// The cell of changes of unknown rows. `any_change` is the table's cell of any change.
pub fn unknown_change_of(any_change: CellId) -> CellId {
    CellId(any_change.0 + 1)
}

/// The cell of the table's definitions. `any_change` is its cell of any change.
pub fn definition_of(any_change: CellId) -> CellId {
    CellId(any_change.0 + 2)
}

/// The cell of any change. `unknown_change` is the table's cell of changes of unknown rows.
pub fn any_change_of(unknown_change: CellId) -> CellId {
    CellId(unknown_change.0 - 1)
}

/// The cells of any change of the tables that a result was read from. `cells` are all cells that the result depends on.
/// If `is_by_rows`, they are those of rows of one table, and the first is that table's cell of changes of unknown rows.
pub fn table_cells(cells: &[CellId], is_by_rows: bool) -> impl Iterator<Item = CellId> {
    let (of_rows, of_tables) = if is_by_rows { (Some(any_change_of(cells[0])), &[][..]) } else { (None, cells) };
    of_rows.into_iter().chain(of_tables.iter().copied())
}
