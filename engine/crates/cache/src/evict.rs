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
use crate::writer::{Living, Writer};

/// The rounds of one eviction in which used entries are spared.
const PATIENCE: u32 = 16;

impl Writer<'_> {
    /// Evicts segments until the shard holds fewer bytes than before. Returns `false` if there were no segments left.
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

    fn small_is_over(&self) -> bool {
        let (small, main) = (self.state.small.bytes(), self.state.main.bytes());
        main == 0 || small * 9 > main
    }

    fn evict_segment(&mut self, segment: Segment, main: bool, spared_above: u64) {
        let in_place = self.is_mostly_spared(&segment, spared_above);
        for living in self.living(&segment) {
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

    /// True if so much of the segment survives that copying does not pay.
    fn is_mostly_spared(&self, segment: &Segment, spared_above: u64) -> bool {
        let living = self.living(segment);
        let spared = living.filter(|living| living.slot.uses() > spared_above);
        let bytes: usize = spared.map(|living| living.bytes).sum();
        if segment.is_single() { bytes > 0 } else { 8 * bytes >= 7 * segment.bytes() }
    }

    /// Moves an entry to main, or marks it as being there. Returns false if there is no memory to move it to.
    fn spare(&mut self, living: &Living, in_place: bool) -> bool {
        let slot = living.slot;
        let uses = if slot.is_main() { slot.uses() - 1 } else { 0 };
        let slot = IndexSlot::new(slot.tag(), living.entry, true, uses);
        if in_place {
            self.table().set(living.at, slot);
            return true;
        }
        self.relocate(&Living { slot, ..*living })
    }

    fn sacrifice(&mut self, living: &Living, main: bool) {
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
