//! `UPDATE one_table [alias] SET ... WHERE ...` that does not mention the key in SET, and `DELETE FROM one_table WHERE ...`.

use super::conditions::{alias, conditions};
use super::scan::Scan;
use super::select::skip_to;
use crate::TableName;
use crate::lex::{TokenKind, unquoted};
use footprint::Keys;

/// Modifiers of UPDATE and DELETE. Where a table's name is expected, such a word without quotes makes the statement count as not
/// understood.
pub(super) const MODIFIERS: [&str; 4] = ["low_priority", "ignore", "quick", "history"];

/// Parses what follows UPDATE. Returns the table, and the keys of the rows that it can change; None if these are not certain.
pub(super) fn updated(mut scan: Scan) -> Option<(TableName, Keys)> {
    let table = scan.table(&MODIFIERS)?;
    let alias = alias(&mut scan, "set", &table.name)?;
    scan.accept("set").then_some(())?;
    let mut set = scan;
    skip_to(&mut scan, "where")?;
    leaves_key(&mut set, scan.peek().start).then_some(())?;
    let keys = conditions(&mut scan, &alias)?.keys()?;
    Some((table, keys))
}

/// True if the key column is certainly not mentioned between the position of `set` and the offset `end` in the text.
pub(super) fn leaves_key(set: &mut Scan, end: usize) -> bool {
    loop {
        let Some(token) = set.next() else { return false };
        if token.start >= end || token.kind == TokenKind::End {
            return true;
        }
        if token.is_name() && set.is_key(&unquoted(&token, false)) {
            return false;
        }
    }
}

/// Parses what follows DELETE. Returns the table, and the keys of the rows that it can delete; None if these are not certain.
pub(super) fn deleted(mut scan: Scan) -> Option<(TableName, Keys)> {
    scan.accept("from").then_some(())?;
    let table = scan.table(&MODIFIERS)?;
    scan.accept("where").then_some(())?;
    let keys = conditions(&mut scan, &table.name)?.keys()?;
    Some((table, keys))
}
