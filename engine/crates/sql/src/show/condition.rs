//! WHERE of a report: tests of a column against a literal, joined by AND, OR, NOT and parentheses.
//!
//! The parser does not recurse, however deep the parentheses are: an operator stays on a stack until its operands are complete.

use crate::Charset;
use crate::lex::{Lexer, Token, TokenKind, unquoted};
use crate::selection::{Comparison, Condition, Literal, Pattern, SelectionError, Step, Test, TestOperator};

/// An operator or parenthesis whose operands are not complete. Ordered by how tightly it binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Waiting {
    Parenthesis,
    Or,
    And,
    Not,
}

/// Operators that the server's own WHERE supports and the WHERE of a report does not.
const OTHERS: [&str; 9] = ["xor", "in", "between", "regexp", "rlike", "sounds", "collate", "div", "mod"];

/// Parses the condition after WHERE, to the end of the statement. The error is for the user.
pub(super) fn condition(lexer: &mut Lexer) -> Result<Condition, SelectionError> {
    let mut condition = Condition::default();
    let mut waiting = Vec::new();
    loop {
        if lexer.accept("not") {
            waiting.push(Waiting::Not);
            continue;
        }
        if lexer.accept_kind(TokenKind::Open) {
            waiting.push(Waiting::Parenthesis);
            continue;
        }
        test(lexer, &mut condition.steps)?;
        if !join(lexer, &mut waiting, &mut condition.steps)? {
            return Ok(condition);
        }
    }
}

/// Parses what follows a test: closing parentheses, then AND or OR (true), or the end of the statement (false).
fn join(lexer: &mut Lexer, waiting: &mut Vec<Waiting>, steps: &mut Vec<Step>) -> Result<bool, SelectionError> {
    loop {
        let token = lexer.peek();
        if lexer.is_at_end() {
            complete(waiting, Waiting::Or, steps);
            return if waiting.is_empty() { Ok(false) } else { Err(SelectionError::Syntax(None)) };
        }
        lexer.next();
        let joint = match token.kind {
            TokenKind::Close => {
                complete(waiting, Waiting::Or, steps);
                waiting.pop().ok_or(SelectionError::Syntax(Some(token.start)))?;
                continue;
            }
            _ if token.is("and") => Waiting::And,
            _ if token.is("or") => Waiting::Or,
            _ => return Err(not_understood(&token)),
        };
        complete(waiting, joint, steps);
        waiting.push(joint);
        return Ok(true);
    }
}

/// Moves operators that bind at least as tightly as `binding` from the end of `waiting` to `steps`, because their operands are complete.
fn complete(waiting: &mut Vec<Waiting>, binding: Waiting, steps: &mut Vec<Step>) {
    while let Some(last) = waiting.pop_if(|last| *last >= binding) {
        steps.push(match last {
            Waiting::Or => Step::Or,
            Waiting::And => Step::And,
            Waiting::Not | Waiting::Parenthesis => Step::Not,
        });
    }
}

fn test(lexer: &mut Lexer, steps: &mut Vec<Step>) -> Result<(), SelectionError> {
    let token = lexer.next();
    if !token.is_name() || token.is_any(&["and", "or", "like", "is", "where"]) {
        return Err(not_a_column(&token));
    }
    let column = text(&token, lexer)?;
    match lexer.peek().kind {
        TokenKind::Dot => return unsupported("a column with the name of its table"),
        TokenKind::Open => return unsupported("a function"),
        _ => {}
    }
    let is_negated = lexer.accept("not");
    let verb = if lexer.accept("like") {
        TestOperator::Like(pattern(lexer)?)
    } else if is_negated {
        return Err(not_understood(&lexer.next()));
    } else if lexer.accept("is") {
        return is_null(lexer, column, steps);
    } else {
        TestOperator::Compare(comparison(lexer)?, literal(lexer)?)
    };
    steps.push(Step::Test(Test { column, verb }));
    steps.extend(is_negated.then_some(Step::Not));
    Ok(())
}

fn is_null(lexer: &mut Lexer, column: String, steps: &mut Vec<Step>) -> Result<(), SelectionError> {
    let is_negated = lexer.accept("not");
    let token = lexer.next();
    if token.is_any(&["true", "false", "unknown"]) {
        return unsupported("IS TRUE, FALSE and UNKNOWN");
    }
    token.is("null").then_some(()).ok_or_else(|| not_understood(&token))?;
    steps.push(Step::Test(Test { column, verb: TestOperator::IsNull }));
    steps.extend(is_negated.then_some(Step::Not));
    Ok(())
}

