//! What the shared parts of the plugin need of the server, whichever product it is.

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

/// What the server reports to the plugin.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reports {
    All,
    /// That connections begin and end.
    Connections,
    Nothing,
}

pub trait Server: Sync {
    /// What it needs at the load, before anything else is changed in it, and at the end.
    fn begin(&self) -> Result<(), String>;
    /// Once the load can fail no more.
    fn loaded(&self);
    fn end(&self);

    fn version(&self) -> String;
    fn flavour(&self) -> &'static Flavour;
    /// It takes connections: its catalogue may be asked.
    fn has_started(&self) -> bool;
    /// It takes no more connections, and is about to clean up what statements need.
    fn is_ending(&self) -> bool;
    /// Connections may move between threads, and the server waits on the socket itself.
    fn has_thread_pool(&self) -> bool;
    /// The session that runs on this thread, 0 if none does. None where a session's own thread alone closes its connection.
    fn session_here(&self) -> Option<u64>;
    /// Why nothing may be served here at all, such as others that write without a word.
    fn obstacle(&self) -> Option<&'static str>;

    /// A line in its error log.
    fn print(&self, level: Level, text: &str);
    /// A warning or error of the statement that runs on this thread, with a number of the server's own.
    fn raise(&self, number: u32, is_warning: bool, text: &str);

    /// What it needs of a thread of ours that asks it, before and after.
    fn enter_thread(&self);
    fn leave_thread(&self);
    /// A connection to ask by. To be dropped soon.
    fn link(&self) -> Box<dyn Link>;
    /// No answer is of any use any more.
    fn unlink(&self);

    /// What its users have set of the cache.
    fn publish_settings(&self, settings: &Settings);
    /// Takes over what was set in other ways, if that may have changed. True if it has looked.
    fn adopt_settings(&self, engine: &Engine, link: &mut dyn Link) -> Result<bool, String>;
    /// The last look was in vain.
    fn doubt_settings(&self);
    /// Plugins have come or gone: looks for obstacles.
    fn examine(&self, link: &mut dyn Link) -> Result<(), String>;

    /// A danger from outside that its users should know of, and what to do about it.
    fn danger(&self, link: &mut dyn Link) -> Result<Option<String>, String>;

    /// Statements are not reported, to nobody.
    fn is_deaf(&self) -> bool;
    fn set_reports(&self, reports: Reports);
    /// Makes every session look for the plugins that it reports to anew, at its next command.
    fn renew_plugins(&self);

    /// The statements that run now, and the transactions of threads that show no statements.
    fn running(&self, link: &mut dyn Link) -> Result<Vec<Older>, String>;
    /// Threads that go on with the plugins that they knew, for as long as they live.
    fn lasting_threads(&self, link: &mut dyn Link) -> Result<Vec<Older>, String>;
}

/// Processor time of this process so far.
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

/// To be called first, at the load.
pub fn set(server: &'static dyn Server) {
    let _ = SERVER.set(server);
}

pub fn find() -> Option<&'static dyn Server> {
    SERVER.get().copied()
}

/// Only code that runs after a successful load may ask.
pub fn get() -> &'static dyn Server {
    find().expect("the plugin has been loaded")
}
