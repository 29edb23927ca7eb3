//! Determines the kind of a statement from its first keyword on. If the rest of a statement matters, it must match to its last token.

use crate::lex::{LONGEST_WORD, Lexer, Token, TokenKind, unquoted};
use crate::walk::{Ending, Findings, walk};
use crate::{
    Charset, Completion, DdlScope, Flush, Kind, LexMode, Read, Show, Statement, ddl, named, set, show, transaction,
};

/// Classifies the text of one command, read under this mode. Never fails: a text that is not understood is [`Kind::Opaque`]. A text with a
/// syntax error may be classified as if it had none.
pub fn classify(text: &[u8], mode: LexMode) -> Statement {
    if mode.charset == Charset::Unreadable {
        return opaque();
    }
    let statement = statement(Lexer::new(text, mode), true);
    // SET and SHOW have the same syntax in every mode.
    let is_common = matches!(statement.kind, Kind::Set(_) | Kind::Show(_));
    if mode.is_foreign && !is_common { opaque() } else { statement }
}

/// True if this expression of a generated column certainly has the same value at every read of the same row, in every session.
pub fn is_deterministic(expression: &[u8], mode: LexMode) -> bool {
    let text = [b"SELECT ", expression, b" FROM t"].concat();
    matches!(classify(&text, mode).kind, Kind::Read(read) if read.refusal.is_none())
}

/// The classification of a text that is not understood: it may do anything.
fn opaque() -> Statement {
    Statement {
        kind: Kind::Opaque,
        reads_diagnostics: true,
        may_call_stored: true,
        may_write_by_the_way: true,
        is_update: false,
    }
}

/// Classifies the text from the lexer's position on. `may_nest` is false for a statement inside of another text: then several statements in
/// one, and SET STATEMENT with a further statement, are not analysed.
fn statement(lexer: Lexer, may_nest: bool) -> Statement {
    let found = walk(after_written_table(lexer));
    let kind = match found.ending {
        Ending::Broken => return opaque(),
        Ending::Multiple if may_nest && is_about_rows(lexer) => Kind::Several,
        Ending::Multiple => Kind::Multiple,
        Ending::Single if is_read(lexer) => Kind::Read(read(lexer, &found)),
        Ending::Single if found.has_executable_comment => return opaque(),
        Ending::Single => {
            by_keyword(lexer, may_nest).filter(|kind| is_known(kind, lexer.mode())).unwrap_or(Kind::Opaque)
        }
    };
    let is_read_whole = found.ending == Ending::Single && !found.has_executable_comment && !lexer.mode().is_foreign;
    let may_call_stored = found.calls_stored || !is_read_whole || kind == Kind::Opaque;
    let may_write_by_the_way = found.may_write || may_call_stored;
    let is_update = kind == Kind::Write && { lexer }.accept("update");
    Statement {
        reads_diagnostics: reads_diagnostics(&kind, &found),
        kind,
        may_call_stored,
        may_write_by_the_way,
        is_update,
    }
}

/// True if the server of this mode has statements of this kind.
fn is_known(kind: &Kind, mode: LexMode) -> bool {
    !matches!(kind, Kind::Compound) || mode.flavour.statements.has_compound
}

/// True if each of several statements in one text reads or changes rows, is empty, or begins or ends a transaction without further effects.
fn is_about_rows(mut lexer: Lexer) -> bool {
    let (text, mode) = (lexer.text(), lexer.mode());
    let mut start = 0;
    loop {
        let token = lexer.next();
        match token.kind {
            TokenKind::Broken | TokenKind::ExecutableComment => return false,
            TokenKind::Semicolon | TokenKind::End => {
                let part = statement(Lexer::new(&text[start..token.start], mode), false);
                let is_known = matches!(part.kind, Kind::Read(_) | Kind::Write | Kind::Begin(_) | Kind::Empty)
                    || matches!(part.kind, Kind::Commit(done) | Kind::Rollback(done) if done == Completion::default());
                if !is_known || token.kind == TokenKind::End {
                    return is_known;
                }
                start = token.end();
            }
            _ => {}
        }
    }
}

fn reads_diagnostics(kind: &Kind, found: &Findings) -> bool {
    match kind {
        // Harmless includes GET DIAGNOSTICS.
        Kind::Harmless | Kind::Call | Kind::Execute(_) | Kind::Compound => true,
        Kind::Several | Kind::Multiple | Kind::Opaque => true,
        Kind::Show(show) => {
            matches!(show, Show::Warnings | Show::Errors | Show::CountWarnings | Show::CountErrors)
        }
        Kind::SetStatement(inner) => found.reads_diagnostics || inner.reads_diagnostics,
        _ => found.reads_diagnostics,
    }
}

