//! Finds the rows that a replication applier changes through row events of the binary log. The server reports the tables that these
//! events lock. To find the rows, the plugin puts its own functions into the virtual function table of InnoDB's handler class.
//!
//! Invariants:
//! - A table counts as one whose rows are reported only if its handler's own lock call has just run through `on_lock` on this thread.
//! - A key is what the handler itself stores for a row (`position`), in its buffer for the last row's key. The server reveals where that
//!   buffer is: it passes it to `rnd_pos` for each row that an event identifies by key. Until then, and whenever anything is not as
//!   expected, the row is unknown, and its whole table is marked as being written.
//!
//! No class of InnoDB is exported. The class is taken from a handler that the server is asked to make. The slots of the functions in its
//! table are those of another engine's class, whose functions are exported by name.

use crate::engine::{engine, is_loaded};
use crate::exports::function;
use crate::log;
use crate::mariadb::abi::Thd;
use crate::mariadb::applier::with_applier;
use crate::mariadb::vtables;
use crate::pointers::{Pointer, ReplacedSlots};
use locks::Mutex;
use session::Report;
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_ulong, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{OnceLock, PoisonError};

type Handler = *mut *mut c_void;
type Position = unsafe extern "C" fn(Handler, *const u8);
type Find = unsafe extern "C" fn(Handler, *mut u8, *mut u8) -> c_int;
type Lock = unsafe extern "C" fn(Handler, *mut Thd, c_int) -> c_int;
type Change = unsafe extern "C" fn(Handler, *const u8) -> c_int;
type Update = unsafe extern "C" fn(Handler, *const u8, *const u8) -> c_int;

const INNODB: c_int = 12;
const WRITE_LOCK: c_int = 1;
/// The name of InnoDB's handler class in its type information.
const CLASS: &CStr = c"11ha_innobase";
/// The exported name of the virtual function table of another engine's handler class, whose functions are exported, too. It has the same
/// functions at the same slots as InnoDB's.
const PATTERN: &CStr = c"_ZTV8ha_maria";

/// The server's own functions of InnoDB's handler class, in this variable and the next five: those that the plugin replaces, and
/// `position`, which is only called.
static FIND: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
static LOCK: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
static WRITE: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
static UPDATE: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
static DELETE: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
static POSITION: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// The offset, in words from the start of a handler (the server's object for an open table), of the pointer to the key that the handler
/// stored last. 0 until the server has revealed it.
static KEPT: AtomicUsize = AtomicUsize::new(0);
/// How many words of a handler are searched. `install` checks that handlers are longer; otherwise no rows are identified.
const WORDS: usize = 64;

thread_local! {
    /// True while this thread applies a row event.
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
    /// The address of the handler, the server's object for an open table, that this thread has just locked for writing while it applies a
    /// row event. None if it has locked none since `take_locked`.
    static LOCKED: Cell<Option<usize>> = const { Cell::new(None) };
}

/// While this value lives, its thread applies a row event: locks and rows of InnoDB tables are observed.
pub struct RowEventGuard(());

impl RowEventGuard {
    /// Starts to observe this thread. If the plugin's functions are not in InnoDB's virtual function table yet, puts them there.
    pub fn begin() -> RowEventGuard {
        install();
        take_locked();
        IS_INSIDE.set(true);
        RowEventGuard(())
    }
}

impl Drop for RowEventGuard {
    fn drop(&mut self) {
        let _ = IS_INSIDE.try_with(|inside| inside.set(false));
    }
}

/// True while this thread applies a row event.
fn is_inside() -> bool {
    IS_INSIDE.try_with(Cell::get).unwrap_or(false)
}

/// Returns the address of the handler, the server's object for an open table, that was locked for writing last on this thread while it
/// applied a row event, and forgets it. Its table is the one whose lock the server reports next. None if there was none.
pub fn take_locked() -> Option<usize> {
    LOCKED.try_with(Cell::take).ok().flatten()
}

/// Returns the server's own function that is kept in `place`.
///
/// # Safety
/// `F` is the type of the function that `place` holds.
unsafe fn original<F: Copy>(place: &AtomicPtr<c_void>) -> F {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: the caller's guarantee; `install` stored the pointer before the plugin's function was reachable.
    unsafe { std::mem::transmute_copy(&place.load(Ordering::Acquire)) }
}

