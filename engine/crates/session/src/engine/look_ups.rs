//! The host's look-ups of tables, and the statements that must not run during one.
//!
//! A client that has flushed a table may be about to replace its files, and a look-up would make the server open them too early.
//! So a look-up starts only if nothing that affects all sessions has changed since the read that needs it. A statement that may
//! flush first announces the change (`Settings::begin_change`) and then waits for a running look-up.

use crate::engine::Engine;
use locks::Mutex;
use std::sync::{Condvar, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a statement waits for a look-up. Longer than the server lets a look-up wait for a lock, because the waiting
/// statement itself may hold that lock.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether a look-up of a table is running, for the statements that must wait for its end.
#[derive(Default)]
pub struct CatalogueLookUps {
    present: Mutex<LookUpState>,
    over: Condvar,
}

#[derive(Default)]
struct LookUpState {
    /// The host is looking up a table or view on the server.
    is_under_way: bool,
    /// A statement stopped waiting before the look-up had ended.
    was_overtaken: bool,
}

/// A look-up of tables or views on the server that is running. Dropping it ends the look-up, and lets statements run that wait
/// for that.
#[must_use]
pub struct CatalogueLookUp<'a>(&'a CatalogueLookUps);

impl CatalogueLookUps {
    fn present(&self) -> MutexGuard<'_, LookUpState> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the running look-up has ended, or `PATIENCE` is over. The caller must have called `Settings::begin_change`
    /// before, so that no new look-up can start.
    pub(crate) fn await_end(&self) {
        self.await_end_for(PATIENCE);
    }

    fn await_end_for(&self, patience: Duration) {
        let waited = self.over.wait_timeout_while(self.present(), patience, |present| present.is_under_way);
        let (mut present, _) = waited.unwrap_or_else(PoisonError::into_inner);
        present.was_overtaken |= present.is_under_way;
    }

    /// Returns whether a statement has stopped waiting for a look-up before its end since the last call, and forgets that.
    pub fn was_overtaken(&self) -> bool {
        std::mem::take(&mut self.present().was_overtaken)
    }
}

impl Drop for CatalogueLookUp<'_> {
    fn drop(&mut self) {
        self.0.present().is_under_way = false;
        self.0.over.notify_all();
    }
}

impl Engine {
    /// True if the server may still be asked about tables for a read that ran when `Settings::inherited` had this value. False
    /// once something that affects all sessions has changed or is changing, as a FLUSH announces it: the need for this look-up
    /// is then to be dropped.
    pub fn may_look_up(&self, inherited: u64) -> bool {
        self.mode().is_awake() && self.settings().is_unchanged_since(inherited)
    }

    /// Starts a look-up for a read that ran when `Settings::inherited` had this value. None if it is not allowed any more (see
    /// `may_look_up`). Hold the result until the server has answered. The caller must not start two at a time.
    pub fn begin_look_up(&self, inherited: u64) -> Option<CatalogueLookUp<'_>> {
        let look_ups = self.look_ups();
        // The lock comes first: a statement that does not see this look-up has announced its change before, and then `may_look_up`
        // sees the change.
        let mut present = look_ups.present();
        self.may_look_up(inherited).then(|| {
            present.is_under_way = true;
            CatalogueLookUp(look_ups)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flavour::MARIADB;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    const LONG: Duration = Duration::from_secs(600);

    fn awake() -> (Engine, u64) {
        let engine = Engine::new(&MARIADB, || 0);
        engine.wake();
        let inherited = engine.settings().inherited();
        (engine, inherited)
    }

    #[test]
    fn a_question_is_waited_for_and_none_begins_before_the_change_is_over() {
        let (engine, inherited) = awake();
        let look_up = engine.begin_look_up(inherited).expect("nothing has changed");
        let has_waited = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                engine.settings().begin_change();
                engine.look_ups().await_end_for(LONG);
                has_waited.store(true, Ordering::SeqCst);
            });
            while engine.may_look_up(inherited) {
                thread::yield_now();
            }
            assert!(!has_waited.load(Ordering::SeqCst));
            assert!(engine.begin_look_up(inherited).is_none());
            drop(look_up);
        });
        assert!(has_waited.load(Ordering::SeqCst) && !engine.look_ups().was_overtaken());
        engine.settings().end_change();
        assert!(engine.begin_look_up(inherited).is_none(), "it is asked for a read from before the change");
        assert!(engine.begin_look_up(engine.settings().inherited()).is_some());
    }

    #[test]
    fn a_question_that_takes_too_long_is_overtaken_and_that_is_told_once() {
        let (engine, inherited) = awake();
        let look_up = engine.begin_look_up(inherited).expect("nothing has changed");
        engine.look_ups().await_end_for(Duration::from_millis(1));
        drop(look_up);
        assert!(engine.look_ups().was_overtaken() && !engine.look_ups().was_overtaken());
        engine.look_ups().await_end_for(LONG);
        assert!(!engine.look_ups().was_overtaken());
    }

    #[test]
    fn nothing_is_asked_while_nobody_follows_what_is_flushed() {
        let (engine, inherited) = awake();
        engine.enter_light_mode();
        assert!(engine.begin_look_up(inherited).is_none());
        engine.wake();
        assert!(engine.begin_look_up(inherited).is_some());
        engine.suspend();
        assert!(engine.begin_look_up(inherited).is_none());
    }
}
