//! The host's questions about tables, and the statements that must not be overtaken by one.
//!
//! Who has flushed a table may be about to exchange its files, and a question would have the server read what must not be read
//! yet. So a question is asked only while nothing has changed for all since the read that it is asked for, and whatever may flush
//! says that it has come and then waits for the question that is under way.

use crate::engine::Engine;
use locks::Mutex;
use std::sync::{Condvar, MutexGuard, PoisonError};
use std::time::Duration;

/// Longer than the server lets a question wait for a lock, which the statement that waits here may hold.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Default)]
pub struct Questions {
    present: Mutex<Present>,
    over: Condvar,
}

#[derive(Default)]
struct Present {
    is_under_way: bool,
    /// It was not waited for to its end.
    was_overtaken: bool,
}

/// A question that is under way.
#[must_use]
pub struct Question<'a>(&'a Questions);

impl Questions {
    fn present(&self) -> MutexGuard<'_, Present> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Until the question is over that is under way. None may begin any more: `Settings::begin_change` comes before.
    pub(crate) fn await_end(&self) {
        self.await_end_for(PATIENCE);
    }

    fn await_end_for(&self, patience: Duration) {
        let waited = self.over.wait_timeout_while(self.present(), patience, |present| present.is_under_way);
        let (mut present, _) = waited.unwrap_or_else(PoisonError::into_inner);
        present.was_overtaken |= present.is_under_way;
    }

    /// Whether a question was not waited for to its end since this was last asked.
    pub fn was_overtaken(&self) -> bool {
        std::mem::take(&mut self.present().was_overtaken)
    }
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        self.0.present().is_under_way = false;
        self.0.over.notify_all();
    }
}

impl Engine {
    /// Whether a table may be asked about of which a read made something known when `Settings::inherited` gave this number.
    pub fn may_ask(&self, inherited: u64) -> bool {
        self.vigil().is_awake() && self.settings().is_unchanged_since(inherited)
    }

    /// Begins a question, of which there is one at a time, if it may be asked.
    pub fn begin_question(&self, inherited: u64) -> Option<Question<'_>> {
        let questions = self.questions();
        // Whoever does not find it here has begun a change that is found.
        let mut present = questions.present();
        self.may_ask(inherited).then(|| {
            present.is_under_way = true;
            Question(questions)
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
        engine.begin_epoch();
        let inherited = engine.settings().inherited();
        (engine, inherited)
    }

    #[test]
    fn a_question_is_waited_for_and_none_begins_before_the_change_is_over() {
        let (engine, inherited) = awake();
        let question = engine.begin_question(inherited).expect("nothing has changed");
        let has_waited = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                engine.settings().begin_change();
                engine.questions().await_end_for(LONG);
                has_waited.store(true, Ordering::SeqCst);
            });
            while engine.may_ask(inherited) {
                thread::yield_now();
            }
            assert!(!has_waited.load(Ordering::SeqCst));
            assert!(engine.begin_question(inherited).is_none());
            drop(question);
        });
        assert!(has_waited.load(Ordering::SeqCst) && !engine.questions().was_overtaken());
        engine.settings().end_change();
        assert!(engine.begin_question(inherited).is_none(), "it is asked for a read from before the change");
        assert!(engine.begin_question(engine.settings().inherited()).is_some());
    }

    #[test]
    fn a_question_that_takes_too_long_is_overtaken_and_that_is_told_once() {
        let (engine, inherited) = awake();
        let question = engine.begin_question(inherited).expect("nothing has changed");
        engine.questions().await_end_for(Duration::from_millis(1));
        drop(question);
        assert!(engine.questions().was_overtaken() && !engine.questions().was_overtaken());
        engine.questions().await_end_for(LONG);
        assert!(!engine.questions().was_overtaken());
    }

    #[test]
    fn nothing_is_asked_while_nobody_follows_what_is_flushed() {
        let (engine, inherited) = awake();
        engine.doze();
        assert!(engine.begin_question(inherited).is_none());
        engine.begin_epoch();
        assert!(engine.begin_question(inherited).is_some());
        engine.rest();
        assert!(engine.begin_question(inherited).is_none());
    }
}
