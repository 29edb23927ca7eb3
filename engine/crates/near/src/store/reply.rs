//! What a store says, whatever its protocol is.

use super::Id;
use std::time::Duration;

#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    Item(Item),
    Read(Read),
    Counted(Counted),
    Done,
    /// It was not as it should have been, or there is no room.
    Refused,
    /// Another server of the cluster has it, or none.
    Moved,
    About(About),
    Slots(Vec<Range>),
}

/// What is there, of a store that counts what is left of its time.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// Empty if nobody has put anything there yet.
    pub value: Vec<u8>,
    /// What distinguishes it from all that was there before and will be.
    pub version: u64,
    /// The time that it may still live.
    pub left: Duration,
    /// It was made for whoever asks.
    pub is_won: bool,
}

/// What is there, of a store that has told the time before.
#[derive(Debug, PartialEq, Eq)]
pub struct Read {
    /// Empty if nothing is there.
    pub value: Vec<u8>,
    /// In microseconds, by the clock of the server; 0 if nobody has asked.
    pub now: u64,
}

/// What distinguishes a server's process from all others, also from one at the same place before or after it.
pub type Process = [u8; 40];

#[derive(Debug, PartialEq, Eq)]
pub struct About {
    pub process: Process,
    pub is_of_cluster: bool,
}

/// Slots of a cluster, from the first to the last, and the server that has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    pub first: u16,
    pub last: u16,
    /// Empty: that of the server that tells of it.
    pub host: String,
    pub port: u16,
}

/// What a server has, whoever put it there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    pub entries: u64,
    pub used: u64,
    /// There is room for so many bytes; 0 if there is no limit.
    pub size: u64,
}

/// What an answer has to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// What is there, and how old it can be.
    Item,
    /// What is there.
    Value,
    About,
    Slots,
    Counts,
    Outcome,
}

/// Nothing can be made of what comes, or of what would come after it.
#[derive(Debug, PartialEq, Eq)]
pub struct Unfit(pub String);

/// The first answer, and how many bytes it takes; none if it is not complete.
pub type Parsed = Result<Option<(Reply, usize)>, Unfit>;

pub fn key(id: &Id) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |bits: u8| char::from(DIGITS[usize::from(bits)]);
    "fqc:".chars().chain(id.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])).collect()
}
