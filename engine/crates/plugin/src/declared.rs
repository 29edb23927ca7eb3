//! The system and status variables that the plugin declares, for MariaDB and MySQL alike.

pub mod abi;
pub mod checks;
pub mod rules;
pub mod status_variables;
pub mod variables;
