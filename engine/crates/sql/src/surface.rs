//! Users write `query_cache_size`, and the server knows `fqc_size`. Statements are translated on their way to the server, by the
//! flavour's list.
//!
//! Only names in the position of a system variable are translated: after `@@`, or on the left side of SET. Strings, columns and comments
//! stay unchanged.

use crate::lex::{Lexer, Token, TokenKind, unquoted};
use crate::{Charset, LexMode, contains_ignoring_case};
use flavour::Statements;

/// A statement translated for the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// The text to send to the server instead.
    pub text: Vec<u8>,
    /// The replaced names, each of them once, to translate column names of the result back by
    /// `wire::surface::rename_columns`.
    pub renamed: Vec<Renamed>,
}

/// A name of a system variable that was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// The name that the user wrote, such as `query_cache_size`, without quotes.
    pub theirs: Vec<u8>,
    /// The name that the server knows, such as `fqc_size`.
    pub ours: &'static str,
}

/// Replaces names such as `query_cache_size` by the server's own, such as `fqc_size`, where they stand for system variables. `None`: the
/// statement contains none, or cannot be read, and goes to the server unchanged.
pub fn rewrite(text: &[u8], mode: LexMode) -> Option<Rewrite> {
    let statements = &mode.flavour.statements;
    if mode.charset == Charset::Unreadable || !may_mention_alias(text, statements) {
        return None;
    }
    let mut out = Rewrite { text: Vec::new(), renamed: Vec::new() };
    let mut copied = 0;
    let mut tokens = TokensInContext::of(text, mode);
    loop {
        let TokenInContext { token, is_variable, is_for_statement } = tokens.next();
        match token.kind {
            TokenKind::End => break,
            TokenKind::Broken => return None,
            _ => {}
        }
        let is_refused = |ours: &str| is_for_statement && statements.not_in_set_statement.contains(&ours);
        if let Some(ours) = alias(&token, statements).filter(|ours| is_variable && !is_refused(ours)) {
            out.text.extend_from_slice(&text[copied..token.start]);
            out.text.extend_from_slice(ours.as_bytes());
            copied = token.end();
            out.note(&token, ours);
        }
    }
    if out.renamed.is_empty() {
        return None;
    }
    out.text.extend_from_slice(&text[copied..]);
    Some(out)
}

/// True if the text may install the plugin, or sets or reads a variable of the cache by either of its names.
pub fn is_about_plugin(text: &[u8], mode: LexMode) -> bool {
    installs_plugin(text, mode) || names_variable(text, mode)
}

fn names_variable(text: &[u8], mode: LexMode) -> bool {
    let statements = &mode.flavour.statements;
    if mode.charset == Charset::Unreadable
        || !may_mention_alias(text, statements) && !contains_ignoring_case(text, OWN_PREFIX)
    {
        return false;
    }
    let mut tokens = TokensInContext::of(text, mode);
    loop {
        let TokenInContext { token, is_variable, .. } = tokens.next();
        match token.kind {
            TokenKind::End | TokenKind::Broken => return false,
            _ if is_variable && (alias(&token, statements).is_some() || is_own(&token)) => return true,
            _ => {}
        }
    }
}

const OWN_PREFIX: &[u8] = b"fqc_";

fn is_own(token: &Token) -> bool {
    token.is_name()
        && contains_ignoring_case(unquoted(token, false).get(..OWN_PREFIX.len()).unwrap_or_default(), OWN_PREFIX)
}

fn installs_plugin(text: &[u8], mode: LexMode) -> bool {
    contains_ignoring_case(text, b"fqc") && Lexer::new(text, mode).next().is("install")
}

/// Iterates over the tokens of a text. Says of each token whether it is the name of a system variable by its position,
/// so that names of columns are not taken for variables.
struct TokensInContext<'a> {
    lexer: Lexer<'a>,
    position: Position,
    /// True while the settings of SET STATEMENT are read.
    is_for_statement: bool,
}

/// A token, with what follows from its position in the statement.
struct TokenInContext<'a> {
    token: Token<'a>,
    /// True if the token is a name in the position of a system variable.
    is_variable: bool,
    /// True if the token is among the settings of SET STATEMENT.
    is_for_statement: bool,
}

impl<'a> TokensInContext<'a> {
    fn of(text: &'a [u8], mode: LexMode) -> TokensInContext<'a> {
        TokensInContext { lexer: Lexer::new(text, mode), position: Position::StatementStart, is_for_statement: false }
    }

    fn next(&mut self) -> TokenInContext<'a> {
        let token = self.lexer.next();
        let is_variable = token.is_name() && self.position.is_variable(&mut self.lexer);
        let in_context = TokenInContext { token, is_variable, is_for_statement: self.is_for_statement };
        let next = self.position.after(&token);
        self.is_for_statement |= self.position == Position::Target && token.is("statement");
        self.is_for_statement &= next != Position::StatementStart;
        self.position = next;
        in_context
    }
}

