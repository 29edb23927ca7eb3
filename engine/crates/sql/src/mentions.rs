//! Asking a text whether it names something, for facts that only the caller knows (unsafe views, routines).

use crate::lex::{Lexer, TokenKind, unquoted};
use crate::{Charset, LexMode};

/// Whether a word or quoted identifier of the text, without its quotes and in ASCII lower case, is in the set.
/// A text that cannot be split into tokens with certainty mentions everything. Letters beyond ASCII keep their
/// case: names that have any must be taken as mentioned.
pub fn mentions(text: &[u8], mode: LexMode, is_in_set: impl Fn(&[u8]) -> bool) -> bool {
    if mode.oracle || mode.charset == Charset::Unreadable {
        return true;
    }
    let mut lexer = Lexer::new(text, mode);
    loop {
        let token = lexer.next();
        match token.kind {
            TokenKind::End => return false,
            TokenKind::Broken | TokenKind::ExecutableComment => return true,
            _ if token.is_name() && is_in_set(&unquoted(&token, false).to_ascii_lowercase()) => return true,
            _ => {}
        }
    }
}

/// Whether these letters stand anywhere in the text, whatever their case. `word` begins with a letter.
pub fn says(text: &[u8], word: &[u8]) -> bool {
    let (lower, upper) = (word[0].to_ascii_lowercase(), word[0].to_ascii_uppercase());
    memchr::memchr2_iter(lower, upper, text)
        .any(|at| text[at..].get(..word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word)))
}
