//! Whether the server is uninstalling the plugin. After UNINSTALL PLUGIN the server keeps the plugin for as long as a connection
//! uses it, but reports nothing to it.
//!
//! While the engine is awake, the server reports a change of plugins. Otherwise, and right after such a change, only the host can
//! find out. A statement that depends on the answer makes the host look, and waits for it.

use crate::engine::Engine;
use locks::Mutex;
use std::sync::{Condvar, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// The error message that a client gets. A server accepts at most 128 characters.
pub const REFUSAL: &str = "fqc was uninstalled, nothing is cached: it goes when connections that use it end or on restart; only then INSTALL it again";

/// How long a statement waits to learn whether the plugin is being uninstalled. The host needs far less, unless another statement is still
/// changing plugins.
const PATIENCE: Duration = Duration::from_secs(2);

/// The three answers to whether the plugin is being uninstalled: no, perhaps, certainly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PluginState {
    #[default]
    Stays,
    InDoubt,
    Leaves,
}

#[derive(Default)]
struct State {
    plugin_state: PluginState,
    /// Number of calls of `doubt`. An answer from before the last one is ignored.
    doubts: u64,
}

#[derive(Default)]
pub struct Uninstallation {
    state: Mutex<State>,
    is_settled: Condvar,
    /// Wakes the host, which then finds out whether the plugin is being uninstalled. Not set by a host that cannot be uninstalled.
    wake_host: OnceLock<fn()>,
}

impl Uninstallation {
    /// Sets the function that wakes the host, so that it finds out whether the plugin is being uninstalled. Only the first call counts.
    pub fn set_host(&self, wake: fn()) {
        let _ = self.wake_host.set(wake);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the plugin may be being uninstalled, and wakes the host to find out. Does not wait for the answer. Does nothing for a
    /// host that cannot be uninstalled.
    pub fn doubt(&self) {
        let Some(wake) = self.wake_host.get() else { return };
        let mut state = self.state();
        state.doubts += 1;
        if state.plugin_state == PluginState::Stays {
            state.plugin_state = PluginState::InDoubt;
        }
        drop(state);
        wake();
    }

    /// Returns the number of doubts so far. None if nothing is in doubt. The host reads this before it asks the server whether the plugin
    /// stays, and passes it to `note_staying`.
    pub fn doubts(&self) -> Option<u64> {
        let state = self.state();
        (state.plugin_state == PluginState::InDoubt).then_some(state.doubts)
    }

    /// Notes that the server keeps the plugin, and wakes the statements that wait for the answer. Ignored if there was another doubt since
    /// `doubts` was read, or if the plugin is certainly being uninstalled.
    pub fn note_staying(&self, doubts: u64) {
        let mut state = self.state();
        if state.plugin_state == PluginState::InDoubt && state.doubts == doubts {
            state.plugin_state = PluginState::Stays;
            self.is_settled.notify_all();
        }
    }

    /// Notes that the plugin is certainly being uninstalled, and wakes the statements that wait for the answer. Holds until `forget`.
    pub fn note_leaving(&self) {
        self.state().plugin_state = PluginState::Leaves;
        self.is_settled.notify_all();
    }

    /// Called when the plugin is loaded again or unloaded. Until the next doubt, it counts as staying.
    pub fn forget(&self) {
        self.state().plugin_state = PluginState::Stays;
        self.is_settled.notify_all();
    }

    /// Waits until it is known whether the plugin stays, at most `PATIENCE`. Returns `InDoubt` if the time is over first.
    fn settled(&self) -> PluginState {
        let waited = self
            .is_settled
            .wait_timeout_while(self.state(), PATIENCE, |state| state.plugin_state == PluginState::InDoubt);
        waited.unwrap_or_else(PoisonError::into_inner).0.plugin_state
    }
}

impl Engine {
    /// True if the plugin is certainly being uninstalled. Makes the host find out if the engine is not awake, and waits up to `PATIENCE`
    /// while that is in doubt; false if it still is then.
    pub(crate) fn is_being_uninstalled(&self) -> bool {
        if !self.mode().is_awake() {
            self.uninstallation().doubt();
        }
        self.uninstallation().settled() == PluginState::Leaves
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flavour::MARIADB;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    #[test]
    fn the_refusal_fits_into_what_a_server_takes() {
        assert!(REFUSAL.chars().count() <= 128);
    }

    fn awake() -> Engine {
        let engine = Engine::new(&MARIADB, || 0);
        engine.wake();
        engine.uninstallation().set_host(|| ());
        engine
    }

    #[test]
    fn who_asks_while_it_is_in_doubt_waits_for_the_verdict() {
        let engine = awake();
        assert!(!engine.is_being_uninstalled());
        for departs in [false, true] {
            engine.uninstallation().doubt();
            let doubts = engine.uninstallation().doubts().expect("it is in doubt");
            thread::scope(|scope| {
                let asked = scope.spawn(|| engine.is_being_uninstalled());
                if departs {
                    engine.uninstallation().note_leaving()
                } else {
                    engine.uninstallation().note_staying(doubts)
                }
                assert_eq!(asked.join().unwrap(), departs);
            });
        }
    }

    #[test]
    fn an_answer_from_before_the_last_doubt_settles_nothing() {
        let engine = awake();
        engine.uninstallation().doubt();
        let doubts = engine.uninstallation().doubts().expect("it is in doubt");
        engine.uninstallation().doubt();
        engine.uninstallation().note_staying(doubts);
        assert_eq!(engine.uninstallation().doubts(), Some(doubts + 1));
    }

    #[test]
    fn the_host_is_asked_while_no_change_of_plugins_is_reported() {
        static ASKED: AtomicU64 = AtomicU64::new(0);
        let engine = Engine::new(&MARIADB, || 0);
        assert!(!engine.is_being_uninstalled(), "a host that never goes is not waited for");
        engine.uninstallation().set_host(|| _ = ASKED.fetch_add(1, Ordering::SeqCst));
        thread::scope(|scope| {
            let asked = scope.spawn(|| engine.is_being_uninstalled());
            while ASKED.load(Ordering::SeqCst) == 0 {
                thread::yield_now();
            }
            engine.uninstallation().note_leaving();
            assert!(asked.join().unwrap());
        });
        assert!(engine.is_being_uninstalled(), "what is certain stays so");
    }
}
