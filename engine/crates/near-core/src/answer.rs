//! An answer that is being received, and may be stored.

use crate::reason::ContextReason;
use crate::result_set::{self, ResultSet};
use crate::results::{Results, Room};
use crate::session_flags::{self, Places};
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
    places: Option<Places>,
    /// True if the answer may be stored although its session is in a transaction.
    may_be_inside: bool,
    /// The exact number of warnings with which the answer may be stored: those that the server gives for deprecated words in the
    /// text.
    warnings: u16,
    /// The memory that is reserved for the bytes until the answer is stored or dropped.
    room: Room,
}

impl Answer {
    /// Prepares to receive the answer to a command. `command` is the length of the result's key in bytes, which takes memory as
    /// well. Returns none if the memory for unfinished answers is used up; the answer is then not stored.
    pub fn to(results: &Arc<Results>, command: usize) -> Option<Answer> {
        let mut room = Room::new(results);
        room.grow(command).then(|| Answer {
            bytes: Vec::new(),
            rows: 0,
            is_complete: false,
            places: None,
            may_be_inside: false,
            warnings: 0,
            room,
        })
    }

    /// Allows to store the answer if the server gives exactly this many warnings. Without this call, only an answer without
    /// warnings can be stored.
    pub fn with_warnings(self, warnings: u16) -> Answer {
        Answer { warnings, ..self }
    }

    /// Allows to store the answer if its session is in a transaction. Its flags are then changed to those of a session outside of
    /// transactions. Without this call, an answer in a transaction cannot be stored.
    pub fn inside_or_outside(self) -> Answer {
        Answer { may_be_inside: true, ..self }
    }

    /// Takes the next bytes of the answer. `outcome` comes with the last ones. Returns false if the answer cannot be stored; it
    /// must then be dropped. True with an outcome means that the answer is complete and may be stored.
    pub fn take(&mut self, piece: &[u8], outcome: Option<&Outcome>) -> bool {
        if self.bytes.len() + piece.len() > LONGEST || !self.room.grow(piece.len()) {
            return false;
        }
        self.bytes.extend_from_slice(piece);
        let Some(outcome) = outcome else { return true };
        // Whether the query was slow on the server does not matter for served answers.
        let patched = wire::patch_status(&mut self.bytes, &outcome.status_offsets, status::SLOW, 0);
        self.is_complete = true;
        self.rows = if let OutcomeKind::ResultSet { rows, .. } = outcome.kind { rows } else { 0 };
        self.places = Places::describe(outcome.status_offsets.as_slice(), self.bytes.len());
        let flags = outcome.status.unwrap_or(0);
        let is_storable = result_set::why_not_kept(outcome, self.warnings).is_none();
        is_storable && patched.is_some() && self.is_outside(flags) && self.bytes.get(3) == Some(&1)
    }

    /// Returns the complete answer in the form in which it is stored. Only valid after [`take`](Self::take) has returned true for
    /// the last bytes.
    pub fn result_set(&self) -> ResultSet<'_> {
        ResultSet { bytes: &self.bytes, rows: self.rows, places: self.places }
    }

    /// Gives the answer the flags of a session outside of transactions. Returns false if it has other flags for its transaction
    /// that may not be changed.
    fn is_outside(&mut self, flags: u16) -> bool {
        match self.places {
            Some(places) if self.may_be_inside => places.give(&mut self.bytes, session_flags::OUTSIDE),
            _ => return session_flags::own(flags) == session_flags::OUTSIDE,
        }
        true
    }
}

/// Returns the reason why [`Answer::take`] has refused an answer. `outcome` is none if the answer was not complete yet.
/// `warnings` is the number of warnings with which it could have been stored.
pub fn why_not_kept(outcome: Option<&Outcome>, warnings: u16) -> ContextReason {
    outcome.map_or(ContextReason::TooLarge, |outcome| {
        result_set::why_not_kept(outcome, warnings).unwrap_or(ContextReason::Response)
    })
}
