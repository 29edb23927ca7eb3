//! The feed is a connection. Over it, a server notifies its near caches of invalidations and grants them leases to serve results.
//!
//! A *cell* is something that can change: a table, some rows, or everything. A write *closes* its cells before its change can
//! become visible, and *opens* them afterwards with a new version. A *stamp* is a position in the same sequence of versions. A
//! result is current while each of its cells is open and has a version no greater than the result's stamp.
//!
//! Both ends are state machines without I/O and without a clock: bytes and the time come in as arguments, in nanoseconds of any
//! monotonic clock. `docs/reference/near-protocol.md` describes the protocol; `tests/model.rs` tries all interleavings of these
//! very machines.
//!
//! **The near cache's end**, in the order in which a host uses it:
//!
//! 1. Log in on an ordinary connection and send [`attach_statement`]. An OK packet is the consent; from then on both sides send
//!    packets whose payload is a [`Frame`] (from the server) or [`FromNear`] messages (to it), see [`message`].
//! 2. Give every frame to [`NearEnd::receive`]. Send [`NearEnd::acknowledgement`] only once cache lookups on all threads see what `receive`
//!    changed: the server lets a write become visible when the frame is acknowledged.
//! 3. Every [`NearEnd::renew_every`], send [`NearEnd::renew`]. Take `now` before the bytes leave.
//! 4. For each connection to the same server keep a [`Connection`]: send its [`Connection::mark`] once the greeting has arrived,
//!    call [`Connection::forward`] for every command that goes to the server, and give the connection each [`NearEvent::Report`]
//!    about it.
//! 5. A read may be answered from memory if [`Connection::session_context`] returns a context that has a stored result for the
//!    read, the session is outside a transaction with autocommit on, and [`NearEnd::may_serve`] returns true. Take `now` after the
//!    read has arrived: a process may have been stopped since it last read the clock.
//!
//!    In a transaction, a read may also be answered if [`Connection::snapshot`] returns a stamp and
//!    [`CommandReport::is_for_transactions`] is set for the result. Then call [`NearEnd::may_serve`] with the lesser of the two
//!    stamps: the result must not have changed since the snapshot either.
//! 6. A result may be stored with the contents of its report, under the key `(attachment, context, command)`. Contexts, cells and
//!    stamps of another attachment are meaningless.
//! 7. When the feed ends, call [`NearEnd::lose`]: no result is served until the next attachment.
//!
//! **The server's end** is [`ServerEnd`]: all near caches of one server.
//!
//! Deliberately absent: sockets, threads, the results themselves.
//!
//! The words of comments are explained in `docs/concepts/words.md`.

#![forbid(unsafe_code)]

mod attach_pauses;
mod cells;
mod connection;
pub mod message;
mod near_end;
mod server_end;

pub use attach_pauses::{AttachPause, AttachPauses};
pub use connection::{Connection, Protocol, SessionContext};
pub use message::{CommandReport, Frame, FromNear, Malformed, NearCacheCounts, ToNear};
pub use near_end::{FeedBroken, NearEnd, NearEvent};
pub use server_end::{AttachedNear, LeaseTerms, NearId, NearOwner, PendingAcks, ReportDependencies, ServerEnd};

/// The newest version of the feed's protocol that this crate speaks.
pub const VERSION: u16 = 5;
/// The oldest version of the feed's protocol that this crate speaks.
pub const OLDEST: u16 = 1;

const ATTACH: &str = "ATTACH FQC NEAR";

/// Returns the SQL text that turns a logged-in connection into a feed. `name` is the near cache's name for operators: characters
/// other than ASCII letters, digits and `-._:` are dropped, and it is cut to [`LONGEST_NAME`].
pub fn attach_statement(name: &str) -> String {
    let name: String = name.chars().filter(|one| one.is_ascii_alphanumeric() || "-._:".contains(*one)).collect();
    format!("{ATTACH} '{}' PROTOCOL {VERSION}", &name[..name.len().min(LONGEST_NAME)])
}

/// Returns true if `text`, the text of a query, begins like [`attach_statement`]. The rest may still be malformed.
pub fn attaches(text: &[u8]) -> bool {
    text.starts_with(ATTACH.as_bytes())
}

/// Identifies an attachment, that is, one feed from its start to its end. No two attachments have the same value, even to different
/// servers. Cells, stamps and session contexts have a meaning only within the attachment that they were received under.
pub type Attachment = [u64; 2];

/// The maximum length of a near cache's name, in bytes.
pub const LONGEST_NAME: usize = 64;

/// Returns a check value of a command; both ends compute it to verify that they mean the same command. `greeting` is [`check_of`]
/// the payload of the connection's greeting packet, `payload` that of the command's first packet. Greetings differ, so the check
/// also tells apart connections to two servers behind a balancer that happen to have the same connection number.
pub fn command_check(greeting: u64, payload: &[u8]) -> u64 {
    check_of(payload) ^ greeting
}

/// Returns the 64-bit FNV-1a hash of these bytes. It detects mix-ups, not forgeries.
pub fn check_of(payload: &[u8]) -> u64 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    payload.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}
