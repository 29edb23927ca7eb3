//! Sweeping: removes entries that can no longer be served and were not requested since, and segments that hold little else.

use crate::Entry;
use crate::segment::Segment;
use crate::writer::Writer;

/// The outcome of sweeping one segment.
pub(crate) struct SweepOutcome {
    /// The number of entries that were dropped.
    pub dropped: usize,
    /// The size of the segment.
    pub segment_bytes: usize,
}

impl Writer<'_> {
    /// Sweeps the next segment of this shard: drops the entries for which `is_alive` returns false, and frees the segment if few others are
    /// left. Returns `None` after the last segment; the next call starts over with the first.
    pub fn sweep_next(&mut self, is_alive: &impl Fn(&Entry) -> bool) -> Option<SweepOutcome> {
        let cursor = self.state.cursor;
        let small = self.state.small.len();
        let (main, place) = if cursor < small { (false, cursor) } else { (true, cursor - small) };
        if place >= self.queue(main).len() {
            self.state.cursor = 0;
            self.trim_table();
            return None;
        }
        let segment_bytes = self.queue(main).get(place).map_or(0, Segment::bytes);
        let (dropped, live_bytes) = self.drop_dead(main, place, is_alive);
        if !self.is_worth_keeping(main, place, live_bytes) {
            self.give_up(main, place);
        } else {
            self.state.cursor += 1;
        }
        Some(SweepOutcome { dropped, segment_bytes })
    }

    /// Drops the entries of the segment at `place` of a queue for which `is_alive` returns false. Returns their number, and the bytes of
    /// the entries that remain.
    fn drop_dead(&mut self, main: bool, place: usize, is_alive: &impl Fn(&Entry) -> bool) -> (usize, usize) {
        let (mut dropped, mut live_bytes) = (0, 0);
        let Some(segment) = self.queue(main).get(place) else { return (0, 0) };
        for living in self.live_entries(segment) {
            // SAFETY: under the lock, what a slot points to is mapped.
            let view = unsafe { living.entry.view() };
            if is_alive(&view) {
                live_bytes += living.bytes;
            } else {
                self.drop_entry(living.at, living.slot, living.bytes);
                dropped += 1;
            }
        }
        self.state.counts.swept += dropped as u64;
        (dropped, live_bytes)
    }

    fn is_worth_keeping(&self, main: bool, place: usize, live_bytes: usize) -> bool {
        let queue = self.queue(main);
        let is_open = queue.is_open(place);
        let Some(segment) = queue.get(place) else { return true };
        live_bytes > 0 && (is_open || segment.is_single() || 2 * live_bytes > segment.entry_bytes())
    }

    /// Copies the remaining entries of a segment to the young end of its queue and retires the segment. If there is no memory for the
    /// copies, the segment stays, as the youngest of its queue.
    fn give_up(&mut self, main: bool, place: usize) {
        let Some(segment) = self.queue_mut(main).take(place) else { return };
        let moved = self.live_entries(&segment).all(|living| self.relocate(&living));
        if moved {
            self.retire(segment);
        } else {
            // There is no memory to move into: moved entries are dead here, and the others live on. The segment has had its turn.
            self.queue_mut(main).push(segment);
            self.note_held();
            self.state.cursor += 1;
        }
    }
}
