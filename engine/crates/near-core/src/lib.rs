//! The part of `fqc-near` that decides which results are served and stored. It needs no runtime, sockets, TLS or configuration
//! file.
//!
//! A [`session::Session`] controls the conversation between one client and its server: it takes the bytes of both sides, and
//! decides where they go. Results are in [`memory::Memory`]. The session's [`freshness::Freshness`] decides whether a result may
//! be served: by leases that the server has granted ([`leases`]), by the server's binary log ([`binlog`]), or by an operator's
//! rules ([`by_rules`]). The last two ask the server for the identity of each session, to know which sessions may share results
//! ([`identified`]).
//!
//! The program `fqc-near` adds the I/O and the configuration to this crate.
//!
//! Words that are used throughout:
//! - a *near cache* is this program, next to the applications that it serves. Its *feed* is a connection to a server with the
//!   plugin, and an *attachment* is one uninterrupted use of the feed, or of a server's binary log;
//! - a *lease* is the permission to serve results until a certain time;
//! - a *cell* is something that a result depends on: a table, some rows, or everything. It is *closed* while it is being
//!   changed. A *stamp* says which changes a result includes: a version, a log position, or the time of reading;
//! - a *session context* stands for everything except the read itself that can change a result: account, schema and settings.
//!   The server with the plugin assigns a number to it; for other servers, the *identity* of the session takes its place;
//! - a *pending* read was answered from memory, and the server has not received it;
//! - the *shape* of a statement is its text without literals, for which statistics are kept;
//! - *other processes* are those of applications: a library in them answers reads from memory that this program shares.
//!
//! The words of comments are explained in `docs/concepts/words.md`.

pub mod answer;
pub mod binlog;
pub mod by_rules;
pub mod clock;
pub mod command;
pub mod counter;
pub mod digest;
pub mod follow;
pub mod freshness;
pub mod identified;
mod leased;
pub mod leases;
pub mod login_facts;
mod memo;
pub mod memory;
mod observed_read;
pub mod obstacle;
pub mod one_line;
pub mod payloads;
pub mod pending_read;
mod pending_report;
pub mod prepared;
pub mod processes;
pub mod published;
pub mod reason;
mod recent;
pub mod report;
pub mod result_set;
pub mod results;
pub mod rules;
pub mod say;
pub mod session;
pub mod session_flags;
pub mod store;
pub mod uses;
pub mod wake_flag;
