//! From the server's greeting to the answer to the client's login.
//!
//! The exchange is the client's and the server's own, so that it works with every way to prove an identity, and no password stays here.
//! Where only one leg has TLS, three things differ between the legs: whether TLS is offered, whether it is asked for, and, since
//! the request for TLS is a packet, the packets' numbers.

use crate::config::{Config, Connector};
use crate::follow::{Follower, Unread};
use crate::stream::{Packets, Stream};
use std::io;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;
use wire::{ClientHello, ErrPacket, Greeting, Header, capability, push_packet};

/// Both legs after the login, or once nothing more can be understood of it.
pub struct Legs {
    pub client: Stream,
    pub server: Stream,
    pub follower: Follower,
    /// What the client still has to get first.
    pub to_client: Vec<u8>,
    pub to_server: Vec<u8>,
}

pub enum Failure {
    /// To be told to the client, if it is still there to be told.
    Refused {
        client: Stream,
        sequence: u8,
        error: Refusal,
    },
    /// The server has refused the login, and the client knows.
    LoginRefused,
    Lost(io::Error),
}

pub struct Refusal {
    pub code: u16,
    pub state: &'static [u8; 5],
    pub message: String,
}

/// A server's numbers, and clients' own: drivers know what to do about them.
pub const TOO_MANY_CONNECTIONS: u16 = 1040;
const BAD_HANDSHAKE: u16 = 1043;
const NO_SERVER: u16 = 2003;
const TLS_FAILED: u16 = 2026;
const TLS_REQUIRED: u16 = 3159;

impl Refusal {
    pub fn new(code: u16, state: &'static [u8; 5], message: impl Into<String>) -> Refusal {
        Refusal { code, state, message: message.into() }
    }

    pub fn no_server(config: &Config, error: io::Error) -> Refusal {
        Refusal::new(NO_SERVER, b"HY000", format!("fqc-near cannot connect to {}: {error}", config.server))
    }

    fn of_tls(message: impl Into<String>) -> Refusal {
        Refusal::new(TLS_FAILED, b"HY000", message)
    }

    fn bad_handshake(message: &str) -> Refusal {
        Refusal::new(BAD_HANDSHAKE, b"08S01", message)
    }

    pub fn packet(&self, sequence: u8) -> Vec<u8> {
        ErrPacket::build(sequence, self.code, self.state, &self.message)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Lost(error)
    }
}

/// Both sides have said who they are: what is left of the login is between them.
struct Introduced {
    client: Packets,
    server: Packets,
    /// To add to the numbers of the client's packets.
    shift: u8,
    in_force: u64,
}

enum Introduction {
    Understood(Introduced),
    Unread(Box<Legs>),
}

pub async fn login(client: Stream, is_remote: bool, server: Stream, config: &Config) -> Result<Legs, Failure> {
    let introduction = timeout(config.connect_timeout, introduce(client, is_remote, server, config)).await;
    match introduction.map_err(io::Error::from)?? {
        Introduction::Understood(introduced) => authenticate(introduced).await,
        Introduction::Unread(legs) => Ok(*legs),
    }
}

