//! One word of the index: `tag (15 bits) | in main (1) | address of the entry (46 bits) | uses (2)`.
//!
//! Entries are aligned to 4 bytes in the lower 48 bits of the address space, so the address loses nothing. The word carries everything
//! about an entry that changes, which keeps the entry itself immutable and lets a hit count its use by one compare-and-swap.

use std::ptr::{NonNull, with_exposed_provenance_mut};

use crate::entry::{ALIGN, RawEntry};

/// The content of one slot of a shard's index: empty, removed, or the address of an entry with its tag, its queue and its use count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexSlot(pub u64);

const USES: u64 = ALIGN as u64 - 1;
const ADDRESS: u64 = (1 << 48) - ALIGN as u64;
const MAIN: u64 = 1 << 48;
const TAG_AT: u32 = 49;

impl IndexSlot {
    /// The content of a slot that was never used: a search for an entry ends here.
    pub const EMPTY: IndexSlot = IndexSlot(0);
    /// The content of a slot that was used and is free again: a search for an entry goes on after it.
    pub const REMOVED: IndexSlot = IndexSlot(1);
    /// The greatest use count that a slot can hold.
    pub const MAX_USES: u64 = USES;

    /// Creates a slot that points to `entry`. `tag` is [`Hash::tag`](crate::hash::Hash::tag) of the key; `main` is true if the entry is in
    /// the main queue.
    pub fn new(tag: u16, entry: RawEntry, main: bool, uses: u64) -> Self {
        // Exposed, because the address comes back out of an integer in `entry`.
        let address = entry.start().as_ptr().expose_provenance() as u64;
        assert_eq!(address & !ADDRESS, 0, "the system maps memory beyond 48 bits");
        debug_assert!(uses <= Self::MAX_USES);
        debug_assert!(u64::from(tag) < 1 << (u64::BITS - TAG_AT));
        IndexSlot(u64::from(tag) << TAG_AT | address | if main { MAIN } else { 0 } | uses)
    }

    /// Returns the entry's address; `None` if the slot is empty or removed.
    pub fn entry(self) -> Option<RawEntry> {
        let start = with_exposed_provenance_mut((self.0 & ADDRESS) as usize);
        NonNull::new(start).map(RawEntry::at)
    }

    /// Returns [`Hash::tag`](crate::hash::Hash::tag) of the entry's key.
    pub fn tag(self) -> u16 {
        (self.0 >> TAG_AT) as u16
    }

    /// True if the entry is in the main queue, false if it is in the small one.
    pub fn is_main(self) -> bool {
        self.0 & MAIN != 0
    }

    /// How often the entry was hit since it was stored or last survived an eviction, up to [`MAX_USES`](Self::MAX_USES).
    pub fn uses(self) -> u64 {
        self.0 & USES
    }

    pub fn with_one_use_more(self) -> Self {
        debug_assert!(self.uses() < Self::MAX_USES);
        IndexSlot(self.0 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_fields_come_back() {
        let word = std::cell::UnsafeCell::new(0u64);
        let entry = RawEntry::at(NonNull::new(word.get().cast()).expect("not null"));
        let slot = IndexSlot::new(0x7edc, entry, true, 2);
        assert_eq!((slot.tag(), slot.is_main(), slot.uses()), (0x7edc, true, 2));
        assert!(slot.entry() == Some(entry));
        let slot = slot.with_one_use_more();
        assert_eq!((slot.tag(), slot.is_main(), slot.uses()), (0x7edc, true, 3));
        assert!(!IndexSlot::new(0, entry, false, 0).is_main());
        assert!(IndexSlot::EMPTY.entry().is_none() && IndexSlot::REMOVED.entry().is_none());
    }
}
