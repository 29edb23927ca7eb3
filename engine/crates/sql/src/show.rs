//! SHOW, as far as the engine gives the answer or changes the server's one.

mod condition;

use crate::lex::{Lexer, TokenKind, unquoted};
use crate::{Filter, FqcTopic, Selection, SelectionError, Show, ShowScope};

/// Parses what follows SHOW. [`Show::Other`] if the engine neither answers the statement nor changes the server's answer.
pub(crate) fn show(lexer: &mut Lexer) -> Show {
    match known(lexer) {
        Some(show) => show,
        None => Show::Other,
    }
}

fn known(lexer: &mut Lexer) -> Option<Show> {
    if lexer.accept("fqc") {
        let topic = topic(lexer)?;
        return Some(Show::Fqc { topic, rows: selection(lexer) });
    }
    if lexer.accept("count") {
        return count(lexer);
    }
    if lexer.accept("warnings") {
        return Some(Show::Warnings);
    }
    if lexer.accept("errors") {
        return Some(Show::Errors);
    }
    variables(lexer)
}

fn variables(lexer: &mut Lexer) -> Option<Show> {
    let scope = if lexer.accept("global") {
        ShowScope::Global
    } else {
        lexer.accept_any(&["session", "local"]);
        ShowScope::Session
    };
    if lexer.accept("status") {
        return Some(Show::Status { scope, filter: filter(lexer) });
    }
    lexer.accept("variables").then_some(())?;
    Some(Show::Variables { scope, filter: filter(lexer) })
}

/// Parses `COUNT(*) WARNINGS` and `COUNT(*) ERRORS`, from the parenthesis on.
fn count(lexer: &mut Lexer) -> Option<Show> {
    lexer.accept_kind(TokenKind::Open).then_some(())?;
    (lexer.next().text == b"*" && lexer.accept_kind(TokenKind::Close)).then_some(())?;
    if lexer.accept("errors") {
        return Some(Show::CountErrors);
    }
    lexer.accept("warnings").then_some(Show::CountWarnings)
}

fn topic(lexer: &mut Lexer) -> Option<FqcTopic> {
    const TOPICS: [(&str, FqcTopic); 6] = [
        ("status", FqcTopic::Status),
        ("queries", FqcTopic::Queries),
        ("tables", FqcTopic::Tables),
        ("reasons", FqcTopic::Reasons),
        ("curve", FqcTopic::Curve),
        ("near", FqcTopic::Near),
    ];
    let word = lexer.next();
    TOPICS.iter().find(|(name, _)| word.is(name)).map(|(_, topic)| *topic)
}

/// Parses LIKE or WHERE after the name of a report, to the end of the statement. The error is for the user.
fn selection(lexer: &mut Lexer) -> Result<Selection, SelectionError> {
    if lexer.is_at_end() {
        return Ok(Selection::All);
    }
    if lexer.accept("where") {
        return condition::condition(lexer).map(Selection::Where);
    }
    let token = lexer.next();
    token.is("like").then_some(()).ok_or(SelectionError::Syntax(Some(token.start)))?;
    let pattern = condition::pattern(lexer)?;
    let next = lexer.peek();
    if lexer.is_at_end() { Ok(Selection::Like(pattern)) } else { Err(condition::not_understood(&next)) }
}

/// Parses LIKE after SHOW STATUS and SHOW VARIABLES, to the end of the statement.
fn filter(lexer: &Lexer) -> Filter {
    let mut lexer = *lexer;
    if lexer.is_at_end() {
        return Filter::None;
    }
    let is_like = lexer.accept("like");
    let pattern = lexer.next();
    if is_like && pattern.kind == TokenKind::Text && lexer.is_at_end() {
        return Filter::Like(unquoted(&pattern, !lexer.mode().no_backslash_escapes).into_owned());
    }
    Filter::Other
}
