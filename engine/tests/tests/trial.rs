//! A trial, on MariaDB.

mod traps;

#[path = "both/trial.rs"]
mod both;

use traps::start;

/// The engine takes over what is set for the server's own cache, whose size is not 0 by itself.
const NO_MEMORY: &[&str] = &["--query-cache-size=0"];