impl Rewrite {
    fn note(&mut self, token: &Token, ours: &'static str) {
        let theirs = unquoted(token, false).into_owned();
        if !self.renamed.iter().any(|known| known.theirs == theirs) {
            self.renamed.push(Renamed { theirs, ours });
        }
    }
}

/// The position of the next token within its statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    StatementStart,
    /// On the left side of an assignment in SET.
    Target,
    /// On the left side of an assignment in SET, after the `@` of a user variable.
    UserVariable,
    /// On the right side of an assignment, inside this many parentheses.
    Value(u32),
    /// After `@@`, with the position at which the statement goes on after the variable.
    Variable(Resume),
    /// After `@@` and a scope such as SESSION, with the position at which the statement goes on after the variable.
    Scoped(Resume),
    Elsewhere,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Resume {
    Target,
    Value(u32),
    Elsewhere,
}

impl Position {
    /// True if a name at this position is that of a system variable.
    fn is_variable(self, lexer: &mut Lexer) -> bool {
        match self {
            Position::Variable(_) | Position::Scoped(_) => true,
            Position::Target => matches!(lexer.peek().kind, TokenKind::Equal | TokenKind::Assign),
            _ => false,
        }
    }

    fn after(self, token: &Token) -> Position {
        let is_scope = token.is_any(&["global", "session", "local"]);
        match (self, token.kind) {
            (_, TokenKind::Semicolon) => Position::StatementStart,
            (_, TokenKind::AtAt) => Position::Variable(self.resume()),
            (Position::StatementStart, _) if token.is("set") => Position::Target,
            (Position::StatementStart, _) => Position::Elsewhere,
            (Position::Variable(resume), _) if is_scope => Position::Scoped(resume),
            (Position::Scoped(_), TokenKind::Dot) => self,
            (Position::Variable(resume) | Position::Scoped(resume), _) => resume.position().after_plain(token),
            _ => self.after_plain(token),
        }
    }

    /// Returns the position after this token, which does not follow `@@`.
    fn after_plain(self, token: &Token) -> Position {
        match (self, token.kind) {
            (Position::Target, TokenKind::At) => Position::UserVariable,
            (Position::Target | Position::UserVariable, TokenKind::Equal | TokenKind::Assign) => Position::Value(0),
            (Position::Value(0), TokenKind::Comma) => Position::Target,
            (Position::Value(0), _) if token.is("for") => Position::StatementStart,
            (Position::Value(depth), TokenKind::Open) => Position::Value(depth.saturating_add(1)),
            (Position::Value(depth), TokenKind::Close) => Position::Value(depth.saturating_sub(1)),
            _ => self,
        }
    }

    fn resume(self) -> Resume {
        match self {
            Position::Target => Resume::Target,
            Position::Value(depth) => Resume::Value(depth),
            Position::Variable(resume) | Position::Scoped(resume) => resume,
            Position::StatementStart | Position::UserVariable | Position::Elsewhere => Resume::Elsewhere,
        }
    }
}

impl Resume {
    fn position(self) -> Position {
        match self {
            Resume::Target => Position::Target,
            Resume::Value(depth) => Position::Value(depth),
            Resume::Elsewhere => Position::Elsewhere,
        }
    }
}

fn alias(token: &Token, statements: &Statements) -> Option<&'static str> {
    if !token.is_name() {
        return None;
    }
    let name = unquoted(token, false);
    let found = statements.aliases.iter().find(|alias| alias.theirs.as_bytes().eq_ignore_ascii_case(&name));
    found.map(|alias| alias.ours)
}

/// Returns the text with the hint SQL_CACHE replaced by blanks, for a server that does not know it. `None` if the text does not contain the
/// hint, the server knows it, or the text cannot be read: the text then goes to the server unchanged.
///
/// The word is the hint only where it cannot be the name of a column: as an option of SELECT that an expression follows.
pub fn without_sql_cache(text: &[u8], mode: LexMode) -> Option<Vec<u8>> {
    let is_readable = !mode.is_foreign && mode.charset != Charset::Unreadable;
    if mode.flavour.statements.has_sql_cache || !is_readable || !contains_ignoring_case(text, HINT.as_bytes()) {
        return None;
    }
    let mut out = None;
    let mut may_be_option = false;
    let mut lexer = Lexer::new(text, mode);
    loop {
        let token = lexer.next();
        match token.kind {
            TokenKind::End => return out,
            TokenKind::Broken => return None,
            _ if may_be_option && token.is(HINT) && begins_expression(&token, lexer) => {
                out.get_or_insert_with(|| text.to_vec())[token.start..token.end()].fill(b' ');
            }
            _ => may_be_option = token.is("select") || may_be_option && token.is_any(&OPTIONS),
        }
    }
}

const HINT: &str = "sql_cache";

