//! The server's reports: to the session whose connection the thread works for, or to a bystander.

use crate::bystanders;
use crate::connection::Connection;
use crate::faults::Point;
use crate::hooks;
use crate::host::{self, engine, is_loaded, wake_if_wanted};
use crate::mariadb::abi::*;
use crate::mariadb::status;
use crate::mariadb::symbols::Facts;
use crate::mariadb::variables;
use crate::slots;
use crate::strangers;
use crate::waking;
use crate::worker;
use session::{Account, Session, ThreadFacts};
use std::ffi::{c_uint, c_void};
use std::sync::atomic::Ordering;

/// `SET SESSION fqc_type` ran on this thread.
pub fn type_changed(thd: *mut Thd, value: u8) {
    // SAFETY: the server passes the session that runs the SET.
    let thread_id = unsafe { Facts::of(thd) }.thread_id();
    with_connection(thread_id, |_| true, |connection| connection.session.on_type(engine(), value));
    waking::attend(engine());
}

/// The tracked connection of this server session, if it is the one that this thread works for and fits.
fn with_connection<T>(
    thread_id: u64,
    fits: impl FnOnce(&Session) -> bool,
    work: impl FnOnce(&mut Connection) -> T,
) -> Option<T> {
    let slot = slots::current().filter(|slot| slot.thread_id.load(Ordering::Acquire) == thread_id)?;
    let mut taken = slot.take()?;
    let connection = taken.content().as_mut().filter(|connection| connection.session.is_in_commands())?;
    fits(&connection.session).then(|| work(connection))
}

/// The same for one whose statements are followed.
fn with_session<T>(thread_id: u64, work: impl FnOnce(&mut Connection) -> T) -> Option<T> {
    with_connection(thread_id, Session::is_followed, work)
}

pub unsafe extern "C" fn event(thd: *mut Thd, class: c_uint, data: *const c_void) {
    if !is_loaded() || data.is_null() {
        return;
    }
    hooks::contain(Point::Event, (), || {
        host::admit();
        if class != CONNECTION_CLASS && !engine().vigil.is_awake() {
            return on_unfollowed(class, data);
        }
        // SAFETY: the server passes the running session and an event of the class's structure.
        unsafe {
            let facts = Facts::of(thd);
            match class {
                TABLE_CLASS => on_table(&*data.cast::<EventTable>()),
                GENERAL_CLASS => on_general(&facts, thd, &*data.cast::<EventGeneral>()),
                CONNECTION_CLASS => on_connection(&facts, thd, &*data.cast::<EventConnection>()),
                _ => {}
            }
        }
        strangers::on_report();
        wake_if_wanted();
    });
}

/// Asleep, all that matters is whether a session older than the plugin sets the server's own cache.
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

fn note_native(query: &[u8]) {
    if sql::says(query, b"query_cache") {
        worker::native_touched();
    }
}

fn on_table(event: &EventTable) {
    let (db, name) = (text(&event.database), text(&event.table));
    let is_read_only = event.read_only != 0;
    let engine = engine();
    let apply = |table: &mut dyn FnMut(&[u8], &[u8])| {
        table(db, name);
        if event.subclass == TABLE_RENAME {
            table(text(&event.new_database), text(&event.new_table));
        }
    };
    let is_lock = event.subclass == TABLE_LOCK;
    if is_lock && !is_read_only && db == b"mysql" && name == b"plugin" {
        waking::doubt(engine, Some(event.thread_id));
    }
    let found = with_session(event.thread_id, |connection| {
        let session = &mut connection.session;
        if is_lock {
            session.on_table(engine, db, name, is_read_only);
        } else {
            apply(&mut |db, name| session.on_table_defined(engine, db, name));
        }
    });
    if found.is_none() && !(is_lock && is_read_only) {
        bystanders::with(event.thread_id, |bystander| {
            if is_lock {
                bystander.on_table(engine, db, name, is_read_only);
            } else {
                apply(&mut |db, name| bystander.on_table_defined(engine, db, name));
            }
        });
    }
    // Its statement is known now to change what it may.
    if is_lock && session::tells_grants(db, name) && !worker::is_this_thread() {
        engine.settings.note_grants();
    }
}

