//! Splits a text into tokens as the server does. A lexer is a small copyable position; a copy is used to look ahead.

mod blank;
mod number;
mod quoted;

use crate::{Charset, LexMode};
pub(crate) use quoted::unquoted;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// An unquoted word, perhaps a keyword.
    Word,
    /// An unquoted word directly after a dot. It is never a keyword.
    Member,
    /// A quoted identifier.
    Quoted,
    /// A string literal.
    Text,
    /// A literal with its own character set (`N'...'` and the like), and hexadecimal and binary literals.
    Special,
    Number,
    /// The `@` of a user variable or an account.
    At,
    /// The `@@` of a system variable.
    AtAt,
    /// The operator `:=`.
    Assign,
    Equal,
    Open,
    Close,
    Comma,
    Dot,
    Semicolon,
    /// One byte of any other operator, such as `<`; also `?` and `*`.
    Operator,
    /// A whole comment such as `/*! ... */`, whose content the server executes or skips, depending on its version.
    ExecutableComment,
    /// The text cannot be split into tokens with certainty from here on.
    Broken,
    End,
}

/// A token of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub kind: TokenKind,
    /// The bytes of the token, including quotes.
    pub text: &'a [u8],
    /// The offset of the first byte in the text.
    pub start: usize,
}

/// The maximum length in bytes of the keywords and function names that are known here.
pub(crate) const LONGEST_WORD: usize = 40;

impl Token<'_> {
    /// Returns the bytes of the token in lower case, written to `buffer`. None if it is longer than all known keywords and functions.
    pub fn lowered<'b>(&self, buffer: &'b mut [u8; LONGEST_WORD]) -> Option<&'b [u8]> {
        let word = buffer.get_mut(..self.text.len())?;
        word.copy_from_slice(self.text);
        word.make_ascii_lowercase();
        Some(word)
    }

    /// True if the token is this keyword, in any case: an unquoted word that does not follow a dot.
    pub fn is(&self, keyword: &str) -> bool {
        self.kind == TokenKind::Word && self.text.eq_ignore_ascii_case(keyword.as_bytes())
    }

    /// True if the token is one of these keywords, see [`is`](Self::is).
    pub fn is_any(&self, keywords: &[&str]) -> bool {
        keywords.iter().any(|keyword| self.is(keyword))
    }

    /// True if the token may be the name of something: a word, quoted or not. It may also be a keyword.
    pub fn is_name(&self) -> bool {
        matches!(self.kind, TokenKind::Word | TokenKind::Member | TokenKind::Quoted)
    }

    /// The offset in the text directly after the token.
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// A position in a text that is read token by token. A copy is used to look ahead: it does not move the original.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexer<'a> {
    text: &'a [u8],
    mode: LexMode,
    position: usize,
    /// True if the last token was a dot, and nothing is between it and the position.
    is_after_dot: bool,
    /// The next token and the position after it, if it was looked at. A token may be compared with many words before it is taken.
    ahead: Option<(Token<'a>, usize)>,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a [u8], mode: LexMode) -> Self {
        Lexer { text, mode, position: 0, is_after_dot: false, ahead: None }
    }

    pub fn mode(&self) -> LexMode {
        self.mode
    }

    /// Returns the whole text, also the part before the position.
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// Returns the next token without taking it.
    pub fn peek(&mut self) -> Token<'a> {
        if let Some((token, _)) = self.ahead {
            return token;
        }
        let mut after = *self;
        let token = after.next();
        self.ahead = Some((token, after.position));
        token
    }

    /// Takes the next token and returns it. After the last one, and after [`Broken`](TokenKind::Broken), it is `End` each time.
    pub fn next(&mut self) -> Token<'a> {
        if let Some((token, end)) = self.ahead.take() {
            (self.position, self.is_after_dot) = (end, token.kind == TokenKind::Dot);
            return token;
        }
        let is_after_dot = std::mem::take(&mut self.is_after_dot);
        let start = self.position;
        if let Some(broken) = self.skip_blank() {
            return broken;
        }
        let is_member = is_after_dot && self.position == start;
        let start = self.position;
        let kind = self.scan(is_member);
        self.is_after_dot = kind == TokenKind::Dot;
        Token { kind, text: &self.text[start..self.position], start }
    }

    /// Takes the next token if it is this keyword. Returns whether it was.
    pub fn accept(&mut self, keyword: &str) -> bool {
        self.accept_if(|token| token.is(keyword))
    }

    /// Takes the next token if it is one of these keywords. Returns whether it was.
    pub fn accept_any(&mut self, keywords: &[&str]) -> bool {
        self.accept_if(|token| token.is_any(keywords))
    }

    /// Takes the next token if it is of this kind. Returns whether it was.
    pub fn accept_kind(&mut self, kind: TokenKind) -> bool {
        self.accept_if(|token| token.kind == kind)
    }

    /// True if the statement ends here and no other follows: there are only blanks and comments, or a semicolon with only blanks and
    /// semicolons after it. Takes nothing.
    pub fn is_at_end(&mut self) -> bool {
        let token = self.peek();
        match token.kind {
            TokenKind::End => true,
            TokenKind::Semicolon => is_blank_tail(&self.text[token.end()..]),
            _ => false,
        }
    }

    /// True if only blanks and semicolons follow the position, which the server strips from the end of a text.
    pub fn is_exhausted(&self) -> bool {
        is_blank_tail(&self.text[self.position..])
    }

    fn accept_if(&mut self, is_wanted: impl Fn(&Token) -> bool) -> bool {
        let accepted = is_wanted(&self.peek());
        if accepted {
            self.next();
        }
        accepted
    }

    /// Returns the byte `ahead` bytes after the position, None after the end.
    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.position + ahead).copied()
    }

    /// Gives up, because what follows cannot be split into tokens with certainty: moves to the end of the text.
    fn broken(&mut self) -> TokenKind {
        self.position = self.text.len();
        TokenKind::Broken
    }

    /// Moves past the token at the position and returns its kind. `is_member` is true directly after a dot.
    fn scan(&mut self, is_member: bool) -> TokenKind {
        let Some(first) = self.byte(0) else {
            return TokenKind::End;
        };
        if is_member && is_word_byte(first) {
            return self.word(TokenKind::Member);
        }
        match first {
            b'0'..=b'9' => self.number_or_word(),
            b'.' if self.byte(1).is_some_and(|byte| byte.is_ascii_digit()) => self.fraction(),
            b'x' | b'X' | b'b' | b'B' if self.byte(1) == Some(b'\'') => self.digits_literal(),
            b'n' | b'N' if self.byte(1) == Some(b'\'') => self.national_text(),
            b'$' if self.mode.flavour.statements.has_dollar_quotes => self.dollar_quoted(),
            _ if is_word_byte(first) => self.word(TokenKind::Word),
            b'\'' => self.quoted(b'\'', TokenKind::Text),
            b'"' if self.mode.ansi_quotes => self.quoted(b'"', TokenKind::Quoted),
            b'"' => self.quoted(b'"', TokenKind::Text),
            b'`' => self.quoted(b'`', TokenKind::Quoted),
            _ => self.symbol(first),
        }
    }

    fn symbol(&mut self, first: u8) -> TokenKind {
        let (kind, length) = match (first, self.byte(1)) {
            (b'@', Some(b'@')) => (TokenKind::AtAt, 2),
            (b'@', _) => (TokenKind::At, 1),
            (b':', Some(b'=')) => (TokenKind::Assign, 2),
            (b'=', _) => (TokenKind::Equal, 1),
            (b'(', _) => (TokenKind::Open, 1),
            (b')', _) => (TokenKind::Close, 1),
            (b',', _) => (TokenKind::Comma, 1),
            (b'.', _) => (TokenKind::Dot, 1),
            (b';', _) => (TokenKind::Semicolon, 1),
            (b'\\', Some(b'N')) => (TokenKind::Operator, 2),
            (b'!' | b'%'..=b'/' | b':'..=b'?' | b'[' | b']' | b'^' | b'{'..=b'~', _) => (TokenKind::Operator, 1),
            _ => return self.broken(),
        };
        self.position += length;
        kind
    }

    fn word(&mut self, kind: TokenKind) -> TokenKind {
        let rest = &self.text[self.position..];
        let length = rest.iter().position(|byte| !is_word_byte(*byte)).unwrap_or(rest.len());
        let is_plain = self.mode.charset == Charset::Utf8 || rest[..length].is_ascii();
        self.position += length;
        if is_plain { kind } else { self.broken() }
    }

    fn advance(&mut self, length: usize, kind: TokenKind) -> TokenKind {
        self.position += length;
        kind
    }
}

