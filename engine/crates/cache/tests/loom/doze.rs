//! From dozing to awake: a transaction that was written in while nobody followed, and the protocol by which it does no harm.
//!
//! While the engine dozes nobody tells which tables a statement locks. So after waking nothing is stored before every statement
//! has ended that ran then, and a session that worked in the doze closes everything when its transaction ends.

use crate::World;
use cache::Versions;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

/// A server with one row, which a session changes in a transaction, and an engine that dozes at first.
struct Waking {
    world: Arc<World>,
    is_awake: AtomicBool,
    /// What the server's list of processes tells of the session. The server has a lock for each entry.
    statement: Mutex<u64>,
    /// Where the closing of everything is taken for granted.
    is_unseen_told: bool,
    is_waited_for: bool,
}

impl Waking {
    fn new(is_unseen_told: bool, is_waited_for: bool) -> Arc<Waking> {
        let world = World::new();
        let (is_awake, statement) = (AtomicBool::new(false), Mutex::new(0));
        Arc::new(Waking { world, is_awake, statement, is_unseen_told, is_waited_for })
    }

    /// Runs a statement. Whether it is followed shows when it arrives.
    fn run(&self, number: u64, work: impl FnOnce(bool)) {
        *self.statement.lock().unwrap() = number;
        work(self.is_awake.load(Ordering::Acquire));
        *self.statement.lock().unwrap() = 0;
    }

    /// BEGIN, a write, COMMIT.
    fn transaction(&self) {
        let versions = &self.world.versions;
        let mut is_unseen = false;
        self.run(1, |is_followed| is_unseen = !is_followed);
        self.run(2, |is_followed| {
            let closes = if !is_followed {
                None
            } else if is_unseen && self.is_unseen_told {
                Some(Versions::EVERYTHING)
            } else {
                (!is_unseen).then_some(self.world.cell)
            };
            closes.into_iter().for_each(|cell| versions.close(cell));
            let seen = self.world.row.fetch_add(1, Ordering::AcqRel) + 1;
            closes.into_iter().for_each(|cell| versions.open(cell));
            self.world.acknowledged.fetch_max(seen, Ordering::AcqRel);
        });
    }

    /// The worker: as at a load.
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

    /// Two reads, of which the second may be a hit.
    fn read_twice(&self) {
        for _ in 0..2 {
            let acknowledged = self.world.acknowledged.load(Ordering::Acquire);
            if self.is_awake.load(Ordering::Acquire) {
                assert!(self.world.read() >= acknowledged, "stale: older than what was acknowledged before");
            }
        }
    }
}

fn explore(is_unseen_told: bool, is_waited_for: bool) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let waking = Waking::new(is_unseen_told, is_waited_for);
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
