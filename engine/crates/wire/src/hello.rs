//! The client's answer to the greeting: a request for TLS, or its account and its capabilities.

use crate::capability::{self, CONNECT_WITH_DB, PLUGIN_AUTH_LENENC, PROTOCOL_41, SECURE_CONNECTION, SSL};
use crate::greeting::extended_bits;
use crate::lenenc::Reader;

/// The client's answer to the greeting: its capabilities and its account, or only a request for TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientHello {
    /// The capabilities that the client sent. Only those that the server offers, too, are in force.
    pub capabilities: u64,
    /// The length of the longest packet that the client accepts, in bytes.
    pub max_packet: u32,
    /// The number of the client's collation.
    pub charset: u16,
    /// Empty if the packet only requests TLS.
    pub user: Vec<u8>,
    /// The default database; none if the client names none.
    pub database: Option<Vec<u8>>,
    /// True if the packet only requests TLS. The full hello follows inside TLS.
    pub ssl_requested: bool,
    /// True if the client can compress packets.
    pub compress: bool,
}

/// The length of the fixed part of a hello, which is also the length of a request for TLS.
const FIXED: usize = 32;

impl ClientHello {
    /// Reads the payload of the client's first packet. `None` if it is malformed or of the protocol before MySQL 4.1.
    pub fn parse(payload: &[u8]) -> Option<ClientHello> {
        let mut reader = Reader::new(payload);
        let low = u64::from(reader.u32()?);
        let max_packet = reader.u32()?;
        let charset = u16::from(reader.u8()?);
        reader.take(19)?;
        let extended = u64::from(reader.u32()?);
        if low & PROTOCOL_41 == 0 {
            return None;
        }
        let mut hello = ClientHello {
            capabilities: low | extended_bits(low, extended),
            max_packet,
            charset,
            user: Vec::new(),
            database: None,
            ssl_requested: low & SSL != 0 && payload.len() == FIXED,
            compress: low & capability::COMPRESSED != 0,
        };
        if !hello.ssl_requested {
            hello.read_identity(&mut reader)?;
        }
        Some(hello)
    }

    /// Returns the payload of the request for TLS that a client sends before a hello with this payload. None if the hello is too short.
    pub fn tls_request(payload: &[u8]) -> Option<Vec<u8>> {
        let mut request = payload.get(..FIXED)?.to_vec();
        Self::ask_tls(&mut request, true)?;
        Some(request)
    }

    /// Changes whether a hello asks for TLS, by its capability flag. None, and nothing is changed, if the payload is too short.
    pub fn ask_tls(payload: &mut [u8], is_asked: bool) -> Option<()> {
        capability::set_tls(payload.first_chunk_mut()?, is_asked);
        Some(())
    }

    fn read_identity(&mut self, reader: &mut Reader) -> Option<()> {
        self.user = reader.nul_terminated()?.to_vec();
        skip_proof(reader, self.capabilities)?;
        if self.capabilities & CONNECT_WITH_DB != 0 && !reader.is_empty() {
            self.database = Some(reader.until_nul_or_end()?.to_vec()).filter(|name| !name.is_empty());
        }
        Some(())
    }
}

/// Skips the authentication data of a hello, which has three encodings; the agreed `capabilities` say which. None if bytes are missing.
pub(crate) fn skip_proof(reader: &mut Reader, capabilities: u64) -> Option<()> {
    if capabilities & PLUGIN_AUTH_LENENC != 0 {
        reader.string()?;
    } else if capabilities & SECURE_CONNECTION != 0 {
        let length = reader.u8()?;
        reader.take(usize::from(length))?;
    } else {
        reader.until_nul_or_end()?;
    }
    Some(())
}
