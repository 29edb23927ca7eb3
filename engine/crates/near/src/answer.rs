//! An answer on its way, which may be kept.

use crate::kept::{Kept, Room};
use crate::reason::Own;
use std::sync::Arc;
use wire::{Outcome, OutcomeKind, status};

const LONGEST: usize = 1 << 20;

/// What a storable answer may say. It ends outside a transaction, with autocommit on.
const HARMLESS: u16 = status::AUTOCOMMIT
    | status::NO_GOOD_INDEX
    | status::NO_INDEX
    | status::NO_BACKSLASH_ESCAPES
    | status::SLOW
    | status::ANSI_QUOTES;

pub struct Answer {
    pub bytes: Vec<u8>,
    pub rows: u64,
    pub is_complete: bool,
    room: Room,
}

impl Answer {
    /// To a command of this length; none if there is no room for it.
    pub fn to(kept: &Arc<Kept>, command: usize) -> Option<Answer> {
        let mut room = Room::new(kept);
        room.grow(command).then(|| Answer { bytes: Vec::new(), rows: 0, is_complete: false, room })
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
        is_storable(outcome) && patched.is_some() && self.bytes.get(3) == Some(&1)
    }
}

/// Why an answer that ends so, or has not ended, cannot be kept.
pub fn why_not_kept(outcome: Option<&Outcome>) -> Own {
    match outcome {
        None => Own::TooLarge,
        Some(Outcome { kind: OutcomeKind::Err { .. }, .. }) => Own::Failed,
        Some(outcome) if outcome.warnings > 0 => Own::Warnings,
        Some(_) => Own::Response,
    }
}

fn is_storable(outcome: &Outcome) -> bool {
    let flags = outcome.status.unwrap_or(0);
    matches!(outcome.kind, OutcomeKind::ResultSet { .. })
        && outcome.warnings == 0
        && outcome.results == 1
        && !outcome.more_results_seen
        && outcome.metadata_follows
        && flags & status::AUTOCOMMIT != 0
        && flags & !HARMLESS == 0
}
