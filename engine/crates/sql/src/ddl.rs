//! Data definition (CREATE, DROP, ALTER, ...): which tables does a statement touch? A statement that may touch anything else than the
//! tables it names counts as touching everything.
//!
//! A rename always touches everything: it may rename a view, whose results depend on other tables.

use crate::lex::{Lexer, TokenKind, unquoted};
use crate::{DdlScope, Kind, TableName};

/// Parses what follows CREATE, and returns which tables the statement may touch.
pub(crate) fn create(lexer: &mut Lexer) -> Kind {
    if lexer.accept("or") {
        lexer.accept("replace");
    }
    if lexer.accept("temporary") {
        return Kind::CreateTemporary;
    }
    if lexer.accept("table") {
        skip_words(lexer, &["if", "not", "exists"]);
        return ddl(table(lexer).map(|table| vec![table]));
    }
    skip_words(lexer, &["online", "offline", "unique", "fulltext", "spatial"]);
    if lexer.accept("index") {
        skip_words(lexer, &["if", "not", "exists"]);
        return ddl(indexed_table(lexer));
    }
    ddl(None)
}

/// Parses what follows DROP, and returns which tables the statement may touch. DROP PREPARE is a [`Kind::Deallocate`].
pub(crate) fn drop(lexer: &mut Lexer) -> Kind {
    if lexer.accept("prepare") {
        return Kind::Deallocate;
    }
    if lexer.accept("temporary") {
        lexer.accept_any(&["table", "tables", "sequence"]);
        return Kind::DropTemporary { may_be_missing: lexer.accept("if") };
    }
    if lexer.accept_any(&["table", "tables"]) {
        skip_words(lexer, &["if", "exists"]);
        return ddl(tables(lexer));
    }
    if lexer.accept("index") {
        skip_words(lexer, &["if", "exists"]);
        return ddl(indexed_table(lexer));
    }
    ddl(None)
}

/// Parses what follows ALTER, and returns which tables the statement may touch.
pub(crate) fn alter(lexer: &mut Lexer) -> Kind {
    skip_words(lexer, &["online", "offline", "ignore"]);
    if !lexer.accept("table") {
        return ddl(None);
    }
    skip_words(lexer, &["if", "exists"]);
    let table = table(lexer);
    // Words of ALTER TABLE whose clauses affect other tables, or give the table another name.
    const REACHING: [&str; 4] = ["exchange", "rename", "convert", "union"];
    if mentions_any(*lexer, &REACHING) {
        return ddl(None);
    }
    ddl(table.map(|table| vec![table]))
}

/// Parses what follows TRUNCATE, and returns which table the statement touches.
pub(crate) fn truncate(lexer: &mut Lexer) -> Kind {
    lexer.accept("table");
    ddl(table(lexer).map(|table| vec![table]))
}

/// Parses what follows CHECK, OPTIMIZE, REPAIR or ANALYZE, and returns which tables the statement may touch.
pub(crate) fn maintain(lexer: &mut Lexer) -> Kind {
    lexer.accept_any(&["no_write_to_binlog", "local"]);
    if !lexer.accept_any(&["table", "tables"]) {
        return ddl(None);
    }
    ddl(tables(lexer))
}

/// Returns the kind of a data definition statement (DDL) that may change any table.
pub(crate) fn everything() -> Kind {
    ddl(None)
}

/// Returns the kind of a data definition statement that touches these tables; for None, everything.
fn ddl(tables: Option<Vec<TableName>>) -> Kind {
    Kind::Ddl(tables.map_or(DdlScope::Everything, DdlScope::Tables))
}

fn skip_words(lexer: &mut Lexer, words: &[&str]) {
    while lexer.accept_any(words) {}
}

fn mentions_any(mut lexer: Lexer, words: &[&str]) -> bool {
    loop {
        let token = lexer.next();
        match token.kind {
            TokenKind::End | TokenKind::Broken => return false,
            _ if token.is_any(words) => return true,
            _ => {}
        }
    }
}

fn tables(lexer: &mut Lexer) -> Option<Vec<TableName>> {
    let mut tables = vec![table(lexer)?];
    while lexer.accept_kind(TokenKind::Comma) {
        tables.push(table(lexer)?);
    }
    Some(tables)
}

/// Parses the name of an index, then ON and a table, and returns the table. None if the text is anything else.
fn indexed_table(lexer: &mut Lexer) -> Option<Vec<TableName>> {
    name(lexer)?;
    if lexer.accept("using") {
        name(lexer)?;
    }
    lexer.accept("on").then_some(())?;
    Some(vec![table(lexer)?])
}

fn table(lexer: &mut Lexer) -> Option<TableName> {
    let first = name(lexer)?;
    if lexer.accept_kind(TokenKind::Dot) {
        return Some(TableName { db: Some(first), name: name(lexer)? });
    }
    Some(TableName { db: None, name: first })
}

fn name(lexer: &mut Lexer) -> Option<Vec<u8>> {
    let token = lexer.next();
    token.is_name().then(|| unquoted(&token, false).into_owned())
}
