//! The server's sockets: its table of functions, the calls behind it, and the connections by their descriptors.

pub mod connections;
pub mod descriptors;
pub mod feeds;
pub mod got;
pub mod io;
