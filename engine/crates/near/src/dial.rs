//! A connection to the server, as the configuration describes it.

use crate::config::Config;
use crate::stream::{Stream, connect};
use std::io;
use std::net::SocketAddr;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;
use wire::proxy;

/// `addresses`: those that the client has connected from and to. None if the connection is not made for a client.
pub async fn to_server(config: &Config, addresses: Option<(SocketAddr, SocketAddr)>) -> io::Result<Stream> {
    let mut server = timeout(config.connect_timeout, connect(&config.server)).await??;
    if let Some(version) = config.proxy {
        server.write_all(&proxy::header(version, addresses)).await?;
    }
    Ok(server)
}
