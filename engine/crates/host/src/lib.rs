//! What all hosts of the engine have in common: a connection's bytes between server and client, and the questions to the
//! server's catalogue.
//!
//! A host brings the bytes (`Io`), a way to ask (`Link`), and what the server reports. Where it stands, inside the server or beside
//! the application, is not known here. Deliberately absent: everything unsafe, sockets, threads.

#![forbid(unsafe_code)]

pub mod catalogue;
mod connection;
mod io;
mod link;
mod patience;

pub use connection::Connection;
pub use io::Io;
pub use link::{Link, Row, number};
