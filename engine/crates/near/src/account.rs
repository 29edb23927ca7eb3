//! The program's own login, for the feed or the server's binary log. The logins of clients are passed on, and do not use this module.

use crate::server::Connector;
use crate::stream::{PacketReader, Stream};
use near_core::one_line::{LONGEST_LINE, one_line};
use ring::digest::{self, Algorithm, SHA1_FOR_LEGACY_USE_ONLY, SHA256};
use std::io;
use tokio::io::AsyncWriteExt;
use wire::{Challenge, ClientHello, ErrPacket, Greeting, Header, capability, push_packet};

const NATIVE: &[u8] = b"mysql_native_password";
const SHA2: &[u8] = b"caching_sha2_password";
/// The number of the collation `utf8mb4_general_ci`.
const CHARSET: u8 = 45;
/// The longest packet that this client accepts, as the handshake states it.
const LONGEST: u32 = 1 << 24;
const OK: u8 = 0;
const MORE: u8 = 1;
const SWITCH: u8 = 0xFE;
/// The byte after `MORE` that says that the server has accepted the proof of `caching_sha2_password`; the packet that ends the login
/// follows.
const IS_PROVED: u8 = 3;

/// An account of the database server that `fqc-near` itself logs in with, as opposed to the accounts of its clients. `password`: in clear
/// text; empty if the account has none.
#[derive(Clone, PartialEq, Eq)]
pub struct Account {
    pub user: String,
    pub password: String,
}

/// Logs in on a new connection to the server; nothing may have been read from it yet. Returns the connection, ready for the first command.
/// `connector`: TLS to the server, which is then required. `is_local`: the connection is a unix socket, so the password may be sent over it
/// without TLS.
pub async fn log_in(
    stream: Stream,
    account: &Account,
    connector: Option<&Connector>,
    is_local: bool,
) -> io::Result<PacketReader> {
    let mut server = PacketReader::new(stream);
    let first = server.next().await?;
    let payload = &first[Header::SIZE..];
    let greeting = Greeting::parse(payload).ok_or_else(|| server_error(payload))?;
    let mut challenge =
        Challenge::of_greeting(payload).ok_or_else(|| wrong("the server's greeting is not understood"))?;
    let mut hello = hello(account, &challenge)?;
    let mut sequence = 1;
    if let Some(connector) = connector {
        if greeting.capabilities & capability::SSL == 0 {
            return Err(wrong("the server offers no TLS, which server-tls demands"));
        }
        let request = ClientHello::tls_request(&hello).ok_or(io::ErrorKind::InvalidData)?;
        send(&mut server, &mut sequence, &request).await?;
        let stream = server.take_stream();
        server = PacketReader::new(Box::new(connector.tls.connect(connector.name.clone(), stream).await?));
        let _ = ClientHello::ask_tls(&mut hello, true);
    }
    send(&mut server, &mut sequence, &hello).await?;
    loop {
        let packet = server.next().await?;
        let payload = &packet[Header::SIZE..];
        sequence = packet[3].wrapping_add(1);
        match payload {
            [OK, ..] => return Ok(server),
            [SWITCH, ..] => {
                challenge = Challenge::of_switch(payload).ok_or_else(|| wrong("its way to log in is not known"))?;
                let proof = proof(account, &challenge)?;
                send(&mut server, &mut sequence, &proof).await?;
            }
            [MORE, IS_PROVED, ..] => {}
            [MORE, ..] if connector.is_some() || is_local => {
                send(&mut server, &mut sequence, &[account.password.as_bytes(), &[0]].concat()).await?;
            }
            [MORE, ..] => {
                return Err(wrong("the server wants the password itself: set server-tls, or use its unix socket"));
            }
            _ => return Err(server_error(payload)),
        }
    }
}

/// Sends one packet with this payload, and flushes the stream. `sequence`: the packet's number, which is set to that of the next packet.
async fn send(to: &mut PacketReader, sequence: &mut u8, payload: &[u8]) -> io::Result<()> {
    let mut packet = Vec::new();
    push_packet(&mut packet, sequence, payload);
    to.stream.write_all(&packet).await?;
    to.stream.flush().await
}

/// Makes an error of a message that may contain text from the server: line breaks become spaces, other control characters are removed, and
/// long texts are cut.
fn wrong(message: &str) -> io::Error {
    io::Error::other(one_line(message, LONGEST_LINE))
}

