//! Delivers a report from inside the server: to the session of this thread's connection, or to the thread's entry as a background thread.
//!
//! A session keeps its writes in progress until its response says that the transaction has ended. A background thread has no response
//! that could be read, so the commit itself (`commits`) and the end of a lock are used.

use crate::containment::contain;
use crate::engine::{engine, is_loaded};
use crate::facts::{self, Facts};
use crate::faults::Point;
use crate::following::sessions::with_session;
use crate::following::{bystanders, earlier_connections};
use crate::mysql::abi::Thd;
use crate::mysql::symbols::ThdRef;
use crate::signal::{self, wake_if_wanted};
use session::{Report, SessionState};
use std::cell::{Cell, RefCell};

/// A session of the server, on the thread that runs it.
#[derive(Clone, Copy)]
pub struct Actor {
    pub thd: ThdRef,
    /// The thread id. A thread without one gets its address in memory with the top bit set, which no thread id has.
    pub id: u64,
}

impl Actor {
    fn of(thd: *mut Thd) -> Actor {
        // SAFETY: the server passed it to a call that has not returned.
        let thd = unsafe { ThdRef::of(thd) };
        Actor { thd, id: number(&thd) }
    }

    fn is_nameless(&self) -> bool {
        self.id >> 63 != 0
    }
}

/// Returns the id of an actor. Statements of a thread without a thread id are reported under the same id, so that its commit can end the
/// writes that they began.
pub fn number(thd: &ThdRef) -> u64 {
    match thd.thread_id() {
        0 => thd.pointer() as u64 | 1 << 63,
        id => id,
    }
}

/// Runs `work` for a call of the server, and contains panics. Returns the default while the plugin is unloaded or the engine suspended.
pub fn on_call<T: Default>(thd: *mut Thd, work: impl FnOnce(Actor) -> T) -> T {
    if thd.is_null() || !is_loaded() || !engine().vigil().is_awake() {
        return T::default();
    }
    let work = || {
        if signal::is_this_thread() {
            return T::default();
        }
        let outcome = work(Actor::of(thd));
        earlier_connections::on_report();
        wake_if_wanted();
        outcome
    };
    contain(Point::Event, None, || Some(work())).unwrap_or_default()
}

/// Delivers the reports to the session or the background thread. Reads are reported to sessions only.
pub fn tell(actor: Actor, is_read: bool, mut report: impl FnMut(&mut dyn FnMut(Report))) {
    let engine = engine();
    let found = with_session(actor.id, |connection| {
        report(&mut |one| connection.session.report(engine, one));
    });
    if found.is_none() && !is_read {
        bystanders::with(actor.id, |bystander| report(&mut |one| bystander.report(engine, one)));
    }
}

/// A handler that is locked for writing.
struct Held {
    thd: usize,
    handler: usize,
    keeps_positions: bool,
}

thread_local! {
    /// The handlers that this thread has locked for writing.
    static HELD: RefCell<Vec<Held>> = const { RefCell::new(Vec::new()) };
}

fn with_held<T>(work: impl FnOnce(&mut Vec<Held>) -> T) -> Option<T> {
    HELD.try_with(|held| held.try_borrow_mut().ok().map(|mut held| work(&mut held))).ok().flatten()
}

/// Records that the session has locked a handler for writing.
pub fn holds(actor: Actor, handler: usize, keeps_positions: bool) {
    with_held(|held| held.push(Held { thd: actor.thd.pointer() as usize, handler, keeps_positions }));
}

/// True if the last handler that this session had locked for writing is about to be unlocked. Tracked even while the engine is suspended.
pub fn lets_go(thd: *mut Thd, handler: usize) -> bool {
    let thd = thd as usize;
    let of_session = |held: &mut Vec<Held>| {
        let Some(at) = held.iter().rposition(|one| one.thd == thd && one.handler == handler) else { return false };
        held.swap_remove(at);
        !held.iter().any(|one| one.thd == thd)
    };
    with_held(of_session).unwrap_or(false)
}

