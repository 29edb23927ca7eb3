//! One whole result set of the server in the form in which it is stored: with the status flags of a session outside of
//! transactions.

use crate::reason::ContextReason;
use crate::session_flags::{self, FlagOffsets};
use wire::{Expect, Outcome, OutcomeKind, Progress, ResponseTracker, Unstorable};

/// One whole result set in the form in which it is stored.
#[derive(Clone, Copy)]
pub struct ResultSet<'a> {
    /// The packets, with the status flags of a session outside of transactions.
    pub bytes: &'a [u8],
    pub rows: u64,
    /// The offsets of the status flags. None if the result may not be served in transactions.
    pub flag_offsets: Option<FlagOffsets>,
}

/// How the rows of a result set are encoded.
#[derive(Clone, Copy)]
pub struct RowEncoding {
    /// True for the answer to an execution of a prepared statement.
    pub is_binary: bool,
    /// The capabilities of the connection that the answer came on.
    pub capabilities: u64,
}

impl<'a> ResultSet<'a> {
    /// Returns the value of the column at `place`, from 0, in the first row. None if it is NULL, or cannot be read; see
    /// [`wire::value`].
    pub fn value(&self, encoding: RowEncoding, place: usize) -> Option<&'a [u8]> {
        wire::value(self.bytes, encoding.capabilities, encoding.is_binary, place)?
    }

    /// Returns none unless these bytes are exactly one whole result set with this number of rows, as the server would answer a
    /// command that expects `expect`. Bytes that do not come from the server are served only after this check.
    pub fn read(bytes: &'a [u8], rows: u64, expect: Expect, capabilities: u64) -> Option<ResultSet<'a>> {
        let Progress::Done(outcome) = ResponseTracker::new(expect, capabilities).feed(bytes) else { return None };
        let has_rows = matches!(outcome.kind, OutcomeKind::ResultSet { rows: found, .. } if found == rows);
        let is_outside =
            session_flags::transaction_flags(outcome.status.unwrap_or(0)) == session_flags::OUTSIDE_TRANSACTION;
        let is_one = has_rows && is_outside && why_not_stored(&outcome, 0).is_none() && bytes.get(3) == Some(&1);
        let flag_offsets = FlagOffsets::pack(outcome.status_offsets.as_slice(), bytes.len());
        is_one.then_some(ResultSet { bytes, rows, flag_offsets })
    }
}

/// Returns the reason why an answer with this outcome may not be stored; none if it may. `warnings` is the number of warnings
/// that the answer may have. Whether its session is in a transaction is not checked here.
pub fn why_not_stored(outcome: &Outcome, warnings: u16) -> Option<ContextReason> {
    match outcome.unstorable(|| warnings) {
        Some(Unstorable::Failed) => Some(ContextReason::Failed),
        Some(Unstorable::Warnings) => Some(ContextReason::Warnings),
        Some(Unstorable::Response) => Some(ContextReason::Response),
        None => (!outcome.metadata_follows).then_some(ContextReason::Response),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::capability::DEPRECATE_EOF;
    use wire::status;

    fn result() -> Vec<u8> {
        let rows = [vec![Some("one".to_owned()), None], vec![Some("x".repeat(300)), Some("2".to_owned())]];
        wire::surface::text_result(&["a", "b"], &rows, DEPRECATE_EOF, status::AUTOCOMMIT)
    }

    #[test]
    fn only_one_whole_result_is_one() {
        let (whole, is_one) =
            (result(), |bytes: &[u8], rows| ResultSet::read(bytes, rows, Expect::Query, DEPRECATE_EOF).is_some());
        assert!(is_one(&whole, 2));
        assert!(!is_one(&whole, 1), "it has other rows than are told");
        assert!((0..whole.len()).all(|length| !is_one(&whole[..length], 2)));
        assert!(!is_one(&[&whole[..], &whole].concat(), 2));
        assert!(!is_one(&[&whole[..], &[0]].concat(), 2));
        assert!(!is_one(&wire::ok_packet(1, 0, 0, status::AUTOCOMMIT, 0), 0));
        assert!(!is_one(&wire::ErrPacket::build(1, 1045, b"28000", "no"), 0));
    }

    /// A packet's header contains its length and sequence number. A result with any other bit there must not be accepted.
    #[test]
    fn a_changed_header_makes_it_none() {
        let whole = result();
        let mut at = 0;
        while at < whole.len() {
            let length = usize::from(whole[at]) | usize::from(whole[at + 1]) << 8;
            for bit in 0..32 {
                let mut changed = whole.clone();
                changed[at + bit / 8] ^= 1 << (bit % 8);
                assert!(ResultSet::read(&changed, 2, Expect::Query, DEPRECATE_EOF).is_none(), "bit {bit} at {at}");
            }
            at += 4 + length;
        }
    }
}
