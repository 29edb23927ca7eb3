//! The protocols of the two kinds of store, behind one interface.

use super::reply::{ExpectedReply, Parsed};
use super::{StoreKey, memcached, valkey};
use std::time::Duration;

/// The protocol that all servers of a store speak. `Valkey` stands for Redis, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Memcached,
    Valkey,
}

impl Dialect {
    /// Returns by how much an age may be too low that was measured by the clock of such a store. It must be added to the age.
    pub fn clock_error(self) -> Duration {
        match self {
            Dialect::Memcached => memcached::CLOCK_ERROR,
            Dialect::Valkey => valkey::CLOCK_ERROR,
        }
    }

    /// Returns the requests that each connection to a store begins with, and the kinds of answer that they expect. Both arguments are empty
    /// if the servers ask for no login; `user` alone is empty if they ask for a password only.
    pub fn greeting(self, user: &str, password: &str) -> Vec<(Vec<u8>, ExpectedReply)> {
        match self {
            Dialect::Memcached => Vec::new(),
            Dialect::Valkey => valkey::greeting(user, password),
        }
    }

    /// Returns the request for a key's value and its age. If there is no value, memcached creates an empty entry that lives `lifetime`
    /// seconds, and the requester is to fill it; Valkey creates nothing.
    pub fn get_or_reserve(self, id: &StoreKey, lifetime: u64) -> Vec<u8> {
        match self {
            Dialect::Memcached => memcached::get_or_reserve(id, lifetime),
            Dialect::Valkey => valkey::get_or_reserve(id),
        }
    }

    /// Returns the request for a key's value alone. It creates nothing.
    pub fn get(self, id: &StoreKey) -> Vec<u8> {
        match self {
            Dialect::Memcached => memcached::get(id),
            Dialect::Valkey => valkey::get(id),
        }
    }

    /// Returns the request that stores a value for `lifetime` seconds, in place of any earlier one.
    pub fn put(self, id: &StoreKey, lifetime: u64, value: &[u8]) -> Vec<u8> {
        match self {
            Dialect::Memcached => memcached::put(id, lifetime, value),
            Dialect::Valkey => valkey::put(id, lifetime, value),
        }
    }

    /// Returns the request for the server's number of entries and its memory.
    pub fn totals_request(self) -> Vec<u8> {
        match self {
            Dialect::Memcached => memcached::TOTALS.into(),
            Dialect::Valkey => valkey::totals_request(),
        }
    }

    /// Parses the first answer in the received `bytes`. `expected`: the kind of answer that its request expects.
    pub fn parse(self, bytes: &[u8], expected: ExpectedReply) -> Parsed {
        match self {
            Dialect::Memcached => memcached::parse(bytes),
            Dialect::Valkey => valkey::parse(bytes, expected),
        }
    }
}
