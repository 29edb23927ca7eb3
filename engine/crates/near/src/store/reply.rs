//! The answers of a store, independent of its protocol.

use super::Id;
use std::time::Duration;

#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    Item(Item),
    Read(Read),
    Counted(Counted),
    Done,
    /// The request was not carried out: its condition did not hold, or there is no room.
    Refused,
    /// Another server of the cluster has the key's slot, or no server has it.
    Moved,
    About(About),
    Slots(Vec<Range>),
}

/// The entry of a key in memcached, which reports how long the entry may still live.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// Empty if the entry was reserved and its value is not stored yet.
    pub value: Vec<u8>,
    /// The entry's unique version (memcached's CAS value). It changes with every change of the entry.
    pub version: u64,
    /// The remaining time to live.
    pub left: Duration,
    /// True if this request has created the entry, so that the requester is to fill it.
    pub is_won: bool,
}

/// The value of a key in Valkey, together with the server's time just before the value was read.
#[derive(Debug, PartialEq, Eq)]
pub struct Read {
    /// Empty if the key has no value.
    pub value: Vec<u8>,
    /// Microseconds since 1970 by the server's clock; 0 if the time was not asked for.
    pub now: u64,
}

/// The identity of a server's process (`run_id`). It changes whenever the server restarts.
pub type Process = [u8; 40];

#[derive(Debug, PartialEq, Eq)]
pub struct About {
    pub process: Process,
    pub is_of_cluster: bool,
}

/// A range of a cluster's slots, both ends included, and the primary that has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    pub first: u16,
    pub last: u16,
    /// Empty if it is the host of the server that has sent this answer.
    pub host: String,
    pub port: u16,
}

/// The totals of a server, including the entries of other programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    pub entries: u64,
    pub used: u64,
    /// The server's memory limit in bytes; 0 if it has none.
    pub size: u64,
}

/// The kind of answer that a request expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// A value and its age.
    Item,
    /// A value alone.
    Value,
    About,
    Slots,
    Counts,
    Outcome,
}

/// The answer cannot be understood, so where the next one begins is unknown, or the server refuses to serve. The connection must be closed.
#[derive(Debug, PartialEq, Eq)]
pub struct Unfit(pub String);

/// The first answer in a buffer, and its length in bytes; none if it is not complete yet.
pub type Parsed = Result<Option<(Reply, usize)>, Unfit>;

pub fn key(id: &Id) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |bits: u8| char::from(DIGITS[usize::from(bits)]);
    "fqc:".chars().chain(id.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])).collect()
}
