//! The state of a session's transaction, and the cells that it keeps closed.

pub mod admission;
pub mod ending;
pub mod state;
pub mod writes;
