//! All that is MariaDB's alone: what it declares and exports, what it reports, and how it is asked.

pub mod abi;
pub mod classes;
pub mod events;
pub mod local;
pub mod messages;
pub mod native;
pub mod processes;
pub mod product;
pub mod rules;
pub mod status;
pub mod symbols;
pub mod variables;
