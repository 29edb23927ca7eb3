//! Observes the storage engines' handlers: which table each stands for, and when it is locked, or used under LOCK TABLES.
//!
//! All engines that are part of the server are reported, because the contents of other engines must not be stored. The name of a table is
//! taken from its path when its handler is opened. A handler that was opened before the load is unknown: what is read through it is not
//! stored, and a write through it marks everything as being written.

use crate::engine::engine;
use crate::following::waking;
use crate::mysql::abi::Thd;
use crate::mysql::reports::{self, ReportingSession};
use crate::mysql::selftest::{self, Seam};
use crate::mysql::symbols;
use crate::mysql::vtables::{Slot, Slots, Vtable};
use foldhash::fast::FixedState;
use locks::RwLock;
use session::Report;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};

type Open = unsafe extern "C" fn(*mut c_void, *const c_char, c_int, c_uint, *const c_void) -> c_int;
type Close = unsafe extern "C" fn(*mut c_void) -> c_int;
type Lock = unsafe extern "C" fn(*mut c_void, *mut Thd, c_int) -> c_int;

const READ_LOCK: c_int = 0;
const WRITE_LOCK: c_int = 1;
/// The lowest lock type that writes, in the server's numbering.
const LEAST_WRITE: c_int = 6;

/// The tables of schema `mysql` in which the server stores how far replication has come: at each checkpoint of a replica's applier, and
/// after any write where transactions have GTIDs.
const POSITIONS: [&[u8]; 4] = [b"gtid_executed", b"slave_master_info", b"slave_relay_log_info", b"slave_worker_info"];

/// The storage engines that are reported, by the server's names for them, with the tables of their handler classes. The positions of the
/// functions are looked up in the first two.
const CLASSES: [(&str, &CStr); 10] = [
    ("InnoDB", c"_ZTV11ha_innobase"),
    ("InnoDB", c"_ZTV11ha_innopart"),
    ("MyISAM", c"_ZTV9ha_myisam"),
    ("MEMORY", c"_ZTV7ha_heap"),
    ("CSV", c"_ZTV7ha_tina"),
    ("ARCHIVE", c"_ZTV10ha_archive"),
    ("BLACKHOLE", c"_ZTV12ha_blackhole"),
    ("FEDERATED", c"_ZTV12ha_federated"),
    ("MRG_MYISAM", c"_ZTV12ha_myisammrg"),
    ("PERFORMANCE_SCHEMA", c"_ZTV13ha_perfschema"),
];
/// The engine classes from the start of `CLASSES` that every server must have.
const REQUIRED: usize = 2;
const INNOBASE: [&CStr; 4] = [
    c"_ZN11ha_innobase4openEPKcijPKN2dd5TableE",
    c"_ZN11ha_innobase5closeEv",
    c"_ZN11ha_innobase13external_lockEP3THDi",
    c"_ZN11ha_innobase10start_stmtEP3THD13thr_lock_type",
];
const INNOPART: [&CStr; 4] = [
    c"_ZN11ha_innopart4openEPKcijPKN2dd5TableE",
    c"_ZN11ha_innopart5closeEv",
    c"_ZN11ha_innopart13external_lockEP3THDi",
    c"_ZN11ha_innopart10start_stmtEP3THD13thr_lock_type",
];
const OPEN: usize = 0;
const CLOSE: usize = 1;
const LOCK: usize = 2;
const STATEMENT: usize = 3;

/// A handler class whose table holds the plugin's functions: the address that its objects begin with, and the server's own functions.
struct Class {
    point: AtomicUsize,
    originals: [AtomicPtr<c_void>; 4],
}

static ORIGINALS: [Class; CLASSES.len()] =
    [const { Class { point: AtomicUsize::new(0), originals: [const { AtomicPtr::new(std::ptr::null_mut()) }; 4] } };
        CLASSES.len()];

/// Returns the server's own function for a handler: `which` is `OPEN`, `CLOSE`, `LOCK` or `STATEMENT`.
fn original(handler: *mut c_void, which: usize) -> *mut c_void {
    // SAFETY: an object of a class with virtual functions begins with the address of their table.
    let point = unsafe { handler.cast::<usize>().read() };
    let class = ORIGINALS.iter().find(|class| class.point.load(Ordering::Acquire) == point);
    class.expect("only these classes have our functions").originals[which].load(Ordering::Acquire)
}

