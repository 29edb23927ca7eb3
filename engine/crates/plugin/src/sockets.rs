//! The server's sockets: its table of functions, the calls behind it, and what it knows of each by its descriptor.

pub mod descriptors;
pub mod feeds;
pub mod got;
pub mod io;
