//! `fqc-near`: the engine's host on the application's machine.
//!
//! The shell around `near-core`: relays connections, logs in, speaks TLS, reads options and what the server has to say, and reports. Each
//! client gets a server connection of its own, and both sides' bytes pass unchanged, but for what is answered from memory. The login
//! is passed on, so that no password of a client is known here.
//!
//! Invariants: nothing is read from one side while the other has not taken what came before; whatever a client or a server sends
//! costs at most its own connection.
//! Deliberately absent: pools, and any opinion on what may be kept or served: that is the core's.

mod account;
mod attachment;
mod config;
mod control_plane;
mod dial;
mod following;
pub mod http;
pub mod import;
mod login;
pub mod manual;
mod metrics;
mod notify;
pub mod options;
mod os;
pub mod pump;
mod random;
mod relay;
mod reporting;
mod server;
pub mod service;
mod share;
mod shared;
mod store;
mod stream;
mod threads;
mod tls;
mod unfinished;

pub use service::run;
