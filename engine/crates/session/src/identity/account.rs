//! The account whose privileges a session has.

/// The account whose privileges a session has, and the address of its client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub user: Vec<u8>,
    /// The host part of the account's name, which may be a pattern.
    pub host: Vec<u8>,
    /// The client's address. The client also has the privileges granted to its user for other hosts that match the address,
    /// such as the address of a client on the server's machine.
    pub address: Vec<u8>,
}

impl Account {
    /// True if the host part of the account is a pattern that may match several hosts.
    pub fn is_pattern(&self) -> bool {
        self.host.iter().any(|byte| matches!(byte, b'%' | b'_' | b'/'))
    }
}
