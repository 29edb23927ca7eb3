//! The brain of one connection: bytes in, decisions out. No sockets, no threads, no clock but the engine's.
//!
//! A host (the plugin inside a server) shows a `Session` every command before the server sees it, every byte of every
//! response before the client sees it, and the facts that the server tells: tables locked, statements run, settings.
//! Invariants:
//! - a stored result is served only while every version recorded with it is unchanged;
//! - what is not understood is never stored, and closes everything that it could touch;
//! - tables that a statement may change are closed before it can change them, and opened (which advances their
//!   versions) only when it has ended, before the last byte of its response leaves.

mod commands;
mod engine;
mod entries;
mod identity;
mod reason;
mod reports;
mod responses;
mod session;
mod statement;
mod surface;
mod text;
mod transaction;

pub use engine::catalogue::{Catalogue, Facts};
pub use engine::insight::Insight;
pub use engine::tables::{Table, Tables, Verdict};
pub use engine::{Beginnings, Counts, Engine, Settings};
pub use identity::habits::Habits;
pub use reason::{Own, Reason, Reasons};
pub use reports::bystander::{Bystander, Unheard};
pub use reports::facts::{ThreadFacts, is_system_schema, tells_grants};
pub use reports::past::{Older, Past};
pub use responses::arrival::Reply;
pub use session::{Account, Session};

/// What the host does with a command that has arrived.
#[derive(Debug, PartialEq, Eq)]
pub enum Decision {
    /// Give the server the packet as it is.
    Forward,
    /// Give the server this packet in its place.
    Replace(Vec<u8>),
    /// Give the server this packet first, keep its response from the client, then ask again with the same command.
    Inject(Vec<u8>),
    /// The client has its response; the server never sees the command.
    Answered,
}

/// Where an answer goes: pieces of one response, to be sent in this order without waiting while the call lasts.
pub trait Outlet {
    fn deliver(&mut self, pieces: &[&[u8]]);
}
