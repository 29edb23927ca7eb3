//! The first packet of a connection, from the server.

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
    /// Says in the payload of a greeting whether TLS is offered.
    pub fn offer_tls(payload: &mut [u8], is_offered: bool) -> Option<()> {
        let version = payload.get(1..)?.iter().position(|&byte| byte == 0)?;
        let capabilities = payload.get_mut(1 + version + 1 + 4 + 8 + 1..)?;
        capability::set_tls(capabilities.first_chunk_mut()?, is_offered);
        Some(())
    }
}

/// A server that sets the MYSQL bit has no MariaDB extensions; the same rule holds for clients.
pub(crate) fn extended_bits(low: u64, extended: u64) -> u64 {
    if low & capability::MYSQL == 0 { extended << 32 } else { 0 }
}
