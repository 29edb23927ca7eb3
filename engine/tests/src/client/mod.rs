//! A raw client of the MySQL protocol that shows every byte a server sent.
//!
//! Invariant: a `Response` holds exactly the bytes of one answer, in order, headers included.
//! Deliberately absent: TLS, compression, pooling, retries, and any opinion on what the bytes mean.

pub mod capability;
mod decode;
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

/// First byte of a command packet.
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

pub struct Client {
    packets: Packets,
    /// The capabilities that both sides agreed on, with MariaDB's extended bits in the upper half.
    pub capabilities: u64,
    pub thread_id: u32,
    pub server_version: String,
    /// The payload of the server's first packet.
    pub greeting: Vec<u8>,
    scramble: Vec<u8>,
    /// The authentication plugin.
    plugin: &'static str,
    /// Sent when the server asks for the file of `LOAD DATA LOCAL`.
    pub local_file: Vec<u8>,
}

impl Client {
    pub fn connect(endpoint: &Endpoint, login: &Login) -> io::Result<Self> {
        Self::connect_behind(&[], endpoint, login)
    }

    /// Connects through a load balancer that sends this header first.
    pub fn connect_behind(header: &[u8], endpoint: &Endpoint, login: &Login) -> io::Result<Self> {
        let mut stream = endpoint.open()?;
        stream.write_all(header)?;
        handshake::perform(Packets::new(stream), login)
    }

    /// Connects as root, without a password and with every capability that this client can read.
    pub fn root(endpoint: &Endpoint) -> io::Result<Self> {
        Self::connect(endpoint, &Login::default())
    }

    pub fn query(&mut self, statement: impl AsRef<[u8]>) -> io::Result<Response> {
        self.send(command::QUERY, statement.as_ref())?;
        self.read_response()
    }

    /// Runs a statement that must succeed; the error names the statement and the server's words.
    pub fn must(&mut self, statement: &str) -> io::Result<Response> {
        let response = self.query(statement)?;
        match response.failure() {
            Some(failure) => Err(io::Error::other(format!("`{statement}` failed: {failure}"))),
            None => Ok(response),
        }
    }

    /// The first column of the first row, as text; `None` for NULL or no row.
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

    pub fn change_user(&mut self, login: &Login) -> io::Result<Response> {
        handshake::change_user(self, login)
    }

    /// Writes one command and reads nothing: several in a row make a pipeline.
    pub fn send(&mut self, kind: u8, body: &[u8]) -> io::Result<()> {
        self.packets.begin();
        self.packets.write_command(kind, body)
    }

    /// Writes several commands with one system call.
    pub fn send_together(&mut self, commands: &[(u8, &[u8])]) -> io::Result<()> {
        let mut bytes = Vec::new();
        for (kind, body) in commands {
            packets::frame_command(*kind, body, &mut bytes);
        }
        self.packets.begin();
        self.packets.write_raw(&bytes)
    }

    /// Sends bytes unchanged, such as half packets or garbage.
    pub fn send_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.packets.write_raw(bytes)
    }

    pub fn read_response(&mut self) -> io::Result<Response> {
        response::read(&mut self.packets, self.capabilities, &self.local_file)
    }

    /// Reads a packet that is no response, and returns its payload. After a timeout it may be called again.
    pub fn read_payload(&mut self) -> io::Result<Vec<u8>> {
        let mut raw = Vec::new();
        let (range, _) = self.packets.read_into(&mut raw)?;
        Ok(raw[range].to_vec())
    }

    /// Writes a packet that is no command.
    pub fn write_payload(&mut self, payload: &[u8]) -> io::Result<()> {
        self.packets.write_payload(payload)
    }

    pub fn set_timeout(&mut self, limit: Option<Duration>) -> io::Result<()> {
        self.packets.set_timeout(limit)
    }

    /// Cuts the connection without COM_QUIT, as a killed client does.
    pub fn abort(self) {
        self.packets.abort();
    }

    /// A second handle of the socket, to cut it from another thread.
    pub fn line(&self) -> io::Result<stream::Line> {
        self.packets.line()
    }
}
