//! Start and stop of the plugin, and what ties the server's callbacks to the sessions.

use crate::abi::*;
use crate::connection::Connection;
use crate::faults::{self, Point};
use crate::server::{self, Facts};
use crate::slots::{self, Slot, Taken};
use crate::{hooks, io, local, log, status, strangers, variables, waking, worker};
use session::{Account, Bystander, Engine, Session, ThreadFacts};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::{c_int, c_uint, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Which load of the plugin this is; even while it is not loaded.
static LOAD: AtomicU64 = AtomicU64::new(0);
/// When it began.
static LOADED_NS: AtomicU64 = AtomicU64::new(0);
static SEES_TLS: AtomicBool = AtomicBool::new(false);
static BYSTANDERS: Mutex<Option<HashMap<u64, Bystander>>> = Mutex::new(None);
/// Server threads without a connection of this load that the server has told of since then.
static HEARD: Mutex<Option<HashSet<u64>>> = Mutex::new(None);
/// Whatever a connection that is accepted now does will be reported.
static ADMITS: AtomicBool = AtomicBool::new(false);

/// Server sessions with a greater number began after the plugin was loaded: all that they did has been reported.
static OLDEST_KNOWN: AtomicU64 = AtomicU64::new(u64::MAX);

pub fn set_oldest_known(thread_id: u64) {
    OLDEST_KNOWN.store(thread_id, Ordering::Relaxed);
}

pub fn knows_all_sessions() -> bool {
    OLDEST_KNOWN.load(Ordering::Relaxed) != u64::MAX
}

pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(now_ns))
}

fn now_ns() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

pub fn is_loaded() -> bool {
    load().is_some()
}

/// The present load, if there is one.
pub fn load() -> Option<u64> {
    Some(LOAD.load(Ordering::Acquire)).filter(|load| load % 2 == 1)
}

pub fn since_load() -> Duration {
    Duration::from_nanos(now_ns() - LOADED_NS.load(Ordering::Relaxed))
}

/// The server's threads may have met an earlier load of the plugin.
pub fn was_loaded_before() -> bool {
    LOAD.load(Ordering::Relaxed) > 1
}

/// The server reports to this plugin from here on: until its load is over it does not.
pub fn admit() {
    ADMITS.store(true, Ordering::Release);
}

/// Whether the server has told of this thread.
pub fn has_heard(thread_id: u64) -> bool {
    heard().as_ref().is_some_and(|heard| heard.contains(&thread_id))
}

fn heard() -> std::sync::MutexGuard<'static, Option<HashSet<u64>>> {
    HEARD.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn start() -> Result<(), String> {
    worker::await_end();
    local::link();
    let server = server::find()?;
    if !status::redirect() {
        status::restore();
        return Err("the server's Qcache_ status rows were not found".into());
    }
    faults::arm();
    engine().forget();
    waking::sleep(engine());
    now_ns();
    strangers::learn();
    // Before it has started nobody has connected.
    ADMITS.store(!server.has_started(), Ordering::Release);
    let sees_tls = hooks::install().inspect_err(|_| status::restore())?;
    SEES_TLS.store(sees_tls, Ordering::Relaxed);
    LOADED_NS.store(now_ns(), Ordering::Relaxed);
    LOAD.fetch_add(1, Ordering::AcqRel);
    *bystanders() = Some(HashMap::new());
    *heard() = Some(HashSet::new());
    crate::rules::adopt();
    worker::publish_wishes(engine());
    worker::start();
    let tls = if sees_tls { "" } else { "; its TLS library is built in, so TLS connections pass uncached" };
    log::note(&format!("{} loaded into server {}{tls}", crate::VERSION_TEXT.to_string_lossy(), server.version()));
    if !is_tested(&server.version()) {
        log::warning("this server version has not been tested with this engine");
    }
    Ok(())
}

/// The server lines that the engine is tested with.
fn is_tested(version: &str) -> bool {
    ["10.11.", "11.4."].iter().any(|line| version.starts_with(line))
}

