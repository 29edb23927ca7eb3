//! Results that near caches share: memcached or Valkey behind the memory of each.
//!
//! Invariants:
//! - how old a result is, the store's own clock tells, and it counts from before the server was asked. Memcached makes an empty place for
//!   what it does not have, with the time that it may live, and the answer is put into that very place, or nowhere. Valkey tells
//!   the time, and the answer is put there together with it, and with which process's clock that was: no other one takes it. So
//!   it does not matter how long the answer was on its way, nor what the clocks of other machines say;
//! - a value says which read it answers, and for whom, and has a hash of all of it. Any other value is not taken, and
//!   nor is what was cut or changed on its way;
//! - nothing has to be deleted because it has changed: what a result depends on is part of its key, and its time ends by itself;
//! - a store that does not answer costs a read `timeout`, once a second, and never an error.
//!
//! Deliberately absent: any right to serve. What is found is put into memory, as if it had been read at a moment that is certainly
//! not too late, and what decides about memory decides about it.

mod breaker;
mod dialect;
mod line;
mod members;
mod memcached;
mod reply;
mod ring;
mod tls;
mod valkey;

use crate::server::Server;
use insight::report::Row;
use line::{Common, Then, Via};
use members::Members;
use near_core::clock;
use near_core::counter::Counter;
use near_core::digest;
use near_core::report::row;
use near_core::store::{Found, Looked, Stored, Wait};
use reply::{Item, Process, Read, Reply, Wants};
use std::sync::Arc;
use std::time::Duration;

pub use dialect::Dialect;
pub use line::Line;
pub use tls::Tls;

/// Of a key. Another one whenever keys or values mean something else.
const FORMAT: &[u8] = b"3";
/// Whoever left an empty place for so long keeps nothing there.
const ABANDONED: Duration = Duration::from_secs(5);

/// The kind of results whose age the server's log tells. Others have the eight bytes of a number.
const OF_LOG: &[u8] = b"log";
/// Nobody needs to know of these when they end.
const LIFETIME: Duration = Duration::from_secs(3600);

/// Of a read, for those who may have its answer.
pub type Id = [u8; 32];

/// What is said of the stores.
#[derive(Clone, PartialEq, Eq)]
pub struct Options {
    pub dialect: Dialect,
    pub servers: Vec<Server>,
    pub timeout: Duration,
    /// Near caches share results only under the same name.
    pub name: String,
    /// Both are empty if the servers ask for none; the first one where they have no accounts.
    pub user: String,
    pub password: String,
    pub tls: Option<Tls>,
}

pub struct Store {
    members: Arc<Members>,
    name: String,
    /// Reads that were not in memory, and were looked for here.
    pub selects: Counter,
    /// Those that were answered with what was here.
    pub hits: Counter,
    /// Values that were found and are damaged.
    pub damaged: Arc<Counter>,
    /// Values that were found and are not one whole result.
    pub malformed: Counter,
}

/// An empty place, for one answer.
struct Place {
    line: Arc<Line>,
    id: Id,
    since: Since,
    /// A store that has started again counts anew.
    connection: u64,
}

/// From when on its answer ages.
enum Since {
    /// Since an empty item was made, which has this version.
    Version(u64),
    /// Since this process told the time, in microseconds. It may live so many seconds.
    Told { process: Process, at: u64, lifetime: u64 },
}

impl near_core::store::Place for Place {
    fn fill(self: Box<Self>, answer: &[u8], rows: u64) {
        let value = value(&self.id, answer, rows);
        let request = match self.since {
            Since::Version(version) => memcached::fill(&self.id, version, &value),
            Since::Told { process, at, lifetime } => valkey::put(&self.id, lifetime, &stamped(&process, at, &value)),
        };
        self.line.send(request, Some(self.connection), Then::Inserted);
    }
}

impl Store {
    pub fn new(options: Options) -> Store {
        let members = Members::begin(Common::new(&options), options.servers);
        Store {
            members,
            name: options.name,
            selects: Counter::default(),
            hits: Counter::default(),
            damaged: Arc::default(),
            malformed: Counter::default(),
        }
    }

    /// Of each server.
    pub fn lines(&self) -> Vec<Arc<Line>> {
        self.members.lines()
    }

    /// Results that were put here.
    pub fn inserts(&self) -> usize {
        self.members.common().inserts.get()
    }

    /// Has each server say what it has.
    pub async fn count(&self) {
        for line in self.lines() {
            line.count().await;
        }
    }

    fn id(&self, kind: &[u8], key: [&[u8]; 2]) -> Id {
        digest::of([FORMAT, self.name.as_bytes(), kind, key[0], key[1]].into_iter())
    }
}

