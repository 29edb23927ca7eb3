//! The interface between the shared parts of the plugin and the server, which is MariaDB or MySQL.

use flavour::Flavour;
use host::Link;
use session::{Engine, Older, Settings};
use std::sync::OnceLock;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Note,
    Warning,
    Error,
}

/// Which events the server reports to the plugin.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reports {
    All,
    /// Only the start and end of connections.
    Connections,
    Nothing,
}

pub trait Server: Sync {
    /// Prepares the product-specific parts. Called at load, before anything else in the server is changed; `end` undoes it.
    fn begin(&self) -> Result<(), String>;
    /// Called when the load cannot fail any more.
    fn loaded(&self);
    fn end(&self);

    fn version(&self) -> String;
    fn flavour(&self) -> &'static Flavour;
    /// True once the server accepts connections, so that its catalogue may be queried.
    fn has_started(&self) -> bool;
    /// True if the server accepts no more connections and is about to free what statements need.
    fn is_ending(&self) -> bool;
    /// True if connections may move between threads, and the server polls the socket itself.
    fn has_thread_pool(&self) -> bool;
    /// Returns the thread id of the session on this thread, 0 if there is none. None if only a session's own thread closes its connection.
    fn session_here(&self) -> Option<u64>;
    /// Returns why nothing may be served on this server at all, such as writes from elsewhere that are not reported.
    fn obstacle(&self) -> Option<&'static str>;

    /// Writes a line to the server's error log.
    fn print(&self, level: Level, text: &str);
    /// Raises a warning or an error for the statement on this thread, with one of the server's own error numbers.
    fn raise(&self, number: u32, is_warning: bool, text: &str);

    /// Initialises a thread of the plugin for calls into the server. `leave_thread` undoes it.
    fn enter_thread(&self);
    fn leave_thread(&self);
    /// Returns a connection to query the server. Drop it soon.
    fn link(&self) -> Box<dyn Link>;
    /// Called when the plugin ends: running queries then return an error instead of their results.
    fn unlink(&self);

    /// Copies the values of the plugin's system variables to the engine's settings.
    fn publish_settings(&self, settings: &Settings);
    /// Takes over settings that were made in other ways, if they may have changed. Returns true if it has read them.
    fn adopt_settings(&self, engine: &Engine, link: &mut dyn Link) -> Result<bool, String>;
    /// Makes the next `adopt_settings` read the settings again, because a round has failed.
    fn doubt_settings(&self);
    /// Looks for obstacles after plugins were installed or removed.
    fn examine(&self, link: &mut dyn Link) -> Result<(), String>;

    /// Returns a warning about an outside danger that administrators should know of, and what to do about it.
    fn danger(&self, link: &mut dyn Link) -> Result<Option<String>, String>;

    /// True if the server reports statements to no plugin.
    fn is_deaf(&self) -> bool;
    fn set_reports(&self, reports: Reports);
    /// Makes every session acquire its list of audit plugins again, at its next command.
    fn renew_plugins(&self);

    /// Returns the statements that are running, and the transactions of threads that show no statements.
    fn running(&self, link: &mut dyn Link) -> Result<Vec<Older>, String>;
    /// Returns threads that keep the list of plugins that they started with for as long as they live.
    fn lasting_threads(&self, link: &mut dyn Link) -> Result<Vec<Older>, String>;
}

/// The processor time used by this process so far, in nanoseconds.
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

/// Sets the server. Call first at load.
pub fn set(server: &'static dyn Server) {
    let _ = SERVER.set(server);
}

pub fn find() -> Option<&'static dyn Server> {
    SERVER.get().copied()
}

/// Returns the server. Call only after a successful load.
pub fn get() -> &'static dyn Server {
    find().expect("the plugin has been loaded")
}
