//! What the host does with a command, and where an answer goes.

/// What the host does with a command that has arrived.
#[derive(Debug, PartialEq, Eq)]
pub enum Decision {
    /// Give the server the packet as it is.
    Forward,
    /// Give the server this packet in its place.
    Replace(Vec<u8>),
    /// Give the server this packet first, keep its response from the client, then ask again with the same command.
    Inject(Vec<u8>),
    /// The client has its response; the server never sees the command.
    Answered,
}

/// What the host does with bytes of a response.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    Send,
    /// The client must not see them.
    Swallow,
    /// These go to the client in place of all that was swallowed of this response.
    Replace(Vec<u8>),
}

/// Where an answer goes: pieces of one response, to be sent in this order without waiting while the call lasts.
pub trait Outlet {
    fn deliver(&mut self, pieces: &[&[u8]]);
}
