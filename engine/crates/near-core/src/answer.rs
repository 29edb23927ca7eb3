//! An answer on its way, which may be kept.

use crate::reason::Own;
use crate::result_set::{self, ResultSet};
use crate::results::{Results, Room};
use crate::session_flags::{self, Places};
use std::sync::Arc;
use wire::{Outcome, OutcomeKind, status};

const LONGEST: usize = 1 << 20;

pub struct Answer {
    pub bytes: Vec<u8>,
    pub rows: u64,
    pub is_complete: bool,
    /// Where a complete one has its status flags.
    places: Option<Places>,
    /// The session that gets the answer may be in a transaction.
    may_be_inside: bool,
    /// The server warns of so many words in the text.
    warnings: u16,
    room: Room,
}

impl Answer {
    /// To a command of this length; none if there is no room for it.
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

    /// The answer may also be kept if the server warns of so many words in the text.
    pub fn with_warnings(self, warnings: u16) -> Answer {
        Answer { warnings, ..self }
    }

    /// The answer may also be kept if its session is in a transaction. Its flags are then changed to those of a session outside
    /// transactions.
    pub fn inside_or_outside(self) -> Answer {
        Answer { may_be_inside: true, ..self }
    }

    /// False if it cannot be kept.
    pub fn take(&mut self, piece: &[u8], outcome: Option<&Outcome>) -> bool {
        if self.bytes.len() + piece.len() > LONGEST || !self.room.grow(piece.len()) {
            return false;
        }
        self.bytes.extend_from_slice(piece);
        let Some(outcome) = outcome else { return true };
        // The server's own execution was slow; what is served is not.
        let patched = wire::patch_status(&mut self.bytes, &outcome.status_offsets, status::SLOW, 0);
        self.is_complete = true;
        self.rows = if let OutcomeKind::ResultSet { rows, .. } = outcome.kind { rows } else { 0 };
        self.places = Places::describe(outcome.status_offsets.as_slice(), self.bytes.len());
        let flags = outcome.status.unwrap_or(0);
        let is_storable = result_set::why_not_kept(outcome, self.warnings).is_none();
        is_storable && patched.is_some() && self.is_outside(flags) && self.bytes.get(3) == Some(&1)
    }

    pub fn result_set(&self) -> ResultSet<'_> {
        ResultSet { bytes: &self.bytes, rows: self.rows, places: self.places }
    }

    /// Gives it the flags of a session outside of transactions. False if it has others, and it is not known where.
    fn is_outside(&mut self, flags: u16) -> bool {
        match self.places {
            Some(places) if self.may_be_inside => places.give(&mut self.bytes, session_flags::OUTSIDE),
            _ => return session_flags::own(flags) == session_flags::OUTSIDE,
        }
        true
    }
}

/// Why an answer that ends so, or has not ended, cannot be kept.
pub fn why_not_kept(outcome: Option<&Outcome>, warnings: u16) -> Own {
    outcome.map_or(Own::TooLarge, |outcome| result_set::why_not_kept(outcome, warnings).unwrap_or(Own::Response))
}
