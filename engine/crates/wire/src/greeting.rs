//! The greeting: the first packet of a connection, which the server sends.

use crate::capability;
use crate::lenenc::Reader;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    pub version: Vec<u8>,
    pub connection_id: u32,
    pub capabilities: u64,
    pub charset: u8,
    pub status: u16,
}

impl Greeting {
    /// Reads the payload. `None` for an error packet ("too many connections") and for other protocols.
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
    /// Sets or clears the flag in the payload of a greeting that offers TLS.
    pub fn offer_tls(payload: &mut [u8], is_offered: bool) -> Option<()> {
        let version = payload.get(1..)?.iter().position(|&byte| byte == 0)?;
        let capabilities = payload.get_mut(1 + version + 1 + 4 + 8 + 1..)?;
        capability::set_tls(capabilities.first_chunk_mut()?, is_offered);
        Some(())
    }
}

impl Greeting {
    /// Removes one of MariaDB's own capabilities from the payload of a greeting. None if it is not offered there.
    pub fn withhold(payload: &mut [u8], extension: u64) -> Option<()> {
        const TO_EXTENDED: usize = 4 + 8 + 1 + 2 + 1 + 2 + 2 + 1 + 6;
        Greeting::parse(payload).filter(|greeting| greeting.capabilities & extension != 0)?;
        let version = payload.get(1..)?.iter().position(|&byte| byte == 0)?;
        let bytes: &mut [u8; 4] = payload.get_mut(1 + version + 1 + TO_EXTENDED..)?.first_chunk_mut()?;
        *bytes = (u32::from_le_bytes(*bytes) & !((extension >> 32) as u32)).to_le_bytes();
        Some(())
    }
}

/// A server that sets the MYSQL bit has no MariaDB extensions; the same rule holds for clients.
pub(crate) fn extended_bits(low: u64, extended: u64) -> u64 {
    if low & capability::MYSQL == 0 { extended << 32 } else { 0 }
}

/// The server's request to authenticate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    pub scramble: Vec<u8>,
    /// The authentication plugin that the client has to use.
    pub plugin: Vec<u8>,
}

impl Challenge {
    /// Reads the payload of a greeting.
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

    /// Reads the payload of a switch request, in which the server asks for another plugin than in its greeting. None if it is another
    /// packet.
    pub fn of_switch(payload: &[u8]) -> Option<Challenge> {
        let mut reader = Reader::new(payload);
        reader.u8().filter(|kind| *kind == 0xFE)?;
        let plugin = reader.nul_terminated()?.to_vec();
        let scramble = reader.until_nul_or_end()?;
        Some(Challenge { scramble: scramble.to_vec(), plugin })
    }
}
