//! What follows from a statement's text alone, whichever session sends it.

pub mod analysis;
pub mod kinds;
pub mod recent_analyses;
pub mod shared_analyses;
pub mod views;
