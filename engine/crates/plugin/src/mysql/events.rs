//! Receives statements and connections from MySQL's audit interface. Tables are observed elsewhere (see `mysql`).

use crate::connections;
use crate::containment::contain;
use crate::engine::{engine, is_loaded};
use crate::facts::Facts;
use crate::faults::Point;
use crate::following::sessions::{with_connection, with_session};
use crate::following::{earlier_connections, unfollowed_threads, waking};
use crate::mysql::abi::*;
use crate::mysql::reports;
use crate::mysql::symbols::ThdRef;
use crate::numbers::{self, NUMBERS};
use crate::signal::wake_if_wanted;
use crate::sockets::descriptors::{self, Descriptor};
use session::{Account, Report};
use std::ffi::{c_int, c_uint, c_void};
use std::sync::atomic::Ordering;

/// The events that the plugin subscribes to: a word for each class, with a bit for each kind of event.
pub const MASK: [std::ffi::c_ulong; CLASSES] = {
    let mut mask = [0; CLASSES];
    mask[CONNECTION_CLASS as usize] = (CONNECTION_CONNECT | CONNECTION_DISCONNECT | CONNECTION_CHANGE_USER) as u64;
    let [general, query] = STATEMENTS;
    (mask[general.0], mask[query.0]) = (general.1, query.1);
    mask
};

/// The subset of the events in `MASK` that is about statements, by class. The plugin does not need them while the engine is suspended.
pub const STATEMENTS: [(usize, std::ffi::c_ulong); 2] = [
    (GENERAL_CLASS as usize, (GENERAL_LOG | GENERAL_STATUS) as u64),
    (QUERY_CLASS as usize, QUERY_NESTED_START as u64),
];

/// Passes on the new value of `fqc_type` to the session, and wakes the engine if the cache is wanted now. Called when `SET SESSION
/// fqc_type` has run on this thread.
pub fn type_changed(thd: *mut Thd, value: u8) {
    // SAFETY: the server passes the session that runs the SET.
    let thread_id = unsafe { ThdRef::of(thd) }.thread_id();
    with_connection(thread_id, |_| true, |connection| connection.session.report(engine(), Report::CacheType(value)));
    waking::wake_if_wanted(engine());
}

/// Receives each audit event from the server, on the thread of the session that it is about. Returns 0: the server goes on.
pub unsafe extern "C" fn event(thd: *mut Thd, class: c_uint, data: *const c_void) -> c_int {
    if is_loaded() && !data.is_null() && !thd.is_null() {
        contain(Point::Event, (), || {
            connections::admit();
            if class != CONNECTION_CLASS && !engine().mode().is_awake() {
                return;
            }
            // SAFETY: the server passes the running session and an event of the class's structure.
            unsafe {
                let thd = ThdRef::of(thd);
                match class {
                    GENERAL_CLASS => on_general(&thd, &*data.cast::<EventGeneral>()),
                    CONNECTION_CLASS => on_connection(&thd, &*data.cast::<EventConnection>()),
                    QUERY_CLASS => on_nested(&thd, &*data.cast::<EventQuery>()),
                    _ => {}
                }
            }
            earlier_connections::on_report();
            wake_if_wanted();
        });
    }
    0
}

/// Reports to the engine that a statement has started inside of another one, for example in a stored routine.
///
/// # Safety
/// `event` is an event whose callback has not returned.
unsafe fn on_nested(thd: &ThdRef, event: &EventQuery) {
    // SAFETY: the caller's guarantee.
    let text = unsafe { event.query.bytes() };
    tell_statement(thd, text);
}

/// Reports to the engine that a statement starts: to the session of this thread, or, if the engine does not see the
/// packets of this thread, to its entry among the unfollowed threads.
fn tell_statement(thd: &ThdRef, text: &[u8]) {
    let thread_id = reports::number(thd);
    reports::note_reported_text(thread_id);
    let engine = engine();
    let found = with_session(thread_id, |connection| connection.session.report(engine, Report::Statement { text }));
    if found.is_none() {
        unfollowed_threads::with_thread(thread_id, |thread| thread.report(engine, Report::Statement { text }));
    }
}

