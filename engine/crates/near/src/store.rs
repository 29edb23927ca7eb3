//! Results that near caches share: memcached or Valkey behind the memory of each.
//!
//! Invariants:
//! - how old a result is, the store's own clock tells, and it counts from before the server was asked. A read that is found nowhere
//!   leaves an empty place in the store, with the time that it may live; its answer is put into that very place, or nowhere. So it
//!   does not matter how long the answer was on its way, nor what the clocks of machines say;
//! - a value says which read it answers, and for whom. Whatever else comes in its place is not taken;
//! - nothing has to be deleted because it has changed: what a result depends on is part of its key, and its time ends by itself;
//! - a store that does not answer costs a read `timeout`, once a second, and never an error.
//!
//! Deliberately absent: any right to serve. What is found is put into memory, as if it had been read at a moment that is certainly
//! not too late, and what decides about memory decides about it.

mod breaker;
mod dialect;
mod line;
mod memcached;
mod reply;
mod ring;
mod valkey;

use crate::clock;
use crate::counter::Counter;
use crate::digest;
use crate::random;
use crate::server::Server;
use line::Then;
use reply::{Item, Reply, Wants};
use ring::Ring;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

pub use dialect::Dialect;
pub use line::Line;

/// Of a key. Another one whenever keys or values mean something else.
const FORMAT: &[u8] = b"1";
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
    /// Empty if the servers ask for none.
    pub password: String,
}

pub struct Store {
    dialect: Dialect,
    lines: Vec<Arc<Line>>,
    ring: Ring,
    timeout: Duration,
    name: String,
    /// Reads that were not in memory, and were looked for here.
    pub selects: Counter,
    /// Those that were answered with what was here.
    pub hits: Counter,
}

/// What became of a look.
pub enum Looked {
    Found(Found),
    /// The answer may be put there.
    Vacant(Place),
    Nothing,
}

pub struct Found {
    pub answer: Vec<u8>,
    pub rows: u64,
    /// In microseconds by our clock: the server was asked later than that.
    pub read_at: u64,
}

/// An empty place that waits for one answer.
pub struct Place {
    line: Arc<Line>,
    id: Id,
    version: u64,
    /// By which the version was told: a store that has started again counts anew.
    connection: u64,
}

impl Place {
    pub fn fill(self, answer: &[u8], rows: u64) {
        let request = self.line.dialect.fill(&self.id, self.version, &value(&self.id, answer, rows));
        self.line.send(request, Some(self.connection), Then::Inserted);
    }
}

impl Store {
    pub fn new(options: Options) -> Store {
        let Options { dialect, servers, timeout, name, password } = options;
        let greeting = dialect.greeting(&password);
        let ring = Ring::of(servers.iter().map(Server::to_string));
        let lines = servers.into_iter().map(|server| Line::begin(dialect, server, greeting.clone(), timeout)).collect();
        Store { dialect, lines, ring, timeout, name, selects: Counter::default(), hits: Counter::default() }
    }

    /// Of each server.
    pub fn lines(&self) -> &[Arc<Line>] {
        &self.lines
    }

    /// Results that were put here.
    pub fn inserts(&self) -> usize {
        self.lines.iter().map(|line| line.inserts.get()).sum()
    }

    /// Has each server say what it has.
    pub async fn count(&self) {
        for line in &self.lines {
            line.count().await;
        }
    }

    /// For an answer to what has this key, no older than `ttl`. Ends soon, whatever the store does; none if nobody can be asked.
    pub fn look(&self, key: [&[u8]; 2], ttl: Duration) -> Option<impl Future<Output = Looked> + Send + use<>> {
        // Results of another time to live have places of their own: how old one is tells only what is left of it.
        let lifetime = Duration::from_secs(ttl.as_secs());
        let id = self.id(&lifetime.as_secs().to_le_bytes(), key);
        let line = if lifetime > self.dialect.uncertain() { self.line(&id)? } else { return None };
        self.selects.add(1);
        let (limit, drawn) = (self.timeout, drawn()?);
        Some(async move {
            let begun = clock::now();
            let answer = timeout(limit, line.ask(line.dialect.look(&id, lifetime.as_secs(), drawn), Wants::Item)).await;
            match answer.ok().flatten() {
                Some((Reply::Item(item), connection)) => {
                    let version = line.dialect.version(&item, drawn);
                    looked(Item { version, ..item }, &id, lifetime, begun, line, connection)
                }
                _ => Looked::Nothing,
            }
        })
    }

