//! Follows a connection from its greeting to the end of its login.

use wire::{Header, Pieces, capability};

/// The maximum length of a greeting packet in bytes. Those of servers are shorter.
const LONGEST_GREETING: usize = 1024;
/// The first byte of a server's greeting.
const PROTOCOL: u8 = 10;
/// The first byte of the packet that ends a login.
const OK: u8 = 0;

/// The connection cannot be followed: its protocol is another one, or encrypted, or compressed.
#[derive(Debug, PartialEq, Eq)]
pub struct Unfollowable;

/// A connection between its greeting and the end of its login.
#[derive(Default)]
pub struct Login {
    /// The bytes of the greeting so far.
    greeting: Vec<u8>,
    /// The hash ([`feed::check_of`]) of the greeting, once it is complete. It identifies the connection in the near cache's memory.
    token: Option<u64>,
    client: Pieces,
    server: Pieces,
    /// The first byte of the server's last packet.
    last: Option<u8>,
    /// True if the client has answered the greeting.
    has_client_hello: bool,
}

impl Login {
    /// Takes bytes of the server. After an error the connection cannot be followed.
    pub fn server_bytes(&mut self, mut bytes: &[u8]) -> Result<(), Unfollowable> {
        if self.token.is_none() {
            bytes = self.greet(bytes)?;
        }
        while let Some(piece) = self.server.next(&mut bytes) {
            if piece.begins.is_some() || self.last.is_none() {
                self.last = piece.bytes.first().copied();
            }
        }
        Ok(())
    }

    /// Takes bytes of the greeting, and returns those after it.
    fn greet<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], Unfollowable> {
        let before = self.greeting.len();
        self.greeting.extend_from_slice(&bytes[..bytes.len().min(LONGEST_GREETING - before)]);
        let Some(Header { length, sequence }) = Header::parse(&self.greeting) else { return Ok(&[]) };
        let payload = &self.greeting[Header::SIZE..];
        let is_greeting = sequence == 0 && payload.first().is_none_or(|first| *first == PROTOCOL);
        if !is_greeting || length == 0 || length + Header::SIZE > LONGEST_GREETING {
            return Err(Unfollowable);
        }
        let Some(payload) = payload.get(..length) else { return Ok(&[]) };
        self.token = Some(feed::check_of(payload));
        Ok(&bytes[length + Header::SIZE - before..])
    }

    /// Takes bytes that the client has sent. Returns the connection's token if they begin the first command, so that the login is over,
    /// and none before. After an error the connection cannot be followed.
    pub fn client_bytes(&mut self, mut bytes: &[u8]) -> Result<Option<u64>, Unfollowable> {
        let token = self.token.ok_or(Unfollowable)?;
        let header = bytes.first_chunk::<{ Header::SIZE }>();
        if self.client.is_between() && header.ok_or(Unfollowable)?[3] == 0 {
            let is_over = self.has_client_hello && self.server.is_between() && self.last == Some(OK);
            return if is_over { Ok(Some(token)) } else { Err(Unfollowable) };
        }
        while let Some(piece) = self.client.next(&mut bytes) {
            match piece.begins {
                Some(header) if header.sequence == 0 => return Err(Unfollowable),
                Some(_) if !self.has_client_hello => self.hello(piece.bytes)?,
                _ => {}
            }
        }
        Ok(None)
    }

    /// Takes the client's answer to the greeting. Fails if the client will use TLS or compression.
    fn hello(&mut self, payload: &[u8]) -> Result<(), Unfollowable> {
        self.has_client_hello = true;
        let flags = payload.first_chunk().map(|flags| u64::from(u32::from_le_bytes(*flags))).ok_or(Unfollowable)?;
        let is_plain = flags & (capability::SSL | capability::COMPRESSED) == 0;
        if is_plain { Ok(()) } else { Err(Unfollowable) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        wire::push_packet(&mut out, &mut { sequence }, payload);
        out
    }

    fn greeting() -> Vec<u8> {
        packet(0, b"\x0a11.4.8-MariaDB\0\x07\0\0\0scramble")
    }

    fn hello(flags: u64) -> Vec<u8> {
        packet(1, &[&(flags as u32).to_le_bytes()[..], b"user"].concat())
    }

    const COMMAND: &[u8] = b"\x09\0\0\0\x03SELECT 1";

    #[test]
    fn the_first_command_after_a_login_gives_the_token_however_the_server_s_bytes_are_cut() {
        for piece in 1..40 {
            let mut login = Login::default();
            greeting().chunks(piece).for_each(|bytes| assert_eq!(login.server_bytes(bytes), Ok(())));
            assert_eq!(login.client_bytes(&hello(capability::PROTOCOL_41)), Ok(None));
            packet(2, b"\xfemysql_native\0x")
                .chunks(piece)
                .for_each(|bytes| assert_eq!(login.server_bytes(bytes), Ok(())));
            assert_eq!(login.client_bytes(&packet(3, b"answer")), Ok(None));
            packet(4, b"\0\0\0\x02\0\0\0")
                .chunks(piece)
                .for_each(|bytes| assert_eq!(login.server_bytes(bytes), Ok(())));
            assert_eq!(login.client_bytes(COMMAND), Ok(Some(feed::check_of(&greeting()[Header::SIZE..]))));
        }
    }

    #[test]
    fn what_is_encrypted_compressed_or_sent_ahead_is_not_followed() {
        let greeted = || {
            let mut login = Login::default();
            assert_eq!(login.server_bytes(&greeting()), Ok(()));
            login
        };
        for flag in [capability::SSL, capability::COMPRESSED] {
            assert_eq!(greeted().client_bytes(&hello(flag)), Err(Unfollowable));
        }
        let mut login = greeted();
        assert_eq!(login.client_bytes(&hello(0)), Ok(None));
        assert_eq!(login.client_bytes(COMMAND), Err(Unfollowable), "the server has not answered");
        assert_eq!(greeted().client_bytes(&[hello(0), COMMAND.to_vec()].concat()), Err(Unfollowable));
        assert_eq!(Login::default().client_bytes(b"GET / HTTP/1.1\r\n"), Err(Unfollowable));
        assert_eq!(Login::default().server_bytes(b"HTTP/1.1 200 OK\r\n"), Err(Unfollowable));
    }
}
