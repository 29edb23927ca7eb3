//! The flags of a cache entry: where its response has status flags, and what the response says about the transaction's snapshot and
//! FOUND_ROWS().

/// Facts about a stored response, packed into the 32 bits of a cache entry's flags.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout(pub u32);

impl Layout {
    const OPENS_SNAPSHOT: u32 = 1 << 31;
    const SHORT_TAIL: u32 = 1 << 30;
    const SHOWS_FOUND: u32 = 1 << 29;
    const BY_ROWS: u32 = 1 << 28;
    /// Flag of an entry: it was found to be still current after a write to other rows of its table. It is set at most
    /// once, after the entry was stored.
    pub const SURVIVED_WRITE: u32 = 1 << 27;
    /// The upper bits of the offset hold the number of seconds for which the entry may be served although it is stale.
    const MAY_BE_STALE: u32 = 1 << 26;
    /// The entry is not served inside a transaction.
    const OUTSIDE_TRANSACTIONS_ONLY: u32 = 1 << 25;
    const OFFSET: u32 = Self::OUTSIDE_TRANSACTIONS_ONLY - 1;
    const SECONDS_AT: u32 = 13;
    const MOST_SECONDS: u32 = Self::OFFSET >> Self::SECONDS_AT;

    /// Describes a response of `length` bytes with status flags at `offsets`. `opens_snapshot` and `shows_found` are what the methods of
    /// these names return. None if these positions cannot be encoded: the response cannot be stored then.
    pub fn describe(offsets: &[u32], length: usize, opens_snapshot: bool, shows_found: bool) -> Option<Layout> {
        let (&last, first) = offsets.split_last()?;
        let first = first.first().copied().unwrap_or(0);
        let tail = length.checked_sub(last as usize)?;
        if first > Self::OFFSET || !(tail == 2 || tail == 4) || offsets.len() > 2 {
            return None;
        }
        let short = if tail == 2 { Self::SHORT_TAIL } else { 0 };
        let opens = if opens_snapshot { Self::OPENS_SNAPSHOT } else { 0 };
        let shows = if shows_found { Self::SHOWS_FOUND } else { 0 };
        Some(Layout(first | short | opens | shows))
    }

    /// Adds that the entry depends only on certain rows of its table. Unchanged if `is_by_rows` is false.
    pub fn by_rows(self, is_by_rows: bool) -> Layout {
        if is_by_rows { Layout(self.0 | Self::BY_ROWS) } else { self }
    }

    /// Adds that the entry must not be served inside a transaction, because the engine of its table must know every transaction that reads
    /// it. Unchanged if `outside_transactions_only` is false.
    pub fn only_outside_transactions(self, outside_transactions_only: bool) -> Layout {
        if outside_transactions_only { Layout(self.0 | Self::OUTSIDE_TRANSACTIONS_ONLY) } else { self }
    }

    /// True if the entry must not be served inside a transaction.
    pub fn outside_transactions_only(self) -> bool {
        self.0 & Self::OUTSIDE_TRANSACTIONS_ONLY != 0
    }

    /// True if the entry depends only on certain rows of its table, and not on any change of it.
    pub fn is_by_rows(self) -> bool {
        self.0 & Self::BY_ROWS != 0
    }

    /// Adds for how many seconds the entry may be served although it is stale. Unchanged for None, if the value does not fit, or if the
    /// column metadata before the first status flags is longer than 8 KiB: the entry is then served only while it is current.
    pub fn with_stale_seconds(self, seconds: Option<u32>) -> Layout {
        let fits = |seconds: &u32| *seconds <= Self::MOST_SECONDS && (self.0 & Self::OFFSET) >> Self::SECONDS_AT == 0;
        seconds.filter(fits).map_or(self, |seconds| Layout(self.0 | Self::MAY_BE_STALE | seconds << Self::SECONDS_AT))
    }

    /// The number of seconds for which the entry may be served although it is stale. None if it may not.
    pub fn stale_seconds(self) -> Option<u32> {
        (self.0 & Self::MAY_BE_STALE != 0).then_some((self.0 & Self::OFFSET) >> Self::SECONDS_AT)
    }

    /// True if running this read on the server certainly opens the snapshot of a transaction.
    pub fn opens_snapshot(self) -> bool {
        self.0 & Self::OPENS_SNAPSHOT != 0
    }

    /// True if FOUND_ROWS() after this read is the number of rows in the result. That is not so if rows may be skipped, grouped or
    /// combined.
    pub fn shows_found(self) -> bool {
        self.0 & Self::SHOWS_FOUND != 0
    }

    /// Number of warnings in the response, whose bytes are `response`. It stands next to the last status flags: before them in an EOF
    /// packet, after them in an OK packet.
    pub fn warnings(self, response: &[u8]) -> u16 {
        let status = self.offsets(response.len())[1];
        let at = if self.0 & Self::SHORT_TAIL != 0 { status - 2 } else { status + 2 };
        u16::from_le_bytes([response[at], response[at + 1]])
    }

    /// The positions of the status flags in a response of `length` bytes. The first is 0 if there are flags only at the end.
    pub fn offsets(self, length: usize) -> [usize; 2] {
        let tail = if self.0 & Self::SHORT_TAIL != 0 { 2 } else { 4 };
        let first = if self.0 & Self::MAY_BE_STALE != 0 { (1 << Self::SECONDS_AT) - 1 } else { Self::OFFSET };
        [(self.0 & first) as usize, length - tail]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_leaves_the_rest_as_it_was() {
        let plain = Layout::describe(&[700, 5000], 5004, true, false).expect("two fields").by_rows(true);
        for seconds in [1, 3600] {
            let lasting = plain.with_stale_seconds(Some(seconds));
            assert_eq!(lasting.stale_seconds(), Some(seconds));
            assert_eq!(lasting.offsets(5004), plain.offsets(5004));
            assert!(lasting.opens_snapshot() && lasting.is_by_rows() && !lasting.shows_found());
        }
        assert_eq!((plain.stale_seconds(), plain.with_stale_seconds(None).stale_seconds()), (None, None));
    }

    #[test]
    fn a_time_that_does_not_fit_is_none() {
        let long = Layout::describe(&[1 << 13, 50_000], 50_004, false, false).expect("two fields");
        assert_eq!(long.with_stale_seconds(Some(9)).stale_seconds(), None);
        assert_eq!(long.with_stale_seconds(Some(9)).offsets(50_004), [1 << 13, 50_000]);
        let short = Layout::describe(&[600], 604, false, false).expect("one field");
        assert_eq!(short.with_stale_seconds(Some(5000)).stale_seconds(), None);
    }
}
