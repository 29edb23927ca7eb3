//! Warnings that the server raises while it parses a text, no matter what the tables contain.
//!
//! Only words are counted that certainly raise a warning. A text with any other possible cause has no count, so that a warning about rows
//! can never be mistaken for one about the text.

use crate::LexMode;
use crate::found::asks_for_found_rows_alone;
use crate::lex::{Lexer, TokenKind};
use crate::surface::OPTIONS;

/// Returns how many warnings the server raises at every execution of this read because its text contains deprecated words, one for each. 0
/// if it raises none or the number is not certain.
pub fn deprecations(text: &[u8], mode: LexMode) -> u16 {
    if !mode.flavour.statements.warns_of_deprecated_words {
        0
    } else if asks_for_found_rows_alone(text, mode) {
        1
    } else {
        operators_and_options(text, mode).unwrap_or(0)
    }
}

/// Counts the `BINARY` operators after `LIKE` or `=`, and SQL_CALC_FOUND_ROWS among the options of SELECT. None if one of these words may
/// have another meaning somewhere in the text.
fn operators_and_options(text: &[u8], mode: LexMode) -> Option<u16> {
    let (mut lexer, mut count) = (Lexer::new(text, mode), 0u16);
    let (mut may_be_operator, mut may_be_option) = (false, false);
    loop {
        let token = lexer.next();
        match token.kind {
            TokenKind::End => return Some(count),
            TokenKind::Broken | TokenKind::ExecutableComment => return None,
            _ if token.is("binary") => count = may_be_operator.then(|| count.checked_add(1))??,
            _ if token.is(COUNTING) => count = may_be_option.then(|| count.checked_add(1))??,
            _ => {}
        }
        may_be_operator = token.kind == TokenKind::Equal || token.is("like");
        may_be_option = token.is("select") || may_be_option && !token.is(COUNTING) && token.is_any(&OPTIONS);
    }
}

const COUNTING: &str = "sql_calc_found_rows";

#[cfg(test)]
mod tests {
    use super::*;
    use flavour::{MARIADB, MYSQL};

    #[test]
    fn deprecated_words_are_counted() {
        let mode = LexMode::new(&MYSQL);
        for (text, count) in [
            ("SELECT v FROM t WHERE s LIKE BINARY 'a%'", 1),
            ("SELECT v FROM t WHERE s like\n binary 'a%' OR (s = BINARY 'LIKE BINARY')", 2),
            ("SELECT v FROM t WHERE s LIKE 'a%' /* LIKE BINARY */", 0),
            ("SELECT `binary`, t.binary FROM t WHERE s = 'x'", 0),
            ("SELECT SQL_CALC_FOUND_ROWS v FROM t LIMIT 1", 1),
            ("(select distinct sql_calc_found_rows v FROM t WHERE s LIKE BINARY 'a%' LIMIT 1)", 2),
            ("SELECT v FROM t WHERE s = 'SQL_CALC_FOUND_ROWS'", 0),
            ("SELECT SQL_CALC_FOUND_ROWS t.sql_calc_found_rows FROM t", 1),
            ("SELECT FOUND_ROWS()", 1),
        ] {
            assert_eq!(deprecations(text.as_bytes(), mode), count, "{text}");
            assert_eq!(deprecations(text.as_bytes(), LexMode::new(&MARIADB)), 0, "{text}");
        }
    }

    #[test]
    fn a_text_in_which_the_word_may_mean_something_else_has_no_count() {
        for text in [
            "SELECT CAST(s AS BINARY) FROM t WHERE s LIKE BINARY 'a%'",
            "SELECT BINARY s FROM t WHERE s LIKE BINARY 'a%'",
            "SELECT v FROM t WHERE s LIKE BINARY 'a%' /*!80000 AND s = 1 */",
            "SELECT SQL_CALC_FOUND_ROWS SQL_CALC_FOUND_ROWS v FROM t",
        ] {
            assert_eq!(deprecations(text.as_bytes(), LexMode::new(&MYSQL)), 0, "{text}");
        }
    }
}
