//! The engine on a stock MySQL server.
//!
//! Only built with the feature `mysql`: `make test-engine-mysql` brings a server first, and says so loudly where it cannot.

#[path = "../both/adaptation.rs"]
mod adaptation;
mod attributes;
mod beside;
#[path = "../both/contained.rs"]
mod contained;
mod definitions;
mod deprecated;
mod dialect;
mod differential;
#[path = "../both/found_rows.rs"]
mod found_rows;
mod group;
mod histories;
#[path = "../both/identity.rs"]
mod identity;
mod itself;
mod kills;
mod loading;
#[path = "../both/new_tables.rs"]
mod new_tables;
#[path = "../both/observation.rs"]
mod observation;
mod other_lines;
#[path = "../both/prepared.rs"]
mod prepared;
mod replicas;
mod roles;
#[path = "../both/rows.rs"]
mod rows;
mod seams;
mod served;
mod sessions;
#[path = "../both/settings.rs"]
mod settings;
mod shared;
mod silence;
mod surface;
#[path = "../both/temporary.rs"]
mod temporary;
mod tls;
#[path = "../both/transactions.rs"]
mod transactions;
#[path = "../traps/mod.rs"]
mod traps;
#[path = "../both/trial.rs"]
mod trial;
#[path = "../both/unique_rows.rs"]
mod unique_rows;
#[path = "../both/waking.rs"]
mod waking;
mod writes;
mod x_protocol;

use shared::{enter, options, start};
use writes::with_table;

/// The engine's data about MySQL, for the tests that run on either product.
const FLAVOUR: &flavour::Flavour = &flavour::MYSQL;
/// Statements of MySQL that change a setting although their text does not show it.
const HIDDEN: &[&str] = &[
    "SELECT /*+ SET_VAR(sql_select_limit = 1) */ id FROM t",
    "SET SESSION sql_select_limit = (SELECT MIN(id) FROM t)",
    "PREPARE p FROM 'CALL zones()'; EXECUTE p",
];
/// The arguments for a server whose cache has no memory: none, since MySQL has no query cache of its own whose size the engine could take
/// over.
const NO_MEMORY: &[&str] = &[];
