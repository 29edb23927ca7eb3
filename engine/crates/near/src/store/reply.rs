//! The answers of a store, independent of its protocol.

use super::StoreKey;
use std::time::Duration;

/// One answer of a server of the store.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    /// The entry of a key in memcached.
    Entry(MemcachedEntry),
    /// The value of a key in Valkey, or that there is none.
    Value(TimedValue),
    /// The server's number of entries and its memory.
    Totals(Totals),
    /// The request was carried out.
    Done,
    /// The request was not carried out: its condition did not hold, there is no value, the server has no room, or it serves nothing at
    /// present. Also an answer of a kind that the request does not expect.
    Refused,
    /// Another server of the cluster has the key's slot, or no server has it.
    Moved,
    /// A description of the server; every connection to Valkey begins with it.
    ServerInfo(ServerInfo),
    /// The slots of the cluster, as far as the answer could be read. Empty if the server knows of none.
    Slots(Vec<SlotRange>),
}

/// The entry of a key in memcached, which reports how long the entry may still live. Also one that the request has only just created.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct MemcachedEntry {
    /// The stored value. Empty if the entry was reserved and its value is not stored yet.
    pub value: Vec<u8>,
    /// The entry's unique version (memcached's CAS value). It changes with every change of the entry.
    pub version: u64,
    /// The entry's remaining time to live; the longest possible one if the entry has no end.
    pub left: Duration,
    /// True if this request has created the entry, so that the requester alone is to fill it.
    pub is_won: bool,
}

/// The value of a key in Valkey, together with the server's time just before the value was read.
#[derive(Debug, PartialEq, Eq)]
pub struct TimedValue {
    /// The stored value. Empty if the key has none.
    pub value: Vec<u8>,
    /// The server's time, in microseconds since 1970 by its own clock; 0 if the time was not asked for.
    pub now: u64,
}

/// The identity of a Valkey server's process (`run_id`). It changes whenever the server restarts.
pub type Process = [u8; 40];

/// The facts about a server that each connection to Valkey begins with.
#[derive(Debug, PartialEq, Eq)]
pub struct ServerInfo {
    pub process: Process,
    /// True if the server runs in cluster mode.
    pub is_of_cluster: bool,
}

/// A range of a cluster's slots, both ends included, and the primary that has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotRange {
    pub first: u16,
    pub last: u16,
    /// The host name or address of the primary. Empty if it is the host of the server that has sent this answer.
    pub host: String,
    pub port: u16,
}

/// The totals of one server of the store, including the entries of other programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub entries: u64,
    /// The memory in use on the server, in bytes.
    pub used: u64,
    /// The server's memory limit in bytes; 0 if it has none.
    pub size: u64,
}

/// The kind of answer that a request expects, so that the answer can be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedReply {
    /// A value and its age.
    Entry,
    /// A value alone.
    Value,
    /// A server's description of itself.
    ServerInfo,
    Slots,
    /// A server's totals.
    Totals,
    /// Only whether the request was carried out.
    Outcome,
}

/// The answer cannot be understood, so where the next one begins is unknown, or the server refuses to serve. The connection must be closed.
/// The text says why, for the log.
#[derive(Debug, PartialEq, Eq)]
pub struct ProtocolError(pub String);

/// The first answer in a buffer, and its length in bytes; none if it is not complete yet. After an error the connection must be closed.
pub type Parsed = Result<Option<(Reply, usize)>, ProtocolError>;

/// Returns the key as the servers of the store know it: `fqc:` and the hash in hexadecimal digits.
pub fn key(id: &StoreKey) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |bits: u8| char::from(DIGITS[usize::from(bits)]);
    "fqc:".chars().chain(id.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])).collect()
}
