//! Byte streams to clients and servers, over TCP, unix sockets or TLS.

use crate::server::Server;
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::net::{TcpSocket, UnixStream, lookup_host};
use wire::Header;

/// A byte stream in both directions: TCP, a unix socket, or TLS over one of them.
pub trait ByteStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> ByteStream for T {}

/// A connection to a client or a server, whatever carries it.
pub type Stream = Box<dyn ByteStream>;

/// The longest packet of a login that is accepted, in bytes. The limit is low because the client is not authenticated yet. The longest
/// part, the client's attributes, has at most 64 KiB.
const LOGIN_PACKET: usize = 128 << 10;

/// Connects to a server, at the first of its addresses that accepts the connection; without TLS, and without a time limit of its own. The
/// error is that of the last address.
pub async fn connect(server: &Server) -> io::Result<Stream> {
    let (host, port) = match server {
        Server::Unix(path) => return Ok(Box::new(UnixStream::connect(path).await?)),
        Server::Tcp { host, port } => (host.as_str(), *port),
    };
    let mut last = io::Error::other("its name has no address");
    for address in lookup_host((host, port)).await? {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        socket.set_keepalive(true)?;
        match socket.connect(address).await {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(Box::new(stream));
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Reads packets from `stream`, during a login or in answers to the program's own queries. Never reads past the current packet: the bytes
/// after it may belong to TLS, or to the next reader of the connection. So `stream` may be used directly between two calls of
/// [`next`](Self::next).
pub struct PacketReader {
    pub stream: Stream,
    partial: Vec<u8>,
    /// The longest packet that is accepted, in bytes.
    longest: usize,
}

impl PacketReader {
    /// Reads the packets of a login, which are short.
    pub fn new(stream: Stream) -> PacketReader {
        PacketReader { stream, partial: Vec::new(), longest: LOGIN_PACKET }
    }

    /// Accepts packets of any length from here on, since the login is over. The caller limits the length of a whole answer.
    pub fn accept_long(&mut self) {
        self.longest = wire::MAX_PAYLOAD;
    }

    /// Takes the stream out, so that it can be wrapped in TLS, and leaves an empty stream. Afterwards this value must be replaced.
    pub fn take_stream(&mut self) -> Stream {
        std::mem::replace(&mut self.stream, Box::new(tokio::io::empty()))
    }

    /// Returns the next packet, including its header. Cancellation loses no bytes. An error if the connection has ended, or the packet is
    /// longer than is accepted.
    pub async fn next(&mut self) -> io::Result<Vec<u8>> {
        loop {
            let wanted = match Header::parse(&self.partial) {
                Some(header) if header.length > self.longest => {
                    return Err(io::Error::other("a packet of the login is too long"));
                }
                Some(header) => Header::SIZE + header.length,
                None => Header::SIZE,
            };
            let missing = wanted - self.partial.len();
            if missing == 0 {
                return Ok(std::mem::take(&mut self.partial));
            }
            let mut limited = (&mut self.stream).take(missing as u64);
            if limited.read_buf(&mut self.partial).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}
