//! Connects to the server as configured, with the header of the PROXY protocol if that is set.

use crate::config::Config;
use crate::stream::{Stream, connect};
use std::io;
use std::net::SocketAddr;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;
use wire::proxy;

/// Connects to the database server within `connect_timeout`, and sends the PROXY header if one is configured; the server's greeting is not
/// read yet. `addresses`: the client's address and the local address it has connected to; none if the client has no TCP address, or the
/// connection is not made for a client.
pub async fn connect_to_server(config: &Config, addresses: Option<(SocketAddr, SocketAddr)>) -> io::Result<Stream> {
    let mut server = timeout(config.connect_timeout, connect(&config.server)).await??;
    if let Some(version) = config.proxy {
        server.write_all(&proxy::header(version, addresses)).await?;
    }
    Ok(server)
}
