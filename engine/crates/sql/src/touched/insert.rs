//! `INSERT [IGNORE] [INTO] one_table [(columns)] VALUES (...), ...`: each row is new, or it is left out or the statement fails.
//!
//! `REPLACE` and `ON DUPLICATE KEY UPDATE` also touch the rows that conflict. If the table has one unique key, these have the keys that
//! the statement names; if it has several, they may be any rows.

use super::WrittenRows;
use super::scan::Scan;
use super::update::leaves_key;
use crate::TableName;
use crate::lex::TokenKind;
use footprint::Keys;

const MODIFIERS: [&str; 4] = ["low_priority", "high_priority", "delayed", "ignore"];

/// Parses what follows INSERT. Returns the table and the rows that the statement can touch; None if these are not certain.
pub(super) fn inserted(mut scan: Scan) -> Option<(TableName, WrittenRows)> {
    scan.accept("ignore");
    let (table, rows, keys) = values(&mut scan)?;
    let touched = if scan.is_at_end() { touched(rows, keys) } else { updated(&mut scan).and(named(&rows, keys)) };
    Some((table, touched?))
}

/// Parses what follows REPLACE. Returns the table and the rows that the statement can touch; None if these are not certain.
pub(super) fn replaced(mut scan: Scan) -> Option<(TableName, WrittenRows)> {
    let (table, rows, keys) = values(&mut scan)?;
    (scan.is_at_end() && scan.column.is_sole).then_some(())?;
    Some((table, named(&rows, keys)?))
}

/// Parses `ON DUPLICATE KEY UPDATE`, to the end. None if it mentions the key, or if the table has other unique keys.
fn updated(scan: &mut Scan) -> Option<()> {
    let words = ["on", "duplicate", "key", "update"];
    (scan.column.is_sole && words.iter().all(|word| scan.accept(word))).then_some(())?;
    leaves_key(scan, usize::MAX).then_some(())
}

/// Parses the part of INSERT and REPLACE that all forms have in common. Returns the table, the position where the list of rows begins, and
/// the key of each row, in which `None` stands for a key that the server has to generate. None if any part is not understood.
fn values<'a>(scan: &mut Scan<'a>) -> Option<(TableName, Scan<'a>, Vec<Option<i128>>)> {
    if scan.peek().is_any(&MODIFIERS) {
        return None;
    }
    scan.accept("into");
    let table = scan.table(&MODIFIERS)?;
    let position = if scan.accept_kind(TokenKind::Open) { columns(scan)? } else { Some(scan.column.position?) };
    (scan.accept("values") || scan.accept("value")).then_some(())?;
    let rows = *scan;
    let mut keys = Vec::new();
    loop {
        keys.push(row(scan, position)?);
        if !scan.accept_kind(TokenKind::Comma) {
            return Some((table, rows, keys));
        }
    }
}

/// Parses a list of columns in parentheses, whose opening was taken. Returns the index of the key column in it, or `Some(None)` if the key
/// column is not in it. None if the list is not understood.
fn columns(scan: &mut Scan) -> Option<Option<usize>> {
    let mut position = None;
    if scan.accept_kind(TokenKind::Close) {
        return Some(None);
    }
    for place in 0.. {
        let name = scan.name()?;
        if scan.is_key(&name) {
            position = Some(place);
        }
        match scan.next()?.kind {
            TokenKind::Comma => {}
            TokenKind::Close => break,
            _ => return None,
        }
    }
    Some(position)
}

/// Parses a row of values and returns its key, or `Some(None)` if the server has to generate the key. `position` is the index of the key
/// among the values, none if it is not given. None if the key is not a plain integer.
fn row(scan: &mut Scan, position: Option<usize>) -> Option<Option<i128>> {
    scan.accept_kind(TokenKind::Open).then_some(())?;
    let mut key = None;
    if position.is_none() && scan.accept_kind(TokenKind::Close) {
        return Some(None);
    }
    for place in 0.. {
        let is_key = Some(place) == position;
        if is_key && !scan.accept("null") {
            key = Some(scan.integer()?);
        }
        // A literal is the key only if nothing follows it.
        let end = if is_key { scan.next()?.kind } else { value(scan)? };
        match end {
            TokenKind::Comma => {}
            TokenKind::Close => return position.is_none_or(|position| position <= place).then_some(key),
            _ => return None,
        }
    }
    None
}

/// Skips the rest of a value and the comma or parenthesis that ends it, and returns the kind of that token. None if the statement ends
/// before.
fn value(scan: &mut Scan) -> Option<TokenKind> {
    loop {
        match scan.next()?.kind {
            kind @ (TokenKind::Comma | TokenKind::Close) => return Some(kind),
            TokenKind::Open => scan.skip_parenthesised()?,
            TokenKind::End => return None,
            _ => {}
        }
    }
}

/// True if the values contain no calls. A function could change the last inserted id, which the response reports as the new key.
fn has_no_calls(mut rows: Scan) -> bool {
    rows.accept_kind(TokenKind::Open);
    loop {
        match rows.next().map(|token| token.kind) {
            Some(TokenKind::End) => return true,
            None | Some(TokenKind::Open) => return false,
            Some(_) => {}
        }
    }
}

fn touched(rows: Scan, keys: Vec<Option<i128>>) -> Option<WrittenRows> {
    if rows.column.is_generated && keys == [None] {
        return has_no_calls(rows).then_some(WrittenRows::Generated);
    }
    named(&rows, keys)
}

/// Returns the rows with these keys. None if one of them is not given by the statement, or may be replaced by a generated one.
fn named(rows: &Scan, keys: Vec<Option<i128>>) -> Option<WrittenRows> {
    // For 0 the server generates a key or not, depending on the session's settings.
    let is_generated = rows.column.is_generated;
    let told = |key: Option<i128>| key.filter(|key| *key != 0 || !is_generated);
    let keys: Option<Vec<i128>> = keys.into_iter().map(told).collect();
    Some(WrittenRows::Keys(Keys::Points(keys?)))
}
