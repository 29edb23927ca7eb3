//! Logs in with `mysql_native_password` or `caching_sha2_password`, at the start of a connection and for `COM_CHANGE_USER`.

use std::io;

use sha1::{Digest, Sha1};
use sha2::Sha256;

use super::decode::Cursor;
use super::packets::Packets;
use super::response::{self, Response};
use super::{Client, capability, command};

const NATIVE: &str = "mysql_native_password";
const SHA2: &str = "caching_sha2_password";
/// The status byte of `caching_sha2_password` that says: the server has cached the password's digest, and asks for nothing more.
const IS_KNOWN: u8 = 3;
/// The capability "long password" of MySQL. A server that uses MariaDB's extended capability bits does not set it.
const MARIADB: u64 = capability::LONG_PASSWORD;

/// The account that connects, and what the client asks for. The default is root without a password and without a current database.
#[derive(Clone, Debug)]
pub struct Login {
    pub user: String,
    pub password: String,
    pub database: Option<String>,
    /// Wanted capabilities, bits of [`capability`]. Those that the server does not offer are dropped.
    pub capabilities: u64,
    /// Capability bits that are sent although the server may not offer them, as some clients do.
    pub insists_on: u64,
    /// Collation id of the handshake; 45 is utf8mb4_general_ci.
    pub collation: u8,
}

impl Default for Login {
    fn default() -> Self {
        Self {
            user: "root".into(),
            password: String::new(),
            database: None,
            capabilities: capability::BASE | capability::DEPRECATE_EOF,
            insists_on: 0,
            collation: 45,
        }
    }
}

impl Login {
    /// The login of an account, with the other fields as in the default.
    pub fn user(user: &str, password: &str) -> Self {
        Self { user: user.into(), password: password.into(), ..Self::default() }
    }

    /// The wanted capabilities, with the bit for a database set exactly if there is one.
    fn wire_capabilities(&self) -> u64 {
        match self.database {
            Some(_) => self.capabilities | capability::CONNECT_WITH_DB,
            None => self.capabilities & !capability::CONNECT_WITH_DB,
        }
    }
}

struct Greeting {
    server_version: String,
    thread_id: u32,
    scramble: Vec<u8>,
    capabilities: u64,
    plugin: &'static str,
}

/// Logs in on a fresh connection. Fails with `ConnectionRefused` if the server sends an error instead of its greeting, and with
/// `PermissionDenied` if it refuses the login.
pub fn perform(mut packets: Packets, login: &Login) -> io::Result<Client> {
    let mut raw = Vec::new();
    let (range, _) = packets.read_into(&mut raw)?;
    if raw[range.start] == 0xff {
        return Err(refused(&raw[range]));
    }
    let greeting = greeting(&raw[range.clone()]);
    let mut client = Client {
        packets,
        capabilities: agreed(login, greeting.capabilities),
        thread_id: greeting.thread_id,
        server_version: greeting.server_version,
        greeting: raw[range.clone()].to_vec(),
        scramble: greeting.scramble,
        plugin: greeting.plugin,
        local_file: Vec::new(),
    };
    let answer = answer(&client, login);
    client.packets.write_payload(&answer)?;
    match finish(&mut client, login)?.failure() {
        Some(failure) => Err(io::Error::new(io::ErrorKind::PermissionDenied, failure.to_string())),
        None => Ok(client),
    }
}

/// Sends `COM_CHANGE_USER`, and authenticates. Uses the login's account, database and collation; its capabilities are ignored.
pub fn change_user(client: &mut Client, login: &Login) -> io::Result<Response> {
    let mut body = Vec::new();
    zero_ended(&mut body, login.user.as_bytes());
    let token = token(client.plugin, &login.password, &client.scramble);
    body.push(token.len() as u8);
    body.extend(token);
    zero_ended(&mut body, login.database.as_deref().unwrap_or("").as_bytes());
    body.extend(u16::from(login.collation).to_le_bytes());
    zero_ended(&mut body, client.plugin.as_bytes());
    client.send(command::CHANGE_USER, &body)?;
    finish(client, login)
}

