//! A client's read in the form in which its result is looked up.

use super::FoundResult;
use super::parsed::Parsed;
use super::prepared::PreparedRead;
use crate::freshness::Served;
use crate::prepared::Execution;
use sql::{Aggregates, Hint, Kind, LexMode, Read, Refusal, Statement};
use std::sync::Arc;

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

const NUMBER_BYTES: usize = size_of::<u64>();

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

/// A client's read whose answer may be stored or served.
pub struct ClientRead {
    /// The text of the statement; for an execution, that of its prepared statement.
    pub text: Arc<[u8]>,
    /// The key of the result. Two reads with the same key, in sessions with the same identity, have the same answer at the same
    /// time.
    pub key: Arc<[u8]>,
    pub kind: ReadKind,
    /// The number of warnings that the server gives for deprecated words in the text.
    pub warnings: u16,
    /// The integer that is bound to each `?`; none for a value of another type.
    bound: Vec<Option<i128>>,
    /// The facts about the prepared statement, if the read is an execution of one.
    pub execution_facts: Option<ExecutionFacts>,
    /// True if the server would run the read in an open transaction, or in one that the read itself starts.
    pub is_in_transaction: bool,
    /// The command's payload, and the prepared statement that it executes, if any. None if other processes may not answer the
    /// command.
    pub for_others: Option<(Vec<u8>, Option<mapped::ServedStatement>)>,
}

/// The facts about an execution's prepared statement.
#[derive(Clone, Copy)]
pub struct ExecutionFacts {
    /// The number of the command that prepared the statement.
    pub preparation: u64,
    /// The number of columns that the client expects in the answer. None if that is not certain.
    pub columns: Option<u64>,
    /// True if the server need not receive this execution to interpret later ones.
    may_be_served: bool,
}

/// The text of a read, its key, and the values that are bound to it.
#[derive(Clone, Copy)]
pub struct Wording<'a> {
    /// The text of the statement; for an execution, that of its prepared statement.
    pub text: &'a [u8],
    /// The key of the result. Two reads with the same key, in sessions with the same identity, have the same answer at the same
    /// time.
    pub key: &'a [u8],
    /// The integer that is bound to each `?`; none for a value of another type.
    pub bound: &'a [Option<i128>],
}

impl ClientRead {
    /// Builds the read of a query as text. `what` is the kind of data that its answer depends on.
    pub fn text(parsed: &Parsed, kind: ReadKind) -> ClientRead {
        ClientRead {
            key: parsed.text.clone(),
            text: parsed.text.clone(),
            kind,
            warnings: parsed.warnings,
            bound: Vec::new(),
            execution_facts: None,
            is_in_transaction: false,
            for_others: None,
        }
    }

    /// Builds the read of an execution of a prepared statement.
    pub fn execution(execution: Execution, prepared_read: PreparedRead) -> ClientRead {
        let may_be_served = execution.is_known();
        let Execution { key, columns, prepared: preparation, bound, .. } = execution;
        let execution_facts = Some(ExecutionFacts { preparation, columns, may_be_served });
        let (text, kind) = (prepared_read.text, ReadKind::Rows);
        ClientRead {
            text,
            key: key.into(),
            kind,
            warnings: 0,
            bound,
            execution_facts,
            is_in_transaction: false,
            for_others: None,
        }
    }

    pub fn wording(&self) -> Wording<'_> {
        Wording { text: &self.text, key: &self.key, bound: &self.bound }
    }

    /// Returns true if the server need not receive this read to interpret later commands.
    pub fn may_be_served(&self) -> bool {
        self.execution_facts.is_none_or(|of| of.may_be_served)
    }

    /// Returns true if other near caches and other processes may use the answer. They take only whole results of tables, without
    /// warnings.
    pub fn may_be_shared(&self) -> bool {
        self.kind == ReadKind::Rows && self.warnings == 0
    }

    /// Returns true if the read means the same as its text parsed in the mode that the session has. Otherwise its answer must not
    /// be stored.
    pub fn is_same_as(&self, parsed: &Parsed) -> bool {
        match self.execution_facts {
            Some(_) => parsed.kind == Some(ReadKind::Rows),
            None => parsed.kind == Some(self.kind) && parsed.warnings == self.warnings,
        }
    }

    /// Returns the result that was found for this read in the form in which the session serves it. A number of rows found that
    /// was stored with the answer is taken off.
    pub fn served(&self, mut found: FoundResult) -> Served {
        let number = match self.kind {
            ReadKind::CountedRows => found.answer.len().checked_sub(NUMBER_BYTES).and_then(|at| {
                let number = found.answer.split_off(at);
                number.first_chunk().copied().map(u64::from_le_bytes)
            }),
            _ => None,
        };
        Served { found_rows: number, warns: self.warnings > 0, ..found.served() }
    }
}

/// Appends the number of rows found to an answer that is about to be stored. [`ClientRead::served`] takes it off again.
pub fn append_found_rows(answer: &mut Vec<u8>, found: u64) {
    answer.extend(found.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use flavour::MYSQL;
    use sql::classify;

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
