//! The login of a client, from the server's greeting to the server's answer.
//!
//! The client and the server authenticate with each other, so that every authentication plugin works, and no password is kept here. A leg
//! is the connection to the client or the one to the server. If only one of them has TLS, three things differ between them: whether TLS is
//! offered, whether it is requested, and the packets' sequence numbers, since the request for TLS is a packet. If reads are answered from
//! memory, MariaDB's capability of caching column metadata in the client is not offered: a result is the same for all clients only if it
//! contains the metadata.

use crate::config::Config;
use crate::server::Connector;
use crate::stream::{PacketReader, Stream};
use near_core::follow::{Follower, UnreadReason};
use near_core::login_facts::LoginFacts;
use std::io;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;
use wire::{ClientHello, ErrPacket, Greeting, Header, OkPacket, capability, push_packet};

/// The connections to the client and to the server after the login, or from the point where the login is passed on without being read.
pub struct LoggedIn {
    pub client: Stream,
    pub server: Stream,
    /// Follows the commands and answers on the connection. Its `why_unread` is the reason if they cannot be read.
    pub follower: Follower,
    /// The facts about the connection from its login, such as its number and capabilities. They have default values if the login was not
    /// read.
    pub login_facts: LoginFacts,
    /// Bytes that were received from the server already, and that the client must get before anything else.
    pub to_client: Vec<u8>,
    /// Bytes that were received from the client already, and that the server must get before anything else.
    pub to_server: Vec<u8>,
}

/// The reason why a client has not logged in. `Lost`: a connection broke, the handshake took too long, or TLS with the client failed;
/// nothing can be sent to the client any more.
pub enum LoginFailure {
    /// An error that the caller must send to the client, with this sequence number, before closing the connection.
    Refused {
        client: Stream,
        sequence: u8,
        error: Refusal,
    },
    /// The server has refused the login, and its error was passed on to the client. Nothing is left to send.
    LoginRefused,
    Lost(io::Error),
}

/// An error that `fqc-near` itself sends to a client, in the form of a server's error.
pub struct Refusal {
    /// The error code, as a MySQL server would send it.
    pub code: u16,
    /// The SQLSTATE that goes with the error code.
    pub state: &'static [u8; 5],
    pub message: String,
}

/// Error codes of MySQL servers, which clients know how to handle. A code from the clients' own range, such as 2003, would not do: a client
/// that receives one reports a malformed packet instead of the error.
pub const TOO_MANY_CONNECTIONS: u16 = 1040;
const NO_SERVER: u16 = 1042;
const BAD_HANDSHAKE: u16 = 1043;
const TLS_REQUIRED: u16 = 3159;

impl Refusal {
    pub fn new(code: u16, state: &'static [u8; 5], message: impl Into<String>) -> Refusal {
        Refusal { code, state, message: message.into() }
    }

    /// Returns the refusal of a client for whom no connection to the server could be made.
    pub fn no_server(config: &Config, error: io::Error) -> Refusal {
        Refusal::new(NO_SERVER, b"08S01", format!("fqc-near cannot connect to {}: {error}", config.server))
    }

    /// Returns the refusal of a client because TLS with the server failed.
    fn of_tls(message: impl Into<String>) -> Refusal {
        Refusal::new(BAD_HANDSHAKE, b"08S01", message)
    }

    /// Returns the error packet to send to the client, with its header. `sequence`: the packet's number, one more than that of the packet
    /// before.
    pub fn packet(&self, sequence: u8) -> Vec<u8> {
        ErrPacket::build(sequence, self.code, self.state, &self.message)
    }
}

impl From<io::Error> for LoginFailure {
    fn from(error: io::Error) -> LoginFailure {
        LoginFailure::Lost(error)
    }
}

/// The connections to the client and to the server until the authentication begins: the server's greeting and the client's hello are
/// exchanged.
struct GreetingExchange<'a> {
    client: PacketReader,
    server: PacketReader,
    config: &'a Config,
    /// True once the client has done the TLS handshake.
    has_client_tls: bool,
    login_facts: LoginFacts,
}

/// The reason why the greeting exchange ends before the authentication.
enum GreetingExchangeEnd {
    /// An error of this program is to be sent to the client, with this sequence number.
    Refused(u8, Refusal),
    /// The connection is passed on without being read: first these bytes, then all further ones.
    Unread {
        to_client: Vec<u8>,
        to_server: Vec<u8>,
        why: UnreadReason,
    },
    /// The server has refused the connection, and the client was sent its error.
    LoginRefused,
    Lost(io::Error),
}

impl From<io::Error> for GreetingExchangeEnd {
    fn from(error: io::Error) -> GreetingExchangeEnd {
        GreetingExchangeEnd::Lost(error)
    }
}