/// The table that a handler, the server's object for an open table, was opened for.
enum OpenTable {
    Table {
        db: Vec<u8>,
        name: Vec<u8>,
    },
    /// A temporary table, which no other session can read.
    Temporary,
}

const SHARDS: usize = 64;
type OpenTables = RwLock<HashMap<usize, Arc<OpenTable>, FixedState>>;
/// A part of the map from handlers to tables. Padded to two cache lines, because processors prefetch them in pairs.
#[repr(align(128))]
#[derive(Default)]
struct Shard(OpenTables);

/// Returns the part of the map in which a handler is. `handler` is its address.
fn shard(handler: usize) -> &'static OpenTables {
    static TABLES: OnceLock<Vec<Shard>> = OnceLock::new();
    let tables = TABLES.get_or_init(|| (0..SHARDS).map(|_| Shard::default()).collect());
    &tables[(handler >> 6) % SHARDS].0
}

/// Returns the table that the handler at this address stands for. None if the handler was opened before the load.
fn table_of(handler: usize) -> Option<Arc<OpenTable>> {
    shard(handler).read().unwrap_or_else(PoisonError::into_inner).get(&handler).cloned()
}

/// Returns the table that is stored at a path. One outside of the data directory is a temporary table.
fn read_path(path: &[u8]) -> OpenTable {
    let parts = path.strip_prefix(b"./").and_then(|path| {
        let slash = path.iter().position(|byte| *byte == b'/')?;
        Some((&path[..slash], &path[slash + 1..])).filter(|(_, name)| !name.contains(&b'/'))
    });
    let Some((db, name)) = parts else { return OpenTable::Temporary };
    let decode = |part| symbols::get().decode(part);
    OpenTable::Table { db: decode(db), name: decode(name) }
}

/// Opens a table by the server's own function, and notes which table the handler stands for.
unsafe extern "C" fn on_open(
    handler: *mut c_void,
    path: *const c_char,
    mode: c_int,
    test: c_uint,
    definition: *const c_void,
) -> c_int {
    // SAFETY: the class's own function, with the server's arguments.
    let failed = unsafe {
        std::mem::transmute::<*mut c_void, Open>(original(handler, OPEN))(handler, path, mode, test, definition)
    };
    if failed == 0 && !path.is_null() {
        let _ = std::panic::catch_unwind(|| {
            // SAFETY: the server's path, terminated by a NUL.
            let table = read_path(unsafe { CStr::from_ptr(path) }.to_bytes());
            let handler = handler as usize;
            shard(handler).write().unwrap_or_else(PoisonError::into_inner).insert(handler, Arc::new(table));
        });
    }
    failed
}

/// Closes a table by the server's own function, and forgets the handler.
unsafe extern "C" fn on_close(handler: *mut c_void) -> c_int {
    let close = original(handler, CLOSE);
    let _ = std::panic::catch_unwind(|| {
        let handler = handler as usize;
        shard(handler).write().unwrap_or_else(PoisonError::into_inner).remove(&handler);
    });
    // SAFETY: as above.
    unsafe { std::mem::transmute::<*mut c_void, Close>(close)(handler) }
}

/// Locks or unlocks a table by the server's own function, and reports a lock before that. When a session unlocks the last table that it had
/// locked for writing, first reports that its statement has ended.
unsafe extern "C" fn on_lock(handler: *mut c_void, thd: *mut Thd, kind: c_int) -> c_int {
    let function = original(handler, LOCK);
    match kind {
        READ_LOCK | WRITE_LOCK => {
            selftest::note(|| seen(Seam::Lock, handler, kind == WRITE_LOCK));
            reports::on_call(thd, |session| locks(session, handler as usize, kind == WRITE_LOCK));
        }
        _ if reports::note_unlock(thd, handler as usize) => {
            reports::on_call(thd, |session| reports::has_ended(session, false))
        }
        _ => {}
    }
    // SAFETY: as above.
    let refused = unsafe { std::mem::transmute::<*mut c_void, Lock>(function)(handler, thd, kind) };
    if refused != 0 && kind == WRITE_LOCK {
        // The lock failed, so it will not be unlocked.
        reports::note_unlock(thd, handler as usize);
    }
    refused
}

/// Starts a statement on a table under LOCK TABLES by the server's own function, and reports it as a lock first.
unsafe extern "C" fn on_statement(handler: *mut c_void, thd: *mut Thd, kind: c_int) -> c_int {
    let function = original(handler, STATEMENT);
    selftest::note(|| seen(Seam::Statement, handler, kind >= LEAST_WRITE));
    reports::on_call(thd, |session| report_lock(session, handler as usize, kind >= LEAST_WRITE));
    // SAFETY: as above.
    unsafe { std::mem::transmute::<*mut c_void, Lock>(function)(handler, thd, kind) }
}

