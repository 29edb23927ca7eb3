//! What stands in the way of serving from memory.

use locks::Mutex;
use std::sync::PoisonError;

/// Why nothing is served, in words; empty while something may be.
pub struct Obstacle(Mutex<String>);

impl Obstacle {
    pub fn new() -> Obstacle {
        Obstacle(Mutex::new("not attached yet".into()))
    }

    pub fn get(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn set(&self, what: &str) {
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
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *now != what {
            eprintln!("{message}");
            *now = what.into();
        }
    }
}
