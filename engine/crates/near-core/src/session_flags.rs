//! The status flags that show which transaction a session is in. Results are stored with the flags of a session outside of
//! transactions, and are served with the flags of the session that gets them. So all sessions can share them.

use wire::status::{self, OF_TRANSACTION};

/// The transaction's flags of a session with autocommit on that is in no transaction. Results are stored with them.
pub const OUTSIDE_TRANSACTION: u16 = status::AUTOCOMMIT;

/// Returns only those of the status flags that describe the session's transaction: in a transaction, read-only, autocommit.
pub fn transaction_flags(flags: u16) -> u16 {
    flags & OF_TRANSACTION
}

/// The offsets of the status flags in an answer, packed into 32 bits for a cache entry. With them, [`set_flags`](Self::set_flags) can set
/// the flags of the session that gets the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlagOffsets(u32);

impl FlagOffsets {
    /// The number of lower bits, which contain the first offset. The upper bits contain the distance of the last one from the
    /// end.
    const FIRST_BITS: u32 = 21;
    const MOST_FIRST: usize = (1 << Self::FIRST_BITS) - 1;
    const MOST_TAIL: usize = (1 << (u32::BITS - Self::FIRST_BITS)) - 1;

    /// Packs the offsets of the status flags in an answer of `length` bytes: one, or two if the column definitions end with flags
    /// of their own. None if they do not fit; the answer can then be served only outside of transactions.
    pub fn pack(offsets: &[u32], length: usize) -> Option<FlagOffsets> {
        let (first, last) = match offsets {
            [last] => (0, *last as usize),
            [first, last] => (*first as usize, *last as usize),
            _ => return None,
        };
        let tail = length.checked_sub(last).filter(|tail| (2..=Self::MOST_TAIL).contains(tail))?;
        (first <= Self::MOST_FIRST).then_some(FlagOffsets((tail << Self::FIRST_BITS | first) as u32))
    }

    /// Unpacks the value of [`bits`](Self::bits). None for zero, which means that the entry may not be served in transactions.
    pub fn from_bits(bits: u32) -> Option<FlagOffsets> {
        (bits != 0).then_some(FlagOffsets(bits))
    }

    /// Returns the packed offsets for a cache entry. They are never zero.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Replaces the transaction's flags in `answer` by those in `flags`, which are the status flags of the session that gets it.
    /// All other flags in the answer stay. `answer` must be the one for which these offsets were described.
    pub fn set_flags(self, answer: &mut [u8], flags: u16) {
        let (first, tail) = (self.0 as usize & Self::MOST_FIRST, self.0 as usize >> Self::FIRST_BITS);
        let last = answer.len().checked_sub(tail);
        for at in [(first > 0).then_some(first), last].into_iter().flatten() {
            if let Some(field) = answer.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
                *field = (u16::from_le_bytes(*field) & !OF_TRANSACTION | transaction_flags(flags)).to_le_bytes();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::capability::{DEPRECATE_EOF, PROTOCOL_41};
    use wire::surface::text_result;
    use wire::{Expect, Progress, ResponseTracker};

    #[test]
    fn an_answer_gets_the_flags_of_each_session_and_nothing_else_changes() {
        let rows = [vec![Some("x".repeat(300))], vec![None]];
        for capabilities in [PROTOCOL_41, PROTOCOL_41 | DEPRECATE_EOF] {
            let answer = |flags| text_result(&["a"], &rows, capabilities, status::NO_INDEX | flags);
            let mut results = answer(OUTSIDE_TRANSACTION);
            let Progress::Done(outcome) = ResponseTracker::new(Expect::Query, capabilities).feed(&results) else {
                panic!("it is whole")
            };
            let flag_offsets =
                FlagOffsets::pack(outcome.status_offsets.as_slice(), results.len()).expect("it is short");
            assert_eq!(FlagOffsets::from_bits(flag_offsets.bits()), Some(flag_offsets));
            for flags in [
                status::IN_TRANS | status::AUTOCOMMIT,
                status::IN_TRANS | status::IN_TRANS_READONLY,
                OUTSIDE_TRANSACTION,
            ] {
                flag_offsets.set_flags(&mut results, flags | status::SLOW);
                assert_eq!(results, answer(flags));
            }
        }
    }

    #[test]
    fn what_cannot_be_described_is_for_sessions_outside_of_transactions() {
        assert_eq!(FlagOffsets::pack(&[], 10), None);
        assert_eq!(FlagOffsets::pack(&[1, 2, 3], 10), None);
        assert_eq!(FlagOffsets::pack(&[9], 10), None, "there is no room for it");
        assert_eq!(FlagOffsets::pack(&[1], 1 << 20), None);
        assert_eq!(FlagOffsets::pack(&[1 << 21, 1 << 21], (1 << 21) + 4), None);
        assert_eq!(FlagOffsets::from_bits(0), None);
    }
}
