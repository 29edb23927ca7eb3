//! Tests the change from light mode (dozing) to awake: a transaction that wrote while sessions were not followed must not leave a stale
//! result.
//!
//! In light mode the server does not report which tables a statement locks. So after waking, nothing is stored until every statement that
//! ran at that time has ended, and a session that worked in light mode closes everything when its transaction ends.

use crate::World;
use cache::Versions;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

/// A model of a server with one row, which a session changes in a transaction, and an engine that is in light mode at first: it does not
/// follow the statements of sessions.
struct Waking {
    world: Arc<World>,
    is_awake: AtomicBool,
    /// The session's entry in the server's process list: the number of its current statement, 0 if there is none. The server has a lock for
    /// each entry.
    statement: Mutex<u64>,
    /// If true, a transaction that began in light mode closes everything in its first followed statement. The tests show that it must.
    is_unfollowed_reported: bool,
    /// If true, waking waits until the statement that was running has ended. The tests show that it must.
    is_waited_for: bool,
}

impl Waking {
    fn new(is_unfollowed_reported: bool, is_waited_for: bool) -> Arc<Waking> {
        let world = World::new();
        let (is_awake, statement) = (AtomicBool::new(false), Mutex::new(0));
        Arc::new(Waking { world, is_awake, statement, is_unfollowed_reported, is_waited_for })
    }

    /// Runs `work` as the session's statement `number`. `work` receives true if the engine follows the statement, because it is awake.
    fn run(&self, number: u64, work: impl FnOnce(bool)) {
        *self.statement.lock().unwrap() = number;
        work(self.is_awake.load(Ordering::Acquire));
        *self.statement.lock().unwrap() = 0;
    }

    /// Runs BEGIN, a write and COMMIT, and acknowledges the write.
    fn transaction(&self) {
        let versions = &self.world.versions;
        let mut is_unfollowed = false;
        self.run(1, |is_followed| is_unfollowed = !is_followed);
        self.run(2, |is_followed| {
            let closes = if !is_followed {
                None
            } else if is_unfollowed && self.is_unfollowed_reported {
                Some(Versions::EVERYTHING)
            } else {
                (!is_unfollowed).then_some(self.world.cell)
            };
            closes.into_iter().for_each(|cell| versions.close(cell));
            let seen = self.world.row.fetch_add(1, Ordering::AcqRel) + 1;
            closes.into_iter().for_each(|cell| versions.open(cell));
            self.world.acknowledged.fetch_max(seen, Ordering::AcqRel);
        });
    }

    /// Ends light mode as the engine's worker thread does: closes everything until no statement is running that was not followed.
    fn wake(&self) {
        let versions = &self.world.versions;
        versions.close(Versions::EVERYTHING);
        self.is_awake.store(true, Ordering::Release);
        let statement = || *self.statement.lock().unwrap();
        let running = statement();
        while self.is_waited_for && running != 0 && statement() == running {
            thread::yield_now();
        }
        versions.open(Versions::EVERYTHING);
    }

    /// Reads the row twice if the engine is awake; the second read may be a hit. Asserts that no acknowledged write is missing.
    fn read_twice(&self) {
        for _ in 0..2 {
            let acknowledged = self.world.acknowledged.load(Ordering::Acquire);
            if self.is_awake.load(Ordering::Acquire) {
                assert!(self.world.read() >= acknowledged, "stale: older than what was acknowledged before");
            }
        }
    }
}

fn explore(is_unfollowed_reported: bool, is_waited_for: bool) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let waking = Waking::new(is_unfollowed_reported, is_waited_for);
        let (one, two) = (waking.clone(), waking.clone());
        let session = thread::spawn(move || one.transaction());
        let worker = thread::spawn(move || two.wake());
        waking.read_twice();
        session.join().unwrap();
        worker.join().unwrap();
        let truth = waking.world.row.load(Ordering::Acquire);
        let is_stale = waking.world.hit().is_some_and(|hit| hit != truth);
        assert!(!is_stale, "stale: served for ever");
    });
}

#[test]
fn a_transaction_from_a_doze_never_leaves_a_stale_result() {
    explore(true, true);
}

#[test]
#[should_panic(expected = "stale")]
fn without_closing_everything_at_its_end_it_would() {
    explore(false, true);
}

#[test]
#[should_panic(expected = "stale")]
fn without_waiting_for_what_ran_at_the_waking_it_would() {
    explore(true, false);
}
