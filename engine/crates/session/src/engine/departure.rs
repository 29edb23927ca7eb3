//! Whether the server is letting the plugin go: after an UNINSTALL it keeps the plugin for as long as a connection holds it, with
//! no further reports.
//!
//! Right after any change of plugins only the worker can find out. A statement that depends on it waits for that.

use crate::engine::Engine;
use locks::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, PoisonError};
use std::time::Duration;

/// What a client is told. A server takes 128 characters.
pub const REFUSAL: &str = "fqc was uninstalled, nothing is cached: it goes when connections that use it end or on restart; only then INSTALL it again";

/// Far longer than the worker needs, unless another statement still changes plugins.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    #[default]
    Stays,
    InDoubt,
    Leaves,
}

#[derive(Default)]
pub struct Departure {
    fate: Mutex<Fate>,
    is_settled: Condvar,
    /// False while the plugin certainly stays.
    is_possible: AtomicBool,
}

impl Departure {
    pub fn set(&self, fate: Fate) {
        *self.fate.lock().unwrap_or_else(PoisonError::into_inner) = fate;
        self.is_possible.store(fate != Fate::Stays, Ordering::Release);
        self.is_settled.notify_all();
    }

    fn is_certain(&self) -> bool {
        let fate = self.fate.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.is_settled.wait_timeout_while(fate, PATIENCE, |fate| *fate == Fate::InDoubt);
        *waited.unwrap_or_else(PoisonError::into_inner).0 == Fate::Leaves
    }
}

impl Engine {
    /// Whether the plugin is on its way out, or that is in doubt.
    pub(crate) fn may_depart(&self) -> bool {
        self.departure().is_possible.load(Ordering::Acquire)
    }

    /// Whether the plugin is on its way out. Waits while that is in doubt.
    pub(crate) fn departs(&self) -> bool {
        self.may_depart() && self.departure().is_certain()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flavour::MARIADB;
    use std::thread;

    #[test]
    fn the_refusal_fits_into_what_a_server_takes() {
        assert!(REFUSAL.chars().count() <= 128);
    }

    #[test]
    fn who_asks_while_it_is_in_doubt_waits_for_the_verdict() {
        let engine = Engine::new(&MARIADB, || 0);
        assert!(!engine.departs());
        for (verdict, departs) in [(Fate::Stays, false), (Fate::Leaves, true)] {
            engine.departure().set(Fate::InDoubt);
            thread::scope(|scope| {
                let asked = scope.spawn(|| engine.departs());
                engine.departure().set(verdict);
                assert_eq!(asked.join().unwrap(), departs);
            });
        }
    }
}
