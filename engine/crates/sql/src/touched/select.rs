//! `SELECT ... FROM one_table [alias] WHERE ...`

use super::conditions::{KeyConditions, alias, conditions};
use super::scan::Scan;
use crate::TableName;
use crate::lex::TokenKind;
use footprint::Keys;

/// Parses a read. Returns the table, and the keys of the rows that its result depends on; None if these are not certain.
pub(super) fn read(mut scan: Scan) -> Option<(TableName, Keys)> {
    // Only the first SELECT is allowed; `next` refuses any other.
    scan.accept("select").then_some(())?;
    let column = scan.column;
    let (table, conditions) = read_conditions(scan)?;
    Some((table, conditions.keys().filter(|_| conditions.is_confined(column))?))
}

/// Parses what follows the SELECT of a read that locks rows. Returns the table, and the keys of the rows that it can lock; None if these
/// are not certain.
pub(super) fn locked(scan: Scan) -> Option<(TableName, Keys)> {
    let (table, conditions) = read_conditions(scan)?;
    Some((table, conditions.keys()?))
}

fn read_conditions(mut scan: Scan) -> Option<(TableName, KeyConditions)> {
    skip_to(&mut scan, "from")?;
    let table = scan.table(&[])?;
    let alias = alias(&mut scan, "where", &table.name)?;
    scan.accept("where").then_some(())?;
    Some((table, conditions(&mut scan, &alias)?))
}

/// Skips to this keyword outside of parentheses, and takes it. None if it does not follow.
pub(super) fn skip_to(scan: &mut Scan, keyword: &str) -> Option<()> {
    loop {
        let token = scan.next()?;
        match token.kind {
            TokenKind::End | TokenKind::Semicolon | TokenKind::Close => return None,
            TokenKind::Open => scan.skip_parenthesised()?,
            _ if token.is(keyword) => return Some(()),
            _ => {}
        }
    }
}