/// Returns the lexer after the table's name of an INSERT or REPLACE, where a parenthesis after the name is no call. For other statements,
/// returns it unchanged.
fn after_written_table(lexer: Lexer) -> Lexer {
    let mut ahead = lexer;
    if !ahead.accept_any(&["insert", "replace"]) {
        return lexer;
    }
    while ahead.accept_any(&["low_priority", "high_priority", "delayed", "ignore", "into"]) {}
    if !ahead.peek().is_name() {
        return lexer;
    }
    ahead.next();
    if ahead.accept_kind(TokenKind::Dot) {
        ahead.next();
    }
    ahead
}

fn read(lexer: Lexer, found: &Findings) -> Read {
    let &Findings { refusal, hint, names_table, .. } = found;
    Read { refusal, hint, leaves_found_rows: is_values_alone(lexer), names_table }
}

fn is_values_alone(mut lexer: Lexer) -> bool {
    if !lexer.accept("values") {
        return false;
    }
    loop {
        match lexer.next().kind {
            TokenKind::End | TokenKind::Semicolon => return true,
            TokenKind::Open | TokenKind::Close | TokenKind::Comma | TokenKind::Number | TokenKind::Text => {}
            _ => return false,
        }
    }
}

/// True if the statement begins like a read: SELECT, VALUES, TABLE, or WITH before a read, perhaps in parentheses.
fn is_read(mut lexer: Lexer) -> bool {
    while lexer.accept_kind(TokenKind::Open) {}
    if lexer.peek().is("with") { !writes_after_with(lexer) } else { lexer.accept_any(&["select", "values", "table"]) }
}

/// True if a statement that begins with WITH may change rows: the first verb outside of parentheses does, or an executable comment comes
/// before it.
fn writes_after_with(mut lexer: Lexer) -> bool {
    let mut depth = 0u32;
    loop {
        let token = lexer.next();
        match token.kind {
            TokenKind::End | TokenKind::Broken => return false,
            TokenKind::ExecutableComment => return true,
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            _ if token.is_any(&["insert", "update", "delete", "replace"]) => return true,
            _ if token.is_any(&["select", "values"]) => return false,
            _ => {}
        }
    }
}

/// Classifies a single statement that is no read by its first keyword. None if it is not understood.
fn by_keyword(mut lexer: Lexer, may_nest: bool) -> Option<Kind> {
    let first = lexer.next();
    if first.kind == TokenKind::End || first.kind == TokenKind::Semicolon {
        return Some(Kind::Empty);
    }
    let mut buffer = [0; LONGEST_WORD];
    let word = first.lowered(&mut buffer).filter(|_| first.kind == TokenKind::Word)?;
    let lexer = &mut lexer;
    let has = &lexer.mode().flavour.statements;
    let kind = match word {
        b"insert" | b"replace" => return written(lexer),
        b"update" | b"delete" | b"with" => return Some(Kind::Write),
        b"load" => return lexer.accept_any(&["data", "xml"]).then_some(Kind::Write),
        b"begin" => return Some(transaction::begin(lexer)),
        b"show" => return Some(Kind::Show(show::show(lexer))),
        b"explain" | b"desc" | b"describe" => return Some(Kind::Explain),
        b"analyze" => return analyze(lexer, has.has_analyze),
        b"create" => return Some(ddl::create(lexer)),
        b"drop" => return Some(ddl::drop(lexer)),
        b"alter" => return Some(ddl::alter(lexer)),
        b"truncate" => return Some(ddl::truncate(lexer)),
        b"check" | b"optimize" | b"repair" => return Some(ddl::maintain(lexer)),
        b"rename" | b"grant" | b"revoke" | b"install" | b"uninstall" => return Some(ddl::everything()),
        b"handler" => return Some(Kind::Handler),
        b"call" => return Some(Kind::Call),
        b"execute" if lexer.accept("immediate") => return Some(Kind::Compound),
        b"execute" => return Some(Kind::Execute(named::executed(lexer))),
        b"prepare" => return Some(Kind::Prepare(named::prepared(lexer))),
        b"deallocate" => return Some(Kind::Deallocate),
        b"if" | b"case" | b"loop" | b"while" | b"repeat" | b"for" => return Some(Kind::Compound),
        b"do" => return Some(Kind::Do),
        b"kill" => return Some(Kind::Kill),
        b"flush" => return Some(Kind::Flush(flush(lexer))),
        // These statements change nothing that a read could see, but they commit.
        b"backup" if has.has_backup => return Some(Kind::Ddl(DdlScope::Tables(Vec::new()))),
        b"checksum" | b"help" => return Some(Kind::Harmless),
        b"get" => return diagnostics(lexer),
        b"lock" => return lexer.accept_any(&["table", "tables"]).then_some(Kind::LockTables),
        b"xa" => return transaction::xa(lexer),
        b"set" if lexer.accept("statement") => return set_statement(lexer, may_nest && has.has_set_statement),
        b"set" => set::set(lexer)?,
        b"start" => transaction::start(lexer)?,
        b"commit" => Kind::Commit(transaction::completion(lexer)?),
        b"rollback" => transaction::rollback(lexer)?,
        b"savepoint" => named(lexer, Kind::Savepoint)?,
        b"release" if lexer.accept("savepoint") => named(lexer, Kind::ReleaseSavepoint)?,
        b"attach" => attach(lexer)?,
        b"use" => Kind::Use(name(lexer)?),
        b"unlock" if lexer.accept_any(&["table", "tables"]) => Kind::UnlockTables,
        b"reset" if has.has_query_cache && lexer.accept("query") && lexer.accept("cache") => Kind::ResetQueryCache,
        _ => return None,
    };
    lexer.is_at_end().then_some(kind)
}

