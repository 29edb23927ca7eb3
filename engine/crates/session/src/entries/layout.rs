//! An entry's flags: where its status flags are, and what may be concluded from it.

/// Where a stored response has its status flags, and what it says of snapshots: packed into an entry's flags.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout(pub u32);

impl Layout {
    const OPENS_SNAPSHOT: u32 = 1 << 31;
    const SHORT_TAIL: u32 = 1 << 30;
    const SHOWS_FOUND: u32 = 1 << 29;
    const BY_ROWS: u32 = 1 << 28;
    /// Set later, once: it has outlived a write to its table.
    pub const OUTLIVED: u32 = 1 << 27;
    /// Of the bits of the offset, the upper ones tell for how many seconds it is served also if it is outdated.
    const LASTS: u32 = 1 << 26;
    /// Not served in a transaction.
    const JOINS: u32 = 1 << 25;
    const OFFSET: u32 = Self::JOINS - 1;
    const SECONDS_AT: u32 = 13;
    const MOST_SECONDS: u32 = Self::OFFSET >> Self::SECONDS_AT;

    /// None if the flags are not where they can be described.
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

    /// Whether the entry depends on rows of its table alone.
    pub fn by_rows(self, is_by_rows: bool) -> Layout {
        if is_by_rows { Layout(self.0 | Self::BY_ROWS) } else { self }
    }

    /// Whether a transaction that reads it must be known to the engine of its table.
    pub fn joining(self, joins: bool) -> Layout {
        if joins { Layout(self.0 | Self::JOINS) } else { self }
    }

    pub fn joins(self) -> bool {
        self.0 & Self::JOINS != 0
    }

    pub fn is_by_rows(self) -> bool {
        self.0 & Self::BY_ROWS != 0
    }

    /// A time that does not fit, beside column metadata of more than 8 KiB with a status of their own, is none.
    pub fn lasting(self, seconds: Option<u32>) -> Layout {
        let fits = |seconds: &u32| *seconds <= Self::MOST_SECONDS && (self.0 & Self::OFFSET) >> Self::SECONDS_AT == 0;
        seconds.filter(fits).map_or(self, |seconds| Layout(self.0 | Self::LASTS | seconds << Self::SECONDS_AT))
    }

    /// For how long it is served also if it is outdated.
    pub fn lasts_seconds(self) -> Option<u32> {
        (self.0 & Self::LASTS != 0).then_some((self.0 & Self::OFFSET) >> Self::SECONDS_AT)
    }

    pub fn opens_snapshot(self) -> bool {
        self.0 & Self::OPENS_SNAPSHOT != 0
    }

    /// FOUND_ROWS() is the number of rows in the result. It is not where rows are skipped, grouped or combined.
    pub fn shows_found(self) -> bool {
        self.0 & Self::SHOWS_FOUND != 0
    }

    /// How many warnings the response reports: next to its last status flags, before them in an EOF packet, after them in an OK packet.
    pub fn warnings(self, response: &[u8]) -> u16 {
        let status = self.offsets(response.len())[1];
        let at = if self.0 & Self::SHORT_TAIL != 0 { status - 2 } else { status + 2 };
        u16::from_le_bytes([response[at], response[at + 1]])
    }

    /// The first offset is 0 where there is only one field.
    pub fn offsets(self, length: usize) -> [usize; 2] {
        let tail = if self.0 & Self::SHORT_TAIL != 0 { 2 } else { 4 };
        let first = if self.0 & Self::LASTS != 0 { (1 << Self::SECONDS_AT) - 1 } else { Self::OFFSET };
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
            let lasting = plain.lasting(Some(seconds));
            assert_eq!(lasting.lasts_seconds(), Some(seconds));
            assert_eq!(lasting.offsets(5004), plain.offsets(5004));
            assert!(lasting.opens_snapshot() && lasting.is_by_rows() && !lasting.shows_found());
        }
        assert_eq!((plain.lasts_seconds(), plain.lasting(None).lasts_seconds()), (None, None));
    }

    #[test]
    fn a_time_that_does_not_fit_is_none() {
        let long = Layout::describe(&[1 << 13, 50_000], 50_004, false, false).expect("two fields");
        assert_eq!(long.lasting(Some(9)).lasts_seconds(), None);
        assert_eq!(long.lasting(Some(9)).offsets(50_004), [1 << 13, 50_000]);
        let short = Layout::describe(&[600], 604, false, false).expect("one field");
        assert_eq!(short.lasting(Some(5000)).lasts_seconds(), None);
    }
}
