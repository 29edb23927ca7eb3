//! WHERE clauses: conditions joined by AND. Some of them restrict the key column.
//!
//! The end of each condition must be certain, because text like `AND id = 7` may belong to a BETWEEN or a CASE before it.

use super::scan::Scan;
use crate::lex::{Token, TokenKind, unquoted};
use footprint::{KeyColumn, Keys};

/// The conditions of a WHERE clause, joined by AND, as far as they restrict the key column.
pub(super) struct KeyConditions {
    /// The keys that `=` or IN name. None if there is no such condition.
    points: Option<Vec<i128>>,
    /// The least key that the conditions allow. None if they have no lower bound.
    low: Option<i128>,
    /// The greatest key that the conditions allow. None if they have no upper bound.
    high: Option<i128>,
    /// True if the key column is compared by `=`.
    is_equal: bool,
    /// True if some conditions are not about the key column.
    has_others: bool,
}

impl KeyConditions {
    /// Returns all keys of rows for which the conditions can be true, perhaps with some others. None if the keys are not bounded on both
    /// sides.
    pub fn keys(&self) -> Option<Keys> {
        match (&self.points, self.low, self.high) {
            (Some(points), ..) => Some(Keys::Points(points.clone())),
            (None, Some(low), Some(high)) if low > high => Some(Keys::Points(Vec::new())),
            (None, Some(low), Some(high)) => Some(Keys::Range { low, high }),
            _ => None,
        }
    }

    /// True if the result of a read depends on no other rows than those with these keys. With `=` the server looks up one row before it
    /// evaluates anything else. Otherwise it may evaluate other conditions also for neighbouring rows, which can raise warnings.
    pub fn is_confined(&self, column: &KeyColumn) -> bool {
        self.is_equal || !self.has_others && !column.computes
    }

    fn raise_low(&mut self, low: i128) {
        self.low = Some(self.low.map_or(low, |old| old.max(low)));
    }

    fn cut_high(&mut self, high: i128) {
        self.high = Some(self.high.map_or(high, |old| old.min(high)));
    }
}

/// Parses what follows WHERE, to the end of the statement. `table` is the name that may qualify columns. None if any part is not
/// understood.
pub(super) fn conditions(scan: &mut Scan, table: &[u8]) -> Option<KeyConditions> {
    let mut conditions = KeyConditions { points: None, low: None, high: None, is_equal: false, has_others: false };
    loop {
        conjunct(scan, table, &mut conditions)?;
        if !scan.accept("and") {
            break;
        }
    }
    (is_end(scan) && scan.is_rest_plain()).then_some(conditions)
}

/// True if the WHERE clause ends here: the statement does, or a clause such as ORDER BY follows.
pub(super) fn is_end(scan: &mut Scan) -> bool {
    scan.is_at_end() || scan.peek().is_any(&["order", "group", "having", "limit", "for"])
}

/// Parses one of the conditions, up to the next AND or the end of the clause. None if it is not understood.
fn conjunct(scan: &mut Scan, table: &[u8], conditions: &mut KeyConditions) -> Option<()> {
    let mut ahead = *scan;
    if on_key(&mut ahead, table, conditions).is_some() {
        *scan = ahead;
    } else {
        other(scan)?;
        conditions.has_others = true;
    }
    (scan.peek().is("and") || is_end(scan)).then_some(())
}

/// Parses a comparison of the key column with integers, and adds it to `conditions`. None, and `conditions` is unchanged, if there is no
/// complete one.
fn on_key(scan: &mut Scan, table: &[u8], conditions: &mut KeyConditions) -> Option<()> {
    let mut name = scan.name()?;
    if scan.accept_kind(TokenKind::Dot) {
        (name == table).then_some(())?;
        name = scan.name()?;
    }
    scan.is_key(&name).then_some(())?;
    if scan.accept_kind(TokenKind::Equal) {
        let key = scan.integer()?;
        conditions.points = Some(vec![key]);
        conditions.is_equal = true;
    } else if scan.accept("between") {
        let low = scan.integer()?;
        scan.accept("and").then_some(())?;
        let high = scan.integer()?;
        conditions.raise_low(low);
        conditions.cut_high(high);
    } else if scan.accept("in") {
        let keys = list(scan)?;
        conditions.points.get_or_insert(keys);
    } else if scan.accept_operator("<") {
        let is_included = scan.accept_kind(TokenKind::Equal);
        let key = scan.integer()?;
        conditions.cut_high(if is_included { key } else { key - 1 });
    } else if scan.accept_operator(">") {
        let is_included = scan.accept_kind(TokenKind::Equal);
        let key = scan.integer()?;
        conditions.raise_low(if is_included { key } else { key + 1 });
    } else {
        return None;
    }
    Some(())
}

fn list(scan: &mut Scan) -> Option<Vec<i128>> {
    scan.accept_kind(TokenKind::Open).then_some(())?;
    let mut keys = vec![scan.integer()?];
    while scan.accept_kind(TokenKind::Comma) {
        keys.push(scan.integer()?);
    }
    scan.accept_kind(TokenKind::Close).then_some(keys)
}

/// Skips a condition on anything but the key column, of a form that certainly ends before the next AND. None if it has another form.
fn other(scan: &mut Scan) -> Option<()> {
    operand(scan)?;
    if scan.accept("is") {
        scan.accept("not");
        return scan.accept("null").then_some(());
    }
    scan.accept("not");
    if scan.accept("in") {
        scan.accept_kind(TokenKind::Open).then_some(())?;
        return scan.skip_parenthesised();
    }
    if scan.accept("between") {
        operand(scan)?;
        scan.accept("and").then_some(())?;
        return operand(scan);
    }
    if scan.accept("like") || comparison(scan) {
        return operand(scan);
    }
    Some(())
}

fn comparison(scan: &mut Scan) -> bool {
    let mut found = false;
    let is_sign = |token: Token| match token.kind {
        TokenKind::Equal => true,
        TokenKind::Operator => matches!(token.text, b"<" | b">" | b"!"),
        _ => false,
    };
    while is_sign(scan.peek()) && scan.next().is_some() {
        found = true;
    }
    found
}

/// Skips a column, a literal, a call, or anything in parentheses. None if something else follows.
fn operand(scan: &mut Scan) -> Option<()> {
    let is_signed = scan.accept_operator("-");
    let token = scan.next()?;
    match token.kind {
        TokenKind::Number => Some(()),
        _ if is_signed => None,
        TokenKind::Text | TokenKind::Special => Some(()),
        TokenKind::Operator => (token.text == b"?").then_some(()),
        TokenKind::Open => scan.skip_parenthesised(),
        _ if token.is_name() => {
            while scan.accept_kind(TokenKind::Dot) {
                scan.name()?;
            }
            if scan.accept_kind(TokenKind::Open) { scan.skip_parenthesised() } else { Some(()) }
        }
        _ => None,
    }
}

/// Parses an alias before the keyword `next`, with or without AS, and returns it. Without an alias, returns the table's own name. The
/// result is the name that may qualify columns.
pub(super) fn alias(scan: &mut Scan, next: &str, own: &[u8]) -> Option<Vec<u8>> {
    if !scan.accept("as") && scan.peek().is(next) {
        return Some(own.to_vec());
    }
    let token = scan.next()?;
    token.is_name().then(|| unquoted(&token, false).into_owned())
}
