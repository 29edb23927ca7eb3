//! Where a session stands in its transaction, and what it holds closed.

pub mod admission;
pub mod ending;
pub mod state;
pub mod writes;