impl near_core::store::Store for Store {
    fn look(&self, key: [&[u8]; 2], ttl: Duration) -> Option<Wait<Looked>> {
        // Results of another time to live have places of their own: how old one is tells only what is left of it.
        let lifetime = Duration::from_secs(ttl.as_secs());
        let id = self.id(&lifetime.as_secs().to_le_bytes(), key);
        let common = self.members.common();
        let line = if lifetime > common.dialect.uncertain() { self.members.line(&id)? } else { return None };
        self.selects.add(1);
        let request = common.dialect.look(&id, lifetime.as_secs());
        let damaged = self.damaged.clone();
        Some(Box::pin(async move {
            let begun = clock::now();
            let answer = line.ask(request, Wants::Item).await;
            let look = Look { line, id, lifetime, begun, damaged };
            match answer {
                Some((Reply::Item(item), via)) => look.by_place(&item, via),
                Some((Reply::Read(read), via)) => look.by_clock(&read, via),
                _ => Looked::Nothing,
            }
        }))
    }

    fn find(&self, key: [&[u8]; 2]) -> Option<Wait<Option<Stored>>> {
        let id = self.id(OF_LOG, key);
        let (line, request) = (self.members.line(&id)?, self.members.common().dialect.find(&id));
        self.selects.add(1);
        let damaged = self.damaged.clone();
        Some(Box::pin(async move {
            let (reply, _) = line.ask(request, Wants::Value).await?;
            let (Reply::Item(Item { value, .. }) | Reply::Read(Read { value, .. })) = reply else { return None };
            read(&value, &id, &damaged).map(|(value, rows)| (value.to_vec(), rows))
        }))
    }

    fn put(&self, key: [&[u8]; 2], bytes: &[u8], rows: u64) {
        let id = self.id(OF_LOG, key);
        if let Some(line) = self.members.line(&id) {
            let request = self.members.common().dialect.put(&id, LIFETIME.as_secs(), &value(&id, bytes, rows));
            line.send(request, None, Then::Inserted);
        }
    }

    fn count_hit(&self) {
        self.hits.add(1);
    }

    fn count_malformed(&self) {
        self.malformed.add(1);
    }

    /// Returns for each tier how many reads came to it, how many it answered, and what it holds.
    fn rows(&self, hits: u64, misses: u64) -> Vec<Row> {
        let (selects, of_store) = (self.selects.get() as u64, self.hits.get() as u64);
        let mut rows = tier("Memory", hits + misses, hits.saturating_sub(of_store));
        rows.extend(tier("Store", selects, of_store));
        rows.push(row("Store inserts", self.inserts()));
        rows.extend(self.lines().iter().flat_map(|line| of_line(line)));
        rows
    }
}

fn tier(name: &str, selects: u64, hits: u64) -> Vec<Row> {
    let percent = |of: u64| hits * 100 / of;
    vec![
        row(&format!("{name} selects"), selects),
        row(&format!("{name} hits"), hits),
        vec![Some(format!("{name} hit ratio in percent")), (selects > 0).then(|| percent(selects).to_string())],
    ]
}

/// The numbers are the server's own, and count what others keep there, too.
fn of_line(line: &Line) -> [Row; 5] {
    let (server, counted) = (line.server(), line.counted());
    let state = line.trouble().map_or_else(|| "answers".into(), |why| format!("does not answer: {why}"));
    [
        row(&format!("Store {server}"), state),
        row(&format!("Store {server} failures"), line.failures()),
        row(&format!("Store {server} entries"), counted.entries),
        row(&format!("Store {server} used bytes"), counted.used),
        row(&format!("Store {server} size in bytes"), counted.size),
    ]
}

/// A look that was answered.
struct Look {
    line: Arc<Line>,
    id: Id,
    lifetime: Duration,
    /// In nanoseconds by our clock, before the store was asked.
    begun: u64,
    damaged: Arc<Counter>,
}

impl Look {
    /// Where the store tells how long a place may still live.
    fn by_place(self, item: &Item, via: Via) -> Looked {
        if item.is_won && item.version != 0 {
            return self.vacant(Since::Version(item.version), via);
        }
        // What lives longer is none of ours.
        let Some(age) = self.lifetime.checked_sub(item.left) else { return Looked::Nothing };
        if let Some(answer) = read(&item.value, &self.id, &self.damaged) {
            return self.found(answer, age);
        }
        if item.value.is_empty() && item.version != 0 && age >= ABANDONED {
            let request = memcached::free(&self.id, item.version);
            self.line.send(request, Some(via.connection), Then::Nothing);
        }
        Looked::Nothing
    }

