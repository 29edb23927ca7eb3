//! A lexer for footprints, and the parsers that all kinds of statements share. It gives up at any token that makes it impossible to
//! determine the rows from the text.

use super::Text;
use crate::lex::{Lexer, Token, TokenKind, unquoted};
use crate::{Charset, TableName};
use footprint::KeyColumn;

/// A position in the text of a statement. A copy is used to look ahead: it does not move the original.
#[derive(Clone, Copy)]
pub(super) struct Scan<'a> {
    lexer: Lexer<'a>,
    /// The key column of the statement's table.
    pub column: &'a KeyColumn,
    bound: &'a [Option<i128>],
}

/// Words that make it impossible to determine the rows: they begin further queries, or functions whose value depends on rows that the query
/// does not select.
const FORBIDDEN: [&str; 8] = ["select", "table", "union", "intersect", "except", "match", "procedure", "returning"];

/// Another name for the key column of any table. Statements with this name are not understood.
const KEY_PSEUDONYM: &[u8] = b"_rowid";

/// The maximum number of digits of an integer that is understood, as many as the greatest BIGINT UNSIGNED has.
const MOST_DIGITS: usize = 20;

impl<'a> Scan<'a> {
    pub fn new(text: Text<'a>, column: &'a KeyColumn) -> Self {
        Scan { lexer: Lexer::new(text.text, text.mode), column, bound: text.bound }
    }

    /// Takes the next token and returns it; `End` after the last one. None if it is one that makes it impossible to determine the rows.
    pub fn next(&mut self) -> Option<Token<'a>> {
        use TokenKind::{Assign, At, AtAt, Broken, ExecutableComment};
        let token = self.lexer.next();
        let is_forbidden = match token.kind {
            Broken | ExecutableComment | At | AtAt | Assign => true,
            // When it compares names, the server may fold letters beyond ASCII into those of the pseudonym.
            _ if token.is_name() => {
                let is_pseudonym = unquoted(&token, false).eq_ignore_ascii_case(KEY_PSEUDONYM);
                !token.text.is_ascii() || token.is_any(&FORBIDDEN) || is_pseudonym
            }
            _ => false,
        };
        (!is_forbidden).then_some(token)
    }

    pub fn peek(&mut self) -> Token<'a> {
        self.lexer.peek()
    }

    pub fn accept(&mut self, keyword: &str) -> bool {
        self.lexer.accept(keyword)
    }

    pub fn accept_kind(&mut self, kind: TokenKind) -> bool {
        self.lexer.accept_kind(kind)
    }

    pub fn is_at_end(&mut self) -> bool {
        self.lexer.is_at_end()
    }

    /// Takes the next token if it is this operator of one byte. Returns whether it was.
    pub fn accept_operator(&mut self, operator: &str) -> bool {
        let token = self.peek();
        let is_it = token.kind == TokenKind::Operator && token.text == operator.as_bytes();
        is_it && self.next().is_some()
    }

    /// True if the rest of the text contains no token that makes it impossible to determine the rows.
    pub fn is_rest_plain(mut self) -> bool {
        loop {
            match self.next() {
                None => return false,
                Some(token) if token.kind == TokenKind::End => return true,
                Some(_) => {}
            }
        }
    }

    /// Parses a name in ASCII, and returns it without quotes.
    pub fn name(&mut self) -> Option<Vec<u8>> {
        let token = self.next()?;
        token.is_name().then(|| unquoted(&token, false).into_owned())
    }

    /// Parses `table` or `database.table`. None if the first word is one of `modifiers`.
    pub fn table(&mut self, modifiers: &[&str]) -> Option<TableName> {
        if self.peek().is_any(modifiers) {
            return None;
        }
        let first = self.name_of_table()?;
        if self.accept_kind(TokenKind::Dot) {
            return Some(TableName { db: Some(first), name: self.name_of_table()? });
        }
        Some(TableName { db: None, name: first })
    }

    /// Parses a part of a table's name and returns it without quotes. It may have letters beyond ASCII, in UTF-8: the server does not fold
    /// case in the names of tables whose rows are distinguished.
    fn name_of_table(&mut self) -> Option<Vec<u8>> {
        let token = self.peek();
        let is_beyond_ascii = token.is_name() && !token.text.is_ascii();
        if is_beyond_ascii && self.lexer.mode().charset == Charset::Utf8 {
            self.lexer.next();
            return Some(unquoted(&token, false).into_owned());
        }
        self.name()
    }

    /// True if this is the name of the key column.
    pub fn is_key(&self, name: &[u8]) -> bool {
        name.eq_ignore_ascii_case(&self.column.name)
    }

    /// Parses an integer, a literal or a bound value. None if it is something else, or if the key column cannot hold it.
    pub fn integer(&mut self) -> Option<i128> {
        self.any_integer().filter(|value| self.column.holds(*value))
    }

    /// Parses an integer, a literal or a bound value. None if it is something else.
    pub fn any_integer(&mut self) -> Option<i128> {
        let is_negative = self.accept_operator("-");
        let token = self.next()?;
        let value = match token.kind {
            TokenKind::Number => digits(token.text)?,
            TokenKind::Operator if token.text == b"?" && !is_negative => self.bound(&token)?,
            _ => return None,
        };
        Some(if is_negative { -value } else { value })
    }

    /// Returns the integer that is bound to this `?`. None if none is.
    fn bound(&self, mark: &Token) -> Option<i128> {
        let mut lexer = Lexer::new(self.lexer.text(), self.lexer.mode());
        let is_mark = |token: &Token| token.kind == TokenKind::Operator && token.text == b"?";
        let before = std::iter::from_fn(|| Some(lexer.next()).filter(|token| token.start < mark.start));
        *self.bound.get(before.filter(is_mark).count())?
    }

    /// Skips the rest of a parenthesis whose opening has just been taken, and its end. None if it is not closed.
    pub fn skip_parenthesised(&mut self) -> Option<()> {
        let mut depth = 1u32;
        while depth > 0 {
            match self.next()?.kind {
                TokenKind::Open => depth += 1,
                TokenKind::Close => depth -= 1,
                TokenKind::End => return None,
                _ => {}
            }
        }
        Some(())
    }
}

/// Returns the value of a text of digits. None if it contains anything else, or is longer than any integer type allows.
pub(super) fn digits(text: &[u8]) -> Option<i128> {
    let is_integer = text.len() <= MOST_DIGITS && text.iter().all(u8::is_ascii_digit);
    is_integer.then(|| text.iter().fold(0, |value, digit| 10 * value + i128::from(digit - b'0')))
}
