//! Receives the server's audit events and passes them to the session of this thread, or to its entry as a background thread.

use crate::connections;
use crate::containment::contain;
use crate::engine::{engine, is_loaded};
use crate::facts::Facts;
use crate::faults::Point;
use crate::following::sessions::{with_connection, with_session};
use crate::following::{earlier_connections, unfollowed_threads, waking};
use crate::mariadb::abi::*;
use crate::mariadb::applier;
use crate::mariadb::native;
use crate::mariadb::rows;
use crate::mariadb::symbols::ThdRef;
use crate::numbers::{self, NUMBERS};
use crate::signal::{self, wake_if_wanted};
use crate::sockets::descriptors::{self, Descriptor};
use crate::worker_permission;
use session::{Account, Report};
use std::ffi::{c_uint, c_void};
use std::sync::atomic::Ordering;

/// Passes on the new value of `fqc_type` to the session, and wakes the engine if the cache is wanted now. Called when `SET SESSION
/// fqc_type` has run on this thread.
pub fn type_changed(thd: *mut Thd, value: u8) {
    // SAFETY: the server passes the session that runs the SET.
    let thread_id = unsafe { ThdRef::of(thd) }.thread_id();
    with_connection(thread_id, |_| true, |connection| connection.session.report(engine(), Report::CacheType(value)));
    waking::wake_if_wanted(engine());
}

/// Receives each audit event from the server, on the thread of the session that it is about.
pub unsafe extern "C" fn event(thd: *mut Thd, class: c_uint, data: *const c_void) {
    if !is_loaded() || data.is_null() {
        return;
    }
    // SAFETY: the server passes an event of the class's structure.
    if class == GENERAL_CLASS && !tells_statement(unsafe { &*data.cast::<EventGeneral>() }) {
        return;
    }
    contain(Point::Event, (), || {
        connections::admit();
        if class != CONNECTION_CLASS && !engine().mode().is_awake() {
            return on_unfollowed(class, data);
        }
        // SAFETY: the server passes the running session and an event of the class's structure.
        unsafe {
            let thd = ThdRef::of(thd);
            match class {
                TABLE_CLASS => on_table(&thd, &*data.cast::<EventTable>()),
                GENERAL_CLASS => on_general(&thd, &*data.cast::<EventGeneral>()),
                CONNECTION_CLASS => on_connection(&thd, &*data.cast::<EventConnection>()),
                _ => {}
            }
        }
        earlier_connections::on_report();
        wake_if_wanted();
    });
}

/// True if the event is the start or the end of a statement. The event about each statement's result holds nothing that is needed.
#[inline]
fn tells_statement(event: &EventGeneral) -> bool {
    matches!(event.subclass, GENERAL_LOG | GENERAL_STATUS)
}

/// Handles an event while the engine is suspended or in light mode. Only one kind of event matters then: a session
/// older than the plugin may have set the server's own query cache.
fn on_unfollowed(class: c_uint, data: *const c_void) {
    if class != GENERAL_CLASS {
        return;
    }
    // SAFETY: the server passes an event of the class's structure.
    let event = unsafe { &*data.cast::<EventGeneral>() };
    if event.subclass == GENERAL_STATUS {
        note_native(bytes(event.query, event.query_length as usize));
    }
}

/// Has the worker look at the settings of the server's own query cache if this statement may have set them.
fn note_native(query: &[u8]) {
    if sql::contains_ignoring_case(query, b"query_cache") {
        native::settings_may_have_changed();
    }
}

/// Handles the event that a table is locked for a statement, or defined.
fn on_table(thd: &ThdRef, event: &EventTable) {
    let (db, name) = (text(&event.database), text(&event.table));
    let is_read_only = event.read_only != 0;
    let engine = engine();
    let is_lock = event.subclass == TABLE_LOCK;
    if is_lock && !is_read_only && db == b"mysql" && name == b"plugin" {
        waking::doubt(engine, Some(event.thread_id));
        worker_permission::await_end();
    }
    let tell = |report: &mut dyn FnMut(Report)| match event.subclass {
        TABLE_LOCK => report(Report::Locked { db, name, is_read_only }),
        TABLE_RENAME => {
            report(Report::Defined { db, name });
            report(Report::Defined { db: text(&event.new_database), name: text(&event.new_table) });
        }
        _ => report(Report::Defined { db, name }),
    };
    let found = with_session(event.thread_id, |connection| {
        tell(&mut |report| connection.session.report(engine, report));
    });
    if found.is_none() {
        applier::note(thd);
    }
    let handler = rows::take_locked().filter(|_| is_lock && !is_read_only && thd.is_applier());
    if found.is_none() && !(is_lock && is_read_only) {
        unfollowed_threads::with_thread(event.thread_id, |thread| match handler {
            Some(handler) => thread.report(engine, Report::LocksRows { db, name, handler }),
            None => tell(&mut |report| thread.report(engine, report)),
        });
    }
    // The write counts as in progress by now. Every change of privileges locks one of these tables, so privileges that were looked up
    // before may no longer be valid.
    if is_lock && engine.flavour().schemas.holds_grants(db, name) && !signal::is_worker_thread() {
        engine.settings().note_grants();
    }
}

