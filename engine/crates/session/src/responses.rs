//! Handles the server's response to a command: it updates the session and decides whether the result is stored.

pub mod arrival;
pub mod ending;
pub mod keeping;
pub mod late;
pub mod near_reports;
pub mod storing;
