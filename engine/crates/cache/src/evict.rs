//! Eviction by S3-FIFO over segments. New entries enter the small queue, about a tenth of the memory. When they reach its end, used ones
//! move to the main queue, and the others leave a ghost. In the main queue each round costs an entry one of its uses; an entry with
//! none left is dropped.
//!
//! A segment is freed as a whole, and its survivors are copied, so memory does not fragment. A segment in which nearly all entries survive
//! is not copied but moved to the young end of the main queue. To bound the work of one eviction, each further segment of the main
//! queue requires one use more, and after some rounds every entry is dropped.

use crate::ghosts;
use crate::memory::collect;
use crate::segment::Segment;
use crate::slot::IndexSlot;
use crate::writer::{LiveEntry, Writer};

/// The number of segments that one eviction examines while it still spares used entries; from then on it drops all.
const PATIENCE: u32 = 16;

impl Writer<'_> {
    /// Evicts segments, oldest first, until the shard holds fewer bytes than before. Returns false if it could not, because no segments
    /// were left. The memory is released once no reader uses it.
    pub fn evict(&mut self) -> bool {
        let before = self.segments_bytes();
        let mut turns_of_main = 0;
        for round in 0.. {
            let main = !self.small_is_over();
            let Some(segment) = self.queue_mut(main).pop() else { break };
            let spared_above = if round >= PATIENCE { IndexSlot::MAX_USES } else { turns_of_main };
            turns_of_main += u64::from(main);
            self.evict_segment(segment, main, spared_above);
            if self.segments_bytes() < before {
                break;
            }
            // The next survivors may need the memory of the segments that were just retired.
            collect();
        }
        self.segments_bytes() < before
    }

    /// True if the small queue, which new entries enter, takes more than about a tenth of the shard's memory.
    fn small_is_over(&self) -> bool {
        let (small, main) = (self.state.small.bytes(), self.state.main.bytes());
        main == 0 || small * 9 > main
    }

    /// Evicts the entries of a segment that was taken out of a queue, main or small, except for those with more uses than `spared_above`,
    /// which move to the main queue. Then frees the segment, or moves it as a whole to the main queue if most entries are spared.
    fn evict_segment(&mut self, segment: Segment, main: bool, spared_above: u64) {
        let in_place = self.is_mostly_spared(&segment, spared_above);
        for living in self.live_entries(&segment) {
            let is_spared = living.slot.uses() > spared_above;
            if !(is_spared && self.spare(&living, in_place)) {
                self.sacrifice(&living, main);
            }
        }
        if in_place {
            self.state.main.push(segment);
            self.note_held();
        } else {
            self.retire(segment);
        }
    }

    /// True if so many bytes of the segment belong to entries with more uses than `spared_above` that copying them does not pay.
    fn is_mostly_spared(&self, segment: &Segment, spared_above: u64) -> bool {
        let living = self.live_entries(segment);
        let spared = living.filter(|living| living.slot.uses() > spared_above);
        let bytes: usize = spared.map(|living| living.bytes).sum();
        if segment.is_single() { bytes > 0 } else { 8 * bytes >= 7 * segment.bytes() }
    }

    /// Keeps an entry in the main queue, with one use less if it was there before. If `in_place`, only its slot changes, since the whole
    /// segment moves; otherwise the entry is copied. Returns false, and changes nothing, if there is no memory for the copy.
    fn spare(&mut self, living: &LiveEntry, in_place: bool) -> bool {
        let slot = living.slot;
        let uses = if slot.is_main() { slot.uses() - 1 } else { 0 };
        let slot = IndexSlot::new(slot.tag(), living.entry, true, uses);
        if in_place {
            self.table().set(living.at, slot);
            return true;
        }
        self.relocate(&LiveEntry { slot, ..*living })
    }

    /// Evicts an entry. If it was in the small queue (`main` is false), its tag is remembered, so that it enters the main queue if it is
    /// inserted again soon.
    fn sacrifice(&mut self, living: &LiveEntry, main: bool) {
        self.drop_entry(living.at, living.slot, living.bytes);
        self.state.counts.evictions += 1;
        if !main {
            self.remember(living.place, living.slot.tag());
        }
    }

    fn remember(&mut self, place: u32, tag: u16) {
        // SAFETY: the lock is held, and the borrow ends here.
        ghosts::remember(unsafe { self.table().bucket(place) }, tag);
    }
}
