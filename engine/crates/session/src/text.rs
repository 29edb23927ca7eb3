//! What follows from a statement's text alone, whichever session sends it.

pub mod kinds;
pub mod reading;
pub mod readings;
pub mod recent;
pub mod views;