/// Passes the login of a client on until the server has accepted it. If the login cannot be read, for example because client and server use
/// TLS with each other, it returns early, and [`Follower::why_unread`] says why. `is_remote`: the client has come by TCP, so `tls-required`
/// applies. `server`: a new connection that nothing was read from.
pub async fn login(client: Stream, is_remote: bool, server: Stream, config: &Config) -> Result<LoggedIn, LoginFailure> {
    let (client, server) = (PacketReader::new(client), PacketReader::new(server));
    let mut exchange =
        GreetingExchange { client, server, config, has_client_tls: false, login_facts: LoginFacts::default() };
    let introduced =
        timeout(config.connect_timeout, exchange.exchange_greetings(is_remote)).await.map_err(io::Error::from)?;
    match introduced {
        Ok(()) => exchange.authenticate().await,
        Err(GreetingExchangeEnd::Refused(sequence, error)) => {
            Err(LoginFailure::Refused { client: exchange.client.stream, sequence, error })
        }
        Err(GreetingExchangeEnd::Unread { to_client, to_server, why }) => {
            let (client, server) = (exchange.client.stream, exchange.server.stream);
            Ok(LoggedIn {
                client,
                server,
                follower: Follower::unread(why),
                login_facts: LoginFacts::default(),
                to_client,
                to_server,
            })
        }
        Err(GreetingExchangeEnd::LoginRefused) => Err(LoginFailure::LoginRefused),
        Err(GreetingExchangeEnd::Lost(error)) => Err(LoginFailure::Lost(error)),
    }
}

