//! The rows that a result depends on, and the version cells of a row.

use crate::engine::Engine;
use crate::engine::tables::Table;
use crate::statement::parse_context::ParseContext;
use crate::statement::recording::Recording;
use cache::CellId;
use footprint::{KeyColumn, Keys};
use sql::TableName;
use sql::touched::{self, Text};
use wire::{Outcome, OutcomeKind};

/// Largest number of rows or blocks that a result may depend on.
const MOST_READ: usize = 16;

/// Makes a result depend only on the rows that it has read, if they can be derived from its text or from the result. Otherwise it still
/// depends on all of its tables. `current` is the current database of its session.
pub(crate) fn depend_on_rows(engine: &Engine, recording: &mut Recording, outcome: &Outcome, current: Option<&[u8]>) {
    if let Some(cells) = read_cells(engine, recording, outcome, current) {
        recording.cells = cells;
        recording.is_by_rows = true;
    }
}

/// The cells of the rows that the result depends on. None if they cannot be derived.
fn read_cells(
    engine: &Engine,
    recording: &Recording,
    outcome: &Outcome,
    current: Option<&[u8]>,
) -> Option<Vec<CellId>> {
    let is_alone = recording.cells.len() == 1 && !recording.may_read_views;
    let table = recording.first_table.as_ref().filter(|_| is_alone)?;
    let parse_context = &recording.parse_context;
    let key = engine.key_of(table).filter(|_| parse_context.is_certain)?;
    let text = parse_context.text(&recording.text);
    let (named, keys) = touched::read(text, &key).or_else(|| row_shown(recording, outcome, text, &key))?;
    is_named(table, &named, parse_context, current).then_some(())?;
    let mut cells = vec![table.unknown_change];
    cells.extend(rows_read(engine, table, &keys)?);
    Some(cells)
}

/// The row that was found by another unique key, if the result shows its primary key. None for an empty result.
fn row_shown(recording: &Recording, outcome: &Outcome, text: Text, key: &KeyColumn) -> Option<(TableName, Keys)> {
    matches!(outcome.kind, OutcomeKind::ResultSet { rows: 1, .. }).then_some(())?;
    let Recording { response, capabilities, is_binary, .. } = recording;
    let shown = |place| wire::value(response, *capabilities, *is_binary, place)?;
    touched::read_by_unique_key(text, key, *is_binary, shown)
}

/// True if `named` means this table. `current` is the current database of the session; none if it is not known, and then a name without a
/// database means no table.
pub(crate) fn is_named(table: &Table, named: &TableName, parse_context: &ParseContext, current: Option<&[u8]>) -> bool {
    let current = parse_context.database.as_deref().or(current);
    named.name == table.name && named.db.as_deref().or(current) == Some(&table.db)
}

/// Number of version cells that a write of one row closes in addition to those of its table.
pub(crate) const CELLS_OF_ROW: usize = 2;

/// The version cells that stand for the row with this key: that of the row, and that of the block of rows that it lies in. A write of the
/// row closes both, so that no result that depends on one of them is served.
pub(crate) fn row_cells(engine: &Engine, table: &Table, key: i128) -> [CellId; CELLS_OF_ROW] {
    [engine.rows().row(table.unknown_change.0, key), engine.rows().block(table.unknown_change.0, key)]
}

/// The version cells that a read of these rows depends on: of each row, or of the blocks of a range. None if there are too many.
fn rows_read(engine: &Engine, table: &Table, keys: &Keys) -> Option<Vec<CellId>> {
    let (rows, number) = (engine.rows(), table.unknown_change.0);
    match keys {
        Keys::Points(points) if points.len() > MOST_READ => None,
        Keys::Points(points) => Some(points.iter().map(|key| rows.row(number, *key)).collect()),
        Keys::Range { low, high } => rows.blocks(number, *low, *high, MOST_READ).map(Iterator::collect),
    }
}
