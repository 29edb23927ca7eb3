//! The interface between the shared parts of the plugin and the server, which is MariaDB or MySQL.

use flavour::Flavour;
use host::Link;
use session::{EarlierStatement, Engine, Settings};
use std::sync::OnceLock;

/// The severity of a line in the server's error log.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Note,
    Warning,
    Error,
}

/// Which events the server reports to its audit plugins, this one included.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reports {
    All,
    /// Only the start and end of connections, and no statements.
    Connections,
    Nothing,
}

/// The parts of the plugin that depend on the product of the server that it is loaded into. MariaDB and MySQL implement
/// them differently.
pub trait Server: Sync {
    /// Prepares the parts that only this product has. Called at load, before anything else in the server is changed; `end` undoes it. The
    /// error says why the load fails, and leaves the server unchanged.
    fn begin(&self) -> Result<(), String>;
    /// Called when the load cannot fail any more, to install what the engine can do without. `end` undoes it.
    fn loaded(&self);
    /// Undoes `begin` and `loaded`: restores what they have changed in the server.
    fn end(&self);

    /// Returns the server's version string; empty if it is not known.
    fn version(&self) -> String;
    /// Returns the flavour for the server's version.
    fn flavour(&self) -> &'static Flavour;
    /// True once the server accepts connections, so that its catalogue may be queried.
    fn has_started(&self) -> bool;
    /// True if the server accepts no more connections and is about to free what statements need.
    fn is_ending(&self) -> bool;
    /// True if connections may move between threads, and the server polls the socket itself.
    fn has_thread_pool(&self) -> bool;
    /// Returns the server's thread id of the session on this thread, 0 if there is none. None on a product in which only a session's own
    /// thread closes its connection.
    fn session_here(&self) -> Option<u64>;
    /// Returns why nothing may be served on this server at all, such as writes from elsewhere that are not reported. None if there is no
    /// such obstacle. Called for every response, so it must be fast.
    fn obstacle(&self) -> Option<&'static str>;

    /// Writes a line to the server's error log, after the prefix `FQC: `.
    fn print(&self, level: Level, text: &str);
    /// Raises a warning or an error for the statement on this thread. `number` is one of the server's own error numbers.
    fn raise(&self, number: u32, is_warning: bool, text: &str);

    /// Initialises a thread of the plugin for calls into the server. `leave_thread`, on the same thread, undoes it.
    fn enter_thread(&self);
    fn leave_thread(&self);
    /// Returns a connection to query the server, which opens with its first query. For the worker's thread only. Drop it soon, because an
    /// open one may keep the server from ending the plugin.
    fn link(&self) -> Box<dyn Link>;
    /// Called when the plugin ends: queries of `link`, also a running one, then return an error instead of their results, until the next
    /// load.
    fn unlink(&self);

    /// Copies the values of the plugin's system variables to the engine's settings. Queries nothing.
    fn publish_settings(&self, settings: &Settings);
    /// Takes over settings that were made in other ways, such as those of the server's own query cache, if they may have changed. Returns
    /// true if it has read them. After an error, call `doubt_settings`.
    fn adopt_settings(&self, engine: &Engine, link: &mut dyn Link) -> Result<bool, String>;
    /// Makes the next `adopt_settings` read the settings again, for instance because a query has failed.
    fn doubt_settings(&self);
    /// Looks for obstacles to serving after plugins were installed or removed, which `obstacle` then returns. An error is that of a failed
    /// query.
    fn examine(&self, link: &mut dyn Link) -> Result<(), String>;

    /// Returns a warning about an outside danger that administrators should know of, and what to do about it. None if there is no danger.
    /// An error is that of a failed query.
    fn danger(&self, link: &mut dyn Link) -> Result<Option<String>, String>;

    /// True if the server reports statements to no plugin at all.
    fn reports_no_statements(&self) -> bool;
    /// Sets which of the events that this plugin needs the server generates, for all audit plugins. Does nothing on a server that does not
    /// allow it.
    fn set_reports(&self, reports: Reports);
    /// Makes every session acquire its list of audit plugins again, at its next command. Sessions thus release a plugin that was removed.
    fn renew_plugins(&self);

    /// Returns the statements that are running, and instead of statements the open transactions of threads that show none, such as
    /// replication appliers. An error is that of a failed query.
    fn running(&self, link: &mut dyn Link) -> Result<Vec<EarlierStatement>, String>;
    /// Returns threads that keep the list of plugins that they started with for as long as they live, so that they may never report to this
    /// plugin. An error is that of a failed query.
    fn lasting_threads(&self, link: &mut dyn Link) -> Result<Vec<EarlierStatement>, String>;
}

/// Returns the processor time used by this process so far, in nanoseconds.
pub fn processor_ns() -> u64 {
    // SAFETY: an all-zero `rusage` is valid, and the system fills it.
    let usage = unsafe {
        let mut usage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    ns(usage.ru_utime) + ns(usage.ru_stime)
}

static SERVER: OnceLock<&'static dyn Server> = OnceLock::new();

/// Sets the server. Call first at load. Only the first call in a process has an effect.
pub fn set(server: &'static dyn Server) {
    let _ = SERVER.set(server);
}

/// Returns the server; none before a load has found in it what the plugin needs.
pub fn find() -> Option<&'static dyn Server> {
    SERVER.get().copied()
}

/// Returns the server. Panics if `set` was never called, so call only while or after the plugin is loaded.
pub fn get() -> &'static dyn Server {
    find().expect("the plugin has been loaded")
}
