//! Statements about the number of rows found.

use crate::LexMode;
use crate::lex::{Lexer, TokenKind};

/// `SELECT FOUND_ROWS()`, perhaps under another name.
pub fn asks_for_found_rows_alone(text: &[u8], mode: LexMode) -> bool {
    let mut lexer = Lexer::new(text, mode);
    let is_asked = lexer.accept("select")
        && lexer.accept("found_rows")
        && lexer.accept_kind(TokenKind::Open)
        && lexer.accept_kind(TokenKind::Close);
    if !is_asked || lexer.is_at_end() {
        return is_asked;
    }
    lexer.accept("as");
    lexer.next().is_name() && lexer.is_at_end()
}

/// Whether the server counts all rows that the text would have found without its LIMIT.
pub fn may_count_found_rows(text: &[u8]) -> bool {
    crate::says(text, b"sql_calc_found_rows")
}
