//! Decides when the engine wakes and when it is suspended, and what the server reports in each state. Light mode is in `light_mode`.
//!
//! While suspended or in light mode, the server need not report statements. If this plugin is the only audit plugin, its mask of event
//! classes is reduced to connections, so that statements pay nothing for the plugin. Another plugin that is installed sets the bits
//! that it needs itself.

use crate::engine::{engine, since_load, was_loaded_before};
use crate::following::unfollowed_threads;
use crate::log;
use crate::server::{self, Reports};
use crate::signal;
use host::{Link, number};
use locks::Mutex;
use session::{EarlierStatement, EarlierStatements, Engine, UnreportedConnection};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long statement reports continue after a load or after the engine was suspended. Sessions older than the plugin are followed by
/// reports alone, and they are likely to set the server's own cache right then, which is taken over at once as long as reports arrive.
const REPORTS_CONTINUE: Duration = Duration::from_secs(10);
/// How long the cache must be unwanted before the engine is suspended: one that is switched off and on again keeps its state.
const UNWANTED: Duration = Duration::from_secs(1);
/// After this time, a command that was read before the plugin was loaded appears in the process list.
const SETTLING: Duration = Duration::from_secs(1);
/// After this time, the statements that keep the engine from storing anything are logged.
const LONG: Duration = Duration::from_secs(5);

