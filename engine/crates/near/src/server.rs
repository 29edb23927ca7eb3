//! The address of a server, and TLS to it.

use crate::tls;
use std::fmt::Display;
use std::path::PathBuf;
use tokio_rustls::TlsConnector;

/// The address of a server: of the database, of a shared store, or of the control plane. `host` is a name or an IP address without
/// brackets. It is displayed as HOST:PORT or as a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Server {
    Tcp { host: String, port: u16 },
    Unix(PathBuf),
}

/// TLS to a server, and the name that is asked for in the handshake. `tls` decides whether the certificate must be for this name.
#[derive(Clone)]
pub struct Connector {
    pub tls: TlsConnector,
    pub name: tls::Name,
}

impl Server {
    /// Returns the host; empty for a unix socket.
    pub fn host(&self) -> &str {
        match self {
            Server::Tcp { host, .. } => host,
            Server::Unix(_) => "",
        }
    }
}

impl Display for Server {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Server::Tcp { host, port } if host.contains(':') => write!(formatter, "[{host}]:{port}"),
            Server::Tcp { host, port } => write!(formatter, "{host}:{port}"),
            Server::Unix(path) => path.display().fmt(formatter),
        }
    }
}
