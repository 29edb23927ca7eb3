//! The texts of statements, with all that follows from a text alone.

use super::client_read::ReadKind;
use crate::memo::Memo;
use sql::{Kind, LexMode, Statement, classify};
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
        Parsed { text: text.into(), mode, statement, kind, warnings }
    }

    /// Returns true if this is the text, parsed in the mode.
    pub fn is_of(&self, text: &[u8], mode: LexMode) -> bool {
        *self.text == *text && self.mode == mode
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
}
