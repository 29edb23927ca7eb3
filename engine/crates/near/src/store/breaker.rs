//! A circuit breaker: a server that did not answer is asked by only one read a second until it answers again.

use std::sync::atomic::{AtomicU64, Ordering};

const PAUSE_NS: u64 = 1_000_000_000;
const CLOSED: u64 = 0;

/// A circuit breaker for one server. It is closed while the server answers, and open after the server did not answer.
#[derive(Default)]
pub struct Breaker {
    /// The time until which no read may ask, in nanoseconds of `near_core::clock`; 0 (`CLOSED`) while the server answers.
    until: AtomicU64,
}

impl Breaker {
    /// Returns true if the server answers, as far as it is known. Unlike [`may_ask`](Self::may_ask), this changes nothing.
    pub fn is_closed(&self) -> bool {
        self.until.load(Ordering::Relaxed) == CLOSED
    }

    /// Returns true for every caller if the breaker is closed, and otherwise for one caller a second, who should then ask the server.
    /// `now`: in nanoseconds of `near_core::clock`.
    pub fn may_ask(&self, now: u64) -> bool {
        let until = self.until.load(Ordering::Relaxed);
        let takes_turn = || {
            let next = now + PAUSE_NS;
            self.until.compare_exchange(until, next, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        };
        until == CLOSED || now >= until && takes_turn()
    }

    /// Opens the breaker for a second from `now` on, because the server did not answer.
    pub fn open(&self, now: u64) {
        self.until.store(now + PAUSE_NS, Ordering::Relaxed);
    }

    /// Closes the breaker, because the server has answered. Returns true if the breaker was open.
    pub fn close(&self) -> bool {
        !self.is_closed() && self.until.swap(CLOSED, Ordering::Relaxed) != CLOSED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_does_not_answer_is_asked_once_a_second_until_it_does() {
        let breaker = Breaker::default();
        assert!(breaker.may_ask(5) && breaker.may_ask(5) && breaker.is_closed());
        breaker.open(10);
        assert!(!breaker.may_ask(10 + PAUSE_NS - 1) && !breaker.is_closed());
        assert!(breaker.may_ask(10 + PAUSE_NS) && !breaker.may_ask(11 + PAUSE_NS), "by one alone");
        assert!(breaker.close() && !breaker.close() && breaker.may_ask(0));
    }
}
