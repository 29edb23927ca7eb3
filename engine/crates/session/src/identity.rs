//! The session context: everything about a session that can change a result. Sessions with equal contexts share stored
//! results.

pub mod account;
pub mod contexts;
pub mod side_effects;
pub mod variables;
