//! The plugin's own thread: it applies settings, reads the server's catalogue, and keeps numbers up to date.
//!
//! It may be slow or fail without harm: results are stored only while the facts that it published are of the present.

use crate::load;
use crate::mariadb::local::{self, Local};
use crate::mariadb::log;
use crate::mariadb::native::{self, Native};
use crate::mariadb::status;
use crate::mariadb::symbols as server;
use crate::mariadb::variables;
use crate::waking;
use host::catalogue;
use session::Engine;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(100);
const SWEEP_SEGMENTS: usize = 8;
const LAST_STATEMENT: Duration = Duration::from_secs(5);

#[derive(Default)]
struct Signal {
    stops: bool,
    wakes: bool,
}

static SIGNAL: Mutex<Signal> = Mutex::new(Signal { stops: false, wakes: false });
static CHANGED: Condvar = Condvar::new();
static THREAD: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

/// Whether statements of the worker are running, and whether any may.
#[derive(Default)]
struct Asking {
    is_busy: bool,
    is_over: bool,
}

static ASKING: Mutex<Asking> = Mutex::new(Asking { is_busy: false, is_over: false });
static ASKED: Condvar = Condvar::new();

/// While it lives, the worker may run statements.
struct Turn;

impl Turn {
    fn take() -> Option<Turn> {
        let mut asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
        let may_ask = !asking.is_over && server::get().has_started() && !server::get().is_ending();
        may_ask.then(|| {
            asking.is_busy = true;
            Turn
        })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        ASKING.lock().unwrap_or_else(PoisonError::into_inner).is_busy = false;
        ASKED.notify_all();
    }
}

/// The server is ending: it will clean up what statements need without waiting for the worker's, so the last one must be
/// over before that. Bounded, because it may wait for a lock that only the end of other sessions frees.
pub fn ask_no_more() {
    let mut asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    asking.is_over = true;
    let _ = ASKED.wait_timeout_while(asking, LAST_STATEMENT, |asking| asking.is_busy);
}

pub fn holding(work: &mut dyn FnMut()) {
    let _signal = SIGNAL.lock().unwrap_or_else(PoisonError::into_inner);
    let _thread = THREAD.lock().unwrap_or_else(PoisonError::into_inner);
    let _asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    work();
}

/// The server's own query cache may have been set up.
static NATIVE_TOUCHED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

pub fn is_this_thread() -> bool {
    IS_WORKER.try_with(Cell::get).unwrap_or(false)
}

pub fn start() {
    signal(|signal| *signal = Signal { stops: false, wakes: true });
    ASKING.lock().unwrap_or_else(PoisonError::into_inner).is_over = false;
    let spawned = std::thread::Builder::new().name("fqc-worker".into()).spawn(run);
    match spawned {
        Ok(thread) => *THREAD.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread),
        Err(error) => log::error(&format!("no thread for the catalogue, nothing will be cached: {error}")),
    }
}

/// The server has the last user of the plugin stop it. That may be the worker, by a statement of its own: it cannot wait for
/// itself, and ends when that statement is over.
pub fn stop() {
    local::unlink();
    signal(|signal| signal.stops = true);
    if !is_this_thread() {
        await_end();
    }
}

/// Waits for the worker of the load before.
pub fn await_end() {
    if let Some(thread) = THREAD.lock().unwrap_or_else(PoisonError::into_inner).take() {
        let _ = thread.join();
    }
}

pub fn native_touched() {
    NATIVE_TOUCHED.store(true, Ordering::Relaxed);
    wake();
}

/// Settings have changed, or facts are missing: do not wait for the next round.
pub fn wake() {
    signal(|signal| signal.wakes = true);
}

fn signal(change: impl FnOnce(&mut Signal)) {
    change(&mut SIGNAL.lock().unwrap_or_else(PoisonError::into_inner));
    CHANGED.notify_all();
}

/// Until woken or a pause has passed; false when it is time to stop.
fn pause() -> bool {
    let signal = SIGNAL.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = CHANGED.wait_timeout_while(signal, PAUSE, |signal| !signal.wakes && !signal.stops);
    let (mut signal, _) = waited.unwrap_or_else(PoisonError::into_inner);
    signal.wakes = false;
    !signal.stops
}

