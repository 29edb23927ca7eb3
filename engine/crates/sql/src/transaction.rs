//! Statements that begin, end and shape transactions. Each must match to its last token.

use crate::lex::{Lexer, TokenKind};
use crate::{Begin, Completion, Isolation, Kind, SetTransaction, TransactionScope, Xa};

/// Parses what follows BEGIN. [`Kind::Compound`] if it is the beginning of a block.
pub(crate) fn begin(lexer: &mut Lexer) -> Kind {
    if lexer.accept("not") {
        return Kind::Compound;
    }
    lexer.accept("work");
    if lexer.is_at_end() { Kind::Begin(Begin::default()) } else { Kind::Compound }
}

/// Parses what follows START, if it is START TRANSACTION. None for anything else.
pub(crate) fn start(lexer: &mut Lexer) -> Option<Kind> {
    lexer.accept("transaction").then_some(())?;
    let mut begin = Begin::default();
    if lexer.is_at_end() {
        return Some(Kind::Begin(begin));
    }
    loop {
        if lexer.accept("with") {
            (lexer.accept("consistent") && lexer.accept("snapshot")).then_some(())?;
            begin.consistent_snapshot = true;
        } else {
            match read_access(lexer)? {
                true => begin.read_only = true,
                false => begin.read_write = true,
            }
        }
        if !lexer.accept_kind(TokenKind::Comma) {
            return Some(Kind::Begin(begin));
        }
    }
}

/// Parses READ ONLY (true) or READ WRITE (false). None for anything else.
fn read_access(lexer: &mut Lexer) -> Option<bool> {
    lexer.accept("read").then_some(())?;
    access(lexer)
}

fn access(lexer: &mut Lexer) -> Option<bool> {
    let is_read_only = lexer.accept("only");
    (is_read_only || lexer.accept("write")).then_some(is_read_only)
}

/// Parses what follows COMMIT, or ROLLBACK without a savepoint. None if it is malformed.
pub(crate) fn completion(lexer: &mut Lexer) -> Option<Completion> {
    lexer.accept("work");
    let mut completion = Completion::default();
    if lexer.accept("and") {
        completion.chain = Some(!lexer.accept("no"));
        lexer.accept("chain").then_some(())?;
    }
    if lexer.accept("no") {
        completion.release = Some(false);
        lexer.accept("release").then_some(())?;
    } else if lexer.accept("release") {
        completion.release = Some(true);
    }
    Some(completion)
}

/// Parses what follows ROLLBACK, also TO a savepoint. None if it is malformed.
pub(crate) fn rollback(lexer: &mut Lexer) -> Option<Kind> {
    let mut ahead = *lexer;
    ahead.accept("work");
    if !ahead.accept("to") {
        return completion(lexer).map(Kind::Rollback);
    }
    *lexer = ahead;
    lexer.accept("savepoint");
    lexer.next().is_name().then_some(Kind::RollbackToSavepoint)
}

/// Parses what follows SET and a scope, from TRANSACTION on. None if it is not understood.
pub(crate) fn set_transaction(lexer: &mut Lexer, scope: TransactionScope) -> Option<Kind> {
    lexer.accept("transaction").then_some(())?;
    let mut set = SetTransaction { scope, isolation: None, read_only: None };
    loop {
        if lexer.accept("isolation") {
            lexer.accept("level").then_some(())?;
            set.isolation = Some(isolation(lexer)?);
        } else {
            set.read_only = Some(read_access(lexer)?);
        }
        if !lexer.accept_kind(TokenKind::Comma) {
            return Some(Kind::SetTransaction(set));
        }
    }
}

fn isolation(lexer: &mut Lexer) -> Option<Isolation> {
    if lexer.accept("serializable") {
        return Some(Isolation::Serializable);
    }
    if lexer.accept("repeatable") {
        return lexer.accept("read").then_some(Isolation::RepeatableRead);
    }
    lexer.accept("read").then_some(())?;
    if lexer.accept("committed") {
        return Some(Isolation::ReadCommitted);
    }
    lexer.accept("uncommitted").then_some(Isolation::ReadUncommitted)
}

/// Parses the verb after XA. The identifier of the transaction is left to the server. None for an unknown verb.
pub(crate) fn xa(lexer: &mut Lexer) -> Option<Kind> {
    const VERBS: [(&str, Xa); 7] = [
        ("start", Xa::Start),
        ("begin", Xa::Start),
        ("end", Xa::End),
        ("prepare", Xa::Prepare),
        ("commit", Xa::Commit),
        ("rollback", Xa::Rollback),
        ("recover", Xa::Recover),
    ];
    let verb = lexer.next();
    VERBS.iter().find(|(name, _)| verb.is(name)).map(|(_, xa)| Kind::Xa(*xa))
}
