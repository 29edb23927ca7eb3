//! The plugin's own thread: it applies settings, reads the server's catalogue, and keeps numbers up to date.
//!
//! It may be slow or fail without harm: results are stored only while the facts that it published are of the present.

use crate::local::{self, Local};
use crate::{host, keys, log, server, status, variables, waking};
use session::{Engine, Facts, Table, Verdict};
use sql::{Assignment, Kind, LexMode, Target, Value};
use std::cell::Cell;
use std::collections::HashSet;
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
    let mut worker = Worker { native: None, looked_at_native: Instant::now(), failures: 0 };
    while pause() {
        crate::hooks::contain(crate::faults::Point::Worker, (), || worker.round());
        crate::faults::may_hold_locks();
    }
    local::leave_thread();
}

struct Worker {
    native: Option<Native>,
    looked_at_native: Instant,
    failures: u32,
}

/// How often the server's own cache is looked at while no statement is reported.
const NATIVE_PAUSE: Duration = Duration::from_secs(1);

/// While the plugin is being installed its variables are not known yet; a catalogue may be locked for a moment.
const QUIET_FAILURES: u32 = 50;

impl Worker {
    fn round(&mut self) {
        let engine = host::engine();
        if self.native.is_some() {
            apply_settings(engine);
        }
        waking::tend(engine);
        engine.sweep(SWEEP_SEGMENTS);
        engine.insight.tick(engine);
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
            self.native = Some(adopt(engine, link, self.native)?);
            host::admit();
            apply_settings(engine);
        }
        if engine.vigil.is_awake() && !engine.settings.knows_beginnings() {
            look_up_beginnings(engine, link)?;
        }
        if engine.catalogue.facts().is_none() {
            publish_facts(engine, link)?;
        }
        waking::consult(engine, link)?;
        let asked = engine.tables.take_asked();
        for table in &asked {
            settle(engine, link, table)?;
        }
        // What a result needs comes first; without a key its rows are not told apart yet.
        for table in &asked {
            settle_key(engine, link, table).inspect_err(|_| engine.tables.ask(table))?;
        }
        Ok(())
    }
}

fn tell_differences(engine: &Engine) {
    for statement in engine.insight.take_differences() {
        log::error(&format!("a stored result was not what the server answers; it was dropped: {statement}"));
    }
}

/// Whether the cache is wanted by an option file, before the server has started.
pub fn publish_wishes(engine: &Engine) {
    engine.settings.set_global_type(variables::type_of(std::ptr::null_mut()));
    engine.settings.set_observes(variables::observes());
    waking::attend(engine);
}

pub fn publish_settings(engine: &Engine) {
    let settings = &engine.settings;
    settings.set_size(variables::size());
    settings.set_limit(variables::limit());
    settings.set_global_type(variables::type_of(std::ptr::null_mut()));
    settings.set_defers_begin(variables::defers_begin());
    settings.set_adapts(variables::adapts());
    settings.set_observes(variables::observes());
    settings.set_verify_ppm(variables::verify_ppm());
    settings.set_tells_rows(variables::tells_rows());
    settings.switch(variables::size() > 0);
    waking::attend(engine);
}

fn apply_settings(engine: &Engine) {
    publish_settings(engine);
    if engine.cache.budget() != engine.settings.size() {
        engine.cache.resize(engine.settings.size());
    }
}

/// What the server's own query cache was set to, as last seen.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Native {
    cache_type: u64,
    size: u64,
    limit: u64,
}

/// Takes over what was set for the server's own query cache, and switches that off. Such settings come from the option
/// file, and later from connections older than the plugin, whose statements it does not see.
fn adopt(engine: &Engine, link: &mut Local, last: Option<Native>) -> Result<Native, String> {
    let rows = link.query(
        "SELECT FIELD(@@GLOBAL.query_cache_type, 'ON', 'DEMAND'), @@GLOBAL.query_cache_size, \
         @@GLOBAL.query_cache_limit, @@GLOBAL.lower_case_table_names, @@GLOBAL.fqc_size",
    )?;
    let numbers: Vec<u64> = rows.first().into_iter().flatten().map(number).collect();
    let [cache_type, size, limit, lower_case, own_size] = numbers[..] else {
        return Err("the server did not tell the settings of its query cache".into());
    };
    engine.settings.set_tells_case(lower_case == 0);
    let native = Native { cache_type, size, limit };
    let last = last.unwrap_or(if own_size == 0 { Native::default() } else { native });
    if size != last.size {
        link.query(&format!("SET GLOBAL fqc_size = {}", size.min(variables::SIZE_MAX)))?;
    }
    if limit != last.limit {
        link.query(&format!("SET GLOBAL fqc_limit = {limit}"))?;
    }
    if cache_type != 0 {
        link.query(&format!("SET GLOBAL fqc_type = {cache_type}"))?;
        link.query("SET GLOBAL query_cache_type = OFF")?;
        log::note("what was set for the server's own query cache was taken over, and that cache is off");
    }
    Ok(Native { cache_type: 0, ..native })
}

pub fn number(value: &Option<Vec<u8>>) -> u64 {
    value.as_deref().and_then(|text| std::str::from_utf8(text).ok()?.parse().ok()).unwrap_or(0)
}

/// How the texts of new sessions are read, and whether all of them are.
fn look_up_beginnings(engine: &Engine, link: &mut Local) -> Result<(), String> {
    let inherited = engine.settings.inherited();
    let rows = link.query("SELECT @@GLOBAL.sql_mode, @@GLOBAL.init_connect")?;
    if let Some([Some(mode), Some(first)]) = rows.first().map(|row| row.as_slice()) {
        let as_usual = is_usual(mode) && leaves_mode(first) && !may_passwords_expire(link);
        engine.settings.note_beginnings(inherited, !first.is_empty(), as_usual);
    }
    Ok(())
}