pub fn stop() {
    LOAD.fetch_add(1, Ordering::AcqRel);
    worker::stop();
    engine().settings.switch(false);
    engine().cache.clear();
    waking::sleep(engine());
    forget_bystanders();
    *bystanders() = None;
    status::restore();
    if slots::all_clean() {
        hooks::remove();
    }
    log::note("unloaded");
}

fn bystanders() -> std::sync::MutexGuard<'static, Option<HashMap<u64, Bystander>>> {
    BYSTANDERS.lock().unwrap_or_else(|e| e.into_inner())
}

/// Runs `work` with every lock held that this library has, which shows that what goes on meanwhile waits for none.
pub fn holding(work: &mut dyn FnMut()) {
    let inner = &mut || {
        let (_bystanders, _heard) = (bystanders(), heard());
        waking::holding(&mut || engine().holding(work));
    };
    let inner = &mut || strangers::holding(&mut || hooks::holding(&mut || status::holding(inner)));
    worker::holding(&mut || crate::rules::holding(inner));
}

/// What they hold closed opens: nothing is stored, and what was is gone.
pub fn forget_bystanders() {
    let forgotten = bystanders().as_mut().map(std::mem::take).unwrap_or_default();
    forgotten.into_values().for_each(|mut bystander| bystander.on_end(engine()));
}

/// A panic was caught.
pub fn contained() {
    engine().settings.fail();
    if status::NUMBERS.contained.fetch_add(1, Ordering::Relaxed) == 0 {
        log::error("a fault was contained; the cache is off until the server restarts, connections go on uncached");
    }
}

pub fn number_before_accept() -> u64 {
    engine().settings.inherited()
}

pub fn accepted(fd: c_int, number: u64) {
    let load = LOAD.load(Ordering::Acquire);
    if fd >= 0 && load % 2 == 1 && ADMITS.load(Ordering::Acquire) {
        slots::open(fd, load, Connection::accepted(number, server::get().has_thread_pool()));
    }
}

/// A server that ends stops listening first.
pub fn note_end(fd: c_int) {
    if server::get().is_ending() && !worker::is_this_thread() && io::is_listening(fd) {
        worker::ask_no_more();
    }
}

pub fn closing(fd: c_int) {
    let Some(mut taken) = slots::get(fd).and_then(slots::Slot::take) else { return };
    taken.slot.thread_id.store(0, Ordering::Release);
    if let Some(mut connection) = taken.content().take() {
        connection.session.on_close(engine());
    }
}

pub fn is_of_this_load(slot: &Slot) -> bool {
    slot.load.load(Ordering::Relaxed) == LOAD.load(Ordering::Acquire)
}

/// A connection of an earlier load, once nothing of it is in our hands, is left alone for good.
pub fn lets_go(taken: &mut Taken) -> bool {
    if is_of_this_load(taken.slot) {
        return false;
    }
    let is_clean = taken.content().as_ref().is_none_or(Connection::is_clean);
    if is_clean && let Some(mut connection) = taken.content().take() {
        connection.session.on_close(engine());
    }
    is_clean
}

/// The socket under a TLS connection.
pub fn descriptor_of(ssl: *mut c_void) -> c_int {
    type SslGetFd = unsafe extern "C" fn(*const c_void) -> c_int;
    static GET_FD: OnceLock<Option<SslGetFd>> = OnceLock::new();
    let function = GET_FD.get_or_init(|| {
        // SAFETY: the TLS library's public function of this name has this signature.
        server::symbol(c"SSL_get_fd").ok().map(|symbol| unsafe { std::mem::transmute::<*mut c_void, SslGetFd>(symbol) })
    });
    // SAFETY: the server passes its TLS connection.
    function.map_or(-1, |function| unsafe { function(ssl) })
}

/// Someone may have asked for the catalogue while a session was at work.
pub fn wake_if_wanted() {
    if engine().is_catalogue_wanted() {
        worker::wake();
    }
}

/// A SET has run. All but the memory itself follows at once; resizing is the worker's.
pub fn settings_changed() {
    admit();
    worker::publish_settings(engine());
    worker::wake();
}

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

