//! The text between tokens: spaces, and comments of every kind.

use super::{Lexer, Token, TokenKind};

impl<'a> Lexer<'a> {
    /// Skips spaces and comments. Returns a comment that is a token: an executable one, or one that cannot be read with certainty. None
    /// if no such comment follows.
    pub(super) fn skip_blank(&mut self) -> Option<Token<'a>> {
        loop {
            let start = self.position;
            let kind = match (self.byte(0), self.byte(1)) {
                (Some(b' ' | b'\t'..=b'\r'), _) => {
                    self.position += 1;
                    continue;
                }
                (Some(b'#'), _) => self.line_comment(),
                (Some(b'-'), Some(b'-')) if self.byte(2).is_none_or(|byte| byte <= b' ' || byte == 0x7F) => {
                    self.line_comment()
                }
                (Some(b'/'), Some(b'*')) => self.block_comment(),
                _ => return None,
            };
            if let Some(kind) = kind {
                return Some(Token { kind, text: &self.text[start..self.position], start });
            }
        }
    }

    /// Skips a comment to the end of its line, and returns None. Returns `Broken` if it contains a zero byte, which ends the comment and
    /// the statement for the server.
    fn line_comment(&mut self) -> Option<TokenKind> {
        let rest = &self.text[self.position..];
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | 0));
        self.position += end.unwrap_or(rest.len());
        (self.byte(0) == Some(0)).then(|| self.broken())
    }

    /// Skips a comment between `/*` and `*/`. Returns its kind if the server may execute it or take it as a hint, or if it is not closed.
    /// None for any other comment.
    fn block_comment(&mut self) -> Option<TokenKind> {
        let body = &self.text[self.position + 2..];
        let Some(end) = body.windows(2).position(|pair| pair == b"*/") else {
            return Some(self.broken());
        };
        self.position += end + 4;
        let begins_with = |marks: &[&str]| marks.iter().any(|mark| body.starts_with(mark.as_bytes()));
        let known = self.mode.flavour.comments;
        if begins_with(known.hints) && body[..end].iter().any(|byte| matches!(byte, b'\'' | b'"' | b'`')) {
            return Some(self.broken());
        }
        if !begins_with(known.executable) {
            return None;
        }
        // The comment ends at the same place, executed or skipped, only if nothing in it could hide the end.
        let hides = |byte: &u8| matches!(byte, b'\'' | b'"' | b'`' | b';' | b'#' | b'-' | b'/' | b'\\' | 0);
        Some(if body[..end].iter().any(hides) { self.broken() } else { TokenKind::ExecutableComment })
    }
}
