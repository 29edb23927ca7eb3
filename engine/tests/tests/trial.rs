//! `fqc_trial`, with which a session tries the cache out, on MariaDB.

mod traps;

#[path = "both/trial.rs"]
mod both;

use traps::start;

/// The arguments for a server whose cache has no memory. The engine takes over the settings of the server's own cache, whose default size
/// is not 0.
const NO_MEMORY: &[&str] = &["--query-cache-size=0"];