/// The worker's view of the engine since it last woke, was suspended or entered light mode.
struct State {
    /// From this time on, the server's statement reports may be switched off.
    quiet_from: Instant,
    /// Statements older than the last waking that have not ended yet, as far as that is known; none once all have ended.
    earlier_statements: Option<EarlierStatements>,
    /// When the engine last woke, was suspended or entered light mode.
    since: Instant,
    /// Since when no setting or session has wanted the cache.
    unwanted: Option<Instant>,
    /// True once it was logged that older statements are still running.
    has_warned: bool,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

/// Plugins are being installed or removed, or may have been. The server stops reporting to a plugin that is removed while its hooks are
/// still in place, so no stored result counts as current until it is certain that this plugin stays.
struct Doubt {
    unreported: UnreportedConnection,
    /// The number of changes of plugins that have started in this doubt.
    changes: u64,
    /// Threads whose statements are about to change plugins, or are doing so.
    changing: Vec<u64>,
    /// True if this plugin is being removed.
    is_leaving: bool,
}

static DOUBT: Mutex<Option<Doubt>> = Mutex::new(None);
static IS_IN_DOUBT: AtomicBool = AtomicBool::new(false);

fn present_doubt() -> MutexGuard<'static, Option<Doubt>> {
    DOUBT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a doubt whether this plugin stays: until it has ended, no stored result counts as current. Wakes the worker to find out
/// (`settle_doubt`). `thread_id` is that of the session whose statement is about to change plugins. None: a statement that was not seen may
/// have done so.
pub fn doubt(engine: &Engine, thread_id: Option<u64>) {
    let mut doubt = present_doubt();
    let doubt = doubt.get_or_insert_with(|| new_doubt(engine));
    doubt.changes += 1;
    doubt.changing.extend(thread_id);
    engine.uninstallation().doubt();
    IS_IN_DOUBT.store(true, Ordering::Release);
    signal::wake();
}

fn new_doubt(engine: &Engine) -> Doubt {
    Doubt { unreported: UnreportedConnection::new(engine), changes: 0, changing: Vec::new(), is_leaving: false }
}

/// Called when a statement of this thread, or its connection, has ended. If the statement was one that changes plugins, notes that it no
/// longer runs.
pub fn on_end(thread_id: u64) {
    if IS_IN_DOUBT.load(Ordering::Acquire) {
        present_doubt().iter_mut().for_each(|doubt| doubt.changing.retain(|other| *other != thread_id));
        signal::wake();
    }
}

/// Ends the doubt whether this plugin stays in the server, so that stored results count as current again. Does nothing if there is no
/// doubt, or if `applies` returns false for it.
fn forget_doubt(engine: &Engine, applies: impl FnOnce(&mut Doubt) -> bool) {
    let mut present = present_doubt();
    if let Some(mut doubt) = present.take_if(applies) {
        IS_IN_DOUBT.store(false, Ordering::Release);
        doubt.unreported.end(engine);
    }
}

/// True while a statement that changes plugins is running, or is about to.
pub fn is_changing() -> bool {
    present_doubt().as_ref().is_some_and(|doubt| !doubt.changing.is_empty())
}

/// True if this plugin is being uninstalled: it ends when the last session has released it, and the engine stays suspended until then.
pub fn is_leaving() -> bool {
    present_doubt().as_ref().is_some_and(|doubt| doubt.is_leaving)
}

/// Queries whether this plugin stays, if that is in doubt: after a change of plugins, because a session asks, or because queries fail
/// (`is_unknown`), as they do if the server does not know the plugin's variables. Then ends the doubt, or suspends the engine for good. An
/// error is that of a failed query, and leaves the doubt as it is.
pub fn settle_doubt(engine: &Engine, link: &mut dyn Link, is_unknown: bool) -> Result<(), String> {
    let changes = present_doubt().as_ref().filter(|doubt| doubt.changing.is_empty()).map(|doubt| doubt.changes);
    let doubts = engine.uninstallation().doubts().filter(|_| !is_changing());
    if changes.is_none() && !is_unknown && doubts.is_none() {
        return Ok(());
    }
    server::get().examine(link)?;
    keep_reports(engine);
    match own_status(engine, link)?.as_deref() {
        Some(b"ACTIVE") => stay(engine, changes, doubts),
        Some(b"DELETED") => leave(engine, link),
        _ => {}
    }
    Ok(())
}

/// Returns the status of this plugin, such as ACTIVE; none if the server does not list it. The server knows the variables of an active
/// plugin only. The list of plugins is queried only if the variable is unknown, because that takes a temporary table on disk. An error is
/// that of a failed query.
fn own_status(engine: &Engine, link: &mut dyn Link) -> Result<Option<Vec<u8>>, String> {
    if link.query("SELECT @@GLOBAL.fqc_version").is_ok() {
        return Ok(Some(b"ACTIVE".to_vec()));
    }
    let rows = link.query(engine.flavour().catalogue.own_plugin)?;
    Ok(rows.into_iter().next().and_then(|row| row.into_iter().next()?))
}

/// Ends the doubt, because the plugin stays, unless another change has started since `changes` and `doubts` were read.
fn stay(engine: &Engine, changes: Option<u64>, doubts: Option<u64>) {
    forget_doubt(engine, |doubt| Some(doubt.changes) == changes);
    doubts.into_iter().for_each(|doubts| engine.uninstallation().note_staying(doubts));
}

/// Has the server report everything again if the engine is awake. The server changes its reports when plugins are installed, without a lock
/// against concurrent changes, so the setting of another thread may be lost.
fn keep_reports(engine: &Engine) {
    if engine.mode().is_awake() {
        server::get().set_reports(Reports::All);
    }
}

/// Suspends the engine, because the plugin is being removed. Sessions must not treat it as installed, and those that hold a reference to it
/// release it with their next command.
fn leave(engine: &Engine, link: &mut dyn Link) {
    present_doubt().get_or_insert_with(|| new_doubt(engine)).is_leaving = true;
    engine.uninstallation().note_leaving();
    suspend_state(engine, &mut state());
    if has_other_listeners(link) == Ok(false) {
        server::get().set_reports(Reports::Nothing);
    }
    server::get().renew_plugins();
}

fn state() -> MutexGuard<'static, Option<State>> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn new(earlier_statements: Option<EarlierStatements>) -> State {
        let now = Instant::now();
        State { quiet_from: now + REPORTS_CONTINUE, earlier_statements, since: now, unwanted: None, has_warned: false }
    }
}

/// Wakes the engine if a setting or a session wants the cache. Does nothing if it is awake or in light mode, or the plugin is being
/// removed. Connections accepted after that are followed from their first byte.
pub fn wake_if_wanted(engine: &Engine) {
    let is_up = || engine.mode().is_awake() || engine.mode().is_in_light_mode();
    if is_up() || !engine.is_wanted() {
        return;
    }
    let mut state = state();
    if is_up() || is_leaving() {
        return;
    }
    wake(engine, &mut state);
}

