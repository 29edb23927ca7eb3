//! Delivers a report from inside the server: to the session of this thread's connection, or to the thread's entry as a background thread.
//!
//! A session keeps its writes in progress until its response says that the transaction has ended. A background thread has no response
//! that could be read, so the commit itself (`commits`) and the end of a lock are used.

use crate::containment::contain;
use crate::engine::{engine, is_loaded};
use crate::facts::{self, Facts};
use crate::faults::Point;
use crate::following::sessions::with_session;
use crate::following::{earlier_connections, unfollowed_threads};
use crate::mysql::abi::Thd;
use crate::mysql::symbols::ThdRef;
use crate::signal::{self, wake_if_wanted};
use session::{Report, SessionState};
use std::cell::{Cell, RefCell};

/// A session of the server, on the thread that runs it, for as long as a call of the server lasts.
#[derive(Clone, Copy)]
pub struct ReportingSession {
    pub thd: ThdRef,
    /// The thread id. A session without one gets its address in memory with the top bit set, which no thread id has.
    pub id: u64,
}

impl ReportingSession {
    fn of(thd: *mut Thd) -> ReportingSession {
        // SAFETY: the server passed it to a call that has not returned.
        let thd = unsafe { ThdRef::of(thd) };
        ReportingSession { thd, id: number(&thd) }
    }

    fn is_nameless(&self) -> bool {
        self.id >> 63 != 0
    }
}

/// Returns the id of a session in reports: its thread id, or a number made of its address. Statements of a thread without a thread id are
/// reported with the same number, so that its commit can end the writes that they began.
pub fn number(thd: &ThdRef) -> u64 {
    match thd.thread_id() {
        0 => thd.pointer() as u64 | 1 << 63,
        id => id,
    }
}

/// Runs `work` for a call of the server, and contains panics. Returns the default without running it while the plugin is unloaded or the
/// engine suspended, and on the worker's thread; and also after a panic.
pub fn on_call<T: Default>(thd: *mut Thd, work: impl FnOnce(ReportingSession) -> T) -> T {
    if thd.is_null() || !is_loaded() || !engine().mode().is_awake() {
        return T::default();
    }
    let work = || {
        if signal::is_worker_thread() {
            return T::default();
        }
        let outcome = work(ReportingSession::of(thd));
        earlier_connections::on_report();
        wake_if_wanted();
        outcome
    };
    contain(Point::Event, None, || Some(work())).unwrap_or_default()
}

/// Delivers reports about a session: `report` gets a function to pass each of them to. They go to the engine's session
/// if its packets are followed, and otherwise to the entry of an unfollowed thread. Reads are reported to sessions
/// only.
pub fn deliver(session: ReportingSession, is_read: bool, mut report: impl FnMut(&mut dyn FnMut(Report))) {
    let engine = engine();
    let found = with_session(session.id, |connection| {
        report(&mut |one| connection.session.report(engine, one));
    });
    if found.is_none() && !is_read {
        unfollowed_threads::with_thread(session.id, |thread| report(&mut |one| thread.report(engine, one)));
    }
}

/// A handler, the server's object for an open table, that a session has locked for writing.
struct LockedHandler {
    thd: usize,
    handler: usize,
    keeps_positions: bool,
}

thread_local! {
    /// The handlers, the server's objects for open tables, that sessions on this thread have locked for writing.
    static HELD: RefCell<Vec<LockedHandler>> = const { RefCell::new(Vec::new()) };
}

/// Runs `work` on the list of handlers that sessions on this thread have locked for writing. None if the thread is ending, or is inside of
/// another such call.
fn with_locked_handlers<T>(work: impl FnOnce(&mut Vec<LockedHandler>) -> T) -> Option<T> {
    HELD.try_with(|held| held.try_borrow_mut().ok().map(|mut held| work(&mut held))).ok().flatten()
}

/// Records that the session has locked a handler, the server's object for an open table, for writing. `handler` is its address.
/// `keeps_positions`: its table stores how far replication has come.
pub fn note_lock(session: ReportingSession, handler: usize, keeps_positions: bool) {
    with_locked_handlers(|held| {
        held.push(LockedHandler { thd: session.thd.pointer() as usize, handler, keeps_positions })
    });
}

/// Records that the session unlocks a handler, the server's object for an open table. True if it was the last one that this session had
/// locked for writing. Tracked even while the engine is suspended.
pub fn note_unlock(thd: *mut Thd, handler: usize) -> bool {
    let thd = thd as usize;
    let of_session = |held: &mut Vec<LockedHandler>| {
        let Some(at) = held.iter().rposition(|one| one.thd == thd && one.handler == handler) else { return false };
        held.swap_remove(at);
        !held.iter().any(|one| one.thd == thd)
    };
    with_locked_handlers(of_session).unwrap_or(false)
}

