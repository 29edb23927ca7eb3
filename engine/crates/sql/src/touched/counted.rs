//! Writes whose response reports the number of all rows that they changed, if the table is of InnoDB.

use super::update::MODIFIERS;
use crate::LexMode;
use crate::lex::{Lexer, TokenKind};

/// `UPDATE one_table [alias] SET ...` or `DELETE FROM one_table WHERE ...`. If an engine can empty a table at once, the server reports an
/// estimate after that. InnoDB cannot, and a DELETE without WHERE is left out all the same.
pub fn counts_changes(text: &[u8], mode: LexMode) -> bool {
    let mut lexer = Lexer::new(text, mode);
    if lexer.accept("update") {
        return skip_table(&mut lexer) && is_set(&mut lexer);
    }
    lexer.accept("delete") && lexer.accept("from") && skip_table(&mut lexer) && lexer.accept("where")
}

/// SET follows, perhaps after an alias.
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
