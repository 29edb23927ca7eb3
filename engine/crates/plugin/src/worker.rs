//! The plugin's own thread: it applies settings, queries the server's catalogue, and updates the counters.
//!
//! A slow or failing round does no harm: results are stored only while the published facts are current.

use crate::connections;
use crate::containment::contain;
use crate::declared::status_variables;
use crate::engine::engine;
use crate::faults::Point;
use crate::following::{light_mode, waking};
use crate::log;
use crate::numbers;
use crate::server;
use crate::settings;
use crate::signal;
use crate::worker_permission::{self, StatementPermission};
use host::{Link, catalogue};
use locks::Mutex;
use session::Engine;
use std::sync::PoisonError;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How many segments of the cache's memory are searched in each round for results that can no longer be served.
const SWEEP_SEGMENTS: usize = 8;

static THREAD: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

/// Starts the worker's thread. If that fails, an error is logged, and nothing is cached.
pub fn start() {
    signal::begin();
    worker_permission::begin();
    let spawned = std::thread::Builder::new().name("fqc-worker".into()).spawn(run);
    match spawned {
        Ok(thread) => *THREAD.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread),
        Err(error) => {
            log::error(&format!("the worker thread could not be started, so nothing will be cached: {error}"))
        }
    }
}

/// Stops the worker, and waits until it has ended. The server calls this on the thread of the plugin's last user. That may be the worker
/// itself, in one of its own statements: it cannot wait for itself, and ends when that statement is over.
pub fn stop() {
    server::get().unlink();
    signal::stop();
    if !signal::is_worker_thread() {
        await_end();
    }
}

/// Waits until the worker's thread has ended, if there is one.
pub fn await_end() {
    if let Some(thread) = THREAD.lock().unwrap_or_else(PoisonError::into_inner).take() {
        let _ = thread.join();
    }
}

fn run() {
    signal::claim_thread();
    server::get().enter_thread();
    let mut worker = Worker::new();
    while signal::pause() {
        contain(Point::Worker, (), || worker.round());
    }
    server::get().leave_thread();
}

/// The worker's memory from one round to the next.
struct Worker {
    /// The time when the worker started, which is that of the plugin's load.
    started: Instant,
    /// True once the server's settings were read. Until then, the plugin's variables are not applied.
    knows_settings: bool,
    /// The obstacle to serving that was last published. The outer value is none until the first round.
    published: Option<Option<&'static str>>,
    /// The obstacle that was last logged; none if its end was logged, too.
    logged: Option<&'static str>,
    /// Number of rounds in a row in which a query failed.
    failures: u32,
    has_told_danger: bool,
}

/// Failed rounds between two log lines. While the plugin is being installed its variables are unknown, and a catalogue may be locked
/// for a moment.
const QUIET_FAILURES: u32 = 50;

/// The time after the load in which no obstacle is logged. The plugins of a library are installed one after the other, and nothing is
/// served until all of them are there.
const INSTALLATION: Duration = Duration::from_secs(5);

/// The obstacle to serving that is shown after an UNINSTALL that found the plugin in use.
const LEAVING: &str = "the plugin was uninstalled while connections use it, and goes when the last of them runs another statement or \
     ends, or the server restarts; only then an INSTALL has an effect";

impl Worker {
    fn new() -> Worker {
        Worker {
            started: Instant::now(),
            knows_settings: false,
            published: None,
            logged: None,
            failures: 0,
            has_told_danger: false,
        }
    }

    /// Runs one round: applies settings, updates the counters, and queries the server if that is allowed. A failed query is tried again in
    /// the next round.
    fn round(&mut self) {
        let engine = engine();
        if self.knows_settings {
            settings::apply(engine);
        }
        self.tell_obstacle(engine);
        waking::update_without_queries(engine);
        light_mode::update_without_queries(engine);
        engine.sweep(SWEEP_SEGMENTS);
        engine.tick();
        tell_differences(engine);
        engine.take_begun_pauses().iter().for_each(|words| log::warning(words));
        numbers::refresh(engine);
        if waking::is_leaving() {
            return;
        }
        let Some(_turn) = StatementPermission::take() else { return };
        let consulted = self.consult(engine);
        tell_overtaken(engine);
        let Err(error) = consulted else {
            self.failures = 0;
            return connections::ready();
        };
        server::get().doubt_settings();
        self.failures += 1;
        if self.failures.is_multiple_of(QUIET_FAILURES) {
            log::warning(&format!("the catalogue could not be read and will be tried again: {error}"));
        }
    }

    /// Publishes and logs the obstacle to serving, if it has changed since the last round.
    fn tell_obstacle(&mut self, engine: &Engine) {
        settings::note_obstacle();
        let obstacle = waking::is_leaving().then_some(LEAVING).or_else(|| server::get().obstacle());
        if self.published != Some(obstacle) {
            engine.settings().set_obstacle(obstacle);
            status_variables::show_obstacle(obstacle);
            self.published = Some(obstacle);
        }
        if self.logged != obstacle && self.started.elapsed() >= INSTALLATION {
            // The end of an obstacle has the level of its beginning, so that a log that shows one shows both.
            log::warning(&match obstacle {
                Some(words) => format!("{words}: nothing is cached as long as that is so"),
                None => "nothing is in the way of the cache any more".to_owned(),
            });
            self.logged = obstacle;
        }
    }

    /// The part of a round that queries the server. An error is that of the first query that failed; the rest is left to the next round.
    fn consult(&mut self, engine: &Engine) -> Result<(), String> {
        let server = server::get();
        let link = &mut *server.link();
        waking::settle_doubt(engine, link, self.failures > 0)?;
        if waking::is_leaving() {
            return Ok(());
        }
        if server.adopt_settings(engine, link)? {
            self.knows_settings = true;
            connections::admit();
            settings::apply(engine);
        }
        catalogue::look_up_wanted(engine, link)?;
        waking::update_by_queries(engine, link, light_mode::judge)?;
        light_mode::update_by_queries(engine, link)?;
        catalogue::look_up_requested(engine, link)?;
        self.tell_danger(engine, link)
    }

    /// Logs a danger from outside (`Server::danger`) once in the worker's life, and not while sessions wait for the engine to settle. An
    /// error is that of a failed query; the danger is not looked for again then.
    fn tell_danger(&mut self, engine: &Engine, link: &mut dyn Link) -> Result<(), String> {
        let is_busy = engine.mode().is_awake() && !waking::is_settled();
        if !is_busy && !std::mem::replace(&mut self.has_told_danger, true) {
            server::get().danger(link)?.iter().for_each(|words| log::warning(words));
        }
        Ok(())
    }
}

fn tell_overtaken(engine: &Engine) {
    if engine.look_ups().was_overtaken() {
        log::warning(
            "a FLUSH went on while a question of the engine about a table was still running: the table's definition may have been read again after it",
        );
    }
}

fn tell_differences(engine: &Engine) {
    for statement in engine.insight().take_differences() {
        log::error(&format!("a stored result was not what the server answers, and was dropped: {statement}"));
    }
}