const OPTION_AUTO_IS_NULL: i64 = 1 << 14;
const OPTION_NOT_AUTOCOMMIT: i64 = 1 << 19;
const OPTION_BEGIN: i64 = 1 << 20;
const OPTION_PROFILING: i64 = 1 << 33;

fn on_general(facts: &Facts, thd: *mut Thd, event: &EventGeneral) {
    let query = bytes(event.query, event.query_length as usize);
    let engine = engine();
    if event.subclass == GENERAL_LOG && query.get(..4).is_some_and(|word| word.eq_ignore_ascii_case(b"show")) {
        status::refresh(engine);
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
        GENERAL_LOG => connection.session.on_logged(engine, query),
        GENERAL_STATUS if connection.session.expects_facts(engine) => {
            connection.session.on_status(engine, &thread_facts(facts, thd, text(&event.database)));
        }
        _ => {}
    });
    if found.is_some() {
        return;
    }
    bystanders::with(event.thread_id, |bystander| match event.subclass {
        GENERAL_LOG => bystander.on_logged(engine, query),
        GENERAL_STATUS => {
            let is_in_transaction = facts.option(OPTION_NOT_AUTOCOMMIT | OPTION_BEGIN);
            bystander.on_status(engine, executed(event, query), is_in_transaction, facts.in_lock_tables());
            note_native(query);
        }
        _ => {}
    });
}

/// A server whose general log is on tells what it writes there, too: words about a connection, of which no end is told.
fn is_statement(event: &EventGeneral) -> bool {
    const OTHERS: [&[u8]; 6] =
        [b"Connect", b"Connect Out", b"Change user", b"Init DB", b"Register Slave", b"Binlog Dump"];
    !OTHERS.contains(&command(event))
}

/// The end of a PREPARE shows the text that it prepared.
fn executed<'a>(event: &EventGeneral, query: &'a [u8]) -> &'a [u8] {
    if event.error_code == 0 && matches!(command(event), b"Query" | b"Execute") { query } else { b"" }
}

fn command(event: &EventGeneral) -> &[u8] {
    bytes(event.command, event.command_length as usize)
}

fn on_connection(facts: &Facts, thd: *mut Thd, event: &EventConnection) {
    match event.subclass {
        CONNECTION_CONNECT if event.status == 0 => connect(facts, thd, event),
        CONNECTION_CHANGE_USER if event.status == 0 => {
            let account = account(facts, event);
            with_session(event.thread_id, |connection| connection.session.on_user_changed(account));
        }
        _ => {
            waking::on_end(event.thread_id);
            bystanders::ended(event.thread_id);
        }
    }
}

fn account(facts: &Facts, event: &EventConnection) -> Account {
    let (user, host) = facts.account();
    Account { user, host, address: bytes(event.ip, event.ip_length as usize).to_vec() }
}

fn connect(facts: &Facts, thd: *mut Thd, event: &EventConnection) {
    let Some(mut taken) = slots::current().and_then(slots::Slot::take) else { return };
    let slot = taken.slot;
    let Some(connection) = taken.content().as_mut().filter(|_| slot.thread_id.load(Ordering::Acquire) == 0) else {
        return;
    };
    slot.thread_id.store(event.thread_id, Ordering::Release);
    if connection.is_readable() {
        let account = account(facts, event);
        let facts = thread_facts(facts, thd, b"");
        connection.session.on_connected(engine(), account, &facts);
        status::NUMBERS.connections.fetch_add(1, Ordering::Relaxed);
        return;
    }
    connection.session.abandon(engine());
    status::NUMBERS.bypassed.fetch_add(1, Ordering::Relaxed);
    bystanders::join(event.thread_id);
}

fn thread_facts<'a>(facts: &Facts, thd: *mut Thd, database: &'a [u8]) -> ThreadFacts<'a> {
    ThreadFacts {
        isolation: facts.isolation(),
        in_lock_tables: facts.in_lock_tables(),
        database,
        collation: facts.collation_id(),
        cache_type: variables::type_of(thd),
        is_trial: variables::is_trial(thd),
        is_read_only: facts.is_read_only(),
        must_run: facts.option(OPTION_AUTO_IS_NULL | OPTION_PROFILING),
        has_begun: facts.option(OPTION_BEGIN),
        autocommit: !facts.option(OPTION_NOT_AUTOCOMMIT),
    }
}

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
