//! All that is MariaDB's alone: what it declares and exports, what it reports, and how it is asked.

pub mod abi;
pub mod events;
pub mod local;
pub mod log;
pub mod native;
pub mod rules;
pub mod status;
pub mod symbols;
pub mod variables;