/// The options of SELECT before its list, without SQL_CACHE and SQL_NO_CACHE.
pub(crate) const OPTIONS: [&str; 9] = [
    "all",
    "distinct",
    "distinctrow",
    "high_priority",
    "straight_join",
    "sql_small_result",
    "sql_big_result",
    "sql_buffer_result",
    "sql_calc_found_rows",
];

/// Words that may follow the name of a column.
const CONTINUATIONS: [&str; 29] = [
    "and",
    "as",
    "between",
    "collate",
    "div",
    "except",
    "for",
    "from",
    "group",
    "having",
    "in",
    "intersect",
    "into",
    "is",
    "like",
    "limit",
    "lock",
    "member",
    "mod",
    "not",
    "or",
    "order",
    "qualify",
    "regexp",
    "rlike",
    "sounds",
    "union",
    "where",
    "xor",
];

/// True if the tokens after `word`, where the lexer is, cannot follow the name of a column, so that `word` is an option of SELECT.
fn begins_expression(word: &Token, mut lexer: Lexer) -> bool {
    let next = lexer.next();
    match next.kind {
        TokenKind::Word => !next.is_any(&CONTINUATIONS),
        TokenKind::Quoted | TokenKind::Text | TokenKind::Special => true,
        TokenKind::Number | TokenKind::At | TokenKind::AtAt => true,
        // Without a space before the parenthesis it is a call.
        TokenKind::Open => word.end() < next.start,
        TokenKind::Operator if next.text == b"*" => {
            let after = lexer.next();
            after.is("from") || matches!(after.kind, TokenKind::Comma | TokenKind::Close | TokenKind::End)
        }
        TokenKind::Operator => matches!(next.text, b"?" | b"~"),
        _ => false,
    }
}

/// True if the text may have to be translated for the server (by [`rewrite`] or [`without_sql_cache`]), or may ask the client for a local
/// file.
pub fn may_need_rewrite_or_file(text: &[u8], mode: LexMode) -> bool {
    let statements = &mode.flavour.statements;
    let has_lost = || !statements.has_sql_cache && contains_ignoring_case(text, HINT.as_bytes());
    may_mention_alias(text, statements) || has_lost() || contains_ignoring_case(text, b"infile")
}

/// True if the text certainly names nothing of the cache, need not be translated for the server, and does not ask the client for a local
/// file. False means that it is not known. This is a quick check by the first letters and one pass over the bytes: all names of the cache
/// contain a `q`, and after a word that reads or writes rows or ends a transaction, only a second statement could ask for a file.
#[inline]
pub fn passes_unchanged(text: &[u8]) -> bool {
    const FIRST: [[u8; 3]; 8] = [*b"sel", *b"ins", *b"upd", *b"del", *b"rep", *b"beg", *b"com", *b"rol"];
    text.first_chunk::<3>().is_some_and(|first| FIRST.contains(&first.map(|letter| letter | 0x20)))
        && memchr::memchr3(b'q', b'Q', b';', text).is_none()
}

/// True if the text may name something of the cache, in names or in literals. If false, [`rewrite`], [`is_about_plugin`] and
/// [`without_sql_cache`] need not be called for this text or for any other read or write of the same shape.
pub fn may_name_cache(text: &[u8], mode: LexMode) -> bool {
    contains_ignoring_case(text, b"fqc")
        || may_mention_alias(text, &mode.flavour.statements)
        || contains_ignoring_case(text, HINT.as_bytes())
}

/// True if the text may contain a name that is translated: the common beginning of these names occurs in it. A cheap check, which makes the
/// lexer unnecessary for nearly every text.
fn may_mention_alias(text: &[u8], statements: &Statements) -> bool {
    !statements.aliases.is_empty() && contains_ignoring_case(text, statements.alias_prefix.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flavour::{MARIADB, MYSQL};

    #[test]
    fn what_is_far_names_nothing_of_the_cache_and_asks_for_no_file() {
        for text in ["SELECT c FROM t WHERE id = 1", "insert into t values ('a')", "BEGIN", "Commit", "ROLLBACK TO a"] {
            assert!(passes_unchanged(text.as_bytes()), "{text}");
        }
        for text in ["", "se", "SET a = 1", "LOAD DATA LOCAL INFILE 'x' INTO TABLE t", "/* c */ SELECT 1", "SHOW FQC"] {
            assert!(!passes_unchanged(text.as_bytes()), "{text}");
        }
        for statements in [&MARIADB.statements, &MYSQL.statements] {
            let names = statements.aliases.iter().flat_map(|alias| [alias.theirs, alias.ours]);
            for name in names.chain([statements.alias_prefix, HINT, "fqc_size", "fqc"]) {
                for name in [name.to_owned(), name.to_ascii_uppercase()] {
                    assert!(name.is_empty() || !passes_unchanged(format!("SELECT @@{name}").as_bytes()), "{name}");
                }
            }
        }
        assert!(!passes_unchanged(b"SELECT 1; LOAD DATA LOCAL INFILE 'x' INTO TABLE t"));
    }
}