    /// What was put there for this key, as it was, with its rows.
    pub fn find(&self, key: [&[u8]; 2]) -> Option<impl Future<Output = Option<(Vec<u8>, u64)>> + Send + use<>> {
        let id = self.id(OF_LOG, key);
        let (line, limit) = (self.line(&id)?, self.timeout);
        self.selects.add(1);
        Some(async move {
            let (reply, _) = timeout(limit, line.ask(line.dialect.find(&id), Wants::Item)).await.ok()??;
            let Reply::Item(item) = reply else { return None };
            read(&item.value, &id).map(|(value, rows)| (value.to_vec(), rows))
        })
    }

    /// Whoever finds it knows by itself whether it is outdated. So nothing is lost if it takes the place of a newer one.
    pub fn put(&self, key: [&[u8]; 2], bytes: &[u8], rows: u64) {
        let id = self.id(OF_LOG, key);
        if let Some(line) = self.line(&id) {
            line.send(line.dialect.put(&id, LIFETIME.as_secs(), &value(&id, bytes, rows)), None, Then::Inserted);
        }
    }

    fn id(&self, kind: &[u8], key: [&[u8]; 2]) -> Id {
        digest::of([FORMAT, self.name.as_bytes(), kind, key[0], key[1]].into_iter())
    }

    /// The first one on the ring that answers. What another one may have meanwhile is no worse than it was.
    fn line(&self, id: &Id) -> Option<Arc<Line>> {
        let now = clock::now();
        let mut lines = self.ring.from(id).map(|index| &self.lines[index]);
        lines.find(|line| line.breaker.may_ask(now)).cloned()
    }
}

fn looked(item: Item, id: &Id, lifetime: Duration, begun: u64, line: Arc<Line>, connection: u64) -> Looked {
    if item.is_won && item.version != 0 {
        return Looked::Vacant(Place { line, id: *id, version: item.version, connection });
    }
    // What lives longer is none of ours.
    let Some(age) = lifetime.checked_sub(item.left) else { return Looked::Nothing };
    if let Some((answer, rows)) = read(&item.value, id) {
        let age = age + line.dialect.uncertain();
        let read_at = begun.saturating_sub(age.as_nanos() as u64) / 1000;
        return Looked::Found(Found { answer: answer.to_vec(), rows, read_at });
    }
    if item.value.is_empty() && item.version != 0 && age >= ABANDONED {
        line.send(line.dialect.free(id, item.version), Some(connection), Then::Nothing);
    }
    Looked::Nothing
}

fn drawn() -> Option<u64> {
    random::bytes().ok().map(|bytes| u64::from_le_bytes(bytes).max(1))
}

fn value(id: &Id, answer: &[u8], rows: u64) -> Vec<u8> {
    [&id[..], &rows.to_le_bytes(), answer].concat()
}

/// An answer, and its rows.
fn read<'a>(value: &'a [u8], id: &Id) -> Option<(&'a [u8], u64)> {
    let (rows, answer) = value.strip_prefix(id)?.split_first_chunk()?;
    Some((answer, u64::from_le_bytes(*rows)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_only_by_whom_it_is_for() {
        let value = value(&[7; 32], b"answer", 3);
        assert_eq!(read(&value, &[7; 32]), Some((&b"answer"[..], 3)));
        assert_eq!(read(&value, &[8; 32]), None);
        assert_eq!(read(&value[..39], &[7; 32]), None);
        assert_eq!(read(b"", &[7; 32]), None);
    }
}
