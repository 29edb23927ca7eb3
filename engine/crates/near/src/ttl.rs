//! Serving by rules, where the server lends no right to: a result may be outdated, by no more than the rule that fits its read allows.
//!
//! Invariants:
//! - a result is served for less time than its rule says, counted from before the server was asked for it;
//! - who gets it has the account, the database and the settings of whoever it was read for. The server tells them, in answer to a
//!   question that goes ahead of the read whose answer is kept; where they are not known, reads pass;
//! - a connection is served nothing that was read before its own last write was answered.
//!
//! Deliberately absent: any knowledge of what others write.

mod bound;
mod by_log;
mod by_rules;
mod effect;
mod flights;
mod identified;
mod prepared;
pub mod question;
pub mod rules;
pub mod shelf;
mod state;

pub use by_log::ByLog;
pub use by_rules::ByRules;
pub use flights::Flights;
pub use identified::Identified;
pub use question::Known;
pub use shelf::{Found, tidy};
