//! Where a stored response has its status flags, and what it says of snapshots.

/// Where a stored response has its status flags, and what it says of snapshots: packed into an entry's flags.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout(pub u32);

impl Layout {
    const OPENS_SNAPSHOT: u32 = 1 << 31;
    const SHORT_TAIL: u32 = 1 << 30;
    const SHOWS_FOUND: u32 = 1 << 29;
    const BY_ROWS: u32 = 1 << 28;
    /// Set later, once: it has outlived a write to its table.
    pub const OUTLIVED: u32 = 1 << 27;
    const OFFSET: u32 = Self::OUTLIVED - 1;

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

    pub fn is_by_rows(self) -> bool {
        self.0 & Self::BY_ROWS != 0
    }

    pub fn opens_snapshot(self) -> bool {
        self.0 & Self::OPENS_SNAPSHOT != 0
    }

    /// FOUND_ROWS() is the number of rows in the result. It is not where rows are skipped, grouped or combined.
    pub fn shows_found(self) -> bool {
        self.0 & Self::SHOWS_FOUND != 0
    }

    /// The first offset is 0 where there is only one field.
    pub fn offsets(self, length: usize) -> [usize; 2] {
        let tail = if self.0 & Self::SHORT_TAIL != 0 { 2 } else { 4 };
        [(self.0 & Self::OFFSET) as usize, length - tail]
    }
}
