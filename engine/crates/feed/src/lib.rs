//! The feed: how a server tells its near caches what closes and opens, and how long they may serve.
//!
//! Both ends are state machines without I/O and without a clock: bytes and the time come in as arguments, in nanoseconds of any
//! monotonic clock. `docs/reference/near-protocol.md` describes the protocol; `tests/model.rs` tries all interleavings of these
//! very machines.
//!
//! **The near cache's end**, in the order in which a host uses it:
//!
//! 1. Log in on an ordinary connection and send [`attach_statement`]. An OK packet is the consent; from then on both sides send
//!    packets whose payload is a [`Frame`] (from the server) or [`FromNear`] messages (to it), see [`message`].
//! 2. Give every frame to [`Near::hear`], and send [`Near::acknowledgement`] afterwards. Once hits on all threads see what
//!    `hear` did, and not before: a writer goes on when it is acknowledged.
//! 3. Every [`Near::renew_every`], send [`Near::renew`]. Take `now` before the bytes leave.
//! 4. For each connection to the same server keep a [`Connection`]: send its [`Connection::mark`] once the greeting is there, call
//!    [`Connection::forward`] for every command that goes to the server, and give it what [`Heard::Report`] says of it.
//! 5. A read may be answered from memory if [`Connection::session_context`] gives a context under which a result is stored, the
//!    session is outside a transaction with autocommit on, and [`Near::may_serve`] says yes. Take `now` after the read has arrived:
//!    a process that was stopped must not go by the time that it noted before.
//!
//!    In a transaction a read may be answered, too, if [`Connection::snapshot`] gives a stamp and [`CommandReport::is_for_transactions`] is set for
//!    the result. Then call [`Near::may_serve`] with the lesser of the two stamps: nothing may have changed since the snapshot either.
//! 6. A result may be stored with what was told of it, under the key `(attachment, context, command)`: the contexts, cells and
//!    stamps of another attachment mean nothing.
//! 7. When the feed ends, [`Near::lose`]: nothing is served until the next attachment.
//!
//! **The server's end** is [`Nears`]: all near caches of one server.
//!
//! Deliberately absent: sockets, threads, the results themselves.

#![forbid(unsafe_code)]

mod cells;
mod connection;
mod kept_out;
pub mod message;
mod near_end;
mod server_end;

pub use connection::{Connection, Protocol, SessionContext};
pub use kept_out::{KeptOut, Pause};
pub use message::{CommandReport, Counts, Frame, FromNear, Malformed, ToNear};
pub use near_end::{Heard, Lost, Near};
pub use server_end::{Attached, Basis, NearId, Nears, Terms, Wait, Who};

/// The newest version of the protocol that this crate speaks, and the oldest.
pub const VERSION: u16 = 4;
pub const OLDEST: u16 = 1;

const ATTACH: &str = "ATTACH FQC NEAR";

/// The statement that makes a connection a feed. `name` is shown to operators.
pub fn attach_statement(name: &str) -> String {
    let name: String = name.chars().filter(|one| one.is_ascii_alphanumeric() || "-._:".contains(*one)).collect();
    format!("{ATTACH} '{}' PROTOCOL {VERSION}", &name[..name.len().min(LONGEST_NAME)])
}

/// As a near cache sends it.
pub fn attaches(text: &[u8]) -> bool {
    text.starts_with(ATTACH.as_bytes())
}

/// Identifies an attachment of a near cache to a server. Each has another one, also at another server.
pub type Attachment = [u64; 2];

/// Of a near cache's name, in bytes.
pub const LONGEST_NAME: usize = 64;

/// What both ends make of a command's payload, to be sure that they speak of the same one: two connections have different greetings,
/// even if two servers behind a balancer give them the same number. `greeting`: [`check_of`] that packet.
pub fn command_check(greeting: u64, payload: &[u8]) -> u64 {
    check_of(payload) ^ greeting
}

/// The 64-bit FNV-1a hash.
pub fn check_of(payload: &[u8]) -> u64 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    payload.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}
