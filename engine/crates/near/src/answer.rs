//! An answer on its way, which may be kept.

use crate::kept::{Kept, Room};
use crate::own_flags::{self, Places};
use crate::reason::Own;
use std::sync::Arc;
use wire::{Expect, Outcome, OutcomeKind, Progress, ResponseTracker, status};

const LONGEST: usize = 1 << 20;

/// Status flags that a storable answer may have, as a session outside transactions with autocommit on gets it.
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
    /// Where a complete one has its status flags.
    pub places: Option<Places>,
    /// The session that gets the answer may be in a transaction.
    may_be_inside: bool,
    room: Room,
}

impl Answer {
    /// To a command of this length; none if there is no room for it.
    pub fn to(kept: &Arc<Kept>, command: usize) -> Option<Answer> {
        let mut room = Room::new(kept);
        let (bytes, places) = (Vec::new(), None);
        room.grow(command).then(|| Answer { bytes, rows: 0, is_complete: false, places, may_be_inside: false, room })
    }

    /// The answer may also be kept if its session is in a transaction. Its flags are then changed to those of a session outside
    /// transactions. The server reports only results that are the same for both.
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
        let is_storable = is_storable(outcome, if self.may_be_inside { own_flags::outside(flags) } else { flags });
        is_storable && patched.is_some() && self.is_outside(flags) && self.bytes.get(3) == Some(&1)
    }

    /// Gives it the flags of a session outside of transactions. False if it has others, and it is not known where.
    fn is_outside(&mut self, flags: u16) -> bool {
        match self.places {
            Some(places) if self.may_be_inside => places.give(&mut self.bytes, own_flags::OUTSIDE),
            _ => return own_flags::own(flags) == own_flags::OUTSIDE,
        }
        true
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

/// Whether these bytes are one whole result of so many rows and nothing else, in the words that such a command is answered with. What
/// comes from elsewhere than the server is served only then.
pub fn is_whole_result(bytes: &[u8], rows: u64, expect: Expect, capabilities: u64) -> bool {
    let Progress::Done(outcome) = ResponseTracker::new(expect, capabilities).feed(bytes) else { return false };
    let has_rows = matches!(outcome.kind, OutcomeKind::ResultSet { rows: found, .. } if found == rows);
    has_rows && is_storable(&outcome, outcome.status.unwrap_or(0)) && bytes.get(3) == Some(&1)
}

fn is_storable(outcome: &Outcome, flags: u16) -> bool {
    matches!(outcome.kind, OutcomeKind::ResultSet { .. })
        && outcome.warnings == 0
        && outcome.results == 1
        && !outcome.more_results_seen
        && outcome.metadata_follows
        && flags & status::AUTOCOMMIT != 0
        && flags & !HARMLESS == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::capability::DEPRECATE_EOF;

    fn result() -> Vec<u8> {
        let rows = [vec![Some("one".to_owned()), None], vec![Some("x".repeat(300)), Some("2".to_owned())]];
        wire::surface::text_result(&["a", "b"], &rows, DEPRECATE_EOF, status::AUTOCOMMIT)
    }

    #[test]
    fn only_one_whole_result_is_one() {
        let (whole, is_one) =
            (result(), |bytes: &[u8], rows| is_whole_result(bytes, rows, Expect::Query, DEPRECATE_EOF));
        assert!(is_one(&whole, 2));
        assert!(!is_one(&whole, 1), "it has other rows than are told");
        assert!((0..whole.len()).all(|length| !is_one(&whole[..length], 2)));
        assert!(!is_one(&[&whole[..], &whole].concat(), 2));
        assert!(!is_one(&[&whole[..], &[0]].concat(), 2));
        assert!(!is_one(&wire::ok_packet(1, 0, 0, status::AUTOCOMMIT, 0), 0));
        assert!(!is_one(&wire::ErrPacket::build(1, 1045, b"28000", "no"), 0));
    }

    /// Lengths and sequence numbers are in the headers of packets.
    #[test]
    fn a_changed_header_makes_it_none() {
        let whole = result();
        let mut at = 0;
        while at < whole.len() {
            let length = usize::from(whole[at]) | usize::from(whole[at + 1]) << 8;
            for bit in 0..32 {
                let mut changed = whole.clone();
                changed[at + bit / 8] ^= 1 << (bit % 8);
                assert!(!is_whole_result(&changed, 2, Expect::Query, DEPRECATE_EOF), "bit {bit} at {at}");
            }
            at += 4 + length;
        }
    }
}
