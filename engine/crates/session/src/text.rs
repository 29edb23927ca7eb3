//! What a statement's text tells, before anything is known of who sends it.

pub mod kinds;
pub mod reading;
pub mod readings;
pub mod recent;
pub mod views;
