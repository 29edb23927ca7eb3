//! Determines which rows of one table a statement can touch, from its text and the values bound to it.
//!
//! Invariants: if the statement reads or changes a row, the row's key is in the answer, whatever the rows hold. If that is not certain,
//! there is no answer, and the statement touches the whole table. Understood are statements that name one table and whose WHERE is a
//! conjunction with comparisons of the key column and integer literals, and INSERT and REPLACE of VALUES. For a read by another unique
//! key, the result shows which row it depends on, if it has found one.
//! Deliberately absent: whether the name means a table (the server reports that), and anything that depends on the table's other columns.
//! The caller has classified the text as one read or one write, in the same mode.

mod conditions;
mod counted;
mod insert;
mod key_positions;
mod scan;
mod select;
mod unique;
mod update;

use crate::{LexMode, TableName};
pub use counted::counts_changes;
use footprint::{KeyColumn, Keys};
pub use key_positions::{KeyPositions, key_positions};
use scan::{Scan, digits};

/// A statement to be analysed, with the values bound to it.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    pub text: &'a [u8],
    pub mode: LexMode,
    /// The integer that is bound to each `?` of the text, in order. None for a value of another type. Empty if there are no `?`.
    pub bound: &'a [Option<i128>],
}

/// The rows of one table that a write can touch. It touches no others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrittenRows {
    /// Rows with these primary keys.
    Keys(Keys),
    /// One new row. The server generates its key, and reports it in the response as the last inserted id.
    Generated,
}

/// Returns the table that a read names, and the primary keys of the rows that its result depends on. None if these are not certain: the
/// result then depends on the whole table. `column` is the key column of the table.
pub fn read(text: Text, column: &KeyColumn) -> Option<(TableName, Keys)> {
    select::read(Scan::new(text, column))
}

/// For a read that has found one row by a unique key of the table other than the primary key, and whose result shows the row's primary
/// key, returns the table and that key: as long as this row does not change, no other row can take its place. None for any other read.
/// `shown` returns the value in the result's row at an index from 0, as the text protocol or, with `is_binary`, the binary one encodes it;
/// none for NULL. It must not be called for a result without a row, which has no such dependency: any new row may appear in it.
pub fn read_by_unique_key<'r>(
    text: Text,
    column: &KeyColumn,
    is_binary: bool,
    shown: impl FnOnce(usize) -> Option<&'r [u8]>,
) -> Option<(TableName, Keys)> {
    (!column.unique_keys.is_empty()).then_some(())?;
    let (table, place) = unique::read(Scan::new(text, column))?;
    Some((table, Keys::Points(vec![column.shown(shown(place)?, is_binary)?])))
}

/// Returns the table that a write, or a read that locks rows, names, and the rows that it can touch. None if these are not certain: it may
/// then touch all rows of the table. `column` is the key column of the table.
pub fn written(text: Text, column: &KeyColumn) -> Option<(TableName, WrittenRows)> {
    let mut scan = Scan::new(text, column);
    if scan.accept("select") {
        return select::locked(scan).map(|(table, keys)| (table, WrittenRows::Keys(keys)));
    }
    let first = scan.next()?;
    let keys = |(table, keys)| (table, WrittenRows::Keys(keys));
    match first {
        _ if first.is("insert") => insert::inserted(scan),
        _ if first.is("replace") => insert::replaced(scan),
        _ if first.is("update") => update::updated(scan).map(keys),
        _ if first.is("delete") => update::deleted(scan).map(keys),
        _ => None,
    }
}
