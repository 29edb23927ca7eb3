//! Decides whether anything may be served at all. Nothing is, until everything that serving depends on has been observed.

use host::Link;
use std::sync::atomic::{AtomicU32, Ordering};

/// The reasons against serving, one bit each. The first two hold from the start, until an examination of the server (`Server::examine`)
/// clears them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// The self-test has not observed a write at every seam of this server, that is, in each table of functions that the plugin has
    /// changed.
    Untested = 1 << 0,
    /// The plugin `fqc_events`, which receives statements and connections, is not installed, or is being removed.
    NoEvents = 1 << 1,
    /// A storage engine is loaded whose locks are not reported.
    Engine = 1 << 2,
    /// Group Replication is installed, and the server is not known to be a member whose reads the group does not hold back.
    Group = 1 << 3,
    /// A thread pool is loaded, whose connections cannot be followed.
    Pool = 1 << 4,
    /// The Rewriter plugin is installed, which replaces statements before they run, by rules that may change.
    Rewriter = 1 << 5,
}

static OBSTACLES: AtomicU32 = AtomicU32::new(Obstacle::Untested as u32 | Obstacle::NoEvents as u32);

/// Sets or clears a reason against serving. It takes effect with the next `settings::note_obstacle`, which runs before every response.
pub fn set(obstacle: Obstacle, is_there: bool) {
    match is_there {
        true => OBSTACLES.fetch_or(obstacle as u32, Ordering::Release),
        false => OBSTACLES.fetch_and(!(obstacle as u32), Ordering::Release),
    };
}

/// True if this reason against serving holds.
pub fn is_set(obstacle: Obstacle) -> bool {
    OBSTACLES.load(Ordering::Acquire) & obstacle as u32 != 0
}

/// Returns why nothing may be served, one reason if several hold. None if there is no obstacle.
#[inline]
pub fn obstacle() -> Option<&'static str> {
    let all = OBSTACLES.load(Ordering::Acquire);
    if all == 0 { None } else { words(all) }
}

/// True if a plugin of this name is installed, whether it is active or not.
pub fn is_installed(link: &mut dyn Link, name: &str) -> Result<bool, String> {
    let found = link.query(&format!(
        "SELECT 1 FROM information_schema.PLUGINS WHERE PLUGIN_NAME = '{name}' AND PLUGIN_STATUS <> 'DISABLED'"
    ))?;
    Ok(!found.is_empty())
}

#[cold]
fn words(all: u32) -> Option<&'static str> {
    const WORDS: [(Obstacle, &str); 6] = [
        (Obstacle::NoEvents, "the plugin fqc_events is not active: INSTALL PLUGIN fqc_events SONAME 'fqc.so'"),
        (Obstacle::Pool, "a thread pool is loaded, and connections of one cannot be followed"),
        (Obstacle::Engine, "a storage engine is loaded whose writes the plugin is not told of"),
        (
            Obstacle::Group,
            "this member of a replication group is not ONLINE among a majority, or its state is being read",
        ),
        (Obstacle::Rewriter, "the plugin Rewriter is installed, by whose rules one text may run as another"),
        (Obstacle::Untested, "the self-test of this server has not passed yet; the error log says more"),
    ];
    WORDS.iter().find(|(obstacle, _)| all & *obstacle as u32 != 0).map(|(_, words)| *words)
}
