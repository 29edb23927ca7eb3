//! Handshakes that clients break off before they have logged in.
//!
//! A server counts such handshakes for each host, and blocks a host after `max_connect_errors` of them. To the server, all clients are on
//! this program's host. A successful login resets the server's count, so after some of these handshakes the program logs in with its own
//! account.

use crate::account;
use crate::config::Config;
use crate::dial::connect_to_server;
use crate::server::Server;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;
use wire::{Command, push_packet};

/// The number of broken handshakes in a row after which the program logs in: a tenth of what servers allow by default.
const MOST_IN_A_ROW: usize = 10;

/// The number of handshakes in a row that clients have broken off before they had logged in.
#[derive(Default)]
pub struct BrokenHandshakes(AtomicUsize);

impl BrokenHandshakes {
    /// Starts the count again at zero, after a client's login: that has reset the server's count of broken handshakes, too.
    pub fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Counts one more handshake that was, or may have been, broken off. Returns true for every tenth one in a row: then call
    /// [`log_in_once`], before the server blocks this host.
    pub fn count(&self) -> bool {
        (self.0.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(MOST_IN_A_ROW)
    }
}

/// Logs in with the program's own account and disconnects, so that the server forgets the broken handshakes of this host. Does nothing if
/// the server counts by the clients' own addresses (PROXY protocol), if it does not count (unix socket), or if the program has no account.
pub async fn log_in_once(config: &Config) -> io::Result<()> {
    let is_counted_here = config.proxy.is_none() && matches!(config.server, Server::Tcp { .. });
    let Some(account) = config.account().filter(|_| is_counted_here) else { return Ok(()) };
    timeout(config.connect_timeout, async {
        let stream = connect_to_server(config, None).await?;
        let mut server = account::log_in(stream, account, config.connector.as_ref(), false).await?;
        let mut packet = Vec::new();
        push_packet(&mut packet, &mut 0, &[Command::Quit as u8]);
        server.stream.write_all(&packet).await?;
        server.stream.shutdown().await
    })
    .await?
}
