//! What is stored, on MariaDB.

mod traps;

#[path = "both/adaptation.rs"]
mod both;

use traps::start;
