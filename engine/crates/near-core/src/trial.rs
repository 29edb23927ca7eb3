//! Counts the reads that the program would answer from memory, while an operator lets it only observe. Each such read goes to the server,
//! and the answer of the server is compared with the one that the client would have got.

use crate::session_flags::Places;
use crate::uses::Use;
use wire::{Outcome, OutcomeKind};

/// The answer of the server has this number where nothing else needs it.
const NUMBER: u64 = u64::MAX - 1;

/// A read that could be answered from memory, on its way to the server.
pub struct Trial {
    number: Option<u64>,
    expected: Vec<u8>,
    places: Option<Places>,
    pub used: Option<Use>,
    /// The beginning of the server's answer, which is at most a little longer than the expected one.
    answer: Vec<u8>,
}

impl Trial {
    pub fn new(expected: Vec<u8>, places: Option<Places>, used: Option<Use>) -> Trial {
        Trial { number: None, expected, places, used, answer: Vec::new() }
    }

    /// The server gets the read now. Returns the number of its answer: the one that it has already, if it has one.
    pub fn send(&mut self, number: Option<u64>) -> u64 {
        *self.number.get_or_insert(number.unwrap_or(NUMBER))
    }

    pub fn is_sent(&self) -> bool {
        self.number.is_some()
    }

    pub fn is_of(&self, number: u64) -> bool {
        self.number == Some(number)
    }

    /// Returns true if only a trial uses this number.
    pub fn is_alone(number: u64) -> bool {
        number == NUMBER
    }

    pub fn take(&mut self, bytes: &[u8]) {
        if self.answer.len() <= self.expected.len() {
            self.answer.extend_from_slice(bytes);
        }
    }

    /// The answer is complete. Returns true if it is the expected one; none if the server could not answer.
    pub fn end(mut self, outcome: &Outcome) -> Option<bool> {
        if matches!(outcome.kind, OutcomeKind::Err { .. }) {
            return None;
        }
        // The same rows have other flags in a transaction.
        if let Some(places) = self.places {
            places.give(&mut self.expected, 0);
            places.give(&mut self.answer, 0);
        }
        Some(self.answer == self.expected)
    }
}
