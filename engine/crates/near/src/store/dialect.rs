//! The two protocols of stores.

use super::reply::{Parsed, Wants};
use super::{Id, memcached, valkey};
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Memcached,
    Valkey,
}

impl Dialect {
    /// What the store's clock may be wrong by.
    pub fn uncertain(self) -> Duration {
        match self {
            Dialect::Memcached => memcached::UNCERTAIN,
            Dialect::Valkey => valkey::UNCERTAIN,
        }
    }

    /// What begins a connection.
    pub fn greeting(self, user: &str, password: &str) -> Vec<(Vec<u8>, Wants)> {
        match self {
            Dialect::Memcached => Vec::new(),
            Dialect::Valkey => valkey::greeting(user, password),
        }
    }

    /// For what is there, and how old it can be. If nothing is, memcached makes a place that lives so many seconds.
    pub fn look(self, id: &Id, lifetime: u64) -> Vec<u8> {
        match self {
            Dialect::Memcached => memcached::look(id, lifetime),
            Dialect::Valkey => valkey::look(id),
        }
    }

    /// For what is there, and nothing else is done.
    pub fn find(self, id: &Id) -> Vec<u8> {
        match self {
            Dialect::Memcached => memcached::find(id),
            Dialect::Valkey => valkey::find(id),
        }
    }

    /// Puts a value there that lives so many seconds, whatever there was.
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
