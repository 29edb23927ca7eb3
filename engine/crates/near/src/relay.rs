//! Serves one client's connection from its arrival to its end.

use crate::broken_handshakes::log_in_once;
use crate::config::Config;
use crate::dial::connect_to_server;
use crate::login::{LoginFailure, Refusal, login};
use crate::pump::pump;
use crate::shared::Shared;
use crate::stream::Stream;
use near_core::binlog::ByLog;
use near_core::binlog::Privileges;
use near_core::by_rules::ByRules;
use near_core::follow::UnreadReason;
use near_core::identified::ByIdentity;
use near_core::leases::ByLeases;
use near_core::login_facts::LoginFacts;
use near_core::session::Session;
use near_core::store::BoxFuture;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::AsyncWriteExt;

/// A client that has just connected.
pub struct NewClient {
    pub stream: Stream,
    /// The client's address and the local address it has connected to; none if it has come by a unix socket.
    pub addresses: Option<(SocketAddr, SocketAddr)>,
}

/// Serves a client from its arrival until its connection ends: connects to the server, passes the login on, and then moves bytes. Counts
/// and logs failures itself. The client's connection is closed at the end in every case.
pub async fn relay(client: NewClient, shared: &Shared) {
    let config = shared.config();
    let NewClient { stream: client, addresses } = client;
    let privileges = shared.log.as_ref().and_then(|log| log.privileges());
    let server = match connect_to_server(&config, addresses).await {
        Ok(server) => server,
        Err(error) => return refuse(client, 0, &Refusal::no_server(&config, error), shared).await,
    };
    match login(client, addresses.is_some(), server, &config).await {
        Ok(connection) => {
            let why_unread = connection.follower.why_unread();
            let is_login_unreadable =
                matches!(why_unread, Some(UnreadReason::EndToEndTls | UnreadReason::NotUnderstood));
            if !is_login_unreadable {
                shared.broken_handshakes.reset();
            }
            let session = why_unread.is_none().then(|| session(&config, &connection.login_facts, shared, privileges));
            pump(connection, session, &shared.counts, &mut shared.draining()).await;
            if is_login_unreadable {
                log_in_if(shared.broken_handshakes.count(), &config).await;
            }
        }
        Err(LoginFailure::Refused { client, sequence, error }) => {
            refuse(client, sequence, &error, shared).await;
            log_in_if(shared.broken_handshakes.count(), &config).await;
        }
        Err(LoginFailure::LoginRefused) => shared.counts.logins_refused.add(1),
        Err(LoginFailure::Lost(error)) => {
            let is_due = shared.broken_handshakes.count();
            shared.counts.lost.add(1);
            // Mostly a failed TLS handshake, which an operator has to know about. A client that just closes its connection is not logged.
            if error.kind() == io::ErrorKind::InvalidData {
                shared.refusal_log.log(&error.to_string());
            }
            log_in_if(is_due, &config).await;
        }
    }
}

/// If `is_due`, logs in with the program's own account, so that the server does not block this host because of broken handshakes. Errors
/// are ignored.
async fn log_in_if(is_due: bool, config: &Config) {
    if is_due {
        // An error is ignored: a server that refuses this login also refuses the feed, and that is logged.
        let _ = log_in_once(config).await;
    }
}

/// Makes the part of a connection that answers reads from memory, for the configured way of serving. `login_facts`: the facts about the
/// connection from its login. `privileges`: the version of all privileges that the binary log had before the login; none if it was not
/// certain, or there is no log.
fn session(config: &Config, login_facts: &LoginFacts, shared: &Shared, privileges: Option<Privileges>) -> Session {
    let memory = &shared.memory;
    let server = config.server.to_string();
    let mut session = match &shared.log {
        Some(log) => {
            let privileges = log.register_session(privileges);
            let by_log =
                ByLog { log: log.clone(), session: privileges, store: shared.shared_store(), memory: memory.clone() };
            Session::new(memory, ByIdentity::new(memory, &server, login_facts, by_log))
        }
        None if config.rules.is_some() => {
            let by_rules = ByRules::new(memory, &shared.flights, shared.shared_store(), sleep);
            Session::new(memory, ByIdentity::new(memory, &server, login_facts, by_rules))
        }
        None => Session::new(memory, ByLeases::new(memory, login_facts, config.feed.is_some())),
    };
    login_facts.shown_greeting.into_iter().for_each(|greeting| session.share(greeting));
    session
}

/// Sends an error to the client as the packet with this sequence number, and closes the connection. Counts and logs the refusal.
async fn refuse(mut client: Stream, sequence: u8, error: &Refusal, shared: &Shared) {
    shared.counts.refused.add(1);
    shared.refusal_log.log(&error.message);
    // Errors are ignored: the client may have gone already.
    let _ = client.write_all(&error.packet(sequence)).await;
    let _ = client.shutdown().await;
}

fn sleep(time: Duration) -> BoxFuture<()> {
    Box::pin(tokio::time::sleep(time))
}
