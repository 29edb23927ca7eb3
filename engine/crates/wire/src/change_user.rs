//! COM_CHANGE_USER: another user logs in on the same connection.

use crate::capability::SECURE_CONNECTION;
use crate::lenenc::Reader;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeUser {
    pub user: Vec<u8>,
    pub database: Option<Vec<u8>>,
    /// Absent in very short packets. The connection then keeps its character set.
    pub charset: Option<u16>,
}

impl ChangeUser {
    /// Reads the payload, command byte included.
    pub fn parse(payload: &[u8], capabilities: u64) -> Option<ChangeUser> {
        let mut reader = Reader::new(payload);
        reader.u8()?;
        let user = reader.nul_terminated()?.to_vec();
        if capabilities & SECURE_CONNECTION != 0 {
            let length = reader.u8()?;
            reader.take(usize::from(length))?;
        } else {
            reader.nul_terminated()?;
        }
        let database = Some(reader.until_nul_or_end()?.to_vec()).filter(|name| !name.is_empty());
        Some(ChangeUser { user, database, charset: reader.u16() })
    }
}
