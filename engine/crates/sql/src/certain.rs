//! Determines whether the server, to run a read, certainly looks at a row or at the place where one would be.
//!
//! The optimizer can answer some reads without that, for example those with `WHERE 1 = 0` or `LIMIT 0`. Only conditions are understood
//! that compare each column once, with a literal or with another column. Deliberately absent: whether the column can hold the literal.

use crate::LexMode;
use crate::lex::{Lexer, Token, TokenKind, unquoted};

/// Words that make a read count as not understood: with them the server may combine several scans, lock rows, or send the result elsewhere.
const OTHERS: [&str; 12] = [
    "having",
    "union",
    "intersect",
    "except",
    "procedure",
    "into",
    "for",
    "lock",
    "window",
    "partition",
    "offset",
    "fetch",
];
const JOINS: [&str; 7] = ["join", "inner", "left", "right", "cross", "natural", "straight_join"];
const ENDS: [&str; 4] = ["where", "group", "order", "limit"];

/// True if the server, to execute this read, certainly looks at a row of its tables or at the place where one would be. The engine
/// concludes from it that the transaction's snapshot is open. `text` must be a read with a single SELECT. False means that it is not known.
pub fn certainly_reads(text: &[u8], mode: LexMode) -> bool {
    let mut scan = Scan { lexer: Lexer::new(text, mode), columns: Vec::new() };
    scan.selection().and_then(|()| scan.tables()).and_then(|()| scan.rest()).is_some()
}

/// A position in the text of a read. Its methods check one part of the text each; None means that the part is not understood.
struct Scan<'a> {
    lexer: Lexer<'a>,
    /// The names of the columns that were compared so far, without their tables, in lower case.
    columns: Vec<Vec<u8>>,
}

impl<'a> Scan<'a> {
    /// Skips the select list and takes its FROM. A FROM in parentheses, as among a function's arguments, does not count. None if there is
    /// no FROM, or a token that is not understood before it.
    fn selection(&mut self) -> Option<()> {
        self.lexer.accept("select").then_some(())?;
        let mut depth = 0u32;
        loop {
            let token = self.token()?;
            match token.kind {
                TokenKind::Open => depth += 1,
                TokenKind::Close => depth = depth.checked_sub(1)?,
                _ if depth == 0 && token.is("from") => return Some(()),
                _ => {}
            }
        }
    }

    /// Checks the list of tables after FROM, with the conditions of its joins. None if any part is not understood.
    fn tables(&mut self) -> Option<()> {
        loop {
            let next = self.lexer.peek();
            if next.kind == TokenKind::End || next.kind == TokenKind::Semicolon || next.is_any(&ENDS) {
                return Some(());
            }
            let token = self.token()?;
            if token.is("on") {
                self.condition()?;
                let next = self.lexer.peek();
                let goes_on = next.kind == TokenKind::Comma || next.is_any(&JOINS) || next.is_any(&ENDS);
                (goes_on || self.lexer.is_at_end()).then_some(())?;
            }
        }
    }

    /// Checks the part after the tables, from WHERE on. None if any part is not understood, or if the server could answer the read without
    /// looking at a row.
    fn rest(&mut self) -> Option<()> {
        if self.lexer.accept("where") {
            self.condition()?;
            (self.lexer.is_at_end() || self.lexer.peek().is_any(&ENDS)).then_some(())?;
        }
        loop {
            if self.lexer.is_at_end() {
                return Some(());
            }
            let token = self.token()?;
            if token.is("limit") {
                return self.limit();
            }
        }
    }

    /// Checks the operands of LIMIT: `n`, or `offset, n`. None if `n` is 0 or not a number.
    fn limit(&mut self) -> Option<()> {
        let mut rows = self.lexer.next();
        if self.lexer.accept_kind(TokenKind::Comma) {
            rows = self.lexer.next();
        }
        let is_some = rows.kind == TokenKind::Number && rows.text.iter().any(|digit| (b'1'..=b'9').contains(digit));
        (is_some && self.lexer.is_at_end()).then_some(())
    }

