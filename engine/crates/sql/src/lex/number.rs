//! Numbers, and words that begin like a number.

use super::{Lexer, TokenKind, is_word_byte};

impl Lexer<'_> {
    /// Moves past a number (`12`, `1.5`, `1e5`, `0x1F`, `0b1`) or an identifier that begins with a digit, and returns its kind.
    pub(super) fn number_or_word(&mut self) -> TokenKind {
        let rest = &self.text[self.position..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        match (rest.get(digits), exponent_length(&rest[digits..])) {
            (_, Some(length)) => self.advance(digits + length, TokenKind::Number),
            (Some(b'.'), _) => {
                self.position += digits;
                self.fraction()
            }
            (Some(byte), _) if is_word_byte(*byte) => {
                let is_literal = rest[0] == b'0' && digits == 1 && is_prefixed_literal(rest);
                self.word(if is_literal { TokenKind::Special } else { TokenKind::Word })
            }
            _ => self.advance(digits, TokenKind::Number),
        }
    }

    /// Moves past the rest of a number from its dot on, and returns its kind.
    pub(super) fn fraction(&mut self) -> TokenKind {
        let rest = &self.text[self.position + 1..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let exponent = exponent_length(&rest[digits..]).unwrap_or(0);
        self.advance(1 + digits + exponent, TokenKind::Number)
    }
}

/// Returns the length of the exponent that these bytes begin with, such as `e-5`. None if they begin with none.
fn exponent_length(rest: &[u8]) -> Option<usize> {
    let (b'e' | b'E', tail) = rest.split_first()? else {
        return None;
    };
    let sign = usize::from(matches!(tail.first(), Some(b'+' | b'-')));
    let digits = tail[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0).then_some(1 + sign + digits)
}

/// True if the word that these bytes begin with is a literal such as `0x1F` or `0b01`.
fn is_prefixed_literal(rest: &[u8]) -> bool {
    let length = rest.iter().position(|byte| !is_word_byte(*byte)).unwrap_or(rest.len());
    match rest[..length].split_at_checked(2) {
        Some((b"0x", digits)) => !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit),
        Some((b"0b", digits)) => !digits.is_empty() && digits.iter().all(|digit| matches!(digit, b'0' | b'1')),
        _ => false,
    }
}