/// Handles the event that a command starts or has ended.
///
/// # Safety
/// `event` is an event whose callback has not returned.
unsafe fn on_general(thd: &ThdRef, event: &EventGeneral) {
    // SAFETY: the caller's guarantee.
    let (query, command) = unsafe { (event.query.bytes(), event.command.bytes()) };
    let engine = engine();
    let thread_id = reports::number(thd);
    match event.subclass {
        GENERAL_LOG => {
            if query.get(..4).is_some_and(|word| word.eq_ignore_ascii_case(b"show")) {
                numbers::refresh(engine);
            }
            if is_statement(command) {
                tell_statement(thd, query);
            }
        }
        GENERAL_STATUS => {
            waking::on_end(thread_id);
            let has_failed = event.error_code != 0;
            let executed = if !has_failed && matches!(command, b"Query" | b"Execute") { query } else { b"" };
            let found = with_session(thread_id, |connection| {
                let session = &mut connection.session;
                session.expects_end(engine, has_failed).then(|| session.expects_database(engine))
            });
            if let Some(Some(expects_database)) = found {
                // The server must not be queried while the connection is taken: a thread that kills this session waits for it, and holds a
                // lock.
                let database = if expects_database { thd.database() } else { None };
                let state = thd.session_state(database.as_deref());
                with_session(thread_id, |connection| {
                    connection.session.report(engine, Report::Ended { state, executed });
                    if expects_database && database.is_none() {
                        // From here on it is unknown which database the session's table names refer to.
                        connection.session.abandon(engine);
                    }
                });
            } else if found.is_none() {
                let state = thd.transaction_state();
                unfollowed_threads::with_thread(thread_id, |thread| {
                    thread.report(engine, Report::Ended { state, executed })
                });
            }
        }
        _ => {}
    }
}

/// True if the event of this command is about a statement. A server whose general log is on also reports commands about connections.
fn is_statement(command: &[u8]) -> bool {
    const OTHERS: [&[u8]; 7] = [
        b"Connect",
        b"Connect Out",
        b"Change user",
        b"Init DB",
        b"Register Replica",
        b"Binlog Dump",
        b"Binlog Dump GTID",
    ];
    !OTHERS.contains(&command)
}

/// Handles the event that a connection has logged in, changed its user or ended.
///
/// # Safety
/// `event` is an event whose callback has not returned.
unsafe fn on_connection(thd: &ThdRef, event: &EventConnection) {
    let thread_id = event.thread_id;
    // SAFETY: the caller's guarantee.
    let address = unsafe { event.ip.bytes() };
    match event.subclass {
        CONNECTION_CONNECT if event.status == 0 => connect(thd, thread_id, address),
        CONNECTION_CHANGE_USER if event.status == 0 => {
            let account = account(thd, address);
            with_session(thread_id, |connection| match account {
                Some(account) => connection.session.report(engine(), Report::UserChanged { account }),
                None => connection.session.abandon(engine()),
            });
        }
        CONNECTION_CONNECT | CONNECTION_DISCONNECT => {
            waking::on_end(thread_id);
            connections::ended(thread_id);
            unfollowed_threads::ended(thread_id);
        }
        _ => {}
    }
}

/// Returns the session's account with the client's address. None if the server does not say.
fn account(thd: &ThdRef, address: &[u8]) -> Option<Account> {
    let (user, host) = thd.account()?;
    Some(Account { user, host, address: address.to_vec() })
}

/// Assigns a session that has logged in to the connection whose bytes this thread handled last. If the connection's
/// packets cannot be followed, the engine knows the session from the server's reports alone (an unfollowed thread).
fn connect(thd: &ThdRef, thread_id: u64, address: &[u8]) {
    let (account, state) = (account(thd, address), thd.session_state(None));
    let is_new = |descriptor: &Descriptor| descriptor.thread_id.load(Ordering::Acquire) == 0;
    let Some(mut taken) = descriptors::take_current(is_new) else { return };
    let descriptor = taken.descriptor;
    let Some(connection) = taken.content() else { return };
    descriptor.thread_id.store(thread_id, Ordering::Release);
    if let Some(account) = account.filter(|_| connection.is_readable()) {
        connection.session.report(engine(), Report::Connected { account, state });
        NUMBERS.connections.fetch_add(1, Ordering::Relaxed);
        return;
    }
    connection.session.abandon(engine());
    NUMBERS.bypassed.fetch_add(1, Ordering::Relaxed);
    unfollowed_threads::add(thread_id);
}
