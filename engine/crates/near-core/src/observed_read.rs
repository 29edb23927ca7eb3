//! Compares what the program would answer from memory with the server's answer, while the operator lets it only observe.

use crate::session_flags::FlagOffsets;
use crate::uses::Use;
use wire::{Outcome, OutcomeKind};

/// The number of an answer that only an observed read needs. No other answer has it.
const NUMBER: u64 = u64::MAX - 1;

/// A read that memory has an answer for, and that is sent to the server instead. The two answers are compared.
pub struct ObservedRead {
    /// The number of the server's answer, once the read was sent.
    number: Option<u64>,
    expected: Vec<u8>,
    flag_offsets: Option<FlagOffsets>,
    pub used: Option<Use>,
    /// The beginning of the server's answer. It stops growing once it is longer than the expected one.
    answer: Vec<u8>,
}

impl ObservedRead {
    /// Prepares to compare the server's answer with `expected`, the answer from memory. `flag_offsets` are the offsets of its status
    /// flags, in which the answers may differ. `used` are the statistics of its hits.
    pub fn new(expected: Vec<u8>, flag_offsets: Option<FlagOffsets>, used: Option<Use>) -> ObservedRead {
        ObservedRead { number: None, expected, flag_offsets, used, answer: Vec::new() }
    }

    /// Notes that the read is sent to the server. Returns the number that its answer must be given: `number` if it has one
    /// already, and otherwise one that [`is_observed_number`](Self::is_observed_number) recognises.
    pub fn send(&mut self, number: Option<u64>) -> u64 {
        *self.number.get_or_insert(number.unwrap_or(NUMBER))
    }

    /// Returns true if [`send`](Self::send) was called.
    pub fn is_sent(&self) -> bool {
        self.number.is_some()
    }

    /// Returns true if the answer with this number is the one to this read.
    pub fn is_of(&self, number: u64) -> bool {
        self.number == Some(number)
    }

    /// Returns true if this is the number of an answer of the server that is needed only to compare it with memory's,
    /// because nothing else had given the answer a number.
    pub fn is_observed_number(number: u64) -> bool {
        number == NUMBER
    }

    /// Takes bytes of the server's answer.
    pub fn take(&mut self, bytes: &[u8]) {
        if self.answer.len() <= self.expected.len() {
            self.answer.extend_from_slice(bytes);
        }
    }

    /// Ends the comparison when the answer is complete. Returns true if it is the expected one, apart from the flags of a transaction,
    /// and false if the answer from memory would have been wrong. None if the server has answered with an error.
    pub fn end(mut self, outcome: &Outcome) -> Option<bool> {
        if matches!(outcome.kind, OutcomeKind::Err { .. }) {
            return None;
        }
        // Inside a transaction, the same result has other flags.
        if let Some(flag_offsets) = self.flag_offsets {
            flag_offsets.set_flags(&mut self.expected, 0);
            flag_offsets.set_flags(&mut self.answer, 0);
        }
        Some(self.answer == self.expected)
    }
}
