//! The account whose privileges a session has.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub user: Vec<u8>,
    pub host: Vec<u8>,
    /// The client's address. The client also has the privileges granted to its user for other hosts that match the address,
    /// such as the address of a client on the server's machine.
    pub address: Vec<u8>,
}

impl Account {
    /// True if the host is a pattern that matches several hosts.
    pub fn is_pattern(&self) -> bool {
        self.host.iter().any(|byte| matches!(byte, b'%' | b'_' | b'/'))
    }
}