async fn introduce(client: Stream, is_remote: bool, server: Stream, config: &Config) -> Result<Introduction, Failure> {
    let (mut client, mut server) = (Packets::new(client), Packets::new(server));
    let refused = |client: Packets, sequence, error| Err(Failure::Refused { client: client.stream, sequence, error });
    let is_plain = config.acceptor.is_none() && config.connector.is_none();
    let mut first = match server.next().await {
        Ok(first) => first,
        Err(error) => return refused(client, 0, Refusal::no_server(config, error)),
    };
    let Some(greeting) = Greeting::parse(&first[Header::SIZE..]) else {
        // Too many connections, a blocked host: the server says so and ends.
        if ErrPacket::parse(&first[Header::SIZE..]).is_some() {
            client.stream.write_all(&first).await?;
            return Err(Failure::LoginRefused);
        }
        return match is_plain {
            true => Ok(Introduction::Unread(unread(client, server, first, Vec::new(), Unread::NotUnderstood))),
            false => refused(client, 0, Refusal::bad_handshake("fqc-near does not understand the server's greeting")),
        };
    };
    let offers_tls = greeting.capabilities & capability::SSL != 0;
    if config.connector.is_some() && !offers_tls {
        return refused(
            client,
            0,
            Refusal::of_tls(format!("{} offers no TLS, which server-tls demands", config.server)),
        );
    }
    if !is_plain {
        let _ = Greeting::offer_tls(&mut first[Header::SIZE..], config.acceptor.is_some());
    }
    client.stream.write_all(&first).await?;
    client.stream.flush().await?;
    let mut hello = client.next().await?;
    let asks_for_tls = |packet: &[u8]| ClientHello::parse(&packet[Header::SIZE..]).map(|hello| hello.ssl_requested);
    let mut has_tls = false;
    if asks_for_tls(&hello) == Some(true) {
        let Some(acceptor) = &config.acceptor else {
            return match is_plain {
                true => Ok(Introduction::Unread(unread(client, server, Vec::new(), hello, Unread::EndToEndTls))),
                false => refused(client, 2, Refusal::bad_handshake("fqc-near does not offer TLS")),
            };
        };
        client = Packets::new(Box::new(acceptor.accept(client.stream).await?));
        hello = client.next().await?;
        has_tls = true;
    }
    let sequence = hello[3].wrapping_add(1);
    if config.is_tls_required && is_remote && !has_tls {
        let message = "Connections using insecure transport are prohibited by fqc-near (tls-required)";
        return refused(client, sequence, Refusal::new(TLS_REQUIRED, b"08004", message));
    }
    let parsed = ClientHello::parse(&hello[Header::SIZE..]).filter(|hello| !hello.ssl_requested);
    let Some(parsed) = parsed else {
        return match is_plain {
            true => Ok(Introduction::Unread(unread(client, server, Vec::new(), hello, Unread::NotUnderstood))),
            false => {
                refused(client, sequence, Refusal::bad_handshake("fqc-near does not understand the client's hello"))
            }
        };
    };
    if let Some(connector) = &config.connector {
        server = match begin_tls(server, connector, &hello[Header::SIZE..]).await {
            Ok(server) => server,
            Err(error) => {
                let message = format!("no TLS connection to {}: {error}", config.server);
                return refused(client, sequence, Refusal::of_tls(message));
            }
        };
    }
    let shift = u8::from(config.connector.is_some()).wrapping_sub(u8::from(has_tls));
    hello[3] = hello[3].wrapping_add(shift);
    if !is_plain {
        let _ = ClientHello::ask_tls(&mut hello[Header::SIZE..], config.connector.is_some());
    }
    server.stream.write_all(&hello).await?;
    server.stream.flush().await?;
    let in_force = greeting.capabilities & parsed.capabilities;
    Ok(Introduction::Understood(Introduced { client, server, shift, in_force }))
}

fn unread(client: Packets, server: Packets, to_client: Vec<u8>, to_server: Vec<u8>, why: Unread) -> Box<Legs> {
    let follower = Follower::unread(why);
    Box::new(Legs { client: client.stream, server: server.stream, follower, to_client, to_server })
}

async fn begin_tls(mut server: Packets, connector: &Connector, hello: &[u8]) -> io::Result<Packets> {
    let request = ClientHello::tls_request(hello).ok_or(io::ErrorKind::InvalidData)?;
    let mut packet = Vec::new();
    push_packet(&mut packet, &mut { 1 }, &request);
    server.stream.write_all(&packet).await?;
    let stream = connector.tls.connect(connector.name.clone(), server.stream).await?;
    Ok(Packets::new(Box::new(stream)))
}

/// Passes the exchange on until the server says how it has ended.
async fn authenticate(mut legs: Introduced) -> Result<Legs, Failure> {
    const OK: u8 = 0;
    const ERR: u8 = 0xff;
    loop {
        tokio::select! {
            packet = legs.client.next() => {
                let mut packet = packet?;
                packet[3] = packet[3].wrapping_add(legs.shift);
                legs.server.stream.write_all(&packet).await?;
                legs.server.stream.flush().await?;
            }
            packet = legs.server.next() => {
                let mut packet = packet?;
                packet[3] = packet[3].wrapping_sub(legs.shift);
                legs.client.stream.write_all(&packet).await?;
                legs.client.stream.flush().await?;
                match packet.get(Header::SIZE) {
                    Some(&OK) => break,
                    Some(&ERR) => return Err(Failure::LoginRefused),
                    _ => {}
                }
            }
        }
    }
    let is_compressed = legs.in_force & capability::COMPRESSED != 0;
    let follower = if is_compressed { Follower::unread(Unread::Compressed) } else { Follower::new(legs.in_force) };
    let (client, server) = (legs.client.stream, legs.server.stream);
    Ok(Legs { client, server, follower, to_client: Vec::new(), to_server: Vec::new() })
}