/// Reads up to the OK or error that ends an authentication. Answers the server's requests for another plugin, another scramble or the
/// password itself. The response holds only the last packet.
fn finish(client: &mut Client, login: &Login) -> io::Result<Response> {
    let mut raw = Vec::new();
    loop {
        let (range, _) = client.packets.read_into(&mut raw)?;
        let payload = &raw[range];
        let part = match payload.first() {
            Some(0x00) => response::Part::Ok(response::ok(payload)),
            Some(0xfe) => {
                let mut cursor = Cursor::new(&payload[1..]);
                client.plugin = known(cursor.zero_ended());
                client.scramble = cursor.zero_ended().to_vec();
                client.packets.write_payload(&token(client.plugin, &login.password, &client.scramble))?;
                // The scramble is random, so it is no part of the compared bytes.
                raw.clear();
                continue;
            }
            Some(0x01) => {
                if payload.get(1) != Some(&IS_KNOWN) {
                    // Sends the password in clear text. The server accepts that only through a unix socket, and caches a hash of it for
                    // later logins.
                    client.packets.write_payload(&[login.password.as_bytes(), &[0]].concat())?;
                }
                raw.clear();
                continue;
            }
            _ => response::Part::Err(response::failure(payload)),
        };
        return Ok(Response { bytes: raw, parts: vec![part], ..Response::default() });
    }
}

fn greeting(payload: &[u8]) -> Greeting {
    let mut cursor = Cursor::new(&payload[1..]);
    let server_version = String::from_utf8_lossy(cursor.zero_ended()).into_owned();
    let thread_id = cursor.int(4) as u32;
    let mut scramble = cursor.bytes(8).to_vec();
    cursor.bytes(1);
    let low = cursor.int(2);
    cursor.bytes(1 + 2);
    let high = cursor.int(2);
    cursor.bytes(1 + 6);
    let extended = cursor.int(4);
    scramble.extend(cursor.zero_ended());
    let extended = if low & MARIADB == 0 { extended << 32 } else { 0 };
    let plugin = known(cursor.zero_ended());
    Greeting { server_version, thread_id, scramble, capabilities: low | high << 16 | extended, plugin }
}

fn known(plugin: &[u8]) -> &'static str {
    if plugin == SHA2.as_bytes() { SHA2 } else { NATIVE }
}

fn agreed(login: &Login, offered: u64) -> u64 {
    let wanted = login.wire_capabilities();
    match offered & MARIADB {
        0 => wanted & offered & !MARIADB | wanted & capability::CONNECT_WITH_DB,
        _ => wanted & offered,
    }
}

fn answer(client: &Client, login: &Login) -> Vec<u8> {
    let mut body = Vec::new();
    let capabilities = client.capabilities | login.insists_on;
    body.extend((capabilities as u32).to_le_bytes());
    body.extend((1u32 << 30).to_le_bytes());
    body.push(login.collation);
    body.extend([0; 19]);
    body.extend(((capabilities >> 32) as u32).to_le_bytes());
    zero_ended(&mut body, login.user.as_bytes());
    let token = token(client.plugin, &login.password, &client.scramble);
    body.push(token.len() as u8);
    body.extend(token);
    if let Some(database) = &login.database {
        zero_ended(&mut body, database.as_bytes());
    }
    zero_ended(&mut body, client.plugin.as_bytes());
    body
}

/// The authentication data for this plugin, password and the server's scramble. Empty for an empty password.
fn token(plugin: &str, password: &str, scramble: &[u8]) -> Vec<u8> {
    match (password, plugin) {
        ("", _) => Vec::new(),
        (_, SHA2) => sha2_token(password, scramble),
        _ => native_token(password, scramble),
    }
}

/// SHA256(password) xor SHA256(SHA256(SHA256(password)) + scramble).
fn sha2_token(password: &str, scramble: &[u8]) -> Vec<u8> {
    let once = Sha256::digest(password);
    let mixed = Sha256::new().chain_update(Sha256::digest(once)).chain_update(scramble).finalize();
    once.iter().zip(mixed).map(|(left, right)| left ^ right).collect()
}

/// SHA1(password) xor SHA1(scramble + SHA1(SHA1(password))).
fn native_token(password: &str, scramble: &[u8]) -> Vec<u8> {
    let once = Sha1::digest(password);
    let twice = Sha1::digest(once);
    let mixed = Sha1::new().chain_update(scramble).chain_update(twice).finalize();
    once.iter().zip(mixed).map(|(left, right)| left ^ right).collect()
}

fn zero_ended(out: &mut Vec<u8>, text: &[u8]) {
    out.extend_from_slice(text);
    out.push(0);
}

fn refused(payload: &[u8]) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionRefused, response::failure(payload).to_string())
}