/// True if the session has any table locked for writing, or if that is not known.
fn holds_any(session: ReportingSession) -> bool {
    let thd = session.thd.pointer() as usize;
    with_locked_handlers(|held| held.iter().any(|one| one.thd == thd)).unwrap_or(true)
}

/// True if all tables that the session has locked for writing store how far replication has come, and there are some, and LOCK TABLES is
/// not in force. A statement that ends another session's prepared transaction holds no such table while it does so.
fn notes_positions(session: ReportingSession) -> bool {
    let thd = session.thd.pointer() as usize;
    let alone = |held: &mut Vec<LockedHandler>| {
        let mut own = held.iter().filter(|one| one.thd == thd).peekable();
        own.peek().is_some() && own.all(|one| one.keeps_positions)
    };
    !session.thd.in_lock_tables() && with_locked_handlers(alone).unwrap_or(false)
}

/// True if autocommit is off, or the session has started a transaction explicitly: the end of a statement then ends no transaction.
fn is_in_transaction(session: ReportingSession) -> bool {
    session.thd.option(facts::NOT_AUTOCOMMIT | facts::BEGIN)
}

thread_local! {
    /// The id of the session that the audit interface last reported on this thread. The text of whatever it runs has been reported.
    static TOLD: Cell<u64> = const { Cell::new(0) };
}

/// Records that the audit interface has reported a statement of the session with this id, on this thread.
pub fn note_reported_text(id: u64) {
    let _ = TOLD.try_with(|told| told.set(id));
}

/// Called when a thread is about to make its writes visible. If it is a background thread, reports the commit. What it wrote is unknown if
/// the thread has no thread id, since it may be older than the engine's waking, or if no write was seen and its statement was not reported:
/// then everything is marked as being written. Replication positions are part of no result, and are stored all the time, so they are
/// exempt.
///
/// Returns true for a session with a followed connection: its end need not be reported here either, because its response shows it.
pub fn begins_to_commit(session: ReportingSession) -> bool {
    if with_session(session.id, |_| ()).is_some() {
        return true;
    }
    let is_told = TOLD.try_with(Cell::get).unwrap_or(0) == session.id;
    unfollowed_threads::with_thread(session.id, |thread| {
        let is_unclear = (!is_told && !thread.has_written() || session.is_nameless()) && !notes_positions(session);
        // A text that cannot be parsed stands for any write.
        let text: &[u8] = if is_unclear { b"?" } else { b"COMMIT" };
        thread.report(engine(), Report::Statement { text });
    });
    false
}

thread_local! {
    /// The address of the session on this thread that ends a prepared transaction; 0 if none does.
    static SECOND_PHASE: Cell<usize> = const { Cell::new(0) };
}

/// Called before a session ends a prepared transaction, perhaps another session's. If it is a background thread, marks everything as being
/// written: that transaction may become visible from here on.
pub fn begins_second_phase(thd: *mut Thd) {
    let _ = SECOND_PHASE.try_with(|ending| ending.set(thd as usize));
    on_call(thd, |session| {
        if with_session(session.id, |_| ()).is_none() {
            unfollowed_threads::with_thread(session.id, |one| {
                one.report(engine(), Report::Statement { text: b"XA COMMIT" })
            });
        }
    });
}

/// Called when the session has ended the prepared transaction: ends the writes that `begins_second_phase` began.
pub fn ends_second_phase(thd: *mut Thd) {
    let _ = SECOND_PHASE.try_with(|ending| ending.set(0));
    on_call(thd, |session| has_ended(session, true));
}

/// Ends the writes of a background thread, which are visible or rolled back; does nothing for a session whose connection is followed. The
/// writes go on while the session has anything locked for writing or is in a transaction, and while it ends a prepared transaction.
/// `is_whole`: the transaction has ended, and not only a statement in it.
pub fn has_ended(session: ReportingSession, is_whole: bool) {
    let is_inside = SECOND_PHASE.try_with(|ending| ending.get() == session.thd.pointer() as usize).unwrap_or(false);
    if is_inside || with_session(session.id, |_| ()).is_some() {
        return;
    }
    let goes_on = !is_whole && is_in_transaction(session);
    let state = SessionState {
        in_lock_tables: holds_any(session) || session.thd.in_lock_tables(),
        has_begun: goes_on,
        autocommit: !goes_on,
        ..SessionState::default()
    };
    unfollowed_threads::with_thread(session.id, |thread| {
        thread.report(engine(), Report::Ended { state, executed: b"" })
    });
}

/// Ends the writes of a background thread although they are not visible yet. Only tests want that: they show that they notice it.
pub fn ends_too_early(session: ReportingSession) {
    let state = SessionState { autocommit: true, ..SessionState::default() };
    unfollowed_threads::with_thread(session.id, |thread| {
        thread.report(engine(), Report::Ended { state, executed: b"" })
    });
}
