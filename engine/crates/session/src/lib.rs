//! The state machine of one client connection. It takes packets and reports, and returns decisions. It has no sockets and no
//! threads, and no clock but the engine's.
//!
//! A host, such as the plugin inside a server, passes a `Session` every command before the server sees it, every byte of
//! every response before the client sees it, and the server's reports: locked tables, executed statements, settings.
//!
//! Two terms are used throughout (see `cache::Versions`). A *cell* holds the version of something that can change, such as a
//! table. A writer *closes* the cell before it can change anything and *opens* it after the change is visible; opening
//! advances the version. A *stamp* is a point in the sequence of all changes: a result with a stamp is current while its
//! cells are open and unchanged since then.
//!
//! Invariants:
//! - a stored result is served only while every cell recorded with it is open and unchanged, unless a rule allows serving it
//!   stale;
//! - what is not understood is never stored, and closes the cells of everything that it could change;
//! - the cells of tables that a statement may change are closed before it can change them. They are opened only when the
//!   statement has ended, before the last byte of its response is sent.
//!
//! The words of comments are explained in `docs/concepts/words.md`.

mod commands;
mod decision;
mod engine;
mod entries;
mod flushable_counter;
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
mod text;
mod transaction;

pub use decision::{ClientOutput, Decision, Reply};
pub use engine::Engine;
pub use engine::catalogue::Catalogue;
pub use engine::counts::Counts;
pub use engine::durations::BOUNDS_US;
pub use engine::insight::Insight;
pub use engine::look_ups::{CatalogueLookUp, CatalogueLookUps};
pub use engine::settings::{InitialState, Settings};
pub use engine::tables::{Era, LookUpRequest, Table, Tables, Verdict};
pub use engine::uninstallation::Uninstallation;
pub use identity::account::Account;
pub use identity::side_effects::SideEffects;
pub use reason::{ContextReason, Reason, Reasons};
pub use report::{Report, SessionState};
pub use reports::earlier_statements::{EarlierStatement, EarlierStatements};
pub use reports::unfollowed_thread::UnfollowedThread;
pub use reports::unreported_connection::UnreportedConnection;
pub use session::Session;
pub use text::views::{Definition, ViewName, Views};
