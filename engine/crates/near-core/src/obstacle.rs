//! The reason why nothing is served from memory.

use crate::one_line::{LONGEST_LINE, one_line};
use crate::say;
use locks::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};

const OBSERVES: &str = "it only observes";

/// The reason why nothing is served from memory, as text. Empty while results may be served. Each change is written to the log.
pub struct Obstacle {
    reason: Mutex<String>,
    /// True if the operator lets the program only observe. This is the reason if there is no other one.
    observes: AtomicBool,
    /// True if serving was possible as far as this program is concerned since the last call of [`take_worked`](Self::take_worked).
    has_worked: AtomicBool,
}

impl Default for Obstacle {
    fn default() -> Obstacle {
        let reason = Mutex::new("not attached yet".into());
        Obstacle { reason, observes: AtomicBool::new(false), has_worked: AtomicBool::new(false) }
    }
}

impl Obstacle {
    /// Returns the reason; an empty text if results may be served.
    pub fn get(&self) -> String {
        let reason = self.reason.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // Relaxed: no other memory access depends on this flag.
        if reason.is_empty() && self.observes.load(Ordering::Relaxed) { OBSERVES.into() } else { reason }
    }

    /// Sets whether the program only observes, that is, counts what it could have served.
    pub fn set_observing(&self, observes: bool) {
        match (self.observes.swap(observes, Ordering::Relaxed), observes) {
            (false, true) => say!("nothing is answered from memory, but observed: what would be is counted"),
            (true, false) => say!("reads are no longer only observed"),
            _ => {}
        }
    }

    /// Sets the reason. `what` may contain text of a server: line breaks and control characters are removed, and it is cut at
    /// [`LONGEST_LINE`] characters.
    pub fn set(&self, what: &str) {
        let what = &one_line(what, LONGEST_LINE);
        self.change(what, &format!("nothing is answered from memory: {what}"));
    }

    /// Notes that the feed is attached. `server`: the reason why the server's cache reports no results; empty if it reports them, so that
    /// results may be served by leases.
    pub fn note_attached(&self, server: &str) {
        self.has_worked.store(true, Ordering::Relaxed);
        let server = &one_line(server, LONGEST_LINE);
        match server.is_empty() {
            true => self.change("", "attached: reads that repeat are answered from memory"),
            false => self.change(server, &format!("attached, but nothing is answered from memory: {server}")),
        }
    }

    /// Returns true if the feed was attached, or the binary log was followed, since the last call.
    pub fn take_worked(&self) -> bool {
        self.has_worked.swap(false, Ordering::Relaxed)
    }

    /// Clears the reason: results may be served by rules, which need no feed.
    pub fn clear_for_rules(&self) {
        self.change("", "reads that fit a rule are answered from memory, and may be outdated");
    }

    /// Clears the reason: the binary log is followed, so results may be served while it arrives in time.
    pub fn clear_for_log(&self) {
        self.has_worked.store(true, Ordering::Relaxed);
        self.change("", "reads that repeat are answered from memory while the server's log comes in time");
    }

    /// Sets the reason, and logs `message` if the reason has changed.
    fn change(&self, what: &str, message: &str) {
        let mut now = self.reason.lock().unwrap_or_else(PoisonError::into_inner);
        if *now != what {
            say!("{message}");
            *now = what.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_is_one_line_of_text() {
        let obstacle = Obstacle::default();
        obstacle.set(&format!("error 1045: \u{1b}[2Jno\nfqc_near_serving 1 {}", "x".repeat(5000)));
        let reason = obstacle.get();
        assert!(reason.starts_with("error 1045: [2Jno fqc_near_serving 1 x"), "{reason}");
        assert_eq!(reason.len(), LONGEST_LINE);
    }
}
