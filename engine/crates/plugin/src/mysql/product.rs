//! Implements `Server` for MySQL.

use crate::admission;
use crate::declared::variables;
use crate::engine::engine;
use crate::exports;
use crate::log;
use crate::mysql::abi::CLASSES;
use crate::mysql::local::{self, Local};
use crate::mysql::obstacles::{self, Obstacle};
use crate::mysql::symbols::{self, Symbols};
use crate::mysql::{commits, definitions, events, group, handlers, processes, proofs, second_phases, selftest};
use crate::server::{Level, Reports, Server};
use crate::settings;
use flavour::Flavour;
use host::{Link, Row, number};
use locks::Mutex;
use session::{EarlierStatement, Engine, Settings};
use std::cell::Cell;
use std::ffi::{CString, c_int, c_void};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Checks that the plugin may be loaded into this server and finds every symbol that it needs. The error says why not, or names the first
/// symbol that this server build does not export. `plugin` is the server's handle of the plugin `fqc`.
pub fn find(plugin: *mut c_void) -> Result<&'static dyn Server, String> {
    admission::check()?;
    local::keep(plugin);
    symbols::find().map(|symbols| symbols as &dyn Server)
}

/// True if the server's settings must be read in the worker's next round.
static IS_DUE: AtomicBool = AtomicBool::new(true);
/// True once the plugin has switched off the server's statement events in this process.
static HAS_BEEN_DEAF: AtomicBool = AtomicBool::new(false);
/// The pause between two looks for obstacles to serving, while there are some, or while the server may be a member of a group.
const PAUSE: Duration = Duration::from_secs(1);