    /// Where the store tells the time. What another process has told of it counts by another clock: for this one it is not there.
    fn by_clock(self, there: &Read, via: Via) -> Looked {
        let Some(process) = via.process else { return Looked::Nothing };
        let young = age(&there.value, &process, there.now).filter(|(age, _)| *age < self.lifetime);
        match young.and_then(|(age, value)| Some((age, read(value, &self.id, &self.damaged)?))) {
            Some((age, answer)) => self.found(answer, age),
            None => {
                let lifetime = self.lifetime.as_secs();
                self.vacant(Since::Told { process, at: there.now, lifetime }, via)
            }
        }
    }

    fn vacant(self, since: Since, via: Via) -> Looked {
        Looked::Vacant(Box::new(Place { line: self.line, id: self.id, since, connection: via.connection }))
    }

    fn found(&self, (answer, rows): (&[u8], u64), age: Duration) -> Looked {
        let age = age + self.line.common().dialect.uncertain();
        let read_at = self.begun.saturating_sub(age.as_nanos() as u64) / 1000;
        Looked::Found(Found { answer: answer.to_vec(), rows, read_at })
    }
}

/// `at`: by the clock of this process.
fn stamped(process: &Process, at: u64, value: &[u8]) -> Vec<u8> {
    [process, &at.to_le_bytes()[..], value].concat()
}

/// What was stamped by this process, and how long ago.
fn age<'a>(stamped: &'a [u8], process: &Process, now: u64) -> Option<(Duration, &'a [u8])> {
    let (at, value) = stamped.strip_prefix(process)?.split_first_chunk()?;
    Some((Duration::from_micros(now.checked_sub(u64::from_le_bytes(*at))?), value))
}

fn value(id: &Id, answer: &[u8], rows: u64) -> Vec<u8> {
    let rows = rows.to_le_bytes();
    [&id[..], &hash(id, &rows, answer), &rows, answer].concat()
}

/// An answer, and its rows. None if there is nothing, or not what was put there.
fn read<'a>(value: &'a [u8], id: &Id, damaged: &Counter) -> Option<(&'a [u8], u64)> {
    if value.is_empty() {
        return None;
    }
    let read = intact(value, id);
    damaged.add(usize::from(read.is_none()));
    read
}

fn intact<'a>(value: &'a [u8], id: &Id) -> Option<(&'a [u8], u64)> {
    let (hashed, rest) = value.strip_prefix(id)?.split_first_chunk::<32>()?;
    let (rows, answer) = rest.split_first_chunk::<8>()?;
    (*hashed == hash(id, rows, answer)).then(|| (answer, u64::from_le_bytes(*rows)))
}

fn hash(id: &Id, rows: &[u8; 8], answer: &[u8]) -> [u8; 32] {
    digest::of([&id[..], rows, answer].into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_only_by_whom_it_is_for() {
        let value = value(&[7; 32], b"answer", 3);
        let damaged = Counter::default();
        assert_eq!(read(&value, &[7; 32], &damaged), Some((&b"answer"[..], 3)));
        assert_eq!(read(b"", &[7; 32], &damaged), None);
        assert_eq!(damaged.get(), 0, "nothing is no damage");
        assert_eq!(read(&value, &[8; 32], &damaged), None);
        assert_eq!(damaged.get(), 1);
    }

    #[test]
    fn a_value_that_was_cut_or_changed_anywhere_is_not_read() {
        let (whole, damaged) = (value(&[7; 32], b"answer", 3), Counter::default());
        let cut = (1..whole.len()).map(|length| whole[..length].to_vec());
        let flipped = (0..whole.len() * 8).map(|bit| {
            let mut changed = whole.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            changed
        });
        let longer = std::iter::once([&whole[..], b"x"].concat());
        let all: Vec<_> = cut.chain(flipped).chain(longer).collect();
        assert!(all.iter().all(|value| read(value, &[7; 32], &damaged).is_none()));
        assert_eq!(damaged.get(), all.len());
    }

    #[test]
    fn only_the_process_whose_clock_it_was_tells_how_old_a_value_is() {
        let of_one = stamped(&[b'a'; 40], 5_000_000, b"value");
        assert_eq!(age(&of_one, &[b'a'; 40], 7_000_000), Some((Duration::from_secs(2), &b"value"[..])));
        assert_eq!(age(&of_one, &[b'b'; 40], 7_000_000), None);
        assert_eq!(age(&of_one, &[b'a'; 40], 4_999_999), None, "later than now");
        assert_eq!(age(&of_one[..47], &[b'a'; 40], 7_000_000), None);
        assert_eq!(age(b"", &[b'a'; 40], 7_000_000), None);
    }
}
