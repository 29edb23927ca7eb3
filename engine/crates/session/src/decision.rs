//! The engine's decisions about commands and responses, which the host carries out, and the interface for answers.

/// The action that the host must take for a command of the client.
#[derive(Debug, PartialEq, Eq)]
pub enum Decision {
    /// Send the packet to the server unchanged.
    Forward,
    /// Send this packet to the server instead, and do not send the client's.
    Replace(Vec<u8>),
    /// Send this packet to the server first and hide its response from the client, as `on_response` will also say. Once
    /// that response is complete, call `on_command` again with the same command.
    Inject(Vec<u8>),
    /// The client already has its answer, by the [`ClientOutput`]. The server must not get the command.
    Answered,
}

/// The action that the host must take for a piece of the server's response.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    /// Send this piece to the client.
    Send,
    /// Hide this piece from the client.
    Swallow,
    /// Send these bytes to the client instead of this piece and everything that was swallowed of this response before
    /// it.
    Replace(Vec<u8>),
}

/// The way to the client for answers that do not come from the server.
pub trait ClientOutput {
    /// Sends one complete response, or keeps a copy of what cannot be sent at once: the pieces, which together are the
    /// response in this order, are valid only during the call.
    fn deliver(&mut self, pieces: &[&[u8]]);
}
