//! The greeting: the first packet of a connection, which the server sends.

use crate::capability;
use crate::lenenc::Reader;

/// The first packet of a connection, with which the server introduces itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// The server's version, such as `8.4.3` or `11.4.2-MariaDB`.
    pub version: Vec<u8>,
    pub connection_id: u32,
    /// The capabilities that the server offers; MariaDB's own are in the upper 32 bits.
    pub capabilities: u64,
    /// The number of the server's default collation.
    pub charset: u8,
    /// Status flags, see [`status`](crate::status).
    pub status: u16,
}

impl Greeting {
    /// Reads the payload of the first packet. `None` if it is no greeting of protocol 10, such as an error ("too many connections"), or is
    /// malformed.
    pub fn parse(payload: &[u8]) -> Option<Greeting> {
        let mut reader = Reader::new(payload);
        if reader.u8()? != 10 {
            return None;
        }
        let version = reader.nul_terminated()?.to_vec();
        let connection_id = reader.u32()?;
        reader.take(8 + 1)?; // scramble, filler
        let low = u64::from(reader.u16()?);
        let charset = reader.u8()?;
        let status = reader.u16()?;
        let high = u64::from(reader.u16()?);
        reader.take(1 + 6)?; // length of the scramble, filler
        let extended = u64::from(reader.u32()?);
        let capabilities = low | high << 16 | extended_bits(low, extended);
        Some(Greeting { version, connection_id, capabilities, charset, status })
    }
}

impl Greeting {
    /// Changes whether a greeting offers TLS, by its capability flag. `None`, and nothing is changed, if the payload is too short.
    pub fn offer_tls(payload: &mut [u8], is_offered: bool) -> Option<()> {
        let version = payload.get(1..)?.iter().position(|&byte| byte == 0)?;
        let capabilities = payload.get_mut(1 + version + 1 + 4 + 8 + 1..)?;
        capability::set_tls(capabilities.first_chunk_mut()?, is_offered);
        Some(())
    }
}

impl Greeting {
    /// Removes one of MariaDB's own capabilities (in the upper 32 bits of `extension`) from the payload of a greeting. None, and nothing is
    /// changed, if the greeting does not offer it or is malformed.
    pub fn withhold(payload: &mut [u8], extension: u64) -> Option<()> {
        const TO_EXTENDED: usize = 4 + 8 + 1 + 2 + 1 + 2 + 2 + 1 + 6;
        Greeting::parse(payload).filter(|greeting| greeting.capabilities & extension != 0)?;
        let version = payload.get(1..)?.iter().position(|&byte| byte == 0)?;
        let bytes: &mut [u8; 4] = payload.get_mut(1 + version + 1 + TO_EXTENDED..)?.first_chunk_mut()?;
        *bytes = (u32::from_le_bytes(*bytes) & !((extension >> 32) as u32)).to_le_bytes();
        Some(())
    }
}

/// Returns MariaDB's own capabilities, shifted to the upper 32 bits, from the field `extended` of a greeting or a hello. They are 0 if the
/// sender sets the MYSQL bit in `low`, the lower capabilities: then the field has another meaning.
pub(crate) fn extended_bits(low: u64, extended: u64) -> u64 {
    if low & capability::MYSQL == 0 { extended << 32 } else { 0 }
}

/// The server's request to authenticate, in its greeting or in a switch request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// Random bytes that the client's answer has to contain or be computed from.
    pub scramble: Vec<u8>,
    /// The authentication plugin that the client has to use.
    pub plugin: Vec<u8>,
}

impl Challenge {
    /// Reads the payload of a greeting. None if it is malformed.
    pub fn of_greeting(payload: &[u8]) -> Option<Challenge> {
        let mut reader = Reader::new(payload);
        reader.u8()?;
        reader.nul_terminated()?;
        reader.u32()?;
        let first = reader.take(8)?;
        reader.take(1 + 2 + 1 + 2 + 2 + 1 + 10)?;
        let second = reader.nul_terminated()?;
        let plugin = reader.until_nul_or_end()?;
        Some(Challenge { scramble: [first, second].concat(), plugin: plugin.to_vec() })
    }

    /// Reads the payload of a switch request, in which the server asks for another authentication plugin than in its greeting. None if it
    /// is another packet or malformed.
    pub fn of_switch(payload: &[u8]) -> Option<Challenge> {
        let mut reader = Reader::new(payload);
        reader.u8().filter(|kind| *kind == 0xFE)?;
        let plugin = reader.nul_terminated()?.to_vec();
        let scramble = reader.until_nul_or_end()?;
        Some(Challenge { scramble: scramble.to_vec(), plugin })
    }
}
