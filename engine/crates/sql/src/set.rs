//! SET: a list of targets and values. A value that is not plain is `Complex`; a target that is not understood makes the whole statement
//! opaque.

use crate::lex::{Lexer, Token, TokenKind, unquoted};
use crate::{Assignment, Kind, Target, TransactionScope, Value, transaction};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Session,
    Global,
}

impl Scope {
    fn target(self, name: Vec<u8>) -> Target {
        if self == Scope::Global { Target::Global(name) } else { Target::Session(name) }
    }
}

/// Parses what follows SET. None if any part is not understood.
pub(crate) fn set(lexer: &mut Lexer) -> Option<Kind> {
    if lexer.peek().is("transaction") {
        return transaction::set_transaction(lexer, TransactionScope::Next);
    }
    let mut ahead = *lexer;
    if let Some(scope) = scope(&mut ahead)
        && ahead.peek().is("transaction")
    {
        let scope = if scope == Scope::Global { TransactionScope::Global } else { TransactionScope::Session };
        *lexer = ahead;
        return transaction::set_transaction(lexer, scope);
    }
    assignments(lexer).map(Kind::Set)
}

fn assignments(lexer: &mut Lexer) -> Option<Vec<Assignment>> {
    let mut assignments = Vec::new();
    // A scope also applies to the names after it, but not to those after `@@`.
    let mut last_scope = Scope::Session;
    loop {
        last_scope = scope(lexer).unwrap_or(last_scope);
        assignments.push(assignment(lexer, last_scope)?);
        if !lexer.accept_kind(TokenKind::Comma) {
            return Some(assignments);
        }
    }
}

fn assignment(lexer: &mut Lexer, scope: Scope) -> Option<Assignment> {
    if lexer.accept_kind(TokenKind::AtAt) {
        let target = system_variable(lexer)?;
        return assigned(lexer, target);
    }
    if lexer.accept_kind(TokenKind::At) {
        skip_user_variable(lexer)?;
        return assigned(lexer, Target::UserVariable);
    }
    if let Some(special) = special(lexer) {
        return special;
    }
    let name = variable_name(lexer)?;
    assigned(lexer, scope.target(name))
}

fn scope(lexer: &mut Lexer) -> Option<Scope> {
    if lexer.accept("global") || lexer.accept_any(lexer.mode().flavour.statements.global_scopes) {
        return Some(Scope::Global);
    }
    lexer.accept_any(&["session", "local"]).then_some(Scope::Session)
}

/// Parses the name of a system variable after `@@`, with its scope if it has one. None if it is malformed.
fn system_variable(lexer: &mut Lexer) -> Option<Target> {
    let mut ahead = *lexer;
    if let Some(scope) = scope(&mut ahead)
        && ahead.accept_kind(TokenKind::Dot)
    {
        *lexer = ahead;
        return variable_name(lexer).map(|name| scope.target(name));
    }
    let name = variable_name(lexer)?;
    let is_for_next_transaction = matches!(
        name.as_slice(),
        b"tx_isolation" | b"transaction_isolation" | b"tx_read_only" | b"transaction_read_only"
    );
    Some(if is_for_next_transaction { Target::OneShot(name) } else { Target::Session(name) })
}

/// Parses the name of a system variable, perhaps with a dot in it, and returns it in lower case. None if no name follows.
fn variable_name(lexer: &mut Lexer) -> Option<Vec<u8>> {
    let mut name = plain_name(&lexer.next())?;
    if lexer.accept_kind(TokenKind::Dot) {
        name.push(b'.');
        name.extend(plain_name(&lexer.next())?);
    }
    name.make_ascii_lowercase();
    Some(name)
}

fn plain_name(token: &Token) -> Option<Vec<u8>> {
    token.is_name().then(|| unquoted(token, false).into_owned())
}

fn skip_user_variable(lexer: &mut Lexer) -> Option<()> {
    let token = lexer.next();
    (token.is_name() || token.kind == TokenKind::Text).then_some(())?;
    while lexer.accept_kind(TokenKind::Dot) {
        lexer.next().is_name().then_some(())?;
    }
    Some(())
}

