//! Goes through the tokens of a statement once. Finds where it ends, what it asks about, and why its result must not be kept.
//!
//! There is no grammar: each token is judged by itself and the two before it. The first reason that is found counts.

use crate::lex::{LONGEST_WORD, Lexer, Token, TokenKind, unquoted};
use crate::{Hint, Refusal};
use flavour::{Flavour, Functions};

/// How a text ends, seen from its first statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The text is one statement.
    Single,
    /// Further statements follow the first one. The walk has ended before them.
    Multiple,
    /// The text cannot be split into tokens with certainty.
    Broken,
}

/// The findings of one walk over a statement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Findings {
    pub ending: Ending,
    /// The first reason why a read with these tokens must not be cached.
    pub refusal: Option<Refusal>,
    pub hint: Hint,
    /// True if the statement reads from a table.
    pub names_table: bool,
    /// True if the statement may ask about the previous one, for example by FOUND_ROWS().
    pub reads_diagnostics: bool,
    pub has_executable_comment: bool,
    /// True if the statement may call a function that is not built in.
    pub calls_stored: bool,
    /// True if an expression of the statement may write or lock something.
    pub may_write: bool,
}

/// The deepest nesting of parentheses that is analysed. A read with a deeper one is not cached.
const DEEPEST: u32 = 63;

/// The state of a walk over the tokens of a statement.
struct Walk<'a> {
    lexer: Lexer<'a>,
    /// The last token.
    previous: Token<'a>,
    /// The token before `previous`.
    before: Token<'a>,
    /// The number of open parentheses.
    depth: u32,
    /// One bit for each open parenthesis. It is set if the parenthesis contains the arguments of CONVERT.
    converts: u64,
    /// One bit for each open parenthesis, and one for the statement itself. It is set if a SELECT is directly inside.
    selects: u64,
    /// True if the walk is between the WITH at the beginning of the statement and the query that follows the list of common table
    /// expressions.
    is_in_with: bool,
    /// True if SQL_CALC_FOUND_ROWS was found.
    counts_found: bool,
    found: Findings,
}

/// Goes through the tokens from the lexer's position to the end of the statement, once.
pub(crate) fn walk(mut lexer: Lexer) -> Findings {
    let nothing = Token { kind: TokenKind::Semicolon, text: &[], start: 0 };
    let is_in_with = lexer.peek().is("with");
    let mut walk = Walk {
        lexer,
        previous: nothing,
        before: nothing,
        depth: 0,
        converts: 0,
        selects: 0,
        is_in_with,
        counts_found: false,
        found: Findings {
            ending: Ending::Single,
            refusal: None,
            hint: Hint::None,
            names_table: false,
            reads_diagnostics: false,
            has_executable_comment: false,
            calls_stored: false,
            may_write: false,
        },
    };
    walk.run();
    walk.found
}

