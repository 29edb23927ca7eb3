//! What stands in the way of serving from memory.

use crate::one_line::{LONGEST_LINE, one_line};
use crate::say;
use locks::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};

const OBSERVES: &str = "it only observes";

/// Why nothing is served, in words; empty while something may be.
pub struct Obstacle {
    said: Mutex<String>,
    /// The operator lets the program only observe. This is reported where nothing else is in the way.
    observes: AtomicBool,
}

impl Default for Obstacle {
    fn default() -> Obstacle {
        Obstacle { said: Mutex::new("not attached yet".into()), observes: AtomicBool::new(false) }
    }
}

impl Obstacle {
    pub fn get(&self) -> String {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // Relaxed: it orders nothing.
        if said.is_empty() && self.observes.load(Ordering::Relaxed) { OBSERVES.into() } else { said }
    }

    /// The log has it at each change.
    pub fn observe(&self, observes: bool) {
        match (self.observes.swap(observes, Ordering::Relaxed), observes) {
            (false, true) => say!("nothing is answered from memory, but observed: what would be is counted"),
            (true, false) => say!("reads are no longer only observed"),
            _ => {}
        }
    }

    /// `what` may have words of a server. Logs and metrics get one line of them.
    pub fn set(&self, what: &str) {
        let what = &one_line(what, LONGEST_LINE);
        self.change(what, &format!("nothing is answered from memory: {what}"));
    }

    pub fn attached(&self) {
        self.change("", "attached: reads that repeat are answered from memory");
    }

    /// No feed is needed.
    pub fn by_rules(&self) {
        self.change("", "reads that fit a rule are answered from memory, and may be outdated");
    }

    pub fn following(&self) {
        self.change("", "reads that repeat are answered from memory while the server's log comes in time");
    }

    /// The log has it once.
    fn change(&self, what: &str, message: &str) {
        let mut now = self.said.lock().unwrap_or_else(PoisonError::into_inner);
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
        let said = obstacle.get();
        assert!(said.starts_with("error 1045: [2Jno fqc_near_serving 1 x"), "{said}");
        assert_eq!(said.len(), LONGEST_LINE);
    }
}