fn with_bystander(thread_id: u64, work: impl FnOnce(&mut Bystander)) {
    if worker::is_this_thread() {
        return;
    }
    if let Some(all) = bystanders().as_mut() {
        work(all.entry(thread_id).or_insert_with(|| {
            let _ = UNTIL_EXIT.try_with(|ending| ending.0.borrow_mut().push(thread_id));
            heard().iter_mut().for_each(|heard| _ = heard.insert(thread_id));
            Bystander::new(thread_id > OLDEST_KNOWN.load(Ordering::Relaxed))
        }));
    }
}

/// Server threads without a client (events, delayed inserts) do not tell that they end; their thread does.
struct Ending(RefCell<Vec<u64>>);

thread_local! {
    static UNTIL_EXIT: Ending = const { Ending(RefCell::new(Vec::new())) };
}

impl Drop for Ending {
    fn drop(&mut self) {
        hooks::contain(Point::Event, (), || self.0.borrow_mut().drain(..).for_each(bystander_ended));
    }
}

fn bystander_ended(thread_id: u64) {
    heard().iter_mut().for_each(|heard| _ = heard.remove(&thread_id));
    if let Some(mut bystander) = bystanders().as_mut().and_then(|all| all.remove(&thread_id)) {
        bystander.on_end(engine());
    }
}

pub unsafe extern "C" fn event(thd: *mut Thd, class: c_uint, data: *const c_void) {
    if !is_loaded() || data.is_null() {
        return;
    }
    hooks::contain(Point::Event, (), || {
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
        with_bystander(event.thread_id, |bystander| {
            if is_lock {
                bystander.on_table(engine, db, name, is_read_only);
            } else {
                apply(&mut |db, name| bystander.on_table_defined(engine, db, name));
            }
        });
    }
}

const OPTION_AUTO_IS_NULL: i64 = 1 << 14;
const OPTION_NOT_AUTOCOMMIT: i64 = 1 << 19;
const OPTION_BEGIN: i64 = 1 << 20;

fn on_general(facts: &Facts, thd: *mut Thd, event: &EventGeneral) {
    let query = bytes(event.query, event.query_length as usize);
    let engine = engine();
    if event.subclass == GENERAL_LOG && query.get(..4).is_some_and(|word| word.eq_ignore_ascii_case(b"show")) {
        status::refresh(engine);
    }
    if !matches!(event.subclass, GENERAL_LOG | GENERAL_STATUS) {
        return;
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
    with_bystander(event.thread_id, |bystander| match event.subclass {
        GENERAL_LOG => bystander.on_logged(engine, query),
        GENERAL_STATUS => {
            let is_in_transaction = facts.option(OPTION_NOT_AUTOCOMMIT | OPTION_BEGIN);
            bystander.on_status(engine, executed(event, query), is_in_transaction, facts.in_lock_tables());
            note_native(query);
        }
        _ => {}
    });
}

/// The end of a PREPARE shows the text that it prepared.
fn executed<'a>(event: &EventGeneral, query: &'a [u8]) -> &'a [u8] {
    let command = bytes(event.command, event.command_length as usize);
    if event.error_code == 0 && matches!(command, b"Query" | b"Execute") { query } else { b"" }
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
            bystander_ended(event.thread_id);
        }
    }
}

fn account(facts: &Facts, event: &EventConnection) -> Account {
    let (user, host) = facts.account();
    Account::new(user, host, bytes(event.ip, event.ip_length as usize))
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
    if let Some(all) = bystanders().as_mut() {
        all.insert(event.thread_id, Bystander::new(true));
    }
}

fn thread_facts<'a>(facts: &Facts, thd: *mut Thd, database: &'a [u8]) -> ThreadFacts<'a> {
    ThreadFacts {
        isolation: facts.isolation(),
        in_lock_tables: facts.in_lock_tables(),
        database,
        collation: facts.collation_id(),
        cache_type: variables::type_of(thd),
        is_read_only: facts.is_read_only(),
        is_null_magic: facts.option(OPTION_AUTO_IS_NULL),
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
