//! PREPARE and EXECUTE in SQL, as far as their texts alone can be understood, without knowing what the session did before.

use crate::Preparation;
use crate::lex::{Lexer, TokenKind, unquoted};

/// Parses what follows PREPARE, and returns the name and the text of the prepared statement. None if the text is not a plain string
/// literal, or may be converted to another character set.
pub(crate) fn prepared(lexer: &mut Lexer) -> Option<Preparation> {
    let name = name(lexer)?;
    lexer.accept("from").then_some(())?;
    let literal = lexer.next();
    let is_plain = literal.kind == TokenKind::Text && literal.text.is_ascii() && !literal.text.contains(&b'\\');
    (is_plain && lexer.is_at_end()).then(|| Preparation { name, text: unquoted(&literal, false).into_owned() })
}

/// Parses what follows EXECUTE. Returns the prepared statement's name in lower case, or none if anything but user variables is bound.
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

/// Parses the name of a prepared statement and returns it in lower case. The server treats names as equal that differ only in case, accents
/// or trailing spaces; None for a name that could differ in accents or spaces.
fn name(lexer: &mut Lexer) -> Option<Vec<u8>> {
    let token = lexer.next();
    let name = token.is_name().then(|| unquoted(&token, false).to_ascii_lowercase())?;
    let is_plain = name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    is_plain.then_some(name)
}