impl GreetingExchange<'_> {
    /// Exchanges the server's greeting and the client's hello, with TLS on either side as configured. `is_remote`: the client has come by
    /// TCP. After an `Err` there is nothing to authenticate; it says what is left to do with the connection.
    async fn exchange_greetings(&mut self, is_remote: bool) -> Result<(), GreetingExchangeEnd> {
        let greeting = self.greet().await?;
        let mut hello = self.hello().await?;
        let sequence = hello[3].wrapping_add(1);
        if self.config.is_tls_required && is_remote && !self.has_client_tls {
            let message = "Connections using insecure transport are prohibited by fqc-near (tls-required)";
            return Err(GreetingExchangeEnd::Refused(sequence, Refusal::new(TLS_REQUIRED, b"08004", message)));
        }
        let parsed = ClientHello::parse(&hello[Header::SIZE..]).filter(|hello| !hello.ssl_requested);
        let Some(parsed) = parsed else {
            let message = "fqc-near does not understand the client's hello";
            return Err(self.not_understood(Vec::new(), hello, sequence, message));
        };
        if let Some(connector) = &self.config.connector {
            let begun = self.begin_tls(connector, &hello[Header::SIZE..]).await;
            let refusal = |error| Refusal::of_tls(format!("no TLS connection to {}: {error}", self.config.server));
            begun.map_err(|error| GreetingExchangeEnd::Refused(sequence, refusal(error)))?;
        }
        hello[3] = hello[3].wrapping_add(self.shift());
        if !self.is_plain() {
            let _ = ClientHello::ask_tls(&mut hello[Header::SIZE..], self.config.connector.is_some());
        }
        send(&mut self.server, &hello).await?;
        self.login_facts.capabilities = greeting.capabilities & parsed.capabilities;
        self.login_facts.collation = parsed.charset;
        Ok(())
    }

    /// Returns true if TLS is configured neither to clients nor to the server. Then the handshake is passed on without changes to TLS or
    /// sequence numbers.
    fn is_plain(&self) -> bool {
        self.config.acceptor.is_none() && self.config.connector.is_none()
    }

    /// Returns what to add to the sequence number of a client's packet for the server, and to subtract in the other direction (modulo 256).
    fn shift(&self) -> u8 {
        u8::from(self.config.connector.is_some()).wrapping_sub(u8::from(self.has_client_tls))
    }

    /// Returns how to go on after a packet that is not understood: the connection is passed on unread, or refused with `message` if TLS or
    /// sequence numbers would have to be changed. `to_client` and `to_server`: the bytes read that are still to be passed on.
    fn not_understood(
        &self,
        to_client: Vec<u8>,
        to_server: Vec<u8>,
        sequence: u8,
        message: &str,
    ) -> GreetingExchangeEnd {
        match self.is_plain() {
            true => GreetingExchangeEnd::Unread { to_client, to_server, why: UnreadReason::NotUnderstood },
            false => GreetingExchangeEnd::Refused(sequence, Refusal::new(BAD_HANDSHAKE, b"08S01", message)),
        }
    }

    /// Passes the server's greeting to the client, with the offer of TLS changed as configured. Returns the greeting as the server sent it.
    /// `Err` if the server cannot be reached, has refused the connection, or sends a greeting that cannot be read.
    async fn greet(&mut self) -> Result<Greeting, GreetingExchangeEnd> {
        let first = self.server.next().await;
        let mut first =
            first.map_err(|error| GreetingExchangeEnd::Refused(0, Refusal::no_server(self.config, error)))?;
        let Some(greeting) = Greeting::parse(&first[Header::SIZE..]) else {
            // The server refuses the connection, for example because it has too many or has blocked this host.
            if ErrPacket::parse(&first[Header::SIZE..]).is_some() {
                send(&mut self.client, &first).await?;
                return Err(GreetingExchangeEnd::LoginRefused);
            }
            let message = "fqc-near does not understand the server's greeting";
            return Err(self.not_understood(first, Vec::new(), 0, message));
        };
        let check = feed::check_of(&first[Header::SIZE..]);
        (self.login_facts.number, self.login_facts.greeting) = (greeting.connection_id, check);
        self.login_facts.version = greeting.version.clone();
        if self.config.connector.is_some() && greeting.capabilities & capability::SSL == 0 {
            let message = format!("{} offers no TLS, which server-tls demands", self.config.server);
            return Err(GreetingExchangeEnd::Refused(0, Refusal::of_tls(message)));
        }
        if !self.is_plain() {
            let _ = Greeting::offer_tls(&mut first[Header::SIZE..], self.config.acceptor.is_some());
        }
        if self.config.can_answer() {
            let _ = Greeting::withhold(&mut first[Header::SIZE..], capability::MARIADB_CACHE_METADATA);
        }
        self.login_facts.shown_greeting = Some(feed::check_of(&first[Header::SIZE..]));
        send(&mut self.client, &first).await?;
        Ok(greeting)
    }

    /// Returns the packet with the client's hello. If the client asks for TLS, the handshake is done first, and the hello is the one inside
    /// TLS. The error says how the connection ends, or goes on without being read.
    async fn hello(&mut self) -> Result<Vec<u8>, GreetingExchangeEnd> {
        let hello = self.client.next().await?;
        if !ClientHello::parse(&hello[Header::SIZE..]).is_some_and(|hello| hello.ssl_requested) {
            return Ok(hello);
        }
        let Some(acceptor) = &self.config.acceptor else {
            return Err(match self.is_plain() {
                true => GreetingExchangeEnd::Unread {
                    to_client: Vec::new(),
                    to_server: hello,
                    why: UnreadReason::EndToEndTls,
                },
                false => GreetingExchangeEnd::Refused(
                    2,
                    Refusal::new(BAD_HANDSHAKE, b"08S01", "fqc-near does not offer TLS"),
                ),
            });
        };
        let stream = self.client.take_stream();
        self.client = PacketReader::new(Box::new(acceptor.accept(stream).await?));
        (self.has_client_tls, self.login_facts.shown_greeting) = (true, None);
        Ok(self.client.next().await?)
    }

    /// Does the TLS handshake with the server. `hello`: the payload of the client's hello, which the request for TLS resembles.
    async fn begin_tls(&mut self, connector: &Connector, hello: &[u8]) -> io::Result<()> {
        let request = ClientHello::tls_request(hello).ok_or(io::ErrorKind::InvalidData)?;
        let mut packet = Vec::new();
        push_packet(&mut packet, &mut { 1 }, &request);
        send(&mut self.server, &packet).await?;
        let stream = self.server.take_stream();
        self.server = PacketReader::new(Box::new(connector.tls.connect(connector.name.clone(), stream).await?));
        Ok(())
    }

    /// Passes the authentication on, in both directions, until the server reports its outcome; `Err` if the server refuses the login or a
    /// connection breaks. No time limit of this program applies to it.
    async fn authenticate(mut self) -> Result<LoggedIn, LoginFailure> {
        const OK: u8 = 0;
        const ERR: u8 = 0xff;
        let shift = self.shift();
        let in_force = self.login_facts.capabilities;
        let flags = loop {
            tokio::select! {
                packet = self.client.next() => {
                    let mut packet = packet?;
                    packet[3] = packet[3].wrapping_add(shift);
                    send(&mut self.server, &packet).await?;
                }
                packet = self.server.next() => {
                    let mut packet = packet?;
                    packet[3] = packet[3].wrapping_sub(shift);
                    send(&mut self.client, &packet).await?;
                    match packet.get(Header::SIZE) {
                        Some(&OK) => break OkPacket::parse(&packet[Header::SIZE..], in_force).map_or(0, |ok| ok.status),
                        Some(&ERR) => return Err(LoginFailure::LoginRefused),
                        _ => {}
                    }
                }
            }
        };
        let is_compressed = in_force & capability::COMPRESSED != 0;
        let mut follower =
            if is_compressed { Follower::unread(UnreadReason::Compressed) } else { Follower::new(in_force) };
        follower.set_login_flags(flags);
        let (client, server) = (self.client.stream, self.server.stream);
        Ok(LoggedIn {
            client,
            server,
            follower,
            login_facts: self.login_facts,
            to_client: Vec::new(),
            to_server: Vec::new(),
        })
    }
}

/// Sends a packet, which includes its header, and flushes the stream.
async fn send(to: &mut PacketReader, packet: &[u8]) -> io::Result<()> {
    to.stream.write_all(packet).await?;
    to.stream.flush().await
}
