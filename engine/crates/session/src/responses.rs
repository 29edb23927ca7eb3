//! What the server's response to a command means for its session, and whether its result is stored.

pub mod arrival;
pub mod ending;
pub mod keeping;
pub mod late;
pub mod storing;
pub mod telling;
