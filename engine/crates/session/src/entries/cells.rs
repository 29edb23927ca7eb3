//! The version cells of one table, and the mapping from a result's cells to tables. A version cell holds the sequence
//! number of the last change of what it stands for, see `cache::Versions`. A table has three consecutive ones. One
//! advances with any change of the table, one with changes of unknown rows, and one with changes of its definition.

use cache::{CellId, Versions};

/// Allocates the three version cells of a new table. Returns the first, the one that advances with any change of the
/// table. The others follow from it, see `unknown_change_of` and `definition_of`.
pub fn allocate(versions: &Versions) -> CellId {
    versions.allocate_many(3)
}

/// The cell that advances with changes of unknown rows. `any_change` is the same table's cell that `allocate` has
/// returned.
pub fn unknown_change_of(any_change: CellId) -> CellId {
    CellId(any_change.0 + 1)
}

/// The cell that advances when the table's definition changes. `any_change` is the same table's cell that `allocate`
/// has returned.
pub fn definition_of(any_change: CellId) -> CellId {
    CellId(any_change.0 + 2)
}

/// The cell that advances with any change of the table whose cell of changes of unknown rows is `unknown_change`.
pub fn any_change_of(unknown_change: CellId) -> CellId {
    CellId(unknown_change.0 - 1)
}

/// The cells that advance with any change of the tables that a result was read from. `cells` are all cells that the
/// result depends on. If `is_by_rows`, they are those of rows of one table, and the first is that table's cell of
/// changes of unknown rows.
pub fn table_cells(cells: &[CellId], is_by_rows: bool) -> impl Iterator<Item = CellId> {
    let (of_rows, of_tables) = if is_by_rows { (Some(any_change_of(cells[0])), &[][..]) } else { (None, cells) };
    of_rows.into_iter().chain(of_tables.iter().copied())
}