/// Locks a table by the server's own function, and notes the handler if that succeeds and this thread applies a row event.
unsafe extern "C" fn on_lock(handler: Handler, thd: *mut Thd, kind: c_int) -> c_int {
    // SAFETY: the arguments are those of the server.
    let failed = unsafe { original::<Lock>(&LOCK)(handler, thd, kind) };
    if is_inside() && failed == 0 && kind == WRITE_LOCK {
        let _ = LOCKED.try_with(|locked| locked.set(Some(handler as usize)));
    }
    failed
}

/// Finds a row by its key by the server's own function. First searches the handler for the pointer to that key.
unsafe extern "C" fn on_find(handler: Handler, row: *mut u8, key: *mut u8) -> c_int {
    if KEPT.load(Ordering::Relaxed) == 0 && is_inside() {
        // SAFETY: a handler is longer than that, as `install` has checked.
        let found = (1..WORDS - 1).filter(|at| unsafe { holds(handler, *at, key) });
        if let [at] = found.collect::<Vec<_>>()[..] {
            KEPT.store(at, Ordering::Relaxed);
        }
    }
    // SAFETY: the arguments are those of the server.
    unsafe { original::<Find>(&FIND)(handler, row, key) }
}

/// Returns true if the word at index `at` of the handler object is the pointer `key`, and the next word points to the eight bytes behind
/// that key. The handler keeps the pointers to its two buffers for row keys in two such words.
///
/// # Safety
/// The handler must have at least `at + 2` words.
unsafe fn holds(handler: Handler, at: usize, key: *mut u8) -> bool {
    // SAFETY: the caller guarantees that the handler is that long.
    let [first, second] = [at, at + 1].map(|at| unsafe { handler.add(at).read() } as usize);
    first == key as usize && second == first + 8
}

unsafe extern "C" fn on_write(handler: Handler, row: *const u8) -> c_int {
    // SAFETY: the arguments are those of the server.
    let failed = unsafe { original::<Change>(&WRITE)(handler, row) };
    tell(handler, &[row]);
    failed
}

unsafe extern "C" fn on_update(handler: Handler, old: *const u8, new: *const u8) -> c_int {
    // SAFETY: the arguments are those of the server.
    let failed = unsafe { original::<Update>(&UPDATE)(handler, old, new) };
    tell(handler, &[old, new]);
    failed
}

unsafe extern "C" fn on_delete(handler: Handler, row: *const u8) -> c_int {
    // SAFETY: the arguments are those of the server.
    let failed = unsafe { original::<Change>(&DELETE)(handler, row) };
    tell(handler, &[row]);
    failed
}

/// Reports rows that were changed through a handler, if the applier on this thread wants rows of it. Called after the server's own
/// function, which may have generated the key, and before any session sees the row.
fn tell(handler: Handler, rows: &[*const u8]) {
    if !is_inside() {
        return;
    }
    with_applier(|_, thread| {
        if !thread.needs_rows_of(handler as usize) {
            return;
        }
        for row in rows {
            let key = key_of(handler, *row);
            thread.report(engine(), Report::Row { handler: handler as usize, key });
        }
    });
}

/// Returns the first eight bytes of the key that the handler stores for a row. None if it is not known where, or anything is not as
/// expected.
fn key_of(handler: Handler, row: *const u8) -> Option<[u8; 8]> {
    let at = Some(KEPT.load(Ordering::Relaxed)).filter(|at| *at != 0)?;
    // SAFETY: the server makes the same call, for a row of this handler's table; it changes only the buffer of the last key.
    unsafe { original::<Position>(&POSITION)(handler, row) };
    // SAFETY: as in `holds`; a second key follows the first, so at least eight bytes are readable.
    unsafe {
        let key: *mut u8 = handler.add(at).read().cast();
        (!key.is_null() && holds(handler, at, key)).then(|| key.cast::<[u8; 8]>().read_unaligned())
    }
}

static INSTALLED: Mutex<ReplacedSlots> = Mutex::new(ReplacedSlots::none());

/// The slots, by the names of functions of the class in `PATTERN`. The lock comes last when installing and is removed first: whenever locks
/// are reported, rows are reported too.
const SEAMS: [(&CStr, *mut c_void, &AtomicPtr<c_void>); 5] = [
    (c"_ZN8ha_maria7rnd_posEPhS0_", on_find as *mut c_void, &FIND),
    (c"_ZN8ha_maria9write_rowEPKh", on_write as *mut c_void, &WRITE),
    (c"_ZN8ha_maria10update_rowEPKhS1_", on_update as *mut c_void, &UPDATE),
    (c"_ZN8ha_maria10delete_rowEPKh", on_delete as *mut c_void, &DELETE),
    (c"_ZN8ha_maria13external_lockEP3THDi", on_lock as *mut c_void, &LOCK),
];