/// Parses the pattern after LIKE. The error is for the user, for example if it is not a string literal.
pub(super) fn pattern(lexer: &mut Lexer) -> Result<Pattern, SelectionError> {
    let token = lexer.next();
    if token.kind != TokenKind::Text {
        return Err(if token.is_name() { column_on_the_right() } else { not_understood(&token) });
    }
    let pattern = Pattern::new(&text(&token, lexer)?, !lexer.mode().no_backslash_escapes);
    if lexer.peek().is("escape") { unsupported("ESCAPE") } else { Ok(pattern) }
}

fn comparison(lexer: &mut Lexer) -> Result<Comparison, SelectionError> {
    let first = lexer.next();
    let mut follows = |sign: &[u8]| {
        let next = lexer.peek();
        let is_it = next.text == sign && next.start == first.end();
        is_it && lexer.next().text == sign
    };
    let comparison = match first.text {
        b"=" => Comparison::Equal,
        b"<" if follows(b"=") => {
            if follows_null_safe(lexer, &first) {
                return unsupported("<=>");
            }
            Comparison::LessOrEqual
        }
        b"<" if follows(b">") => Comparison::NotEqual,
        b"<" => Comparison::Less,
        b">" if follows(b"=") => Comparison::GreaterOrEqual,
        b">" => Comparison::Greater,
        b"!" if follows(b"=") => Comparison::NotEqual,
        _ if first.kind == TokenKind::End || first.is_any(&["and", "or"]) || first.kind == TokenKind::Close => {
            return unsupported("a column without a comparison");
        }
        _ => return Err(not_understood(&first)),
    };
    Ok(comparison)
}

fn follows_null_safe(lexer: &mut Lexer, first: &Token) -> bool {
    let next = lexer.peek();
    next.text == b">" && next.start == first.end() + 1
}

fn literal(lexer: &mut Lexer) -> Result<Literal, SelectionError> {
    let mut token = lexer.next();
    let sign = matches!(token.text, b"-" | b"+").then_some(token.text);
    if sign.is_some() {
        token = lexer.next();
    }
    match token.kind {
        TokenKind::Text if sign.is_none() => Ok(Literal::Text(text(&token, lexer)?)),
        TokenKind::Number => {
            let number = std::str::from_utf8(token.text).ok().and_then(|text| text.parse::<f64>().ok());
            let number = number.ok_or_else(|| not_understood(&token))?;
            Ok(Literal::Number(if sign == Some(b"-") { -number } else { number }))
        }
        TokenKind::Special => unsupported("a literal of this kind"),
        TokenKind::At | TokenKind::AtAt => unsupported("a variable"),
        TokenKind::Open => unsupported("a query or an expression on the right side"),
        _ if token.is("null") => unsupported("a comparison with NULL"),
        _ if token.is_name() => Err(column_on_the_right()),
        _ => Err(not_understood(&token)),
    }
}

/// Returns the value of a name or a literal without its quotes. Err if its character set cannot be read.
fn text(token: &Token, lexer: &Lexer) -> Result<String, SelectionError> {
    if !token.text.is_ascii() && lexer.mode().charset != Charset::Utf8 {
        return unsupported("letters beyond ASCII in this character set");
    }
    Ok(String::from_utf8_lossy(&unquoted(token, !lexer.mode().no_backslash_escapes)).into_owned())
}

fn unsupported<T>(what: &str) -> Result<T, SelectionError> {
    Err(SelectionError::Unsupported(what.to_owned()))
}

fn column_on_the_right() -> SelectionError {
    SelectionError::Unsupported("a column on the right side".to_owned())
}

fn not_a_column(token: &Token) -> SelectionError {
    match token.kind {
        TokenKind::Text | TokenKind::Number | TokenKind::Special => {
            SelectionError::Unsupported("a literal on the left side".to_owned())
        }
        TokenKind::At | TokenKind::AtAt => SelectionError::Unsupported("a variable".to_owned()),
        _ => not_understood(token),
    }
}

/// Returns the error for a token that does not belong there.
pub(super) fn not_understood(token: &Token) -> SelectionError {
    match token.kind {
        TokenKind::End | TokenKind::Semicolon => SelectionError::Syntax(None),
        TokenKind::Operator => SelectionError::Unsupported(String::from_utf8_lossy(token.text).into_owned()),
        _ if token.is_any(&OTHERS) => SelectionError::Unsupported(String::from_utf8_lossy(token.text).to_uppercase()),
        _ => SelectionError::Syntax(Some(token.start)),
    }
}