/// With time alone: the server then refuses what a session asks, which nothing else tells than its answer.
fn may_passwords_expire(link: &mut Local) -> bool {
    let lasting = "SELECT @@GLOBAL.default_password_lifetime = 0 AND NOT EXISTS \
                   (SELECT 1 FROM mysql.global_priv WHERE JSON_VALUE(Priv, '$.password_lifetime') > 0)";
    let answer = link.query(lasting).ok().and_then(|rows| rows.into_iter().next()?.into_iter().next()?);
    answer.as_deref() != Some(b"1")
}

fn is_usual(mode: &[u8]) -> bool {
    let usual = LexMode::default();
    usual.with_sql_mode(&Value::Text(mode.to_vec())) == Some(usual)
}

/// Whether what sessions run at their beginning leaves `sql_mode` alone.
fn leaves_mode(text: &[u8]) -> bool {
    let is_mode = |assignment: &Assignment| matches!(&assignment.target, Target::Session(name) if name == b"sql_mode");
    match sql::classify(text, LexMode::default()).kind {
        Kind::Empty => true,
        Kind::Set(assignments) => !assignments.iter().any(is_mode),
        _ => false,
    }
}

fn publish_facts(engine: &Engine, link: &mut Local) -> Result<(), String> {
    let generation = engine.catalogue.generation();
    let mut views = HashSet::new();
    for schema in first_column(link.query("SHOW DATABASES")?) {
        // Unlike the tables of information_schema, this only looks at the beginning of each definition.
        let name = String::from_utf8_lossy(&schema).replace('`', "``");
        match link.query(&format!("SHOW FULL TABLES FROM `{name}` WHERE Table_type LIKE '%VIEW'")) {
            Ok(rows) => views.extend(first_column(rows).map(|name| name.to_ascii_lowercase())),
            Err(error) if has_no_views(&error) => {}
            Err(error) => return Err(error),
        }
    }
    engine.catalogue.publish(Facts { generation, views, folds_case: !engine.settings.tells_case() });
    Ok(())
}

/// Of a schema that was dropped in between, which has begun another generation, and of a directory that the server may not
/// read, such as the `lost+found` of a file system that is its data directory.
fn has_no_views(error: &str) -> bool {
    error.contains("Unknown database") || error.contains("(errno: 13 ")
}

fn first_column(rows: Vec<local::Row>) -> impl Iterator<Item = Vec<u8>> {
    rows.into_iter().filter_map(|row| row.into_iter().next().flatten())
}

fn settle(engine: &Engine, link: &mut Local, table: &Table) -> Result<(), String> {
    let era = table.era(engine.catalogue.generation());
    let verdict = judge(link, &table.db, &table.name)?;
    table.settle(era, verdict);
    Ok(())
}

fn settle_key(engine: &Engine, link: &mut Local, table: &Table) -> Result<(), String> {
    let generation = engine.catalogue.generation();
    let era = table.era(generation);
    if table.verdict(generation) == Verdict::Snapshot {
        let key = keys::key_column(link, &literal(&table.db), &literal(&table.name))?;
        table.settle_key(era, key);
    }
    Ok(())
}

fn judge(link: &mut Local, db: &[u8], name: &[u8]) -> Result<Verdict, String> {
    let which = format!("TABLE_SCHEMA = {} AND TABLE_NAME = {}", literal(db), literal(name));
    let rows = link.query(&format!("SELECT ENGINE, TABLE_TYPE FROM information_schema.TABLES WHERE {which}"))?;
    let Some([Some(engine), Some(kind)]) = rows.first().map(|row| row.as_slice()) else { return Ok(Verdict::Unfit) };
    let verdict = match engine.as_slice() {
        b"InnoDB" => Verdict::Snapshot,
        b"MyISAM" | b"MEMORY" => Verdict::Plain,
        b"Aria" => Verdict::Joining,
        _ => Verdict::Unfit,
    };
    if !matches!(kind.as_slice(), b"BASE TABLE" | b"SYSTEM VERSIONED") {
        return Ok(Verdict::Unfit);
    }
    // The server completes a TIME with today's date where it is compared with a date.
    let times =
        link.query(&format!("SELECT 1 FROM information_schema.COLUMNS WHERE {which} AND DATA_TYPE = 'time' LIMIT 1"))?;
    if !times.is_empty() {
        return Ok(Verdict::Unfit);
    }
    let expressions = link.query(&format!(
        "SELECT GENERATION_EXPRESSION FROM information_schema.COLUMNS WHERE {which} AND EXTRA LIKE '%VIRTUAL%'"
    ))?;
    let is_fixed = expressions.iter().all(|row| row.first().is_some_and(|value| is_deterministic(value.as_deref())));
    Ok(if is_fixed { verdict } else { Verdict::Unfit })
}

/// Whether a generated column has the same value at every read.
fn is_deterministic(expression: Option<&[u8]>) -> bool {
    let text = [b"SELECT ", expression.unwrap_or_default(), b" FROM t"].concat();
    matches!(sql::classify(&text, LexMode::default()).kind, Kind::Read(read) if read.refusal.is_none())
}

/// A name as a literal that no setting can change the meaning of.
fn literal(name: &[u8]) -> String {
    let digits: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("_utf8mb3 x'{digits}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_the_server_may_not_read_has_no_views() {
        assert!(has_no_views("Can't read dir of './lost+found/' (errno: 13 \"Permission denied\")"));
        assert!(has_no_views("Unknown database 'gone'"));
        assert!(!has_no_views("Can't read dir of './shop/' (errno: 24 \"Too many open files\")"));
    }
}
