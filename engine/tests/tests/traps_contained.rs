//! A panic inside the plugin, on MariaDB.

mod traps;

#[path = "both/contained.rs"]
mod both;

use traps::options;
