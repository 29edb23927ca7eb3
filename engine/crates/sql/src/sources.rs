//! Finds the tables and views that a read may name as sources of rows.
//!
//! Invariant: a name that the server would look up as a table or view is in the answer, or there is no answer. Other names (columns in a
//! GROUP BY, tables of a WITH) may be in it, too: the answer is a list of names to look up, and no parse result.
//!
//! In the server's grammar a table's name comes directly after FROM, JOIN or TABLE, or after a comma or a parenthesis in the list that
//! these begin. What follows ON or USING is no part of that list, up to the next JOIN or comma.

use crate::lex::{Lexer, Token, TokenKind, unquoted};
use crate::{Charset, LexMode, TableName};

/// A name with this prefix is the name of a file. The server finds the file's table by another name.
const OF_A_FILE: &[u8] = b"#mysql50#";

/// The deepest nesting of parentheses that is analysed.
const DEEPEST: u32 = 63;

/// Returns the names of all tables and views that a read may name as sources of rows. Some names may stand for something else, such as a
/// table of its WITH, and a name may occur more than once. A name without a schema belongs to the current database. None if the names
/// cannot be determined with certainty.
pub fn sources(text: &[u8], mode: LexMode) -> Option<Vec<TableName>> {
    if mode.is_foreign || mode.charset == Charset::Unreadable {
        return None;
    }
    let mut search = Search {
        lexer: Lexer::new(text, mode),
        is_after_for: false,
        depth: 0,
        lists: 0,
        conditions: 0,
        found: Vec::new(),
    };
    search.run()?;
    Some(search.found)
}

/// The state of the search for names of tables and views in a read, in one pass over its tokens.
struct Search<'a> {
    lexer: Lexer<'a>,
    /// True if the last token was FOR, as in the hint `USE INDEX FOR ORDER BY`.
    is_after_for: bool,
    /// The number of open parentheses.
    depth: u32,
    /// One bit for each open parenthesis. It is set while a list of tables is being read directly inside.
    lists: u64,
    /// One bit for each open parenthesis. It is set while the list of tables is inside of a join's condition.
    conditions: u64,
    found: Vec<TableName>,
}