impl Walk<'_> {
    fn flavour(&self) -> &'static Flavour {
        self.lexer.mode().flavour
    }

    fn functions(&self) -> &'static Functions {
        &self.flavour().functions
    }

    fn run(&mut self) {
        loop {
            let token = self.lexer.next();
            match token.kind {
                TokenKind::End => break,
                TokenKind::Semicolon if self.lexer.is_exhausted() => break,
                TokenKind::Semicolon => self.found.ending = Ending::Multiple,
                TokenKind::Broken => self.found.ending = Ending::Broken,
                _ => self.token(&token),
            }
            if self.found.ending != Ending::Single {
                self.found.reads_diagnostics = true;
                return;
            }
            self.before = std::mem::replace(&mut self.previous, token);
        }
        if !self.found.names_table {
            self.refuse(Refusal::NoTable);
        }
        // This reason comes last, because a caller that also stores the number of rows found may ignore it.
        if self.counts_found {
            self.refuse(Refusal::CalcFoundRows);
        }
    }

    fn token(&mut self, token: &Token) {
        match token.kind {
            TokenKind::Word => self.word(token),
            TokenKind::Open => self.open(token),
            TokenKind::Close => self.close(),
            TokenKind::Dot => self.dot(),
            TokenKind::At | TokenKind::Assign => self.refuse(Refusal::UserVariable),
            TokenKind::AtAt => self.refuse(Refusal::SystemVariable),
            TokenKind::Text if self.previous.is("time") => self.refuse(Refusal::CurrentDate),
            TokenKind::Operator if token.text == b"{" => self.refuse(Refusal::Unrecognised),
            TokenKind::ExecutableComment => {
                self.found.has_executable_comment = true;
                self.refuse(Refusal::ExecutableComment);
            }
            TokenKind::Member if self.is_system_variable() => self.diagnostics_of(token),
            _ => {}
        }
    }

    fn word(&mut self, token: &Token) {
        let mut buffer = [0; LONGEST_WORD];
        let Some(word) = token.lowered(&mut buffer) else {
            return;
        };
        if self.is_system_variable() {
            self.diagnostics_of(token);
        }
        if self.previous.is("for") {
            self.after_for(word);
        }
        if let Some(objection) = self.functions().niladic.find(word) {
            self.refuse(objection.into());
        }
        self.keyword(word);
    }

    /// Handles a word, given in lower case, that has a meaning at any place. All such words are reserved, except for the hints.
    fn keyword(&mut self, word: &[u8]) {
        match word {
            b"set" if self.previous.kind == TokenKind::Semicolon => {}
            b"from" => self.found.names_table |= self.is_in_select() && !self.lexer.peek().is("dual"),
            b"table" => {
                self.found.names_table = true;
                self.is_in_with &= self.depth > 0;
            }
            b"select" | b"values" => {
                self.is_in_with &= self.depth > 0;
                self.selects |= self.bit();
            }
            b"into" => self.refuse(Refusal::Into),
            b"procedure" => self.refuse(Refusal::Procedure),
            b"lock" => self.refuse(Refusal::LockingRead),
            b"sql_calc_found_rows" => self.counts_found = true,
            b"sql_no_cache" => self.found.hint = Hint::SqlNoCache,
            b"sql_cache" if self.found.hint == Hint::None => self.found.hint = Hint::SqlCache,
            // A type of JSON_VALUE(), which more may follow.
            b"time" if self.previous.is("returning") => self.refuse(Refusal::CurrentDate),
            // A type of CAST.
            b"interval" if self.previous.is("as") => self.refuse(Refusal::CurrentDate),
            b"for" if self.previous.is("value") && self.before.is_any(&["next", "previous"]) => {
                self.refuse(Refusal::SequenceValue);
            }
            b"alter" | b"call" | b"create" | b"delete" | b"drop" | b"grant" | b"load" | b"rename" | b"revoke"
            | b"set" | b"trigger" | b"write" => self.refuse(Refusal::Unrecognised),
            b"update" if !self.previous.is("for") => self.refuse(Refusal::Unrecognised),
            _ => {}
        }
    }

    fn after_for(&mut self, word: &[u8]) {
        match word {
            b"update" | b"share" => self.refuse(Refusal::LockingRead),
            b"system_time" if self.names_fixed_time() => {}
            b"system_time" => self.refuse(Refusal::SystemTime),
            // Index hints.
            b"join" | b"order" | b"group" => {}
            // SUBSTRING(... FROM ... FOR ...)
            _ if self.depth > 0 => {}
            _ => self.refuse(Refusal::Unrecognised),
        }
    }

    /// True if, after FOR SYSTEM_TIME, the text reads all of the history or its state at a time that the text itself contains. The result
    /// then changes only with the table.
    fn names_fixed_time(&self) -> bool {
        let mut ahead = self.lexer;
        ahead.accept("all")
            || ["as", "of", "timestamp"].iter().all(|word| ahead.accept(word)) && ahead.accept_kind(TokenKind::Text)
    }

    fn open(&mut self, token: &Token) {
        let is_convert = self.previous.is("convert");
        self.time_type();
        if self.depth == 0 && self.previous.kind == TokenKind::Close {
            // `WITH ... AS (...) (SELECT ...)`
            self.is_in_with = false;
        }
        if self.previous.is_name() && !self.is_table_expression_name() && !self.is_full_text_search() {
            self.call(token);
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            self.refuse(Refusal::Unrecognised);
        }
        let bit = self.bit();
        self.converts = if is_convert { self.converts | bit } else { self.converts & !bit };
        self.selects &= !bit;
    }

    /// The bit of the innermost open parenthesis, or of the statement itself, in `converts` and `selects`.
    fn bit(&self) -> u64 {
        1u64.checked_shl(self.depth).unwrap_or(0)
    }

    /// True if a FROM here belongs to a SELECT, and not to a function such as TRIM.
    fn is_in_select(&self) -> bool {
        self.selects & self.bit() != 0
    }

    fn close(&mut self) {
        self.time_type();
        self.depth = self.depth.saturating_sub(1);
    }

    /// True if the name that was just read is that of a common table expression in its definition, as in `WITH name (columns) AS`. Such
    /// definitions are only at the beginning of a statement.
    fn is_table_expression_name(&self) -> bool {
        self.before.is_any(&["with", "recursive"])
            || self.is_in_with && self.depth == 0 && self.before.kind == TokenKind::Comma
    }

    /// True in `MATCH (...) AGAINST (...)`. Elsewhere AGAINST could be the name of a stored function.
    fn is_full_text_search(&self) -> bool {
        self.previous.is("against") && self.before.kind == TokenKind::Close
    }

    /// Handles a call: the name is the previous token, and `open` the parenthesis after it. Refuses it unless the function is certainly
    /// deterministic.
    fn call(&mut self, open: &Token) {
        let mut buffer = [0; LONGEST_WORD];
        let name = match self.previous.lowered(&mut buffer) {
            Some(name) if self.previous.kind == TokenKind::Word && self.before.kind != TokenKind::Dot => name,
            // A name that is quoted, qualified or too long is never that of a built-in function.
            _ => b"",
        };
        // The text in between decides whether it is a call: the server only looks at the byte after the name.
        let between = &self.lexer.text()[self.previous.end()..open.start];
        let is_tight = between.is_empty() || self.lexer.mode().ignore_space && between.trim_ascii().is_empty();
        let has_argument = self.lexer.peek().kind != TokenKind::Close;
        let functions = self.functions();
        if functions.syntax.contains(name)
            || functions.deterministic.contains(name)
            || functions.deterministic_if_tight.contains(name) && is_tight
            || functions.deterministic_with_argument.contains(name) && has_argument
        {
            return;
        }
        let refusal = match functions.refused.find(name) {
            Some(objection) => objection.into(),
            None if functions.deterministic_with_argument.contains(name) => Refusal::Nondeterministic,
            None => Refusal::UnknownFunction,
        };
        let is_unknown = refusal == Refusal::UnknownFunction;
        // Some functions are built in only if the parenthesis follows the name directly.
        self.found.calls_stored |= is_unknown || !is_tight;
        self.found.reads_diagnostics |= is_unknown || functions.diagnostics.contains(name);
        self.refuse(refusal);
    }

    /// Refuses the read if the last token is the type TIME in `AS TIME`, `RETURNING TIME` or `CONVERT(..., TIME)`. Called at a parenthesis.
    fn time_type(&mut self) {
        let is_type =
            self.before.is_any(&["as", "returning"]) || self.before.kind == TokenKind::Comma && self.is_in_convert();
        if self.previous.is("time") && is_type {
            self.refuse(Refusal::CurrentDate);
        }
    }

    fn is_in_convert(&self) -> bool {
        self.converts & self.bit() != 0
    }

    fn dot(&mut self) {
        if self.previous.is_name() {
            let name = unquoted(&self.previous, false);
            if self.flavour().schemas.is_system(&name) {
                self.refuse(Refusal::SystemSchema);
            }
        }
    }

    /// True if the next word is the name after `@@`, or its scope.
    fn is_system_variable(&self) -> bool {
        self.previous.kind == TokenKind::AtAt
            || self.previous.kind == TokenKind::Dot && self.before.is_any(&["session", "local", "global"])
    }

    fn diagnostics_of(&mut self, token: &Token) {
        let mut buffer = [0; LONGEST_WORD];
        let name = token.lowered(&mut buffer);
        self.found.reads_diagnostics |= name.is_some_and(|name| self.functions().diagnostics.contains(name));
    }

    /// Notes a reason why the result must not be cached. The first one counts.
    fn refuse(&mut self, refusal: Refusal) {
        self.found.may_write |= refusal.may_write();
        self.found.refusal.get_or_insert(refusal);
    }
}