/// Parses what follows ATTACH in `ATTACH FQC NEAR 'name' PROTOCOL number`. None for anything else.
fn attach(lexer: &mut Lexer) -> Option<Kind> {
    (lexer.accept("fqc") && lexer.accept("near")).then_some(())?;
    let name = Some(lexer.next()).filter(|token| token.kind == TokenKind::Text)?;
    let name = crate::lex::unquoted(&name, !lexer.mode().no_backslash_escapes).into_owned();
    lexer.accept("protocol").then_some(())?;
    let protocol = std::str::from_utf8(lexer.next().text).ok()?.parse().ok()?;
    Some(Kind::AttachNear { name, protocol })
}

/// Classifies what follows INSERT or REPLACE. None with DELAYED: another thread writes the rows at an unknown later time.
fn written(lexer: &mut Lexer) -> Option<Kind> {
    (!lexer.peek().is("delayed")).then_some(Kind::Write)
}

/// Parses what follows ANALYZE: tables, or a statement. `explains` is true for a product in which ANALYZE before a statement executes and
/// explains it. None for anything else.
fn analyze(lexer: &mut Lexer, explains: bool) -> Option<Kind> {
    if lexer.peek().is_any(&["table", "tables", "local", "no_write_to_binlog"]) {
        return Some(ddl::maintain(lexer));
    }
    explains.then_some(())?;
    if lexer.accept("format") {
        lexer.next();
        lexer.next();
    }
    if lexer.peek().is_any(&["update", "delete", "insert", "replace"]) {
        lexer.next();
        return written(lexer);
    }
    is_read(*lexer).then_some(Kind::Explain)
}

fn diagnostics(lexer: &mut Lexer) -> Option<Kind> {
    lexer.accept_any(&["current", "stacked"]);
    lexer.accept("diagnostics").then_some(Kind::Harmless)
}

fn flush(lexer: &mut Lexer) -> Flush {
    lexer.accept_any(&["no_write_to_binlog", "local"]);
    let has = &lexer.mode().flavour.statements;
    let flush = if has.has_query_cache && lexer.accept("query") && lexer.accept("cache") {
        Flush::QueryCache
    } else {
        let is_of_all = lexer.accept("global") || !lexer.accept("session") && has.flushes_status_of_all;
        let flush = if is_of_all { Flush::Status } else { Flush::SessionStatus };
        if lexer.accept("status") { flush } else { Flush::Other }
    };
    if lexer.is_at_end() { flush } else { Flush::Other }
}

/// True for a variable whose character set SET STATEMENT restores by name, so that its collation may be another one afterwards.
fn is_put_back_by_name(token: &Token) -> bool {
    let name = unquoted(token, false);
    let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
    is("character_set_client") || is("character_set_connection") || is("character_set_results")
}

/// Parses what follows SET STATEMENT: assignments, FOR and a statement. None if it is not understood, may not nest, or sets a variable that
/// may not be restored exactly.
fn set_statement(lexer: &mut Lexer, may_nest: bool) -> Option<Kind> {
    may_nest.then_some(())?;
    let mut depth = 0u32;
    loop {
        let token = lexer.next();
        match token.kind {
            TokenKind::End => return None,
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth = depth.saturating_sub(1),
            _ if depth == 0 && token.is("for") => break,
            _ if is_put_back_by_name(&token) => return None,
            _ => {}
        }
    }
    Some(Kind::SetStatement(Box::new(statement(*lexer, false))))
}

fn named(lexer: &mut Lexer, kind: Kind) -> Option<Kind> {
    name(lexer).map(|_| kind)
}

fn name(lexer: &mut Lexer) -> Option<Vec<u8>> {
    let token = lexer.next();
    token.is_name().then(|| unquoted(&token, false).into_owned())
}
