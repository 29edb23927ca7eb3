//! A raw client of the MySQL protocol that shows every byte a server sent.
//!
//! Invariant: a `Response` holds exactly the bytes of one answer, in order, headers included.
//! Deliberately absent: TLS, compression, pooling, retries, and any opinion on what the bytes mean.

pub mod capability;
pub(crate) mod decode;
mod handshake;
mod packets;
mod prepared;
mod response;
mod stream;

use std::io::{self, Write};
use std::time::Duration;

pub use handshake::Login;
pub use prepared::{Param, Prepared, execute_body};
pub use response::{Failure, Finish, Part, Response, Rows};
pub use stream::{Endpoint, Line};

pub use decode::Row;
use packets::Packets;

/// Command bytes: the first byte of a command packet's payload.
pub mod command {
    pub const QUIT: u8 = 0x01;
    pub const INIT_DB: u8 = 0x02;
    pub const QUERY: u8 = 0x03;
    pub const DEBUG: u8 = 0x0d;
    pub const PING: u8 = 0x0e;
    pub const CHANGE_USER: u8 = 0x11;
    pub const STMT_PREPARE: u8 = 0x16;
    pub const STMT_EXECUTE: u8 = 0x17;
    pub const STMT_LONG_DATA: u8 = 0x18;
    pub const STMT_CLOSE: u8 = 0x19;
    pub const STMT_RESET: u8 = 0x1a;
    pub const SET_OPTION: u8 = 0x1b;
    pub const STMT_FETCH: u8 = 0x1c;
    pub const RESET_CONNECTION: u8 = 0x1f;
}

/// A connection that has logged in. Methods that return a [`Response`] block until it is complete, and return `Ok` also if the server
/// answers with an error: see [`Response::failure`]. `Err` means that the connection failed or timed out.
pub struct Client {
    packets: Packets,
    /// The capabilities that both sides agreed on, with MariaDB's extended bits in the upper half.
    pub capabilities: u64,
    /// The connection's id on the server, as in `SHOW PROCESSLIST` and `KILL`. It is the one of the greeting.
    pub thread_id: u32,
    pub server_version: String,
    /// The payload of the server's first packet.
    pub greeting: Vec<u8>,
    /// The server's random bytes for the authentication.
    scramble: Vec<u8>,
    /// The name of the authentication plugin.
    plugin: &'static str,
    /// The content that is sent when the server asks for the file of `LOAD DATA LOCAL`, whatever its name. May be changed at any time.
    pub local_file: Vec<u8>,
}

impl Client {
    /// Connects and logs in. Fails if the server refuses the connection or the login.
    pub fn connect(endpoint: &Endpoint, login: &Login) -> io::Result<Self> {
        Self::connect_behind(&[], endpoint, login)
    }

    /// Connects as through a load balancer: sends `header`, the bytes of its PROXY protocol header, before the login.
    pub fn connect_behind(header: &[u8], endpoint: &Endpoint, login: &Login) -> io::Result<Self> {
        let mut stream = endpoint.open()?;
        stream.write_all(header)?;
        handshake::perform(Packets::new(stream), login)
    }

    /// Connects as root, without a password and with the default capabilities.
    pub fn root(endpoint: &Endpoint) -> io::Result<Self> {
        Self::connect(endpoint, &Login::default())
    }

    /// Runs a statement, or several, in the text protocol. An error of the server is in [`Response::failure`], not in `Err`.
    pub fn query(&mut self, statement: impl AsRef<[u8]>) -> io::Result<Response> {
        self.send(command::QUERY, statement.as_ref())?;
        self.read_response()
    }

    /// Runs a statement that must succeed. An error of the server becomes an `Err` that names the statement and the error.
    pub fn must(&mut self, statement: &str) -> io::Result<Response> {
        let response = self.query(statement)?;
        match response.failure() {
            Some(failure) => Err(io::Error::other(format!("`{statement}` failed: {failure}"))),
            None => Ok(response),
        }
    }

    /// Runs a statement that must succeed. Returns the first column of the first row as text; None for NULL or no row.
    pub fn scalar(&mut self, statement: &str) -> io::Result<Option<String>> {
        Ok(self.must(statement)?.scalar())
    }

    pub fn ping(&mut self) -> io::Result<Response> {
        self.send(command::PING, &[])?;
        self.read_response()
    }

    pub fn init_db(&mut self, database: &str) -> io::Result<Response> {
        self.send(command::INIT_DB, database.as_bytes())?;
        self.read_response()
    }

    pub fn reset_connection(&mut self) -> io::Result<Response> {
        self.send(command::RESET_CONNECTION, &[])?;
        self.read_response()
    }

    /// Sends `COM_CHANGE_USER` and logs in as another account on this connection. The login's capabilities are ignored.
    pub fn change_user(&mut self, login: &Login) -> io::Result<Response> {
        handshake::change_user(self, login)
    }

    /// Writes one command (a byte of [`command`], and what follows it) and reads nothing. Call [`Self::read_response`] once for each;
    /// several commands in a row make a pipeline.
    pub fn send(&mut self, kind: u8, body: &[u8]) -> io::Result<()> {
        self.packets.begin();
        self.packets.write_command(kind, body)
    }

    /// Writes several commands at once, normally with one system call, and reads nothing. Call [`Self::read_response`] once for each.
    pub fn send_together(&mut self, commands: &[(u8, &[u8])]) -> io::Result<()> {
        let mut bytes = Vec::new();
        for (kind, body) in commands {
            packets::frame_command(*kind, body, &mut bytes);
        }
        self.packets.begin();
        self.packets.write_raw(&bytes)
    }

    /// Writes bytes unchanged, without a packet header, such as half packets or garbage.
    pub fn send_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.packets.write_raw(bytes)
    }

    /// Waits for the complete response to the oldest command that has none yet. Not for `COM_STMT_PREPARE`: see [`Self::read_prepared`].
    pub fn read_response(&mut self) -> io::Result<Response> {
        response::read(&mut self.packets, self.capabilities, &self.local_file)
    }

    /// Waits for one packet that is no response, and returns its payload. After a timeout it may be called again.
    pub fn read_payload(&mut self) -> io::Result<Vec<u8>> {
        let mut raw = Vec::new();
        let (range, _) = self.packets.read_into(&mut raw)?;
        Ok(raw[range].to_vec())
    }

    /// Writes one packet that is no command and goes on with the sequence numbers of the last one.
    pub fn write_payload(&mut self, payload: &[u8]) -> io::Result<()> {
        self.packets.write_payload(payload)
    }

    /// The longest time that a read waits for bytes; it then fails with `WouldBlock` or `TimedOut`. None, the default: no limit.
    pub fn set_timeout(&mut self, limit: Option<Duration>) -> io::Result<()> {
        self.packets.set_timeout(limit)
    }

    /// Closes the connection without COM_QUIT, as a killed client does.
    pub fn abort(self) {
        self.packets.abort();
    }

    /// A second handle of the same socket, for example to cut the connection from another thread.
    pub fn line(&self) -> io::Result<stream::Line> {
        self.packets.line()
    }
}
