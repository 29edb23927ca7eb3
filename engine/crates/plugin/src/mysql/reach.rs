//! Where a report from the server's inside goes: to the session whose connection the thread works for, or to a bystander.
//!
//! A session keeps what it writes closed until its response says that the transaction has ended. Nobody reads the responses of
//! a bystander, so the commit itself tells (`commits`), and the end of a lock.

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
    /// Its number; for a thread without one, its place in memory, which no number is as great as.
    pub id: u64,
}

impl Actor {
    fn of(thd: *mut Thd) -> Actor {
        // SAFETY: the server has called with it, and waits.
        let thd = unsafe { ThdRef::of(thd) };
        Actor { thd, id: number(&thd) }
    }

    fn is_nameless(&self) -> bool {
        self.id >> 63 != 0
    }
}

/// As for an actor. The texts of one without a number are told, too: what they close, its seams must find to open it.
pub fn number(thd: &ThdRef) -> u64 {
    match thd.thread_id() {
        0 => thd.pointer() as u64 | 1 << 63,
        id => id,
    }
}

/// Contained, and only while anybody wants to know.
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

/// To whoever it is about. What only reads matters to a session alone.
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
    /// By this thread.
    static HELD: RefCell<Vec<Held>> = const { RefCell::new(Vec::new()) };
}

fn with_held<T>(work: impl FnOnce(&mut Vec<Held>) -> T) -> Option<T> {
    HELD.try_with(|held| held.try_borrow_mut().ok().map(|mut held| work(&mut held))).ok().flatten()
}

pub fn holds(actor: Actor, handler: usize, keeps_positions: bool) {
    with_held(|held| held.push(Held { thd: actor.thd.pointer() as usize, handler, keeps_positions }));
}

/// True if the last one that this session had locked for writing is about to be unlocked. Asleep or not.
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

/// It is in the midst of noting how far replication has come, by itself, and not under LOCK TABLES. No statement that ends
/// somebody's prepared transaction holds such a table while it does.
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
    /// The session that the audit interface last told of on this thread: whatever it runs, its text was told before.
    static TOLD: Cell<u64> = const { Cell::new(0) };
}

pub fn told_text(id: u64) {
    let _ = TOLD.try_with(|told| told.set(id));
}

/// A bystander is about to make what it has written visible. What that is may not be known: of a thread without a number, which
/// may be older than the engine's waking, and of one that commits although nobody saw it write. Where a text is told, that tells.
/// The positions of replication are nobody's result, and are noted all the time, also by threads without a number.
/// True if it is no bystander: then the end need not be told here either.
pub fn begins_to_commit(actor: Actor) -> bool {
    if with_session(actor.id, |_| ()).is_some() {
        return true;
    }
    let is_told = TOLD.try_with(Cell::get).unwrap_or(0) == actor.id;
    bystanders::with(actor.id, |bystander| {
        let is_unclear = (!is_told && !bystander.has_written() || actor.is_nameless()) && !notes_positions(actor);
        // Not understood: it may be anything.
        let text: &[u8] = if is_unclear { b"?" } else { b"COMMIT" };
        bystander.report(engine(), Report::Statement { text });
    });
    false
}

thread_local! {
    /// The session on this thread that ends a transaction which was prepared before.
    static SECOND_PHASE: Cell<usize> = const { Cell::new(0) };
}

/// A bystander closes everything: what was prepared may show from here on.
pub fn begins_second_phase(thd: *mut Thd) {
    let _ = SECOND_PHASE.try_with(|ending| ending.set(thd as usize));
    on_call(thd, |actor| {
        if with_session(actor.id, |_| ()).is_none() {
            bystanders::with(actor.id, |one| one.report(engine(), Report::Statement { text: b"XA COMMIT" }));
        }
    });
}

pub fn ends_second_phase(thd: *mut Thd) {
    let _ = SECOND_PHASE.try_with(|ending| ending.set(0));
    on_call(thd, |actor| has_ended(actor, true));
}

/// What a bystander has written is visible, or gone: it opens when nothing is locked for writing any more, unless what it ends
/// was prepared before.
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
