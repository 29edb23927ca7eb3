//! The two protocols of stores.

use super::reply::{Item, Parsed, Wants};
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
    pub fn greeting(self, password: &str) -> Vec<u8> {
        match self {
            Dialect::Valkey if !password.is_empty() => valkey::greeting(password),
            _ => Vec::new(),
        }
    }

    /// For what is there; if nothing is, a place is made that lives so many seconds. `drawn`: its version, if the store gives none.
    pub fn look(self, id: &Id, lifetime: u64, drawn: u64) -> Vec<u8> {
        match self {
            Dialect::Memcached => memcached::look(id, lifetime),
            Dialect::Valkey => valkey::look(id, lifetime, drawn),
        }
    }

    /// 0 if it has none.
    pub fn version(self, item: &Item, drawn: u64) -> u64 {
        if self == Dialect::Valkey && item.is_won { drawn } else { item.version }
    }

    /// Puts a value into the empty place that has this version, without a change of the time that it may live.
    pub fn fill(self, id: &Id, version: u64, value: &[u8]) -> Vec<u8> {
        match self {
            Dialect::Memcached => memcached::fill(id, version, value),
            Dialect::Valkey => valkey::fill(id, version, value),
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

    /// Takes away the empty place that has this version.
    pub fn free(self, id: &Id, version: u64) -> Vec<u8> {
        match self {
            Dialect::Memcached => memcached::free(id, version),
            Dialect::Valkey => valkey::free(id, version),
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
