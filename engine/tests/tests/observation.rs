//! What the engine tells while it is only observed, on MariaDB.

mod traps;

#[path = "both/observation.rs"]
mod both;

use traps::start;
