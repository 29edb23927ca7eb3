//! A client's read in the form in which its result is looked up.

use super::FoundResult;
use super::parsed::{Parsed, ReadKind};
use super::prepared::PreparedRead;
use crate::freshness::Served;
use crate::prepared::Execution;
use std::sync::Arc;

const NUMBER_BYTES: usize = size_of::<u64>();

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
    /// True if FOUND_ROWS() after the read may be greater than the number of its rows.
    may_skip_rows: bool,
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
pub struct ReadText<'a> {
    /// The text of the statement; for an execution, that of its prepared statement.
    pub text: &'a [u8],
    /// The key of the result. Two reads with the same key, in sessions with the same identity, have the same answer at the same
    /// time.
    pub key: &'a [u8],
    /// The integer that is bound to each `?`; none for a value of another type.
    pub bound: &'a [Option<i128>],
}

impl ClientRead {
    /// Builds the read of a query as text. `kind` says what its answer depends on.
    pub fn text(parsed: &Parsed, kind: ReadKind) -> ClientRead {
        ClientRead {
            key: parsed.text.clone(),
            text: parsed.text.clone(),
            kind,
            warnings: parsed.warnings,
            may_skip_rows: parsed.may_skip_rows,
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
        ClientRead {
            text: prepared_read.text,
            key: key.into(),
            kind: ReadKind::Rows,
            warnings: 0,
            may_skip_rows: prepared_read.may_skip_rows,
            bound,
            execution_facts,
            is_in_transaction: false,
            for_others: None,
        }
    }

    pub fn read_text(&self) -> ReadText<'_> {
        ReadText { text: &self.text, key: &self.key, bound: &self.bound }
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
            _ => (!self.may_skip_rows).then_some(found.rows),
        };
        Served { found_rows: number, warns: self.warnings > 0, ..found.served() }
    }
}

/// Appends the number of rows found to an answer that is about to be stored. [`ClientRead::served`] takes it off again.
pub fn append_found_rows(answer: &mut Vec<u8>, found: u64) {
    answer.extend(found.to_le_bytes());
}