/// Parses a form that does not assign to a variable, such as SET NAMES. `None`, and nothing is taken, if another form follows; `Some(None)`
/// if it is malformed.
fn special(lexer: &mut Lexer) -> Option<Option<Assignment>> {
    let mut ahead = *lexer;
    let word = ahead.next();
    let is_assigned = matches!(ahead.peek().kind, TokenKind::Equal | TokenKind::Assign);
    if word.is("password") {
        *lexer = ahead;
        return Some(complex(lexer, Target::Password));
    }
    if is_assigned {
        return None;
    }
    let assignment = if word.is("names") {
        names(&mut ahead)
    } else if word.is("charset") || word.is_any(&["character", "char"]) && ahead.accept("set") {
        word_value(&mut ahead, Target::Charset)
    } else if word.is("role") {
        word_value(&mut ahead, Target::Role)
    } else if word.is("default") && ahead.accept("role") {
        complex(&mut ahead, Target::DefaultRole)
    } else {
        return None;
    };
    *lexer = ahead;
    Some(assignment)
}

/// Parses what follows SET NAMES. None if it is malformed.
fn names(lexer: &mut Lexer) -> Option<Assignment> {
    let value = plain_value(lexer)?;
    let collation = if lexer.accept("collate") { plain_value(lexer)?.plain().map(<[u8]>::to_vec) } else { None };
    Some(Assignment { target: Target::Names { collation }, value })
}

fn word_value(lexer: &mut Lexer, target: Target) -> Option<Assignment> {
    Some(Assignment { target, value: plain_value(lexer)? })
}

fn complex(lexer: &mut Lexer, target: Target) -> Option<Assignment> {
    skip_expression(lexer);
    Some(Assignment { target, value: Value::Complex })
}

fn assigned(lexer: &mut Lexer, target: Target) -> Option<Assignment> {
    matches!(lexer.next().kind, TokenKind::Equal | TokenKind::Assign).then_some(())?;
    Some(Assignment { target, value: value(lexer)? })
}

/// Parses the right side of an assignment: a plain value if nothing follows it, otherwise an expression ([`Value::Complex`]). `None` if
/// there is neither.
fn value(lexer: &mut Lexer) -> Option<Value> {
    let mut ahead = *lexer;
    let plain = plain_value(&mut ahead);
    if let (Some(value), true) = (plain, is_value_end(&mut ahead)) {
        *lexer = ahead;
        return Some(value);
    }
    if is_value_end(lexer) {
        return None;
    }
    skip_expression(lexer);
    Some(Value::Complex)
}

fn is_value_end(lexer: &mut Lexer) -> bool {
    lexer.peek().kind == TokenKind::Comma || lexer.is_at_end()
}

fn plain_value(lexer: &mut Lexer) -> Option<Value> {
    let token = lexer.next();
    let has_escapes = !lexer.mode().no_backslash_escapes;
    match token.kind {
        TokenKind::Word if token.is("default") => Some(Value::Default),
        TokenKind::Word | TokenKind::Quoted => Some(Value::Word(unquoted(&token, false).into_owned())),
        TokenKind::Text => Some(Value::Text(unquoted(&token, has_escapes).into_owned())),
        TokenKind::Number => Some(Value::Number(token.text.to_vec())),
        TokenKind::Operator if matches!(token.text, b"-" | b"+") => {
            let number = lexer.next();
            let is_number = number.kind == TokenKind::Number;
            is_number.then(|| Value::Number([token.text, number.text].concat()))
        }
        _ => None,
    }
}

/// Skips an expression, up to a comma outside of parentheses or the end of the statement.
fn skip_expression(lexer: &mut Lexer) {
    let mut depth = 0u32;
    loop {
        match lexer.peek().kind {
            TokenKind::End | TokenKind::Broken | TokenKind::Semicolon => return,
            TokenKind::Comma if depth == 0 => return,
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        lexer.next();
    }
}
