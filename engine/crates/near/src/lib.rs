//! `fqc-near`: the engine's host on the application's machine.
//!
//! Each client gets a server connection of its own, and both sides' bytes pass unchanged. The login is passed on, so that no password
//! of a client is known here. A read that repeats is answered from memory, while the server has lent the right to (`memory`, `seat`).
//! Invariants: nothing is read from one side while the other has not taken what came before; whatever a client or a server sends
//! costs at most its own connection.
//! Deliberately absent: SQL, pools, any opinion on what may be kept: that is the server's.

mod account;
mod answer;
mod attachment;
mod binlog;
mod clock;
mod command;
mod config;
mod control_plane;
mod counter;
mod counts;
mod dial;
mod digest;
pub mod follow;
pub mod freshness;
pub mod http;
pub mod import;
mod inquiry;
mod kept;
pub mod leases;
mod login;
pub mod manual;
pub mod memory;
mod notify;
mod obstacle;
mod one_line;
pub mod options;
mod own;
mod own_flags;
mod payloads;
mod prepared;
mod process;
pub mod pump;
mod random;
mod reason;
mod relay;
mod report;
mod reporting;
mod result_set;
mod say;
mod server;
pub mod service;
pub mod session;
mod shared;
mod store;
mod stream;
mod threads;
mod tls;
pub mod ttl;
mod unfinished;
mod unseen;
mod uses;

pub use service::run;
