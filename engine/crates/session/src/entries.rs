//! Stored results: what is recorded with each of them, and whether it may still be served.

pub mod ages;
pub mod basis;
pub mod cells;
pub mod layout;
