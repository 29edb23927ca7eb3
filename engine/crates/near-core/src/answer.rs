//! An answer that is being received, and may be stored.

use crate::reason::ContextReason;
use crate::result_set::{self, ResultSet};
use crate::results::{MemoryReservation, Results};
use crate::session_flags::{self, FlagOffsets};
use std::sync::Arc;
use wire::{Outcome, OutcomeKind, status};

/// The maximum length of an answer that is stored, in bytes.
const LONGEST: usize = 1 << 20;

/// An answer of the server that is being received, and may be stored once it is complete.
pub struct Answer {
    /// The bytes so far. Once the answer is complete, they have the form in which it is stored.
    pub bytes: Vec<u8>,
    /// The number of rows, once the answer is complete.
    pub rows: u64,
    /// True once the last bytes of the answer were taken.
    pub is_complete: bool,
    /// The offsets of the status flags in the complete answer.
    flag_offsets: Option<FlagOffsets>,
    /// True if the answer may be stored although its session is in a transaction.
    may_be_in_transaction: bool,
    /// The exact number of warnings with which the answer may be stored: those that the server gives for deprecated words in the
    /// text.
    warnings: u16,
    /// The memory that is reserved for the bytes until the answer is stored or dropped.
    reservation: MemoryReservation,
}

impl Answer {
    /// Prepares to receive the answer to a command. `key_bytes` is the length of the result's key in bytes, which takes memory as
    /// well. Returns none if the memory for unfinished answers is used up; the answer is then not stored.
    pub fn new(results: &Arc<Results>, key_bytes: usize) -> Option<Answer> {
        let mut reservation = MemoryReservation::new(results);
        reservation.grow(key_bytes).then(|| Answer {
            bytes: Vec::new(),
            rows: 0,
            is_complete: false,
            flag_offsets: None,
            may_be_in_transaction: false,
            warnings: 0,
            reservation,
        })
    }

    /// Allows to store the answer if the server gives exactly this many warnings. Without this call, only an answer without
    /// warnings can be stored.
    pub fn allowing_warnings(self, warnings: u16) -> Answer {
        Answer { warnings, ..self }
    }

    /// Allows to store the answer if its session is in a transaction. Its flags are then changed to those of a session outside of
    /// transactions. Without this call, an answer in a transaction cannot be stored.
    pub fn allowing_transaction(self) -> Answer {
        Answer { may_be_in_transaction: true, ..self }
    }

    /// Takes the next bytes of the answer. `outcome` comes with the last ones. Returns false if the answer cannot be stored; it
    /// must then be dropped. True with an outcome means that the answer is complete and may be stored.
    pub fn take(&mut self, piece: &[u8], outcome: Option<&Outcome>) -> bool {
        if self.bytes.len() + piece.len() > LONGEST || !self.reservation.grow(piece.len()) {
            return false;
        }
        self.bytes.extend_from_slice(piece);
        let Some(outcome) = outcome else { return true };
        // Whether the query was slow on the server does not matter for served answers.
        let patched = wire::patch_status(&mut self.bytes, &outcome.status_offsets, status::SLOW, 0);
        self.is_complete = true;
        self.rows = if let OutcomeKind::ResultSet { rows, .. } = outcome.kind { rows } else { 0 };
        self.flag_offsets = FlagOffsets::pack(outcome.status_offsets.as_slice(), self.bytes.len());
        let flags = outcome.status.unwrap_or(0);
        let is_storable = result_set::why_not_stored(outcome, self.warnings).is_none();
        is_storable && patched.is_some() && self.set_outside_flags(flags) && self.bytes.get(3) == Some(&1)
    }

    /// Returns the complete answer in the form in which it is stored. Only valid after [`take`](Self::take) has returned true for
    /// the last bytes.
    pub fn result_set(&self) -> ResultSet<'_> {
        ResultSet { bytes: &self.bytes, rows: self.rows, flag_offsets: self.flag_offsets }
    }

    /// Gives the answer the flags of a session outside of transactions. Returns false if it has other flags for its transaction
    /// that may not be changed.
    fn set_outside_flags(&mut self, flags: u16) -> bool {
        match self.flag_offsets {
            Some(flag_offsets) if self.may_be_in_transaction => {
                flag_offsets.set_flags(&mut self.bytes, session_flags::OUTSIDE_TRANSACTION)
            }
            _ => return session_flags::transaction_flags(flags) == session_flags::OUTSIDE_TRANSACTION,
        }
        true
    }
}

/// Returns the reason why [`Answer::take`] has refused an answer. `outcome` is none if the answer was not complete yet.
/// `warnings` is the number of warnings with which it could have been stored.
pub fn why_not_stored(outcome: Option<&Outcome>, warnings: u16) -> ContextReason {
    outcome.map_or(ContextReason::TooLarge, |outcome| {
        result_set::why_not_stored(outcome, warnings).unwrap_or(ContextReason::Response)
    })
}
