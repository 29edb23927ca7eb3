//! What all hosts of the engine have in common: passing a connection's bytes between server and client, and querying the server's
//! catalogue.
//!
//! A host supplies the bytes (`Io`), a way to query the server (`Link`), and the server's reports. This crate does not know whether the
//! host runs inside the server or next to the application. It has no unsafe code, sockets or threads.
//!
//! The words of comments are explained in `docs/concepts/words.md`.

#![forbid(unsafe_code)]

pub mod catalogue;
mod connection;
mod io;
mod link;
mod wait_policy;

pub use connection::Connection;
pub use io::Io;
pub use link::{Link, Row, number};