thread_local! {
    /// When the worker last looked for obstacles; none if it has not looked yet.
    static LOOKED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// The last failure of the self-test that was logged. The same one is not logged again.
static TOLD: Mutex<String> = Mutex::new(String::new());

/// Returns a text for the server, which ends with a NUL; others in it become spaces.
fn text(words: &str) -> CString {
    CString::new(words.replace('\0', " ")).unwrap_or_default()
}

impl Server for Symbols {
    fn begin(&self) -> Result<(), String> {
        local::link();
        variables::listen(settings::changed, events::type_changed);
        obstacles::set(Obstacle::Untested, true);
        IS_DUE.store(true, Ordering::Release);
        const SEAMS: [fn() -> Result<(), String>; 4] =
            [handlers::install, commits::install, second_phases::install, definitions::install];
        SEAMS.iter().try_for_each(|install| install()).inspect_err(|_| self.end())
    }

    fn loaded(&self) {}

    fn end(&self) {
        let outcomes =
            [group::unfollow(), definitions::remove(), second_phases::remove(), commits::remove(), handlers::remove()];
        for outcome in outcomes {
            if let Err(error) = outcome {
                log::warning(&error);
            }
        }
    }

    fn version(&self) -> String {
        exports::server_version().unwrap_or_default()
    }

    fn flavour(&self) -> &'static Flavour {
        flavour::of(&Server::version(self))
    }

    fn has_started(&self) -> bool {
        Symbols::has_started(self)
    }

    fn is_ending(&self) -> bool {
        Symbols::is_ending(self)
    }

    fn has_thread_pool(&self) -> bool {
        Symbols::has_thread_pool(self)
    }

    fn session_here(&self) -> Option<u64> {
        Some(self.session_of_thread())
    }

    fn obstacle(&self) -> Option<&'static str> {
        obstacles::obstacle()
    }

    fn print(&self, level: Level, words: &str) {
        let level: c_int = match level {
            Level::Error => 0,
            Level::Warning => 1,
            Level::Note => 2,
        };
        Symbols::print(self, local::plugin(), level, &text(words));
    }

    fn raise(&self, number: u32, is_warning: bool, words: &str) {
        Symbols::raise(self, number, is_warning, &text(words));
    }

    fn enter_thread(&self) {
        local::enter_thread();
    }

    fn leave_thread(&self) {
        local::leave_thread();
    }

    fn link(&self) -> Box<dyn Link> {
        Box::new(Local::default())
    }

    fn unlink(&self) {
        local::unlink();
    }

    fn publish_settings(&self, settings: &Settings) {
        variables::publish(settings);
    }

    fn adopt_settings(&self, engine: &Engine, link: &mut dyn Link) -> Result<bool, String> {
        let is_due = IS_DUE.swap(false, Ordering::AcqRel);
        // An obstacle may disappear without a report, and so does the state of a member of a group.
        let is_late = || {
            (obstacles::obstacle().is_some() || group::is_installed())
                && LOOKED.get().is_none_or(|at| at.elapsed() >= PAUSE)
        };
        if !is_due && !is_late() {
            return Ok(false);
        }
        LOOKED.set(Some(Instant::now()));
        let rows = link.query("SELECT @@GLOBAL.lower_case_table_names")?;
        let lower_case = rows.first().and_then(|row| row.first()).ok_or("the server did not tell its settings")?;
        engine.settings().set_has_case_sensitive_names(number(lower_case) == 0);
        self.examine(link)?;
        Ok(true)
    }

    fn doubt_settings(&self) {
        IS_DUE.store(true, Ordering::Release);
    }

    fn examine(&self, link: &mut dyn Link) -> Result<(), String> {
        let events =
            link.query("SELECT PLUGIN_STATUS FROM information_schema.PLUGINS WHERE PLUGIN_NAME = 'fqc_events'")?;
        obstacles::set(Obstacle::NoEvents, !first_column(&events).any(|status| status == b"ACTIVE"));
        let engines =
            link.query("SELECT ENGINE FROM information_schema.ENGINES WHERE SUPPORT IN ('YES', 'DEFAULT')")?;
        obstacles::set(Obstacle::Engine, !first_column(&engines).all(handlers::knows_engine));
        obstacles::set(Obstacle::Rewriter, obstacles::is_installed(link, "rewriter")?);
        let may_serve = group::may_serve(link);
        engine().keep_nears_out(group::is_installed());
        obstacles::set(Obstacle::Group, may_serve != Ok(true));
        may_serve?;
        obstacles::set(Obstacle::Pool, self.has_thread_pool());
        if selftest::is_needed() {
            match test(link) {
                Ok(()) => {
                    obstacles::set(Obstacle::Untested, false);
                    log::note("the self-test has passed: this server tells of every write");
                }
                Err(error) => tell(&error),
            }
        }
        settings::note_obstacle();
        Ok(())
    }

    fn danger(&self, _: &mut dyn Link) -> Result<Option<String>, String> {
        Ok(None)
    }

    fn reports_no_statements(&self) -> bool {
        let is_silent = |mask: &[AtomicU64; CLASSES]| {
            events::STATEMENTS.iter().all(|(class, kinds)| mask[*class].load(Ordering::Relaxed) & kinds == 0)
        };
        self.reported().is_some_and(is_silent)
    }

    fn set_reports(&self, reports: Reports) {
        let Some(mask) = self.reported() else { return };
        // Relaxed: a statement that starts before its thread sees the change is waited for, or no longer matters.
        for (class, kinds) in events::STATEMENTS {
            match reports {
                // Until the plugin has switched them off, the server itself sets the events to report.
                Reports::All if HAS_BEEN_DEAF.load(Ordering::Relaxed) => {
                    mask[class].fetch_or(kinds, Ordering::Relaxed);
                }
                Reports::Connections => {
                    HAS_BEEN_DEAF.store(true, Ordering::Relaxed);
                    mask[class].fetch_and(!kinds, Ordering::Relaxed);
                }
                // Sessions hold a reference to the events plugin, which may stay.
                Reports::All | Reports::Nothing => {}
            }
        }
    }

    fn renew_plugins(&self) {}

    fn running(&self, link: &mut dyn Link) -> Result<Vec<EarlierStatement>, String> {
        processes::running(link)
    }

    /// Returns an empty list: on MySQL every thread, old or new, reports tables and commits from the moment the plugin is loaded.
    fn lasting_threads(&self, _: &mut dyn Link) -> Result<Vec<EarlierStatement>, String> {
        Ok(Vec::new())
    }
}

/// Returns the first value of each row. Rows in which it is NULL are left out.
fn first_column(rows: &[Row]) -> impl Iterator<Item = &[u8]> {
    rows.iter().filter_map(|row| row.first()?.as_deref())
}

/// Runs the self-test, then closes handlers that were opened before the load, so that their tables are known from here on. An error says
/// why the self-test failed; that handlers could not be closed is only logged. On a server that may not be written to, an earlier
/// self-test of the same server program counts.
fn test(link: &mut dyn Link) -> Result<(), String> {
    if proofs::may_not_write(link)? {
        return proofs::check(link);
    }
    selftest::run(link)?;
    proofs::keep(link);
    if let Err(error) = link.query("FLUSH LOCAL TABLES") {
        log::warning(&format!("tables that were open before are not cached until they are opened again: {error}"));
    }
    Ok(())
}

/// Logs a failure of the self-test, unless it was the last one logged.
fn tell(error: &str) {
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if *told != error {
        log::error(&format!("nothing will be served, because the self-test failed: {error}"));
        error.clone_into(&mut told);
    }
}
