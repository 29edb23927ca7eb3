//! The brain of one connection: bytes in, decisions out. No sockets, no threads, no clock but the engine's.
//!
//! A host, such as the plugin inside a server, shows a `Session` every command before the server sees it, every byte of every
//! response before the client sees it, and the server's reports: tables locked, statements run, settings.
//! Invariants:
//! - a stored result is served only while every version recorded with it is unchanged;
//! - what is not understood is never stored, and closes everything that it could touch;
//! - tables that a statement may change are closed before it can change them, and opened (which advances their
//!   versions) only when it has ended, before the last byte of its response leaves.

mod commands;
mod decision;
mod engine;
mod entries;
mod identity;
mod nears;
mod packets;
mod reason;
mod report;
mod reports;
mod responses;
mod rows;
mod session;
#[cfg(test)]
mod stated;
mod statement;
mod surface;
mod tally;
mod text;
mod transaction;

pub use decision::{Decision, Outlet, Reply};
pub use engine::Engine;
pub use engine::catalogue::Catalogue;
pub use engine::counts::Counts;
pub use engine::departure::Departure;
pub use engine::durations::BOUNDS_US;
pub use engine::insight::Insight;
pub use engine::questions::{Question, Questions};
pub use engine::settings::{Beginnings, Settings};
pub use engine::tables::{Asked, Era, Table, Tables, Verdict};
pub use identity::account::Account;
pub use identity::habits::Habits;
pub use reason::{Own, Reason, Reasons};
pub use report::{Report, SessionState};
pub use reports::bystander::Bystander;
pub use reports::past::{Older, Past};
pub use reports::unheard::Unheard;
pub use session::Session;
pub use text::views::{Definition, ViewName, Views};