impl Search<'_> {
    fn run(&mut self) -> Option<()> {
        // True if the next name may be a table's.
        let mut may_follow = false;
        loop {
            let token = self.lexer.next();
            may_follow = match token.kind {
                TokenKind::End => return Some(()),
                TokenKind::Broken | TokenKind::ExecutableComment => return None,
                // `{ OJ ... }`
                TokenKind::Operator if token.text == b"{" => return None,
                TokenKind::Open => self.open()?,
                TokenKind::Close => self.close(),
                TokenKind::Comma => self.comma(),
                TokenKind::Dot if may_follow => true,
                _ if token.is_name() => self.name(&token, may_follow)?,
                _ => false,
            };
            self.is_after_for = token.is("for");
        }
    }

    /// The bit of the innermost open parenthesis in `lists` and `conditions`.
    fn bit(&self) -> u64 {
        1 << self.depth
    }

    fn is_in_list(&self) -> bool {
        self.lists & self.bit() != 0
    }

    /// Handles a comma among the tokens of a read. Returns true if a table's name may come next, as in the list after
    /// FROM.
    fn comma(&mut self) -> bool {
        self.conditions &= !self.bit();
        self.is_in_list()
    }

    /// Handles an opening parenthesis. Inside a list of tables it may contain a part of the list. Returns true if a table's name may
    /// follow, and false if it cannot. None if parentheses are nested too deeply: the names then cannot be determined.
    fn open(&mut self) -> Option<bool> {
        let is_in_list = self.is_in_list() && self.conditions & self.bit() == 0;
        (self.depth < DEEPEST).then(|| self.depth += 1)?;
        self.lists = self.lists & !self.bit() | if is_in_list { self.bit() } else { 0 };
        self.conditions &= !self.bit();
        Some(is_in_list)
    }

    fn close(&mut self) -> bool {
        self.depth = self.depth.saturating_sub(1);
        false
    }

    /// Handles a name or keyword. Returns true if a table's name may follow it, and false if it cannot. None if a table's name is not
    /// understood: the names then cannot be determined.
    fn name(&mut self, token: &Token, may_follow: bool) -> Option<bool> {
        if token.is_any(&["from", "join", "straight_join", "table"]) {
            self.lists |= self.bit();
            self.conditions &= !self.bit();
            return Some(true);
        }
        if !may_follow && token.is_any(&["on", "using"]) {
            self.conditions |= self.bit();
            return Some(false);
        }
        if token.is_any(&["select", "where"]) || self.begins_clause(token) {
            self.lists &= !self.bit();
            return Some(false);
        }
        if may_follow {
            let name = self.table(token)?;
            self.found.push(name);
        }
        Some(false)
    }

    /// True for ORDER BY and GROUP BY, but not for an index hint with these words.
    fn begins_clause(&mut self, token: &Token) -> bool {
        token.is_any(&["order", "group"]) && self.lexer.peek().is("by") && !self.is_after_for
    }

    /// Reads a table's name whose first part has been taken. None if the name is not understood.
    fn table(&mut self, first: &Token) -> Option<TableName> {
        let first = self.told(first)?;
        if self.lexer.peek().kind == TokenKind::Number {
            // `schema.1name`
            return None;
        }
        if !self.lexer.accept_kind(TokenKind::Dot) {
            return Some(TableName { db: None, name: first });
        }
        let second = self.lexer.next();
        if !second.is_name() {
            return None;
        }
        Some(TableName { db: Some(first), name: self.told(&second)? })
    }

    /// Returns a part of a table's name without quotes. None if its character set cannot be read, or if it is the name of a file.
    fn told(&self, token: &Token) -> Option<Vec<u8>> {
        let name = unquoted(token, false).into_owned();
        let is_readable = self.lexer.mode().charset == Charset::Utf8 || name.is_ascii();
        let is_of_file = name.len() >= OF_A_FILE.len() && name[..OF_A_FILE.len()].eq_ignore_ascii_case(OF_A_FILE);
        (is_readable && !is_of_file).then_some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flavour::MARIADB;

    fn of(text: &str) -> Option<String> {
        let word = |name: &TableName| {
            let db = name.db.as_ref().map(|db| format!("{}.", String::from_utf8_lossy(db)));
            format!("{}{}", db.unwrap_or_default(), String::from_utf8_lossy(&name.name))
        };
        Some(sources(text.as_bytes(), LexMode::new(&MARIADB))?.iter().map(word).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn names_stand_where_rows_come_from() {
        for (text, names) in [
            ("SELECT a, v FROM t", "t"),
            ("SELECT v, t.v FROM t x WHERE v = 1 AND x.v IN (v, 2)", "t"),
            ("SELECT 1 FROM d.t AS a, `d`.`u``x` JOIN w ON a.x = w.y, z WHERE q", "d.t d.u`x w z"),
            ("SELECT 1 FROM ((t, u) LEFT JOIN (v, w) ON (a = b))", "t u v w"),
            ("SELECT 1 FROM t JOIN u ON (t.a = u.a), v, (w)", "t u v w"),
            ("SELECT 1 FROM (t JOIN u ON (t.a, t.b) = (u.a, u.b)) JOIN (v) USING (a, b), (w, x)", "t u v w x"),
            ("SELECT 1 FROM t JOIN u ON ((t.a = (SELECT MAX(a) FROM v, w)) AND EXISTS (TABLE x)), y", "t u v w x y"),
            ("SELECT 1 FROM t x JOIN u ON f(a, b) LEFT JOIN (v JOIN w ON (b)) ON (c), z", "t u v w z"),
            ("SELECT 1 FROM .on, (v) JOIN d.on ON (a), .using, (w)", "on v d.on using w"),
            ("SELECT 1 FROM (SELECT a, b FROM t WHERE c) d, e", "t e"),
            ("SELECT (SELECT 1 FROM v WHERE x), y FROM t", "v t"),
            ("WITH c AS (SELECT a FROM v) SELECT a, b FROM c", "v c"),
            ("SELECT 1 FROM t USE INDEX FOR ORDER BY (i), v", "t i v"),
            ("SELECT 1 FROM t IGNORE KEY FOR GROUP BY (i), v USE INDEX FOR JOIN (j), w", "t i v j w"),
            ("SELECT a FROM t GROUP BY v, w HAVING x ORDER BY y, z", "t"),
            ("SELECT a FROM t ORDER BY v, w UNION SELECT b, c FROM u", "t u"),
            ("SELECT EXTRACT(YEAR FROM v), w FROM t", "v t"),
            ("SELECT a FROM .t, .`u`", "t u"),
            ("SELECT a FROM t /* , v */ , w -- , x\n", "t w"),
            ("SELECT 'FROM v' FROM t PARTITION (p, q) AS u STRAIGHT_JOIN v", "t p q v"),
            ("SELECT a FROM t NATURAL JOIN v ORDER BY 1 LIMIT 2, 3", "t v"),
            ("SELECT a.from, b FROM `a`", "a"),
            ("SELECT a FROM d . t", "d.t"),
            ("TABLE v", "v"),
        ] {
            assert_eq!(of(text).as_deref(), Some(names), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_told_has_no_answer() {
        for text in [
            "SELECT a FROM { OJ t LEFT JOIN v ON 1 }",
            "SELECT a FROM t /*! , v */",
            "SELECT a FROM `#mysql50#v`",
            "SELECT a FROM d.`#MySQL50#v`",
            "SELECT a FROM 'v",
            "SELECT a FROM d.1t",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
        let latin = LexMode { charset: Charset::AsciiSuperset, ..LexMode::new(&MARIADB) };
        assert_eq!(sources(b"SELECT a FROM `v\xE4`", latin), None);
        assert!(sources(b"SELECT '\xE4' FROM v", latin).is_some_and(|names| names.len() == 1));
        assert_eq!(sources(b"SELECT a FROM v", LexMode { is_foreign: true, ..latin }), None);
    }
}
