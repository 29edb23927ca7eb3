//! `SELECT ... FROM one_table [alias] WHERE ...` with a constant for every column of a unique key, and with no other condition.
//!
//! The constants need not be understood. Equal constants find rows with equal keys only if they are of the column's kind: a number
//! finds many texts, a text many numbers.

use super::conditions::{alias, is_end};
use super::scan::Scan;
use super::select::skip_to;
use crate::TableName;
use crate::lex::TokenKind;
use footprint::{KeyPart, PartKind};

/// The kind of constant that a column is compared with: an integer, or a string in ASCII or with other letters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Constant {
    Integer,
    Ascii,
    Text,
}

/// Parses a read that finds at most one row by a unique key. Returns the table, and the index of its primary key among the columns of the
/// result; None for any other read.
pub(super) fn read(mut scan: Scan) -> Option<(TableName, usize)> {
    scan.accept("select").then_some(())?;
    let shown = scan;
    skip_to(&mut scan, "from")?;
    let table = scan.table(&[])?;
    let alias = alias(&mut scan, "where", &table.name)?;
    scan.accept("where").then_some(())?;
    let fixed = equalities(&mut scan, &alias)?;
    (is_end(&mut scan) && scan.is_rest_plain()).then_some(())?;
    let is_whole = |key: &Vec<KeyPart>| is_whole(key, &fixed);
    scan.column.unique_keys.iter().any(is_whole).then_some(())?;
    Some((table, place(shown, &alias)?))
}

/// True if the columns that are compared with constants are exactly those of the key, each with a constant of its own kind.
fn is_whole(key: &[KeyPart], fixed: &[(Vec<u8>, Constant)]) -> bool {
    let is_of = |part: &KeyPart, (name, constant): &(Vec<u8>, Constant)| {
        let fits = match part.kind {
            PartKind::Integer => *constant == Constant::Integer,
            PartKind::Text => *constant == Constant::Ascii,
            PartKind::Binary => *constant != Constant::Integer,
        };
        fits && part.name.eq_ignore_ascii_case(name)
    };
    key.iter().all(|part| fixed.iter().any(|one| is_of(part, one)))
        && fixed.iter().all(|one| key.iter().any(|part| is_of(part, one)))
}

/// Parses equalities of columns and constants, joined by AND, perhaps in parentheses. `table` is the name that may qualify the columns.
fn equalities(scan: &mut Scan, table: &[u8]) -> Option<Vec<(Vec<u8>, Constant)>> {
    let (mut fixed, mut open) = (Vec::new(), 0u32);
    loop {
        while scan.accept_kind(TokenKind::Open) {
            open += 1;
        }
        let name = column(scan, table)?;
        scan.accept_kind(TokenKind::Equal).then_some(())?;
        fixed.push((name, constant(scan)?));
        while open > 0 && scan.accept_kind(TokenKind::Close) {
            open -= 1;
        }
        if !scan.accept("and") {
            return (open == 0).then_some(fixed);
        }
    }
}

fn column(scan: &mut Scan, table: &[u8]) -> Option<Vec<u8>> {
    let name = scan.name()?;
    if !scan.accept_kind(TokenKind::Dot) {
        return Some(name);
    }
    (name == table).then_some(())?;
    scan.name()
}

fn constant(scan: &mut Scan) -> Option<Constant> {
    let token = scan.peek();
    if token.kind == TokenKind::Text {
        scan.next()?;
        return Some(if token.text.is_ascii() { Constant::Ascii } else { Constant::Text });
    }
    scan.any_integer().map(|_| Constant::Integer)
}

/// Returns the index of the primary key in the list of a SELECT, from 0. None if it is not there as a plain column, or cannot be found.
fn place(mut shown: Scan, table: &[u8]) -> Option<usize> {
    let mut all = shown;
    if all.accept_operator("*") && all.peek().is("from") {
        return shown.column.position;
    }
    for place in 0.. {
        if is_key(shown, table).is_some() {
            return Some(place);
        }
        if item(&mut shown)? != TokenKind::Comma {
            return None;
        }
    }
    None
}

/// Checks that the next item of the select list is the primary key and nothing else, perhaps with an alias. None if it is not.
fn is_key(mut scan: Scan, table: &[u8]) -> Option<()> {
    let name = column(&mut scan, table)?;
    scan.is_key(&name).then_some(())?;
    let is_end = |scan: &mut Scan| scan.peek().kind == TokenKind::Comma || scan.peek().is("from");
    if !is_end(&mut scan) {
        scan.accept("as");
        scan.name()?;
    }
    is_end(&mut scan).then_some(())
}

/// Skips an item of the select list, and returns the kind of the token that ended it: a comma or the word FROM. None if the item may stand
/// for several columns, or does not end.
fn item(scan: &mut Scan) -> Option<TokenKind> {
    loop {
        let token = scan.next()?;
        match token.kind {
            TokenKind::Comma => return Some(token.kind),
            TokenKind::Open => scan.skip_parenthesised()?,
            TokenKind::Operator if token.text == b"*" => return None,
            TokenKind::End => return None,
            _ if token.is("from") => return Some(token.kind),
            _ => {}
        }
    }
}