    /// Checks a condition: comparisons joined by AND, OR and parentheses. None if it has another form, or could be false for every row.
    fn condition(&mut self) -> Option<()> {
        let mut depth = 0u32;
        loop {
            while self.lexer.accept_kind(TokenKind::Open) {
                depth += 1;
            }
            self.comparison()?;
            while depth > 0 && self.lexer.accept_kind(TokenKind::Close) {
                depth -= 1;
            }
            if !self.lexer.accept_any(&["and", "or"]) {
                return (depth == 0).then_some(());
            }
        }
    }

    fn comparison(&mut self) -> Option<()> {
        let first = self.operand()?;
        let second = if first.is_some() && self.lexer.peek().is_any(&["in", "like", "is"]) {
            self.predicate()?;
            None
        } else {
            self.operator()?;
            self.operand()?
        };
        self.note([first, second])
    }

    /// Checks `IN (...)`, `LIKE '...'` or `IS NOT NULL`. None if anything else follows.
    fn predicate(&mut self) -> Option<()> {
        if self.lexer.accept("in") {
            return self.list();
        }
        if self.lexer.accept("like") {
            return (self.lexer.next().kind == TokenKind::Text).then_some(());
        }
        ["is", "not", "null"].iter().all(|word| self.lexer.accept(word)).then_some(())
    }

    /// Notes the columns of a comparison. None if there is no column, or if one was compared before: the server could find without reading
    /// that no row satisfies both comparisons.
    fn note(&mut self, compared: [Option<Vec<u8>>; 2]) -> Option<()> {
        let columns: Vec<_> = compared.into_iter().flatten().collect();
        let is_new = !columns.is_empty() && columns.iter().all(|column| !self.columns.contains(column));
        self.columns.extend(columns);
        is_new.then_some(())
    }

    fn operator(&mut self) -> Option<()> {
        let is_part = |token: &Token| {
            token.kind == TokenKind::Equal || token.kind == TokenKind::Operator && b"<>!".contains(&token.text[0])
        };
        let begun = is_part(&self.lexer.peek());
        while is_part(&self.lexer.peek()) {
            self.lexer.next();
        }
        begun.then_some(())
    }

    /// Reads an operand of a comparison. Returns the name of a column in lower case, or `Some(None)` for a literal.
    fn operand(&mut self) -> Option<Option<Vec<u8>>> {
        if self.literal().is_some() {
            return Some(None);
        }
        let mut token = self.lexer.next();
        (token.is_name() && !token.is("null")).then_some(())?;
        while self.lexer.accept_kind(TokenKind::Dot) {
            token = self.lexer.next();
            token.is_name().then_some(())?;
        }
        Some(Some(unquoted(&token, false).to_ascii_lowercase()))
    }

    /// Skips a number, or a string literal in ASCII, which means the same in every character set. None, and nothing is skipped, if another
    /// token follows.
    fn literal(&mut self) -> Option<()> {
        let mut ahead = self.lexer;
        let sign = ahead.peek();
        if sign.kind == TokenKind::Operator && sign.text == b"-" {
            ahead.next();
        }
        let token = ahead.next();
        let is_literal = token.kind == TokenKind::Number || token.kind == TokenKind::Text && token.text.is_ascii();
        is_literal.then(|| self.lexer = ahead)
    }

    fn list(&mut self) -> Option<()> {
        self.lexer.accept_kind(TokenKind::Open).then_some(())?;
        loop {
            self.literal()?;
            if !self.lexer.accept_kind(TokenKind::Comma) {
                return self.lexer.accept_kind(TokenKind::Close).then_some(());
            }
        }
    }

    /// Takes the next token. None at the end of the statement, and for a token that is not understood here.
    fn token(&mut self) -> Option<Token<'a>> {
        use TokenKind::{Broken, End, ExecutableComment, Semicolon};
        let token = self.lexer.next();
        let is_strange = matches!(token.kind, Broken | End | ExecutableComment | Semicolon);
        (!is_strange && !token.is_any(&OTHERS)).then_some(token)
    }
}
