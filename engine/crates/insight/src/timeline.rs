//! How old results are. They carry no time, only the number that the cache's sequence had before their statement reached the
//! server.
//!
//! Several times a second the present number is noted together with a time that was read before it. A result with that number or
//! a later one is younger than the note, so an age is never understated. While there are no notes, nothing counts as young.
//!
//! The notes are a ring with one word for each tenth of a second. A word holds the number and the round of the ring, so that one
//! load reads both. There is no lock, because every hit may ask.

use std::sync::atomic::{AtomicU64, Ordering};

/// The greatest age that can be asked for.
pub const LONGEST_SECONDS: u64 = 3600;
const STEP_MS: u64 = 100;
const STEPS: u64 = LONGEST_SECONDS * 1000 / STEP_MS + 64;
/// With so many steps between two notes, all begins anew. A machine may stand still for half a minute; and who asks looks for a
/// note through the steps of a gap.
const GAP: u64 = 600;
const ROUND_BITS: u32 = 16;
const ROUNDS: u64 = 1 << ROUND_BITS;

pub struct Timeline {
    /// `number << 16 | round`
    notes: Box<[AtomicU64]>,
    /// The steps of the first and the last note without a gap between them.
    first: AtomicU64,
    last: AtomicU64,
}

impl Default for Timeline {
    fn default() -> Self {
        let notes = (0..STEPS).map(|_| AtomicU64::new(0)).collect();
        Timeline { notes, first: AtomicU64::new(u64::MAX), last: AtomicU64::new(0) }
    }
}

// Relaxed: each word is a fact by itself.
impl Timeline {
    /// `number`: drawn after it was `now_ms`. By one thread at a time.
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

    /// Whether this number was certainly noted no longer than `most_ms` ago.
    pub fn is_younger(&self, number: u64, most_ms: u64, now_ms: u64) -> bool {
        let oldest = now_ms.saturating_sub(most_ms.min(LONGEST_SECONDS * 1000)).div_ceil(STEP_MS);
        let steps = oldest.max(self.first.load(Ordering::Relaxed))..=self.last.load(Ordering::Relaxed);
        steps.take(STEPS as usize).find_map(|step| self.at(step)).is_some_and(|noted| noted <= number)
    }

    /// What was noted in a step.
    fn at(&self, step: u64) -> Option<u64> {
        let note = self.notes[(step % STEPS) as usize].load(Ordering::Relaxed);
        (note % ROUNDS == round(step)).then_some(note >> ROUND_BITS)
    }
}

/// Never that of a word that was not used yet, for as long as servers run.
fn round(step: u64) -> u64 {
    (step / STEPS + 1) % ROUNDS
}
