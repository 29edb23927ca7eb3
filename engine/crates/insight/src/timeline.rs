//! How old results are: they carry no time, only the number that the cache's sequence had before their statement reached
//! the server.
//!
//! A few times a second a number is drawn and noted, with a time that was read before. Whatever has this number or a later
//! one is younger than the note, so that an age is never understated; without notes for a while it is overstated.

use std::collections::VecDeque;
use std::sync::RwLock;

/// The greatest age that is told, what passes at least between two notes, and how many that makes at most.
pub const LONGEST_SECONDS: u64 = 3600;
const INTERVAL_MS: u64 = 100;
const NOTES: usize = (LONGEST_SECONDS * 1000 / INTERVAL_MS) as usize;

#[derive(Default)]
pub struct Timeline(RwLock<VecDeque<Note>>);

#[derive(Clone, Copy)]
struct Note {
    number: u64,
    now_ms: u64,
}

impl Timeline {
    /// `number`: drawn after it was `now_ms`.
    pub fn note(&self, number: u64, now_ms: u64) {
        let mut notes = self.0.write().unwrap_or_else(|e| e.into_inner());
        if notes.back().is_some_and(|last| now_ms < last.now_ms + INTERVAL_MS) {
            return;
        }
        if notes.len() == NOTES {
            notes.pop_front();
        }
        notes.push_back(Note { number, now_ms });
    }

    pub fn forget(&self) {
        self.0.write().unwrap_or_else(|e| e.into_inner()).clear();
    }

    /// How long ago at most this number was noted; none if it is older than all that is known.
    pub fn age_ms(&self, number: u64, now_ms: u64) -> Option<u64> {
        let notes = self.0.read().unwrap_or_else(|e| e.into_inner());
        let later = notes.partition_point(|note| note.number <= number);
        let note = notes.get(later.checked_sub(1)?)?;
        Some(now_ms.saturating_sub(note.now_ms))
    }
}
