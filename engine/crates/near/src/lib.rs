//! `fqc-near`: the engine's host on the application's machine.
//!
//! Each client gets a server connection of its own, and both sides' bytes pass unchanged. The login is passed on, so that no password
//! is known here. This version relays and counts; it answers nothing itself.
//! Invariants: nothing is read from one side while the other has not taken what came before; whatever a client or a server sends
//! costs at most its own connection.
//! Deliberately absent: SQL, pools, any change to what a client asks or a server answers.

mod config;
mod counts;
pub mod follow;
mod http;
mod login;
pub mod manual;
mod notify;
pub mod options;
mod process;
mod pump;
mod relay;
pub mod service;
mod shared;
mod stream;
mod tls;

pub use service::run;
