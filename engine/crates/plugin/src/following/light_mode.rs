//! Decides when the engine enters light mode: when for some seconds following sessions has cost more than hits have saved. It
//! leaves light mode when enough statements are repeated to make serving worth a try. If serving does not pay, it enters light mode again,
//! with a longer pause before each further try.

use crate::engine::engine;
use crate::faults;
use crate::following::waking;
use crate::log;
use crate::server;
use host::{Link, catalogue};
use insight::Interval;
use locks::Mutex;
use session::Engine;
use std::path::Path;
use std::sync::{MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The interval over which the cost of following sessions is compared with what hits have saved.
const WINDOW: Duration = Duration::from_secs(1);
/// How many intervals of `WINDOW` in a row must show that the cache costs more than it saves before the engine enters light mode, in which
/// nothing is stored.
const UNPROFITABLE_INTERVALS: u32 = 5;
/// In light mode, in which nothing is served: the pause between two samples of repeated statements, which show whether serving would pay
/// off.
const PAUSE: Duration = Duration::from_secs(4);
/// In light mode, in which nothing is served: for how long each sample counts repeated statements.
const LOOK: Duration = Duration::from_millis(500);
/// How long the engine stays in light mode at least, the first time, and again after serving has paid off.
const FIRST_PATIENCE: Duration = Duration::from_secs(8);
/// The maximum time that the engine must stay in light mode: it doubles each time that serving has not paid off.
const LONGEST_PATIENCE: Duration = Duration::from_secs(300);
/// If the engine leaves light mode and then stays awake for at least this long, serving counts as having paid off.
const WORTHWHILE: Duration = Duration::from_secs(60);
/// The least number of requests, and of repeated ones, in a sample. Fewer may be chance.
const FEW: u64 = 32;

type Rows = Vec<Vec<Option<Vec<u8>>>>;

/// The counters of statements and costs at some moment.
#[derive(Clone, Copy)]
struct Counters {
    at: Instant,
    total: Interval,
}

/// What `light_mode` remembers from one round of the worker to the next.
#[derive(Default)]
struct State {
    /// The counters at the start of the current interval, or in light mode of the current sample. None if neither has started.
    counters: Option<Counters>,
    /// Number of intervals without benefit in a row.
    intervals_without_benefit: u32,
    /// When the worker first saw the engine awake in this epoch, that is, since it last woke. None before the first such epoch.
    awake_since: Option<Instant>,
    /// The epoch in which these values are valid: the engine's count of changes between awake, suspended and light mode.
    epoch: u64,
    /// How long the engine had to stay in light mode last time; none before the first time.
    patience: Option<Duration>,
    /// In light mode, the time before which the engine does not try to serve again. None if it has not been in light mode.
    serves_from: Option<Instant>,
    /// In light mode, when the next sample starts, or the present one ends. None if it has not been in light mode.
    samples_from: Option<Instant>,
    /// The answer to `Programs::creation_counts`, counters of created stored programs, when the engine last entered light mode.
    programs: Rows,
    /// True once it was logged that stored programs keep the engine out of light mode.
    has_logged_programs: bool,
}

impl State {
    /// Called in each round while the engine is awake. `epoch` counts the engine's changes between awake, suspended and light mode. In a
    /// new one, the counters of the previous one no longer apply and are reset.
    fn begin(&mut self, epoch: u64) {
        if self.epoch != epoch {
            self.epoch = epoch;
            (self.counters, self.intervals_without_benefit, self.awake_since) = (None, 0, Some(Instant::now()));
        }
    }
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

fn state() -> MutexGuard<'static, Option<State>> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work` on the state, under its lock.
fn with_state<T>(work: impl FnOnce(&mut State) -> T) -> T {
    work(state().get_or_insert_with(State::default))
}

/// Returns what a test has set instead of a judgement: true for light mode, false for awake. None outside of tests.
fn forced_choice() -> Option<bool> {
    static WISH: OnceLock<Option<String>> = OnceLock::new();
    let forced_choice = WISH.get_or_init(|| faults::argument("doze")).as_deref()?;
    if forced_choice == "random" {
        // The low bits of the processor time are random enough.
        let changes = (server::processor_ns() / 1000).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62 == 0;
        return Some(changes != engine().mode().is_in_light_mode());
    }
    Some(Path::new(forced_choice).exists())
}

/// True if the settings and sessions allow light mode, in which sessions are followed by their packets only and nothing is stored. Near
/// caches rule it out, because what they save is not counted here.
fn may_enter_light_mode(engine: &Engine) -> bool {
    let settings = engine.settings();
    settings.allows_light_mode()
        && !engine.feed().is_wanted()
        && settings.global_type() != 0
        && !settings.observes()
        && !engine.mode().has_trials()
}

/// The part of a worker's round that sends no query: ends light mode, in which nothing is stored, if settings no longer allow it or enough
/// statements are repeated to make serving worth a try.
pub fn update_without_queries(engine: &Engine) {
    if engine.mode().is_awake() {
        with_state(|state| state.begin(engine.mode().epoch()));
    }
    if engine.mode().is_in_light_mode() && (!may_enter_light_mode(engine) || is_worth_a_try(engine)) {
        waking::end_light_mode(engine);
    }
}

/// The part of a worker's round that queries the server: enters light mode, in which nothing is stored, if the cache has cost more than it
/// saved for some seconds. Does not if there are stored functions or triggers, whose writes would go unseen. An error is that of a failed
/// query.
pub fn update_by_queries(engine: &Engine, link: &mut dyn Link) -> Result<(), String> {
    if !engine.mode().is_awake()
        || !waking::is_settled()
        || !may_enter_light_mode(engine)
        || !costs_more_than_it_saves(engine)
    {
        return Ok(());
    }
    let Some(made) = creation_counts(link)? else { return Ok(()) };
    if has_programs(link)? {
        if with_state(|state| !std::mem::replace(&mut state.has_logged_programs, true)) {
            log::note("the cache saves less than it costs, but stays awake: there are stored functions or triggers");
        }
        return Ok(());
    }
    with_state(|state| {
        let now = Instant::now();
        let was_worthwhile = state.awake_since.is_none_or(|since| since.elapsed() >= WORTHWHILE);
        let longer = state.patience.filter(|_| !was_worthwhile).map_or(FIRST_PATIENCE, |patience| 2 * patience);
        let patience = longer.min(LONGEST_PATIENCE);
        state.programs = made;
        (state.patience, state.serves_from, state.samples_from) =
            (Some(patience), Some(now + patience), Some(now + PAUSE));
        (state.counters, state.intervals_without_benefit) = (None, 0);
    });
    engine.repeats().begin();
    waking::enter_light_mode(engine);
    Ok(())
}

/// Reports to the engine whether all statements of the last period of light mode could be followed by their packets alone; if stored
/// programs exist or were created in it, they could not. Called when that period and all its statements have ended. An error is that of a
/// failed query, and then nothing is reported.
pub fn judge(engine: &Engine, link: &mut dyn Link) -> Result<(), String> {
    let is_as_then = creation_counts(link)?.is_some_and(|made| with_state(|state| made == state.programs));
    let is_lost = !is_as_then || has_programs(link)?;
    if is_lost {
        log::note(
            "stored programs were made while the engine dozed: connections that were at work then are served again when they connect again",
        );
    }
    engine.mode().judge_last_light_mode(is_lost);
    Ok(())
}

/// Returns the answer to `Programs::creation_counts`, which stays the same as long as no stored program is created. None if the product has
/// no such query. An error is that of a failed query.
fn creation_counts(link: &mut dyn Link) -> Result<Option<Rows>, String> {
    let Some(programs) = &engine().flavour().catalogue.programs else { return Ok(None) };
    link.query(programs.creation_counts).map(Some)
}

/// True if there are stored programs that a statement may run without naming them, or if they cannot be queried on this product. An error
/// is that of a failed query.
fn has_programs(link: &mut dyn Link) -> Result<bool, String> {
    let Some(programs) = &engine().flavour().catalogue.programs else { return Ok(true) };
    for question in programs.existing {
        if !link.query(question)?.is_empty() {
            return Ok(true);
        }
    }
    catalogue::any_view_definition_contains(engine().flavour(), link, programs.excluded_schema.as_bytes())
}

/// True if the cache has cost more than it saved in `UNPROFITABLE_INTERVALS` intervals in a row. Call in each round of
/// the worker, because a call may end an interval.
fn costs_more_than_it_saves(engine: &Engine) -> bool {
    if let Some(forced_choice) = forced_choice() {
        return forced_choice;
    }
    let counts = engine.counts();
    let total = Interval {
        statements: counts.followed.sum(),
        hits: counts.hits.sum(),
        inserts: counts.inserts.sum(),
        evictions: engine.cache().stats().evictions,
        saved_ns: counts.saved_ns.sum(),
        stored_ns: counts.stored_ns.sum(),
        cpu_ns: server::processor_ns(),
        elapsed_ns: 0,
    };
    let now = Instant::now();
    with_state(|state| {
        let counters = *state.counters.get_or_insert(Counters { at: now, total });
        let elapsed = now - counters.at;
        if elapsed < WINDOW {
            return false;
        }
        state.counters = Some(Counters { at: now, total });
        let costs_more_than_it_saves = since(counters.total, total, elapsed).costs_more_than_it_saves();
        state.intervals_without_benefit =
            if costs_more_than_it_saves { state.intervals_without_benefit + 1 } else { 0 };
        state.intervals_without_benefit >= UNPROFITABLE_INTERVALS
    })
}

/// Returns by how much the counters have grown from `then` to `now`, a time of `elapsed`.
fn since(then: Interval, now: Interval, elapsed: Duration) -> Interval {
    Interval {
        // A FLUSH STATUS resets the counters.
        statements: now.statements.saturating_sub(then.statements),
        hits: now.hits.saturating_sub(then.hits),
        inserts: now.inserts.saturating_sub(then.inserts),
        evictions: now.evictions.saturating_sub(then.evictions),
        saved_ns: now.saved_ns.saturating_sub(then.saved_ns),
        stored_ns: now.stored_ns.saturating_sub(then.stored_ns),
        cpu_ns: now.cpu_ns.saturating_sub(then.cpu_ns),
        elapsed_ns: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
    }
}

/// Samples repeated statements every few seconds, in light mode. True if serving them could pay. Call in each round of the worker: each
/// call may start or end a sample.
fn is_worth_a_try(engine: &Engine) -> bool {
    if let Some(forced_choice) = forced_choice() {
        return !forced_choice;
    }
    let repeats = engine.repeats();
    let now = Instant::now();
    let total = |statements| Interval { statements, cpu_ns: server::processor_ns(), ..Interval::default() };
    with_state(|state| {
        if state.samples_from.is_none_or(|from| now < from) {
            return false;
        }
        if !repeats.is_short_open() {
            repeats.open_short();
            state.samples_from = Some(now + LOOK);
            state.counters = Some(Counters { at: now, total: total(0) });
            return false;
        }
        let (short, long) = (repeats.close_short(), repeats.long());
        state.samples_from = Some(now + PAUSE);
        let Some(counters) = state.counters.take() else { return false };
        let lately = since(counters.total, total(short.requests), now - counters.at);
        let could_pay = short.requests >= FEW
            && [short, long].iter().any(|count| count.repeats >= FEW && lately.could_pay(count.ratio()));
        could_pay && state.serves_from.is_none_or(|from| now >= from)
    })
}