/// True for letters, digits, `_`, `$` and every byte beyond ASCII.
#[inline]
pub(crate) fn is_word_byte(byte: u8) -> bool {
    WORD_BYTES[byte as usize]
}

/// The answers of [`is_word_byte`] as a table, because it is called for each byte of each text.
static WORD_BYTES: [bool; 256] = {
    let mut are = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let one = byte as u8;
        are[byte] = one.is_ascii_alphanumeric() || matches!(one, b'_' | b'$') || one >= 0x80;
        byte += 1;
    }
    are
};

/// True if all of these bytes are blanks or semicolons, which the server strips from the end of a text before it looks for further
/// statements.
fn is_blank_tail(tail: &[u8]) -> bool {
    tail.iter().all(|byte| matches!(byte, b' ' | b'\t'..=b'\r' | b';'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flavour::MARIADB;

    #[test]
    fn a_token_that_was_looked_at_is_the_one_that_comes() {
        let texts: [&[u8]; 6] = [
            b"SELECT a.b, `c` . d FROM t1 WHERE x=1.5 AND y = 'it''s' LIMIT 3",
            b"a.select.1 .5 x'41' n'u' @@global.q @v := 2",
            b"/* c */ a -- b\n.c # d\n;;",
            b"t.'x' <=> \\N",
            b"'open",
            b"",
        ];
        for text in texts {
            let mut plain = Lexer::new(text, LexMode::new(&MARIADB));
            let mut looking = plain;
            for _ in 0..text.len() + 2 {
                let ahead = looking.peek();
                assert!(!looking.accept("nothing like it") && looking.peek().start == ahead.start);
                let (expected, found) = (plain.next(), looking.next());
                assert_eq!((found.kind, found.text, found.start), (expected.kind, expected.text, expected.start));
                assert_eq!((ahead.kind, ahead.text, ahead.start), (expected.kind, expected.text, expected.start));
                assert_eq!(looking.is_exhausted(), plain.is_exhausted());
            }
        }
    }
}
