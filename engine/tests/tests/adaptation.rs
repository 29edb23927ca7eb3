//! Which results are stored with `fqc_adaptation = ON`, on MariaDB.

mod traps;

#[path = "both/adaptation.rs"]
mod both;

use traps::start;
