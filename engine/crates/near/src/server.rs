//! The address of a server, and TLS to it.

use crate::tls;
use std::fmt::Display;
use std::path::PathBuf;
use tokio_rustls::TlsConnector;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Server {
    Tcp { host: String, port: u16 },
    Unix(PathBuf),
}

#[derive(Clone)]
pub struct Connector {
    pub tls: TlsConnector,
    pub name: tls::Name,
}

impl Server {
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
