//! The protocols of the two kinds of store, behind one interface.

use super::reply::{Parsed, Wants};
use super::{Id, memcached, valkey};
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Memcached,
    Valkey,
}

impl Dialect {
    /// Returns the possible error of an age that the store's clock has measured. It is added to the age.
    pub fn uncertain(self) -> Duration {
        match self {
            Dialect::Memcached => memcached::UNCERTAIN,
            Dialect::Valkey => valkey::UNCERTAIN,
        }
    }

    /// Returns the requests that begin a connection, and the answers they expect.
    pub fn greeting(self, user: &str, password: &str) -> Vec<(Vec<u8>, Wants)> {
        match self {
            Dialect::Memcached => Vec::new(),
            Dialect::Valkey => valkey::greeting(user, password),
        }
    }

    /// Asks for the value of a key and its age. If there is no value, memcached reserves an empty item that lives `lifetime` seconds.
    pub fn look(self, id: &Id, lifetime: u64) -> Vec<u8> {
        match self {
            Dialect::Memcached => memcached::look(id, lifetime),
            Dialect::Valkey => valkey::look(id),
        }
    }

    /// Asks for the value of a key, and reserves nothing.
    pub fn find(self, id: &Id) -> Vec<u8> {
        match self {
            Dialect::Memcached => memcached::find(id),
            Dialect::Valkey => valkey::find(id),
        }
    }

    /// Stores a value that lives `lifetime` seconds, in place of any earlier one.
    pub fn put(self, id: &Id, lifetime: u64, value: &[u8]) -> Vec<u8> {
        match self {
            Dialect::Memcached => memcached::put(id, lifetime, value),
            Dialect::Valkey => valkey::put(id, lifetime, value),
        }
    }

    pub fn count(self) -> Vec<u8> {
        match self {
            Dialect::Memcached => memcached::COUNT.into(),
            Dialect::Valkey => valkey::count(),
        }
    }

    pub fn parse(self, bytes: &[u8], wants: Wants) -> Parsed {
        match self {
            Dialect::Memcached => memcached::parse(bytes),
            Dialect::Valkey => valkey::parse(bytes, wants),
        }
    }
}
