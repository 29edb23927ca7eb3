//! Statements about the number of rows found.

use crate::LexMode;
use crate::lex::{Lexer, TokenKind};
use crate::mentions::occurrences;

/// True if the text is exactly `SELECT FOUND_ROWS()`, perhaps with an alias.
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

/// True if a text, or the payload of any command, may call FOUND_ROWS(): the name occurs somewhere, also in a string or a comment. The
/// option `SQL_CALC_FOUND_ROWS` does not count.
pub fn may_ask_for_found_rows(bytes: &[u8]) -> bool {
    const OTHER: &[u8] = b"sql_calc_";
    let is_other =
        |before: &[u8]| before.last_chunk::<{ OTHER.len() }>().is_some_and(|end| end.eq_ignore_ascii_case(OTHER));
    occurrences(bytes, b"found_rows").any(|at| !is_other(&bytes[..at]))
}

/// True if the number of rows that the text's result has may not be FOUND_ROWS() after it: the server also counts the rows that LIMIT or
/// OFFSET skips. The words count anywhere in the text, in any case.
pub fn may_skip_rows(text: &[u8]) -> bool {
    [&b"limit"[..], b"offset"].into_iter().any(|word| crate::contains_ignoring_case(text, word))
}

/// True if the server may count all rows that the text would find without its LIMIT: SQL_CALC_FOUND_ROWS occurs somewhere in it, in any
/// case.
pub fn may_count_found_rows(text: &[u8]) -> bool {
    crate::contains_ignoring_case(text, b"sql_calc_found_rows")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_for_the_rows_found_is_known_from_the_option_that_counts_them() {
        for text in ["SELECT found_rows()", "SELECT FOUND_ROWS ()", "SELECT SQL_CALC_FOUND_ROWS v, FOUND_ROWS() FROM t"]
        {
            assert!(may_ask_for_found_rows(text.as_bytes()), "{text}");
        }
        for text in ["", "SELECT SQL_CALC_FOUND_ROWS v FROM t", "sql_calc_found_rows", "SELECT found_row"] {
            assert!(!may_ask_for_found_rows(text.as_bytes()), "{text}");
        }
    }
}
