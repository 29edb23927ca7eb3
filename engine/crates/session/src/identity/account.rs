//! The account whose privileges apply.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub user: Vec<u8>,
    pub host: Vec<u8>,
    /// Where the client is. It has what is granted to its user for any host that stands for it: also for another one than its
    /// account's, such as the address of a client on the server's machine.
    pub address: Vec<u8>,
}

impl Account {
    /// Its host stands for several.
    pub fn is_pattern(&self) -> bool {
        self.host.iter().any(|byte| matches!(byte, b'%' | b'_' | b'/'))
    }
}
