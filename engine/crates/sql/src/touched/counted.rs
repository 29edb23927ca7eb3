//! Writes whose response reports the number of all rows that they changed, if the table is of InnoDB.

use super::update::MODIFIERS;
use crate::LexMode;
use crate::lex::{Lexer, TokenKind};

/// True if the response to this write reports the number of all rows that it changed, so that 0 means that nothing has changed. That is so
/// for `UPDATE one_table [alias] SET ...` and `DELETE FROM one_table WHERE ...` if the table is of InnoDB, which the caller must check.
pub fn counts_changes(text: &[u8], mode: LexMode) -> bool {
    let mut lexer = Lexer::new(text, mode);
    if lexer.accept("update") {
        return skip_table(&mut lexer) && is_set(&mut lexer);
    }
    lexer.accept("delete") && lexer.accept("from") && skip_table(&mut lexer) && lexer.accept("where")
}

/// True if the keyword SET comes next, or after an alias for the table. The examined tokens are consumed.
fn is_set(lexer: &mut Lexer) -> bool {
    lexer.accept("set") || {
        lexer.accept("as");
        lexer.next().is_name() && lexer.accept("set")
    }
}

fn skip_table(lexer: &mut Lexer) -> bool {
    let is_name = !lexer.peek().is_any(&MODIFIERS) && lexer.next().is_name();
    is_name && (!lexer.accept_kind(TokenKind::Dot) || lexer.next().is_name())
}
