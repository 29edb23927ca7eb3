//! The texts of statements, with all that follows from a text alone.

use crate::memo::Memo;
use sql::{Aggregates, Hint, Kind, LexMode, Read, Refusal, Statement, classify};
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    /// The reads that connections of this thread have sent lately. An application repeats the same texts on all its connections.
    static READS: RefCell<Memo<Arc<Parsed>>> = RefCell::default();
}

/// The text of a statement, as it was parsed in one mode.
pub struct Parsed {
    pub text: Arc<[u8]>,
    mode: LexMode,
    pub statement: Statement,
    /// The kind of data that the answer depends on. None if it may be neither stored nor served.
    pub kind: Option<ReadKind>,
    /// The number of warnings that the server gives for deprecated words in the text; zero if the answer is not stored.
    pub warnings: u16,
    /// True if FOUND_ROWS() after the read may be greater than the number of its rows. False if the answer is not stored.
    pub may_skip_rows: bool,
}

impl Parsed {
    /// Parses the text in this mode, unless it is a read that was parsed lately.
    pub fn of(text: &[u8], mode: LexMode) -> Arc<Parsed> {
        let known = |reads: &RefCell<Memo<Arc<Parsed>>>| {
            reads.borrow().find(text, b"", |parsed| parsed.is_of(text, mode)).cloned()
        };
        if let Some(parsed) = READS.with(known) {
            return parsed;
        }
        let parsed = Arc::new(Parsed::new(text, mode));
        // Other statements seldom come again, and may contain passwords.
        if matches!(parsed.statement.kind, Kind::Read(_)) {
            READS.with_borrow_mut(|reads| reads.put(text, b"", parsed.clone()));
        }
        parsed
    }

    fn new(text: &[u8], mode: LexMode) -> Parsed {
        let statement = classify(text, mode);
        let kind = ReadKind::of(&statement, text, mode);
        let warnings = kind.map_or(0, |_| sql::deprecations(text, mode));
        let may_skip_rows = kind.is_some() && sql::may_skip_rows(text);
        Parsed { text: text.into(), mode, statement, kind, warnings, may_skip_rows }
    }

    /// Returns true if this is the text, parsed in the mode.
    pub fn is_of(&self, text: &[u8], mode: LexMode) -> bool {
        *self.text == *text && self.mode == mode
    }
}

/// The kind of data that the answer to a read depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadKind {
    /// The rows of tables.
    Rows,
    /// The rows of tables, for a text with SQL_CALC_FOUND_ROWS. A stored answer ends with the number of rows found, which the
    /// client has asked for right after the read.
    CountedRows,
    /// The number of rows found by the read before.
    FoundRows,
    /// A setting of the session, for example `SELECT @@sql_mode`. Sessions with different values have different identities, so
    /// the identity is enough to find the answer.
    Setting,
}

impl ReadKind {
    /// Returns the kind of the statement, whose text is `text`, in this mode. None if its answer may be neither stored nor
    /// served.
    pub fn of(statement: &Statement, text: &[u8], mode: LexMode) -> Option<ReadKind> {
        let Kind::Read(Read { refusal, hint, .. }) = statement.kind else { return None };
        match refusal {
            _ if hint == Hint::SqlNoCache => None,
            None => Some(ReadKind::Rows),
            // An aggregate over no rows leaves the number of rows found by the read before.
            Some(Refusal::CalcFoundRows) => (Aggregates::of(text) == Aggregates::No).then_some(ReadKind::CountedRows),
            Some(Refusal::SystemVariable) => sql::shows_setting_alone(text, mode).then_some(ReadKind::Setting),
            Some(_) => sql::asks_for_found_rows_alone(text, mode).then_some(ReadKind::FoundRows),
        }
    }

    /// Returns true if the answer depends on nothing but the session, so that it never becomes stale.
    pub fn depends_on_session_alone(self) -> bool {
        matches!(self, ReadKind::FoundRows | ReadKind::Setting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flavour::{MARIADB, MYSQL};

    #[test]
    fn a_read_is_parsed_once_in_each_mode_and_other_statements_are_not_kept() {
        let (read, write) = (&b"SELECT \"a\" FROM t"[..], &b"SET PASSWORD = 'secret'"[..]);
        let mode = LexMode::new(&MARIADB);
        let first = Parsed::of(read, mode);
        assert!(Arc::ptr_eq(&first, &Parsed::of(read, mode)));
        for other in [LexMode { ansi_quotes: true, ..mode }, LexMode::new(&MYSQL)] {
            let parsed = Parsed::of(read, other);
            assert!(parsed.is_of(read, other) && !Arc::ptr_eq(&first, &parsed));
        }
        assert!(!Arc::ptr_eq(&Parsed::of(write, mode), &Parsed::of(write, mode)));
    }

    #[test]
    fn what_an_answer_depends_on_is_known_from_the_text() {
        let mode = LexMode::new(&MYSQL);
        let cases = [
            ("SELECT v FROM t", Some(ReadKind::Rows)),
            ("SELECT SQL_CALC_FOUND_ROWS v FROM t LIMIT 1", Some(ReadKind::CountedRows)),
            ("SELECT SQL_CALC_FOUND_ROWS MAX(v) FROM t LIMIT 1", None),
            ("SELECT SQL_CALC_FOUND_ROWS SQL_NO_CACHE v FROM t LIMIT 1", None),
            ("SELECT SQL_CALC_FOUND_ROWS NOW(), v FROM t LIMIT 1", None),
            ("SELECT FOUND_ROWS()", Some(ReadKind::FoundRows)),
            ("SELECT FOUND_ROWS(), 1", None),
            ("SELECT FOUND_ROWS() FROM t", None),
            ("SELECT @@SESSION.sql_mode", Some(ReadKind::Setting)),
            ("SELECT @@GLOBAL.sql_mode", None),
            ("SELECT @@wait_timeout", None),
            ("SELECT NOW()", None),
            ("UPDATE t SET v = 1", None),
        ];
        for (text, expected) in cases {
            let text = text.as_bytes();
            assert_eq!(ReadKind::of(&classify(text, mode), text, mode), expected, "{}", text.escape_ascii());
        }
    }
}