/// Ends light mode and wakes the engine: statements are worth following again. Does nothing if the engine is not in light mode.
pub fn end_light_mode(engine: &Engine) {
    let mut state = state();
    if engine.mode().is_in_light_mode() && !is_leaving() {
        log::note("awake again: statements are followed, and their results stored");
        wake(engine, &mut state);
    }
}

/// Enters light mode, in which sessions are followed by their packets only and nothing is stored. Does nothing if the engine is not awake,
/// or still waits for statements that are older than its waking.
pub fn enter_light_mode(engine: &Engine) {
    let mut state = state();
    if !engine.mode().is_awake()
        || state.as_ref().is_some_and(|state| state.earlier_statements.is_some())
        || is_leaving()
    {
        return;
    }
    log::note("the cache saves less than it costs: it dozes until more statements are repeated");
    engine.enter_light_mode();
    *state = Some(State { quiet_from: Instant::now(), ..State::new(None) });
    drop(state);
    unfollowed_threads::forget();
}

/// True if no statement that is older than the engine's waking is waited for, and there is no doubt that this plugin stays. Says nothing
/// about whether the engine is awake.
pub fn is_settled() -> bool {
    state().as_ref().is_some_and(|state| state.earlier_statements.is_none()) && !IS_IN_DOUBT.load(Ordering::Acquire)
}

/// Wakes the engine: from here on every statement that starts is followed. Nothing is stored until those that are running now have ended.
/// `state` gets a new state; one that it contains is dropped.
fn wake(engine: &Engine, state: &mut Option<State>) {
    server::get().set_reports(Reports::All);
    // While the server starts, no session exists yet. Otherwise the worker queries which sessions there are.
    unfollowed_threads::set_oldest_known(if server::get().has_started() { u64::MAX } else { 0 });
    *state = Some(State::new(Some(EarlierStatements::wake(engine))));
    // Sessions that connected while the engine was suspended were not reported either.
    unfollowed_threads::forget();
    signal::wake();
}

/// If the engine is awake, stores and serves nothing until all statements that run now have ended: one of them has an end that nothing will
/// report.
pub fn wait_for_all(engine: &Engine) {
    let mut state = state();
    let Some(present) = state.as_mut().filter(|_| engine.mode().is_awake()) else { return };
    match &mut present.earlier_statements {
        Some(earlier_statements) => earlier_statements.restart(),
        none => *none = Some(EarlierStatements::begin(engine)),
    }
    signal::wake();
}

/// Suspends the engine, and ends all doubts. Called at load and at the end of the plugin.
pub fn suspend(engine: &Engine) {
    let mut state = state();
    suspend_state(engine, &mut state);
    *state = Some(State::new(None));
    forget_doubt(engine, |_| true);
    engine.uninstallation().forget();
}

/// Suspends the engine if it is awake or in light mode, which also ends the wait for statements that are older than its last waking.
fn suspend_state(engine: &Engine, state: &mut Option<State>) {
    if engine.mode().is_awake() || engine.mode().is_in_light_mode() {
        engine.suspend();
    }
    if let Some(earlier_statements) = state.as_mut().and_then(|state| state.earlier_statements.take()) {
        earlier_statements.end(engine);
    }
}

/// The part of a worker's round that sends no query: wakes the engine if the cache is wanted, or suspends it when it has been unwanted for
/// a second.
pub fn update_without_queries(engine: &Engine) {
    wake_if_wanted(engine);
    let mut state = state();
    let is_up = engine.mode().is_awake() || engine.mode().is_in_light_mode();
    let Some(present) = state.as_mut().filter(|_| is_up) else { return };
    if engine.is_wanted() {
        present.unwanted = None;
    } else if present.unwanted.get_or_insert_with(Instant::now).elapsed() >= UNWANTED {
        suspend_state(engine, &mut state);
        *state = Some(State::new(None));
        drop(state);
        unfollowed_threads::forget();
    }
}

/// The type of the function `light_mode::judge`. After light mode it finds out, by queries, whether sessions did anything in it that the
/// engine could not see, and reports that to the engine. It returns an error if a query fails.
type Judge = fn(&Engine, &mut dyn Link) -> Result<(), String>;

