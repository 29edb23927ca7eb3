//! When the engine dozes: for some seconds following has cost more than hits have saved. It wakes when so many statements come
//! again that serving them could be worth it. If it is not, it dozes again, and longer each time before the next try.

use crate::engine::engine;
use crate::faults;
use crate::following::waking;
use crate::log;
use crate::server;
use host::{Link, catalogue};
use insight::While;
use locks::Mutex;
use session::Engine;
use std::path::Path;
use std::sync::{MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// What is judged at once, and for how many of these in a row the cache must have been in vain.
const WINDOW: Duration = Duration::from_secs(1);
const IN_VAIN: u32 = 5;
/// Between two looks at what comes again, and how long a look takes.
const PAUSE: Duration = Duration::from_secs(4);
const LOOK: Duration = Duration::from_millis(500);
/// Between a try that was in vain and the next.
const FIRST_PATIENCE: Duration = Duration::from_secs(8);
const LONGEST_PATIENCE: Duration = Duration::from_secs(300);
/// Awake for so long, the try was not in vain.
const WORTHWHILE: Duration = Duration::from_secs(60);
/// What too many repeats for chance are.
const FEW: u64 = 32;

type Rows = Vec<Vec<Option<Vec<u8>>>>;

#[derive(Clone, Copy)]
struct Seen {
    at: Instant,
    total: While,
}

#[derive(Default)]
struct State {
    /// When the present window began.
    seen: Option<Seen>,
    windows_in_vain: u32,
    /// Since the last waking, in this epoch.
    awake_since: Option<Instant>,
    epoch: u64,
    patience: Option<Duration>,
    /// Nothing is tried before that.
    wakes_from: Option<Instant>,
    looks_from: Option<Instant>,
    /// What had been made of them when the last doze began.
    programs: Rows,
    has_told_why_not: bool,
}

impl State {
    /// Awake in this epoch. In a new one, what was counted before says nothing any more.
    fn begin(&mut self, epoch: u64) {
        if self.epoch != epoch {
            self.epoch = epoch;
            (self.seen, self.windows_in_vain, self.awake_since) = (None, 0, Some(Instant::now()));
        }
    }
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

fn state() -> MutexGuard<'static, Option<State>> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with_state<T>(work: impl FnOnce(&mut State) -> T) -> T {
    work(state().get_or_insert_with(State::default))
}

/// What a test wants instead of a judgement.
fn wish() -> Option<bool> {
    static WISH: OnceLock<Option<String>> = OnceLock::new();
    let wish = WISH.get_or_init(|| faults::wish("doze")).as_deref()?;
    if wish == "random" {
        // Where it stands in its round is chance enough.
        let changes = (server::processor_ns() / 1000).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62 == 0;
        return Some(changes != engine().vigil().is_dozing());
    }
    Some(Path::new(wish).exists())
}

/// Whether it may doze at all, as things are set. What near caches save does not show here.
fn may_doze(engine: &Engine) -> bool {
    let settings = engine.settings();
    settings.dozes()
        && !engine.feed().is_wanted()
        && settings.global_type() != 0
        && !settings.observes()
        && !engine.vigil().has_trials()
}

/// One of the worker's rounds: whether dozing must end, for which nothing is asked.
pub fn tend(engine: &Engine) {
    if engine.vigil().is_awake() {
        with_state(|state| state.begin(engine.vigil().epoch()));
    }
    if engine.vigil().is_dozing() && (!may_doze(engine) || is_worth_a_try(engine)) {
        waking::end_doze(engine);
    }
}

/// The rest of a round, which asks the server.
pub fn consult(engine: &Engine, link: &mut dyn Link) -> Result<(), String> {
    if !engine.vigil().is_awake() || !waking::is_settled() || !may_doze(engine) || !is_in_vain(engine) {
        return Ok(());
    }
    let Some(made) = programs_made(link)? else { return Ok(()) };
    if has_programs(link)? {
        if with_state(|state| !std::mem::replace(&mut state.has_told_why_not, true)) {
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
        (state.patience, state.wakes_from, state.looks_from) =
            (Some(patience), Some(now + patience), Some(now + PAUSE));
        (state.seen, state.windows_in_vain) = (None, 0);
    });
    engine.repeats().begin();
    waking::doze(engine);
    Ok(())
}

/// The last doze is over, and so is every statement that was sent in it: whether all of them could be followed.
pub fn judge(engine: &Engine, link: &mut dyn Link) -> Result<(), String> {
    let is_as_then = programs_made(link)?.is_some_and(|made| with_state(|state| made == state.programs));
    let is_lost = !is_as_then || has_programs(link)?;
    if is_lost {
        log::note(
            "stored programs were made while the engine dozed: connections that were at work then are served again when they connect again",
        );
    }
    engine.vigil().judge_last_doze(is_lost);
    Ok(())
}

fn programs_made(link: &mut dyn Link) -> Result<Option<Rows>, String> {
    let Some(programs) = &engine().flavour().catalogue.programs else { return Ok(None) };
    link.query(programs.made).map(Some)
}

fn has_programs(link: &mut dyn Link) -> Result<bool, String> {
    let Some(programs) = &engine().flavour().catalogue.programs else { return Ok(true) };
    for question in programs.existing {
        if !link.query(question)?.is_empty() {
            return Ok(true);
        }
    }
    catalogue::views_say(engine().flavour(), link, programs.left_out.as_bytes())
}

/// Whether it has been for some time.
fn is_in_vain(engine: &Engine) -> bool {
    if let Some(wish) = wish() {
        return wish;
    }
    let counts = engine.counts();
    let total = While {
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
        let seen = *state.seen.get_or_insert(Seen { at: now, total });
        let elapsed = now - seen.at;
        if elapsed < WINDOW {
            return false;
        }
        state.seen = Some(Seen { at: now, total });
        let is_in_vain = since(seen.total, total, elapsed).is_in_vain();
        state.windows_in_vain = if is_in_vain { state.windows_in_vain + 1 } else { 0 };
        state.windows_in_vain >= IN_VAIN
    })
}

fn since(then: While, now: While, elapsed: Duration) -> While {
    While {
        // A FLUSH STATUS sets them back.
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

/// Looks every few seconds at what comes again.
fn is_worth_a_try(engine: &Engine) -> bool {
    if let Some(wish) = wish() {
        return !wish;
    }
    let repeats = engine.repeats();
    let now = Instant::now();
    let total = |statements| While { statements, cpu_ns: server::processor_ns(), ..While::default() };
    with_state(|state| {
        if state.looks_from.is_none_or(|from| now < from) {
            return false;
        }
        if !repeats.is_short_open() {
            repeats.open_short();
            state.looks_from = Some(now + LOOK);
            state.seen = Some(Seen { at: now, total: total(0) });
            return false;
        }
        let (short, long) = (repeats.close_short(), repeats.long());
        state.looks_from = Some(now + PAUSE);
        let Some(seen) = state.seen.take() else { return false };
        let lately = since(seen.total, total(short.requests), now - seen.at);
        let could_pay = short.requests >= FEW
            && [short, long].iter().any(|count| count.repeats >= FEW && lately.could_pay(count.ratio()));
        could_pay && state.wakes_from.is_none_or(|from| now >= from)
    })
}