/// Puts the plugin's functions into the virtual function table of InnoDB's handlers, unless they are there or the plugin is unloaded. If
/// that is not possible, rows are not tracked, only tables. Must run on an applier's thread, because the server makes handlers only for its
/// sessions.
fn install() {
    static PLACES: OnceLock<Option<Vec<Pointer>>> = OnceLock::new();
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if !installed.is_empty() || !is_loaded() {
        return;
    }
    let Some(places) = PLACES.get_or_init(find) else { return };
    for (place, (_, ours, original)) in places.iter().zip(&SEAMS) {
        if let Err(error) = installed.exchange(*place, *ours, |before| original.store(before, Ordering::Release)) {
            log::warning(&format!("rows that appliers write are not told apart: {error}"));
            return put_back(&mut installed);
        }
    }
}

/// Restores the virtual function table of InnoDB's handlers.
pub fn remove() {
    put_back(&mut INSTALLED.lock().unwrap_or_else(PoisonError::into_inner));
}

fn put_back(installed: &mut ReplacedSlots) {
    if let Err(error) = installed.put_back() {
        log::warning(&format!("a function could not be removed, and does nothing of its own: {error}"));
    }
}

/// Finds the plugin's slots in the virtual function table of InnoDB's handlers. None if anything is not as expected. `position` is not
/// replaced, only called.
fn find() -> Option<Vec<Pointer>> {
    let table = table_of_innodb()? as *mut *mut c_void;
    // SAFETY: this table has the functions of its base at the same slots as the tables of all other engines.
    let place = |name| Some(unsafe { Pointer::at(table.add(vtables::slot(PATTERN, name)?)) });
    POSITION.store(place(c"_ZN8ha_maria8positionEPKh")?.current(), Ordering::Release);
    SEAMS.iter().map(|(name, ..)| place(name)).collect()
}

/// The size in bytes of the memory block in which a handler is made for inspection: more than a handler takes.
const BLOCK: usize = 8192;

/// Returns the address of the functions of InnoDB's handler class. None if a handler is shorter than `WORDS` words, or anything else
/// differs.
fn table_of_innodb() -> Option<usize> {
    type Resolve = unsafe extern "C" fn(*mut Thd, c_int) -> *mut c_void;
    type Make = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void) -> Handler;
    type Begin = unsafe extern "C" fn(c_uint, *mut c_void, usize, usize, c_ulong);
    type Allocate = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;
    type Free = unsafe extern "C" fn(*mut c_void, c_ulong);
    // SAFETY: the signatures of the server's headers.
    let (resolve, make, begin, allocate, free) = unsafe {
        (
            function::<Resolve>(c"_Z25ha_resolve_by_legacy_typeP3THD14legacy_db_type").ok()?,
            function::<Make>(c"_Z15get_new_handlerP11TABLE_SHAREP11st_mem_rootP10handlerton").ok()?,
            function::<Begin>(c"init_alloc_root").ok()?,
            function::<Allocate>(c"alloc_root").ok()?,
            function::<Free>(c"free_root").ok()?,
        )
    };
    // Larger than the server's structure, and aligned.
    let mut memory = [0u64; 64];
    let memory: *mut c_void = memory.as_mut_ptr().cast();
    // SAFETY: the server makes the same calls to create a handler without a table, on a session's thread. The handler owns only memory from
    // `memory`.
    unsafe {
        let engine = resolve(null_mut(), INNODB);
        if engine.is_null() {
            return None;
        }
        begin(0, memory, BLOCK, 0, 0);
        let handler = make(null_mut(), memory, engine);
        let table = if handler.is_null() { null_mut() } else { handler.read() };
        // Within one block, the next allocation follows directly after the previous one.
        let behind = allocate(memory, size_of::<usize>()) as usize;
        free(memory, 0);
        let is_long = (WORDS * size_of::<usize>()..BLOCK).contains(&behind.wrapping_sub(handler as usize));
        (is_of_innodb(table.cast()) && is_long).then_some(table as usize)
    }
}

/// True if the class is InnoDB's handler class, by its name.
///
/// # Safety
/// `table` is null, or points to the functions of a class, after the head of its table.
unsafe fn is_of_innodb(table: *mut *mut c_void) -> bool {
    if table.is_null() {
        return false;
    }
    // SAFETY: the head of a table ends with the class's type, which begins with its own table and its name.
    unsafe {
        let class: *mut *mut c_char = table.sub(1).read().cast();
        !class.is_null() && CStr::from_ptr(class.add(1).read()) == CLASS
    }
}
