//! The engine's reports while it only observes, on MariaDB.

mod traps;

#[path = "both/observation.rs"]
mod both;

use traps::start;