/// The part of a worker's round that queries the server. Call when the catalogue is known. If the engine is awake, looks whether statements
/// older than its waking have ended, and calls `judge` if it was in light mode before. Otherwise switches the server's statement reports
/// off if no plugin needs them.
pub fn update_by_queries(engine: &Engine, link: &mut dyn Link, judge: Judge) -> Result<(), String> {
    if engine.mode().is_awake() { look_back(engine, link, judge) } else { stop_unneeded_reports(link) }
}

/// Looks which statements older than the engine's waking are still running. When none is left, results are stored and served from here on.
/// Does nothing if none is waited for. An error is that of a failed query.
fn look_back(engine: &Engine, link: &mut dyn Link, judge: Judge) -> Result<(), String> {
    if state().as_ref().is_none_or(|state| state.earlier_statements.is_none()) {
        return Ok(());
    }
    if !unfollowed_threads::knows_all_sessions() {
        learn_sessions(link)?;
    }
    let is_at_risk = was_loaded_before() || has_other_listeners(link)?;
    if is_at_risk && since_load() < SETTLING {
        return Ok(());
    }
    // Plugins may have been installed while the engine was suspended.
    server::get().examine(link)?;
    keep_reports(engine);
    let mut running = server::get().running(link)?;
    if is_at_risk {
        running.extend(unreported_threads(link)?);
    }
    let mut state = state();
    let Some(present) = state.as_mut() else { return Ok(()) };
    let Some(mut earlier_statements) = present.earlier_statements.take() else { return Ok(()) };
    earlier_statements.look(engine, running);
    if earlier_statements.is_over() && engine.mode().is_last_light_mode_unjudged() {
        present.earlier_statements = Some(earlier_statements);
        drop(state);
        signal::wake();
        return judge(engine, link);
    }
    if earlier_statements.is_over() {
        earlier_statements.end(engine);
        return Ok(());
    }
    if present.since.elapsed() > LONG && !std::mem::replace(&mut present.has_warned, true) {
        log::note(&format!(
            "nothing is cached yet: statements that started before the cache was turned on are still running, on connections {:?}",
            earlier_statements.threads()
        ));
    }
    present.earlier_statements = Some(earlier_statements);
    Ok(())
}

/// Queries the newest thread id of the server, and stores it in [`unfollowed_threads`]: a session whose thread id is not higher may have
/// started before the engine was awake, so the engine does not know its state. Returns an error if the query failed.
fn learn_sessions(link: &mut dyn Link) -> Result<(), String> {
    let rows = link.query(engine().flavour().catalogue.newest_thread)?;
    unfollowed_threads::set_oldest_known(rows.first().and_then(|row| row.first()).map_or(u64::MAX, number));
    Ok(())
}

/// Returns the threads without a client that have not been reported yet. They are waited for until they are reported or gone. An error is
/// that of a failed query.
fn unreported_threads(link: &mut dyn Link) -> Result<Vec<EarlierStatement>, String> {
    let lasting = server::get().lasting_threads(link)?;
    Ok(lasting.into_iter().filter(|older| !unfollowed_threads::has_reported(older.thread)).collect())
}

/// Switches the server's statement reports off if no plugin needs them. Does nothing for some seconds after the engine was suspended. An
/// error is that of a failed query.
fn stop_unneeded_reports(link: &mut dyn Link) -> Result<(), String> {
    let is_drowsy = state().as_ref().is_none_or(|state| Instant::now() < state.quiet_from);
    if is_drowsy || server::get().reports_no_statements() {
        return Ok(());
    }
    if has_other_listeners(link)? {
        // Delayed, so as not to be queried again in every round.
        state().iter_mut().for_each(|state| state.quiet_from = Instant::now() + REPORTS_CONTINUE);
        return Ok(());
    }
    server::get().set_reports(Reports::Connections);
    // Another plugin may have been installed in between.
    let has_others = has_other_listeners(link);
    if engine().mode().is_awake() || has_others != Ok(false) {
        server::get().set_reports(Reports::All);
    }
    has_others.map(drop)
}

/// True if another audit plugin is installed, which may need the server's statement reports. An error is that of a failed query.
fn has_other_listeners(link: &mut dyn Link) -> Result<bool, String> {
    Ok(!link.query(engine().flavour().catalogue.other_listeners)?.is_empty())
}
