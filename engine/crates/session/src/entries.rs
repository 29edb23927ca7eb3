//! What is known of a stored result, and whether it may still be told.

pub mod ages;
pub mod cells;
pub mod lasting;
pub mod layout;