/// Handles the event that a statement starts or has ended.
fn on_general(thd: &ThdRef, event: &EventGeneral) {
    let query = bytes(event.query, event.query_length as usize);
    let engine = engine();
    if event.subclass == GENERAL_LOG && query.get(..4).is_some_and(|word| word.eq_ignore_ascii_case(b"show")) {
        numbers::refresh(engine);
    }
    match event.subclass {
        GENERAL_STATUS => {}
        GENERAL_LOG if is_statement(event) => {}
        _ => return,
    }
    if event.subclass == GENERAL_STATUS {
        waking::on_end(event.thread_id);
    }
    let found = with_session(event.thread_id, |connection| match event.subclass {
        GENERAL_LOG => connection.session.report(engine, Report::Statement { text: query }),
        GENERAL_STATUS if connection.session.expects_end(engine, event.error_code != 0) => {
            let state = thd.session_state(Some(text(&event.database)));
            connection.session.report(engine, Report::Ended { state, executed: executed(event, query) });
        }
        _ => {}
    });
    if found.is_some() {
        return;
    }
    applier::note(thd);
    unfollowed_threads::with_thread(event.thread_id, |thread| match event.subclass {
        GENERAL_LOG => thread.report(engine, Report::Statement { text: query }),
        GENERAL_STATUS => {
            thread.report(engine, Report::Ended { state: thd.transaction_state(), executed: executed(event, query) });
            note_native(query);
        }
        _ => {}
    });
}

/// True if the event is about a statement. Events about connections, which a server whose general log is on reports too, have no end event.
fn is_statement(event: &EventGeneral) -> bool {
    const OTHERS: [&[u8]; 6] =
        [b"Connect", b"Connect Out", b"Change user", b"Init DB", b"Register Slave", b"Binlog Dump"];
    !OTHERS.contains(&command(event))
}

/// Returns the text that was executed; empty if it failed, or if it was only prepared: the end of a PREPARE shows the text that it
/// prepared.
fn executed<'a>(event: &EventGeneral, query: &'a [u8]) -> &'a [u8] {
    if event.error_code == 0 && matches!(command(event), b"Query" | b"Execute") { query } else { b"" }
}

fn command(event: &EventGeneral) -> &[u8] {
    bytes(event.command, event.command_length as usize)
}

/// Handles the event that a connection has logged in, changed its user or ended: its session gets the account, and at the end, what an
/// unfollowed thread has in progress ends.
fn on_connection(thd: &ThdRef, event: &EventConnection) {
    match event.subclass {
        CONNECTION_CONNECT if event.status == 0 => connect(thd, event),
        CONNECTION_CHANGE_USER if event.status == 0 => {
            let account = account(thd, event);
            with_session(event.thread_id, |connection| {
                connection.session.report(engine(), Report::UserChanged { account });
            });
        }
        _ => {
            waking::on_end(event.thread_id);
            unfollowed_threads::ended(event.thread_id);
        }
    }
}

fn account(thd: &ThdRef, event: &EventConnection) -> Account {
    let (user, host) = thd.account();
    Account { user, host, address: bytes(event.ip, event.ip_length as usize).to_vec() }
}

/// Assigns a session that has logged in to the connection whose bytes this thread handled last. If the connection's
/// packets cannot be followed, the engine knows the session from the server's reports alone (an unfollowed thread).
fn connect(thd: &ThdRef, event: &EventConnection) {
    let is_new = |descriptor: &Descriptor| descriptor.thread_id.load(Ordering::Acquire) == 0;
    let Some(mut taken) = descriptors::take_current(is_new) else { return };
    let descriptor = taken.descriptor;
    let Some(connection) = taken.content() else { return };
    descriptor.thread_id.store(event.thread_id, Ordering::Release);
    if connection.is_readable() {
        let account = account(thd, event);
        connection.session.report(engine(), Report::Connected { account, state: thd.session_state(None) });
        NUMBERS.connections.fetch_add(1, Ordering::Relaxed);
        return;
    }
    connection.session.abandon(engine());
    NUMBERS.bypassed.fetch_add(1, Ordering::Relaxed);
    unfollowed_threads::add(event.thread_id);
}

/// Returns the bytes of a string of the server; empty if there is none.
fn text(string: &LexString) -> &[u8] {
    bytes(string.str, string.length)
}

fn bytes<'a>(start: *const std::ffi::c_char, length: usize) -> &'a [u8] {
    if start.is_null() {
        return b"";
    }
    // SAFETY: the server describes a string that lives at least as long as the event.
    unsafe { std::slice::from_raw_parts(start.cast(), length) }
}
