//! COM_CHANGE_USER: another user logs in on the same connection.

use crate::capability::SECURE_CONNECTION;
use crate::lenenc::Reader;

/// A client's request to log in as another user on the same connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeUser {
    pub user: Vec<u8>,
    /// The new default database; none if the connection is to have none.
    pub database: Option<Vec<u8>>,
    /// The number of the client's collation. None in very short packets; the connection then keeps its character set.
    pub charset: Option<u16>,
}

impl ChangeUser {
    /// Reads the payload of COM_CHANGE_USER, command byte included. `capabilities` are those that client and server have agreed on. None if
    /// the payload is malformed.
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
