//! Quoted tokens: their ends and their values.

use super::{Lexer, Token, TokenKind};
use std::borrow::Cow;

impl Lexer<'_> {
    /// Moves past a quoted token and returns `kind`, or `Broken` if it is not closed. A doubled quote stands for itself; in strings a
    /// backslash escapes the next byte, unless the mode says otherwise.
    pub(super) fn quoted(&mut self, quote: u8, kind: TokenKind) -> TokenKind {
        let has_escapes = kind != TokenKind::Quoted && !self.mode.no_backslash_escapes;
        let mut index = self.position + 1;
        while let Some(&byte) = self.text.get(index) {
            index += match byte {
                b'\\' if has_escapes => 2,
                // The server ends the statement here.
                0 if kind == TokenKind::Quoted => return self.broken(),
                _ if byte != quote => 1,
                _ if self.text.get(index + 1) == Some(&quote) => 2,
                _ => {
                    self.position = index + 1;
                    return kind;
                }
            };
        }
        self.broken()
    }

    /// Moves past `$$` at the end of the text, and returns its kind. Clients send such a text to find out whether the server knows these
    /// quotes: it then refuses the text, because the quote is not closed. All other uses of `$` at the start of a word are `Broken`.
    pub(super) fn dollar_quoted(&mut self) -> TokenKind {
        if self.text[self.position..].trim_ascii_end() == b"$$" {
            return self.advance(2, TokenKind::Special);
        }
        self.broken()
    }

    /// Moves past `N'...'` and returns its kind.
    pub(super) fn national_text(&mut self) -> TokenKind {
        self.position += 1;
        self.quoted(b'\'', TokenKind::Special)
    }

    /// Moves past `x'...'` or `b'...'` and returns its kind, or `Broken` if there is anything but digits in the quotes.
    pub(super) fn digits_literal(&mut self) -> TokenKind {
        let digits = &self.text[self.position + 2..];
        let length = digits.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        if digits.get(length) != Some(&b'\'') {
            return self.broken();
        }
        self.position += length + 3;
        TokenKind::Special
    }
}

/// Returns the value of a name or a string literal, without its quotes. `has_escapes` says whether a backslash in a string literal escapes
/// the next byte. Other tokens are returned unchanged.
pub(crate) fn unquoted<'a>(token: &Token<'a>, has_escapes: bool) -> Cow<'a, [u8]> {
    let (TokenKind::Quoted | TokenKind::Text, [quote, body @ .., _]) = (token.kind, token.text) else {
        return Cow::Borrowed(token.text);
    };
    let has_escapes = has_escapes && token.kind == TokenKind::Text;
    if !body.iter().any(|byte| byte == quote || *byte == b'\\' && has_escapes) {
        return Cow::Borrowed(body);
    }
    let mut bytes = body.iter().copied();
    let mut out = Vec::with_capacity(body.len());
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if has_escapes => push_escaped(&mut out, bytes.next()),
            _ if byte == *quote => out.extend(bytes.next()),
            _ => out.push(byte),
        }
    }
    Cow::Owned(out)
}

/// Appends the value of the byte after a backslash in a string literal. `\%` and `\_` keep their backslash, because LIKE interprets them.
/// Appends nothing for None.
fn push_escaped(out: &mut Vec<u8>, escaped: Option<u8>) {
    match escaped {
        Some(b'n') => out.push(b'\n'),
        Some(b't') => out.push(b'\t'),
        Some(b'r') => out.push(b'\r'),
        Some(b'b') => out.push(8),
        Some(b'0') => out.push(0),
        Some(b'Z') => out.push(26),
        Some(byte @ (b'%' | b'_')) => out.extend([b'\\', byte]),
        Some(byte) => out.push(byte),
        None => {}
    }
}
