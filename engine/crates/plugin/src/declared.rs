//! What the plugin declares to a server of either product: its system and status variables.

pub mod abi;
pub mod checks;
pub mod rules;
pub mod status_variables;
pub mod variables;
