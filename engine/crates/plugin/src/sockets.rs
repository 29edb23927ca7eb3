//! The server's sockets: its import table, the calls behind it, and the state kept per descriptor.

pub mod descriptors;
pub mod feeds;
pub mod got;
pub mod io;
