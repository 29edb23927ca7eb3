//! Where a server listens, and the byte stream to it.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// Where a server listens: a TCP port on the loopback address, or the path of a unix socket.
#[derive(Clone, Debug)]
pub enum Endpoint {
    Tcp(u16),
    Unix(PathBuf),
}

impl Endpoint {
    pub(super) fn open(&self) -> io::Result<Line> {
        Ok(match self {
            Self::Tcp(port) => {
                let stream = TcpStream::connect(("127.0.0.1", *port))?;
                stream.set_nodelay(true)?;
                Line::Tcp(stream)
            }
            Self::Unix(path) => Line::Unix(UnixStream::connect(path)?),
        })
    }
}

/// The byte stream of a connection. Dropping a duplicate does not close the connection.
pub enum Line {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Line {
    pub(super) fn duplicate(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Tcp(stream) => Self::Tcp(stream.try_clone()?),
            Self::Unix(stream) => Self::Unix(stream.try_clone()?),
        })
    }

    pub(super) fn set_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_read_timeout(limit),
            Self::Unix(stream) => stream.set_read_timeout(limit),
        }
    }

    /// Closes both directions of the connection at once, for all its handles. A connection that was closed already is no error.
    pub fn cut(&self) {
        let _ = match self {
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

impl Read for Line {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(into),
            Self::Unix(stream) => stream.read(into),
        }
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