fn locks(session: ReportingSession, handler: usize, writes: bool) {
    if writes {
        reports::note_lock(session, handler, keeps_positions(handler));
    }
    report_lock(session, handler, writes);
}

/// True if the handler's table stores how far replication has come.
fn keeps_positions(handler: usize) -> bool {
    let table = table_of(handler);
    matches!(table.as_deref(), Some(OpenTable::Table { db, name }) if db == b"mysql" && POSITIONS.contains(&name.as_slice()))
}

/// Reports that a handler's table is locked for reading or writing.
fn report_lock(session: ReportingSession, handler: usize, writes: bool) {
    let table = table_of(handler);
    let (db, name) = match table.as_deref() {
        Some(OpenTable::Table { db, name }) => (db.as_slice(), name.as_slice()),
        // No other session can read a temporary table.
        Some(OpenTable::Temporary) if writes => return,
        // Reads of a temporary table are not stored, like those of a system table.
        Some(OpenTable::Temporary) => (b"mysql".as_slice(), b"a temporary table".as_slice()),
        // Reads are not stored either, and a write marks everything as being written.
        None => (b"mysql".as_slice(), b"an unknown table".as_slice()),
    };
    let engine = engine();
    if writes && db == b"mysql" && matches!(name, b"plugin" | b"component") {
        waking::doubt(engine, Some(session.id));
    }
    reports::deliver(session, !writes, |report| report(Report::Locked { db, name, is_read_only: !writes }));
    if table.is_none() && writes || engine.flavour().schemas.holds_grants(db, name) {
        engine.settings().note_grants();
    }
}

/// Returns the record for the self-test that the server has called the function of `seam` for the table of `handler`,
/// to write or to read it.
fn seen(seam: Seam, handler: *mut c_void, writes: bool) -> selftest::SeamReport {
    let name = match table_of(handler as usize).as_deref() {
        Some(OpenTable::Table { db, name }) => Some((db.clone(), name.clone())),
        _ => None,
    };
    selftest::SeamReport { seam, name, writes }
}

static SLOTS: Slots = Slots::none();

/// Puts the plugin's functions into the virtual function tables of the storage engines' handlers. An error leaves them unchanged.
pub fn install() -> Result<(), String> {
    SLOTS.install(slots)
}

fn slots() -> Result<Vec<Slot>, String> {
    let tables = find()?;
    let positions = positions(&tables[0], INNOBASE)?;
    if positions != self::positions(&tables[1], INNOPART)? {
        return Err("the two classes of InnoDB's tables do not agree on their functions".into());
    }
    let ours = [on_open as *mut c_void, on_close as *mut c_void, on_lock as *mut c_void, on_statement as *mut c_void];
    let mut slots = Vec::new();
    for (table, class) in tables.iter().zip(&ORIGINALS) {
        for (which, position) in positions.into_iter().enumerate() {
            slots.push((table.slot(position), ours[which], &class.originals[which]));
        }
        class.point.store(table.address_point() as usize, Ordering::Release);
    }
    Ok(slots)
}

/// Restores the virtual function tables of the storage engines' handlers. An error if one of them could not be restored.
pub fn remove() -> Result<(), String> {
    SLOTS.remove()
}

/// Finds the virtual function tables of the storage engines' handlers. Engines that this server was built without are left out, except for
/// InnoDB: without it, returns an error.
fn find() -> Result<Vec<Vtable>, String> {
    let all = CLASSES.iter().enumerate().map(|(at, (_, class))| (at, Vtable::find(class)));
    all.filter(|(at, found)| *at < REQUIRED || found.is_ok()).map(|(_, found)| found).collect()
}

fn positions(table: &Vtable, functions: [&CStr; 4]) -> Result<[usize; 4], String> {
    let mut positions = [0; 4];
    for (position, function) in positions.iter_mut().zip(functions) {
        *position = table.position(function)?;
    }
    Ok(positions)
}

/// True if locks of this storage engine's tables are reported. `name` is the server's name for it, in any case.
pub fn knows_engine(name: &[u8]) -> bool {
    CLASSES.iter().any(|(engine, _)| engine.as_bytes().eq_ignore_ascii_case(name))
}
