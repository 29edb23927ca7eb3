//! The version cells of one table, and which tables those of a result belong to.
//!
//! A table has three cells in a row: any change, changes of unknown rows, definitions.

use cache::{CellId, Versions};

/// The cells of a new table: the first of them, of any change.
pub fn allocate(versions: &Versions) -> CellId {
    versions.allocate_many(3)
}

/// The cell of changes of unknown rows, given that of any change.
pub fn whole_of(any: CellId) -> CellId {
    CellId(any.0 + 1)
}

/// The cell of a table's definitions, given that of any change.
pub fn definition_of(any: CellId) -> CellId {
    CellId(any.0 + 2)
}

/// The cell of any change to a table, given that of unknown changes.
pub fn any_of(whole: CellId) -> CellId {
    CellId(whole.0 - 1)
}

/// The cells of any change to the tables of a result, given all that it depends on.
pub fn table_cells(cells: &[CellId], is_by_rows: bool) -> impl Iterator<Item = CellId> {
    let (of_rows, of_tables) = if is_by_rows { (Some(any_of(cells[0])), &[][..]) } else { (None, cells) };
    of_rows.into_iter().chain(of_tables.iter().copied())
}