/// Makes an error of the payload of the server's error packet. If it is no error packet, the error says that the answer is not understood.
pub fn server_error(payload: &[u8]) -> io::Error {
    match ErrPacket::parse(payload) {
        Some(error) => wrong(&format!("error {}: {}", error.code, String::from_utf8_lossy(error.message))),
        None => wrong("the server's answer is not understood"),
    }
}

/// Builds the payload of the client's hello, with the account's name and, if the server's plugin is known, the proof of its password.
fn hello(account: &Account, challenge: &Challenge) -> io::Result<Vec<u8>> {
    let capabilities = capability::MYSQL
        | capability::PROTOCOL_41
        | capability::SECURE_CONNECTION
        | capability::PLUGIN_AUTH
        | capability::DEPRECATE_EOF;
    // If the server's default plugin is unknown, another one is named, and the server will ask to switch.
    let is_known = challenge.plugin == NATIVE || challenge.plugin == SHA2;
    let plugin = if is_known { &challenge.plugin[..] } else { NATIVE };
    let proof = if is_known { proof(account, challenge)? } else { Vec::new() };
    let mut out = (capabilities as u32).to_le_bytes().to_vec();
    out.extend(LONGEST.to_le_bytes());
    out.push(CHARSET);
    out.extend([0; 23]);
    out.extend([account.user.as_bytes(), &[0]].concat());
    out.push(proof.len() as u8);
    out.extend(proof);
    out.extend([plugin, &[0]].concat());
    Ok(out)
}

/// Returns the proof of the account's password for the plugin and the scramble in `challenge`; empty for an empty password. An error if the
/// plugin is not supported.
fn proof(account: &Account, challenge: &Challenge) -> io::Result<Vec<u8>> {
    let password = account.password.as_bytes();
    match &challenge.plugin[..] {
        NATIVE | SHA2 if password.is_empty() => Ok(Vec::new()),
        NATIVE => Ok(native(password, &challenge.scramble)),
        SHA2 => Ok(sha2(password, &challenge.scramble)),
        other => {
            let plugin = String::from_utf8_lossy(other);
            Err(wrong(&format!(
                "{} logs in by {plugin}; give it mysql_native_password or caching_sha2_password",
                account.user
            )))
        }
    }
}

/// Returns the proof of `mysql_native_password`: SHA1(password) xor SHA1(scramble + SHA1(SHA1(password))).
fn native(password: &[u8], scramble: &[u8]) -> Vec<u8> {
    let once = hash(&SHA1_FOR_LEGACY_USE_ONLY, &[password]);
    let twice = hash(&SHA1_FOR_LEGACY_USE_ONLY, &[&once]);
    mixed(&once, &hash(&SHA1_FOR_LEGACY_USE_ONLY, &[scramble, &twice]))
}

/// Returns the proof of `caching_sha2_password`: SHA256(password) xor SHA256(SHA256(SHA256(password)) + scramble).
fn sha2(password: &[u8], scramble: &[u8]) -> Vec<u8> {
    let once = hash(&SHA256, &[password]);
    let twice = hash(&SHA256, &[&once]);
    mixed(&once, &hash(&SHA256, &[&twice, scramble]))
}

/// Returns the hash of all parts, one after the other.
fn hash(algorithm: &'static Algorithm, parts: &[&[u8]]) -> Vec<u8> {
    digest::digest(algorithm, &parts.concat()).as_ref().to_vec()
}

/// Returns the bitwise xor of two hashes of equal length.
fn mixed(left: &[u8], right: &[u8]) -> Vec<u8> {
    left.iter().zip(right).map(|(left, right)| left ^ right).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_in_an_error_is_one_line_of_text() {
        let payload = [b"\xff\x15\x04#28000".as_slice(), b"no\nnext \x1b[2Jline ", &[b'x'; 5000]].concat();
        let said = server_error(&payload).to_string();
        assert!(said.starts_with("error 1045: no next [2Jline x"), "{said}");
        assert_eq!(said.len(), LONGEST_LINE);
        let switched = Challenge { plugin: b"odd\n\x1b[2J".to_vec(), scramble: Vec::new() };
        let account = Account { user: "near".into(), password: "secret".into() };
        let said = proof(&account, &switched).expect_err("nobody knows it").to_string();
        assert!(said.starts_with("near logs in by odd [2J; give it"), "{said}");
    }
}
