//! Stored results: what is known of each, and whether it may still be served.

pub mod ages;
pub mod cells;
pub mod lasting;
pub mod layout;