fn run() {
    IS_WORKER.with(|is_worker| is_worker.set(true));
    local::enter_thread();
    NATIVE_TOUCHED.store(true, Ordering::Relaxed);
    let mut worker = Worker { native: None, looked_at_native: Instant::now(), was_in_cluster: false, failures: 0 };
    while pause() {
        crate::hooks::contain(crate::faults::Point::Worker, (), || worker.round());
        crate::faults::may_hold_locks();
    }
    local::leave_thread();
}

struct Worker {
    native: Option<Native>,
    looked_at_native: Instant,
    was_in_cluster: bool,
    failures: u32,
}

/// How often the server's own cache is looked at while no statement is reported.
const NATIVE_PAUSE: Duration = Duration::from_secs(1);

/// While the plugin is being installed its variables are not known yet; a catalogue may be locked for a moment.
const QUIET_FAILURES: u32 = 50;

impl Worker {
    fn round(&mut self) {
        let engine = load::engine();
        if self.native.is_some() {
            apply_settings(engine);
        }
        self.tell_cluster(engine);
        waking::tend(engine);
        engine.sweep(SWEEP_SEGMENTS);
        engine.tick();
        tell_differences(engine);
        status::refresh(engine);
        if waking::is_leaving() {
            return;
        }
        let Some(_turn) = Turn::take() else { return };
        let Err(error) = self.consult(engine) else {
            self.failures = 0;
            return;
        };
        NATIVE_TOUCHED.store(true, Ordering::Relaxed);
        self.failures += 1;
        if self.failures.is_multiple_of(QUIET_FAILURES) {
            log::warning(&format!("the catalogue could not be read, will be tried again: {error}"));
        }
    }

    fn tell_cluster(&mut self, engine: &Engine) {
        load::note_cluster();
        let is_in_cluster = engine.settings().is_in_cluster();
        if is_in_cluster && !self.was_in_cluster {
            log::warning(
                "this server is a node of a Galera cluster (wsrep_on): nothing is cached as long as it is one",
            );
        }
        self.was_in_cluster = is_in_cluster;
    }

    fn consult(&mut self, engine: &Engine) -> Result<(), String> {
        let link = &mut Local::default();
        waking::settle(engine, link, self.failures > 0)?;
        if waking::is_leaving() {
            return Ok(());
        }
        if waking::is_deaf() && self.looked_at_native.elapsed() >= NATIVE_PAUSE {
            self.looked_at_native = Instant::now();
            native_touched();
        }
        if NATIVE_TOUCHED.swap(false, Ordering::Relaxed) {
            self.native = Some(native::adopt(engine, link, self.native)?);
            load::admit();
            apply_settings(engine);
        }
        catalogue::consult(engine, link)?;
        waking::consult(engine, link)?;
        catalogue::consult_tables(engine, link)
    }
}

fn tell_differences(engine: &Engine) {
    for statement in engine.insight().take_differences() {
        log::error(&format!("a stored result was not what the server answers; it was dropped: {statement}"));
    }
}

/// Whether the cache is wanted by an option file, before the server has started.
pub fn publish_wishes(engine: &Engine) {
    engine.settings().set_global_type(variables::type_of(std::ptr::null_mut()));
    engine.settings().set_observes(variables::observes());
    waking::attend(engine);
}

pub fn publish_settings(engine: &Engine) {
    let settings = engine.settings();
    settings.set_size(variables::size());
    settings.set_limit(variables::limit());
    settings.set_global_type(variables::type_of(std::ptr::null_mut()));
    settings.set_defers_begin(variables::defers_begin());
    settings.set_adapts(variables::adapts());
    settings.set_observes(variables::observes());
    settings.set_verify_ppm(variables::verify_ppm());
    settings.set_tells_rows(variables::tells_rows());
    settings.switch(engine.memory_bytes() > 0);
    waking::attend(engine);
}

fn apply_settings(engine: &Engine) {
    publish_settings(engine);
    let bytes = engine.memory_bytes();
    if engine.cache().budget() != bytes {
        engine.cache().resize(bytes);
    }
}
