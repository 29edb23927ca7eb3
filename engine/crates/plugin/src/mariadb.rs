//! Everything specific to MariaDB: what the plugin declares to the server, what the server exports and reports, and how it is queried.

pub mod abi;
pub mod applier;
pub mod appliers;
pub mod classes;
pub mod code;
pub mod events;
pub mod local;
pub mod messages;
pub mod native;
pub mod neighbours;
pub mod processes;
pub mod product;
pub mod rows;
pub mod snapshots;
pub mod status;
pub mod symbols;
pub mod vtables;