fn holds_any(actor: Actor) -> bool {
    let thd = actor.thd.pointer() as usize;
    with_held(|held| held.iter().any(|one| one.thd == thd)).unwrap_or(true)
}

/// True if the session is just storing how far replication has come, and nothing else, and not under LOCK TABLES. A statement that ends
/// another session's prepared transaction holds no such table while it does so.
fn notes_positions(actor: Actor) -> bool {
    let thd = actor.thd.pointer() as usize;
    let alone = |held: &mut Vec<Held>| {
        let mut own = held.iter().filter(|one| one.thd == thd).peekable();
        own.peek().is_some() && own.all(|one| one.keeps_positions)
    };
    !actor.thd.in_lock_tables() && with_held(alone).unwrap_or(false)
}

fn is_in_transaction(actor: Actor) -> bool {
    actor.thd.option(facts::NOT_AUTOCOMMIT | facts::BEGIN)
}

thread_local! {
    /// The session that the audit interface last reported on this thread. The text of whatever it runs has been reported.
    static TOLD: Cell<u64> = const { Cell::new(0) };
}

/// Records that the audit interface has reported a statement of this session on this thread.
pub fn told_text(id: u64) {
    let _ = TOLD.try_with(|told| told.set(id));
}

/// Called when a background thread is about to make its writes visible. What it wrote is unknown if the thread has no thread id, since it
/// may be older than the engine's waking, or if no write was seen and its statement was not reported. Then everything is marked as
/// being written. Replication positions are part of no result, and are stored all the time, so they are exempt.
///
/// Returns true for a session with a followed connection: its end need not be reported here either.
pub fn begins_to_commit(actor: Actor) -> bool {
    if with_session(actor.id, |_| ()).is_some() {
        return true;
    }
    let is_told = TOLD.try_with(Cell::get).unwrap_or(0) == actor.id;
    bystanders::with(actor.id, |bystander| {
        let is_unclear = (!is_told && !bystander.has_written() || actor.is_nameless()) && !notes_positions(actor);
        // A text that cannot be parsed stands for any write.
        let text: &[u8] = if is_unclear { b"?" } else { b"COMMIT" };
        bystander.report(engine(), Report::Statement { text });
    });
    false
}

thread_local! {
    /// The session on this thread that ends a prepared transaction.
    static SECOND_PHASE: Cell<usize> = const { Cell::new(0) };
}

/// Marks everything as being written if the session is a background thread: a prepared transaction may become visible from here on.
pub fn begins_second_phase(thd: *mut Thd) {
    let _ = SECOND_PHASE.try_with(|ending| ending.set(thd as usize));
    on_call(thd, |actor| {
        if with_session(actor.id, |_| ()).is_none() {
            bystanders::with(actor.id, |one| one.report(engine(), Report::Statement { text: b"XA COMMIT" }));
        }
    });
}

/// Ends the writes that `begins_second_phase` began.
pub fn ends_second_phase(thd: *mut Thd) {
    let _ = SECOND_PHASE.try_with(|ending| ending.set(0));
    on_call(thd, |actor| has_ended(actor, true));
}

/// Ends the writes of a background thread, which are visible or rolled back. They go on while anything is locked for writing, and while
/// the session ends a prepared transaction.
pub fn has_ended(actor: Actor, is_whole: bool) {
    let is_inside = SECOND_PHASE.try_with(|ending| ending.get() == actor.thd.pointer() as usize).unwrap_or(false);
    if is_inside || with_session(actor.id, |_| ()).is_some() {
        return;
    }
    let goes_on = !is_whole && is_in_transaction(actor);
    let state = SessionState {
        in_lock_tables: holds_any(actor) || actor.thd.in_lock_tables(),
        has_begun: goes_on,
        autocommit: !goes_on,
        ..SessionState::default()
    };
    bystanders::with(actor.id, |bystander| bystander.report(engine(), Report::Ended { state, executed: b"" }));
}
