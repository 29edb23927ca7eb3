//! Statements that are prepared and executed in SQL, by their names: what is told without knowing what the session has done.

use crate::Preparation;
use crate::lex::{Lexer, TokenKind, unquoted};

/// After PREPARE. Of a text that is no plain literal, or is converted on its way, nothing is told.
pub(crate) fn prepared(lexer: &mut Lexer) -> Option<Preparation> {
    let name = name(lexer)?;
    lexer.accept("from").then_some(())?;
    let literal = lexer.next();
    let is_plain = literal.kind == TokenKind::Text && literal.text.is_ascii() && !literal.text.contains(&b'\\');
    (is_plain && lexer.is_at_end()).then(|| Preparation { name, text: unquoted(&literal, false).into_owned() })
}

/// After EXECUTE: the name, if nothing but variables is bound.
pub(crate) fn executed(lexer: &mut Lexer) -> Option<Vec<u8>> {
    let name = name(lexer)?;
    if lexer.accept("using") {
        loop {
            (lexer.accept_kind(TokenKind::At) && lexer.next().is_name()).then_some(())?;
            if !lexer.accept_kind(TokenKind::Comma) {
                break;
            }
        }
    }
    lexer.is_at_end().then_some(name)
}

/// The server takes names for the same that differ in case, accents or spaces at the end: of these only the first may be here.
fn name(lexer: &mut Lexer) -> Option<Vec<u8>> {
    let token = lexer.next();
    let name = token.is_name().then(|| unquoted(&token, false).to_ascii_lowercase())?;
    let is_plain = name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    is_plain.then_some(name)
}
