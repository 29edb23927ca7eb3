//! Estimates the age of results. They carry no time, only their stamp, the number of the cache's sequence before their statement reached
//! the server.
//!
//! Several times a second the current number is noted with a time that was read before it. A result with that number or a later one is
//! younger than the note, so an age is never understated. While there are no notes, nothing counts as young.
//!
//! The notes are a ring with one word for each tenth of a second. A word holds the number and the round of the ring, so that one load
//! reads both. There is no lock, because every hit may read the notes.

use std::sync::atomic::{AtomicU64, Ordering};

/// The greatest age that can be asked for, in seconds.
pub const LONGEST_SECONDS: u64 = 3600;
const STEP_MS: u64 = 100;
const STEPS: u64 = LONGEST_SECONDS * 1000 / STEP_MS + 64;
/// After this many steps (tenths of a second) without a note, all older notes are ignored. A machine may stand still for half a minute; but
/// a reader has to step through the gap to find a note.
const GAP: u64 = 600;
const ROUND_BITS: u32 = 16;
const ROUNDS: u64 = 1 << ROUND_BITS;

/// Notes at which times the cache's sequence of changes had which numbers, so that the age of a result can be bounded by its stamp. Reading
/// it takes no lock.
pub struct Timeline {
    /// A ring with one word for each tenth of a second: `number << 16 | round`, where `round` counts how often the ring was filled.
    notes: Box<[AtomicU64]>,
    /// The step (tenth of a second) of the first note that no long gap follows; `u64::MAX` if there is no note.
    first: AtomicU64,
    /// The step of the last note.
    last: AtomicU64,
}

impl Default for Timeline {
    fn default() -> Self {
        let notes = (0..STEPS).map(|_| AtomicU64::new(0)).collect();
        Timeline { notes, first: AtomicU64::new(u64::MAX), last: AtomicU64::new(0) }
    }
}

// Relaxed: each word is complete in itself.
impl Timeline {
    /// Notes that the cache's sequence reached `number` after the time was `now_ms`, in milliseconds by any clock that never goes back:
    /// read the clock first, then the sequence. Call it several times a second, on one thread at a time.
    pub fn note(&self, number: u64, now_ms: u64) {
        let step = now_ms / STEP_MS;
        if number > u64::MAX >> ROUND_BITS || self.at(step).is_some() {
            return;
        }
        self.notes[(step % STEPS) as usize].store(number << ROUND_BITS | round(step), Ordering::Relaxed);
        let last = self.last.swap(step, Ordering::Relaxed);
        if self.first.load(Ordering::Relaxed) == u64::MAX || step > last + GAP {
            self.first.store(step, Ordering::Relaxed);
        }
    }

    /// True if a result with the stamp `number` is certainly no older than `most_ms` milliseconds. False: it is older, or that is not
    /// known. A limit above [`LONGEST_SECONDS`] counts as [`LONGEST_SECONDS`]. `now_ms` is by the same clock as in [`note`](Self::note).
    pub fn is_younger(&self, number: u64, most_ms: u64, now_ms: u64) -> bool {
        let oldest = now_ms.saturating_sub(most_ms.min(LONGEST_SECONDS * 1000)).div_ceil(STEP_MS);
        let steps = oldest.max(self.first.load(Ordering::Relaxed))..=self.last.load(Ordering::Relaxed);
        steps.take(STEPS as usize).find_map(|step| self.at(step)).is_some_and(|noted| noted <= number)
    }

    /// Returns the number that was noted in a step (tenth of a second), none if there was no note or it was overwritten.
    fn at(&self, step: u64) -> Option<u64> {
        let note = self.notes[(step % STEPS) as usize].load(Ordering::Relaxed);
        (note % ROUNDS == round(step)).then_some(note >> ROUND_BITS)
    }
}

/// Returns the number of the round of the ring that a step (tenth of a second) belongs to. It is never 0, the round of an unused word, for
/// as long as servers run.
fn round(step: u64) -> u64 {
    (step / STEPS + 1) % ROUNDS
}
