//! When a moment of the cache's sequence was: results carry no time, only the number of the last change that came before.
//!
//! Numbers are noted with the time a few times a second; a change is taken to be as old as the note before it, so that an
//! age is never understated.

use std::collections::VecDeque;
use std::sync::RwLock;

/// The longest age that can be told, and how many notes that takes at most.
pub const LONGEST_MS: u64 = 3_600_000;
const NOTES: usize = 36_000;

#[derive(Default)]
pub struct Timeline(RwLock<VecDeque<Note>>);

#[derive(Clone, Copy)]
struct Note {
    number: u64,
    now_ms: u64,
}

impl Timeline {
    pub fn note(&self, number: u64, now_ms: u64) {
        let mut notes = self.0.write().unwrap_or_else(|e| e.into_inner());
        // Only the latest of several notes between two changes bounds the age of the second one.
        let repeats = notes.len() >= 2 && notes.iter().rev().take(2).all(|note| note.number == number);
        if repeats {
            notes.pop_back();
        }
        notes.push_back(Note { number, now_ms });
        while notes.len() > NOTES {
            notes.pop_front();
        }
    }

    pub fn forget(&self) {
        self.0.write().unwrap_or_else(|e| e.into_inner()).clear();
    }

    /// How long ago at most the first change after `number` came; none if that is not known.
    pub fn outdated_ms(&self, number: u64, now_ms: u64) -> Option<u64> {
        let notes = self.0.read().unwrap_or_else(|e| e.into_inner());
        // The last note that did not yet know of a later change.
        let after = notes.partition_point(|note| note.number <= number);
        let before = notes.get(after.checked_sub(1)?)?;
        Some(now_ms.saturating_sub(before.now_ms))
    }
}
