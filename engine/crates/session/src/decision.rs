//! The engine's decisions about commands and responses, which the host carries out, and the interface for answers.

/// The engine's decision about a command of the client, for the host to carry out.
#[derive(Debug, PartialEq, Eq)]
pub enum Decision {
    /// Send the packet to the server unchanged.
    Forward,
    /// Send this packet to the server instead.
    Replace(Vec<u8>),
    /// Send this packet to the server first and hide its response from the client. Then call `on_command` again with
    /// the same command.
    Inject(Vec<u8>),
    /// The client already has its answer. The server does not get the command.
    Answered,
}

/// The engine's decision about a piece of the server's response, for the host to carry out.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    Send,
    /// Hide this piece from the client.
    Swallow,
    /// Send these bytes to the client instead of everything that was swallowed of this response.
    Replace(Vec<u8>),
}

/// Sends answers to the client. `pieces` are the parts of one response, sent in this order before the call returns.
pub trait Outlet {
    fn deliver(&mut self, pieces: &[&[u8]]);
}
