//! The facts about a connection from its login, which all kinds of serving need.

use flavour::Flavour;

/// The facts about a connection that client and server have exchanged at the login.
#[derive(Default)]
pub struct LoginFacts {
    /// The connection's number on the server, from its greeting.
    pub number: u32,
    /// The hash ([`feed::check_of`]) of the server's greeting.
    pub greeting: u64,
    /// The hash ([`feed::check_of`]) of the greeting that the client got. None if the client uses TLS, so that other processes
    /// cannot serve it.
    pub shown_greeting: Option<u64>,
    /// The server's version, from its greeting.
    pub version: Vec<u8>,
    /// The capabilities that client and server have agreed on.
    pub capabilities: u64,
    /// The number of the collation in the client's login.
    pub collation: u16,
}

impl LoginFacts {
    /// Returns what is special about the server's product and release.
    pub fn flavour(&self) -> &'static Flavour {
        flavour::of(&String::from_utf8_lossy(&self.version))
    }
}
