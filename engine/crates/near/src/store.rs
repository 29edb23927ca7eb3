//! The shared store: memcached or Valkey, as a second tier behind the memory of several near caches.
//!
//! Invariants:
//! - the age of a result is measured by the store's own clock, from before the database server was asked. For a missing key, memcached
//!   reserves an empty entry whose time to live begins at once, and the result is put into that very entry or not at all. Valkey reports
//!   its time and its process, and both are stored with the result; the result is served only while the same process reports the time. So
//!   neither network delays nor the clocks of other machines matter;
//! - a value names the read and the session context that it belongs to, and has a hash of all of it. A value that belongs to another read,
//!   or was cut or changed on its way, is not used;
//! - nothing has to be deleted because of a change: what a result depends on is part of its key, and its time to live ends by itself;
//! - a store that does not answer delays one read a second by at most `timeout`, and never causes an error.
//!
//! Deliberately absent: the decision whether to serve a result. One that is found is put into memory, as if it had been read from the
//! server at a time that is certainly not too late, and is then treated like any result in memory.

mod breaker;
mod dialect;
mod members;
mod memcached;
mod reply;
mod ring;
mod store_server;
mod tls;
mod valkey;

use crate::server::Server;
use insight::report::Row;
use members::Members;
use near_core::clock;
use near_core::counter::Counter;
use near_core::digest;
use near_core::report::row;
use near_core::store::{BoxFuture, SharedResult, StoreLookup, StoredBytes};
use reply::{ExpectedReply, MemcachedEntry, Process, Reply, TimedValue};
use std::sync::Arc;
use std::time::Duration;
use store_server::{Common, ReplyOrigin, ReplyUse};

pub use dialect::Dialect;
pub use store_server::StoreServer;
pub use tls::Tls;

/// The version of the format of keys and values, part of each key. It must change whenever their meaning does.
const FORMAT: &[u8] = b"3";
/// An entry that was reserved in memcached and is still empty after this time is deleted: the program that reserved it does not fill it.
const ABANDONED: Duration = Duration::from_secs(5);

/// The part of the key that marks results whose freshness the binary log decides. For other results this part is their time to live, in
/// eight bytes.
const OF_LOG: &[u8] = b"log";
/// The time to live of results whose freshness the binary log decides. It only limits how long the store keeps them.
const LIFETIME: Duration = Duration::from_secs(3600);

/// The key of one read in the store: a hash of the statement and of everything that decides who may get its result. Servers know it in the
/// form that [`key`](reply::key) returns.
pub type StoreKey = [u8; 32];

/// The configuration of the store that near caches share.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreOptions {
    pub dialect: Dialect,
    /// The configured servers of the store. If they belong to a cluster, its other members are found through them.
    pub servers: Vec<Server>,
    /// How long a read waits for a server of the store at most.
    pub timeout: Duration,
    /// A part of each key in the store: only near caches with the same name share results.
    pub name: String,
    /// The name of the account on the servers of the store. It and `password` are empty if the servers ask for no login; it alone is empty
    /// if they ask for a password only.
    pub user: String,
    pub password: String,
    /// TLS to the servers of the store; none if connections to them are not encrypted.
    pub tls: Option<Tls>,
}

/// The store that near caches share: memcached or Valkey servers. Lookups and insertions go through the trait that it implements,
/// [`near_core::store::Store`].
pub struct Store {
    members: Arc<Members>,
    name: String,
    /// The number of reads that were not in memory, and were looked up in the store.
    pub selects: Counter,
    /// The number of reads that were answered with a result from the store.
    pub hits: Counter,
    /// The number of values found that do not have the expected key or hash. They are not used.
    pub damaged: Arc<Counter>,
    /// The number of values found that are undamaged, but not one complete result. They are not used.
    pub malformed: Counter,
}

/// An entry of the store that has no value yet. The result of one read that was sent to the database server is to be put there.
struct UnfilledEntry {
    server: Arc<StoreServer>,
    id: StoreKey,
    since: AgeStart,
    /// The number of the connection that has found the entry to be empty. A store that has restarted may use the same version again, so the
    /// result is only sent on this connection.
    connection: u64,
}

/// The start of a stored result's age: when memcached has created the empty entry, or a time of Valkey's clock.
enum AgeStart {
    /// The time at which memcached has created the empty entry, which has this version.
    Version(u64),
    /// The time `at`, in microseconds, that this process of Valkey has reported. The result's time to live is `lifetime` seconds.
    Clock { process: Process, at: u64, lifetime: u64 },
}

impl near_core::store::ReservedEntry for UnfilledEntry {
    fn fill(self: Box<Self>, answer: &[u8], rows: u64) {
        let value = value(&self.id, answer, rows);
        let request = match self.since {
            AgeStart::Version(version) => memcached::fill(&self.id, version, &value),
            AgeStart::Clock { process, at, lifetime } => {
                valkey::put(&self.id, lifetime, &stamped(&process, at, &value))
            }
        };
        self.server.send(request, Some(self.connection), ReplyUse::CountInsert);
    }
}

impl Store {
    /// Makes the store. Starts a task that follows a cluster's slots, so it must be called in a tokio runtime. Connections are made when
    /// they are first needed.
    pub fn new(options: StoreOptions) -> Store {
        let members = Members::start(Common::new(&options), options.servers);
        Store {
            members,
            name: options.name,
            selects: Counter::default(),
            hits: Counter::default(),
            damaged: Arc::default(),
            malformed: Counter::default(),
        }
    }

    /// Returns the servers of the store that are in use: the primaries of the cluster, or the configured servers.
    pub fn servers(&self) -> Vec<Arc<StoreServer>> {
        self.members.servers()
    }

    /// Returns the number of results that the store has accepted from this program since it started.
    pub fn inserts(&self) -> usize {
        self.members.common().inserts.get()
    }

    /// Asks each server of the store for its number of entries and its memory, for [`StoreServer::totals`]. Must be called from time to
    /// time; servers that do not answer keep their last counts.
    pub async fn refresh_totals(&self) {
        for server in self.servers() {
            server.refresh_totals().await;
        }
    }

    /// Returns the key of a read in the store. `kind`: `OF_LOG`, or the result's time to live in bytes. `key`: the read, and what
    /// distinguishes the session (its account, database and settings).
    fn id(&self, kind: &[u8], key: [&[u8]; 2]) -> StoreKey {
        digest::of([FORMAT, self.name.as_bytes(), kind, key[0], key[1]].into_iter())
    }
}

impl near_core::store::Store for Store {
    fn get_or_reserve(&self, key: [&[u8]; 2], ttl: Duration) -> Option<BoxFuture<StoreLookup>> {
        // The time to live is part of the key, because memcached reports only what is left of it: the age is the difference.
        let lifetime = Duration::from_secs(ttl.as_secs());
        let id = self.id(&lifetime.as_secs().to_le_bytes(), key);
        let common = self.members.common();
        let server = if lifetime > common.dialect.clock_error() { self.members.server_for(&id)? } else { return None };
        self.selects.add(1);
        let request = common.dialect.get_or_reserve(&id, lifetime.as_secs());
        let damaged = self.damaged.clone();
        Some(Box::pin(async move {
            let begun = clock::now();
            let answer = server.ask(request, ExpectedReply::Entry).await;
            let lookup = StoreAnswer { server, id, lifetime, begun, damaged };
            match answer {
                Some((Reply::Entry(item), origin)) => lookup.memcached_outcome(&item, origin),
                Some((Reply::Value(read), origin)) => lookup.valkey_outcome(&read, origin),
                _ => StoreLookup::Nothing,
            }
        }))
    }

    fn get(&self, key: [&[u8]; 2]) -> Option<BoxFuture<Option<StoredBytes>>> {
        let id = self.id(OF_LOG, key);
        let (server, request) = (self.members.server_for(&id)?, self.members.common().dialect.get(&id));
        self.selects.add(1);
        let damaged = self.damaged.clone();
        Some(Box::pin(async move {
            let (reply, _) = server.ask(request, ExpectedReply::Value).await?;
            let (Reply::Entry(MemcachedEntry { value, .. }) | Reply::Value(TimedValue { value, .. })) = reply else {
                return None;
            };
            read(&value, &id, &damaged).map(|(value, rows)| (value.to_vec(), rows))
        }))
    }

    fn put(&self, key: [&[u8]; 2], bytes: &[u8], rows: u64) {
        let id = self.id(OF_LOG, key);
        if let Some(server) = self.members.server_for(&id) {
            let request = self.members.common().dialect.put(&id, LIFETIME.as_secs(), &value(&id, bytes, rows));
            server.send(request, None, ReplyUse::CountInsert);
        }
    }

    fn count_hit(&self) {
        self.hits.add(1);
    }

    fn count_malformed(&self) {
        self.malformed.add(1);
    }

    /// Returns the rows of `SHOW FQC STATUS` about the tiers: for memory and store, how many reads came to each and how many it answered,
    /// and for each server of the store, its state and what it holds. `hits` and `misses` are those of the memory.
    fn rows(&self, hits: u64, misses: u64) -> Vec<Row> {
        let (selects, of_store) = (self.selects.get() as u64, self.hits.get() as u64);
        let mut rows = tier("Memory", hits + misses, hits.saturating_sub(of_store));
        rows.extend(tier("Store", selects, of_store));
        rows.push(row("Store inserts", self.inserts()));
        rows.extend(self.servers().iter().flat_map(|server| server_rows(server)));
        rows
    }
}

/// Returns the rows of `SHOW FQC STATUS` about memory or store. `selects`: the reads that came to it; `hits`: those that it answered. The
/// ratio is NULL if there were no reads.
fn tier(name: &str, selects: u64, hits: u64) -> Vec<Row> {
    let percent = |of: u64| hits * 100 / of;
    vec![
        row(&format!("{name} selects"), selects),
        row(&format!("{name} hits"), hits),
        vec![Some(format!("{name} hit ratio in percent")), (selects > 0).then(|| percent(selects).to_string())],
    ]
}

/// Returns the rows of `SHOW FQC STATUS` about one server of the store. The numbers are the server's own and include the entries of other
/// programs.
fn server_rows(server: &StoreServer) -> [Row; 5] {
    let (address, totals) = (server.address(), server.totals());
    let state = server.trouble().map_or_else(|| "answers".into(), |why| format!("does not answer: {why}"));
    [
        row(&format!("Store {address}"), state),
        row(&format!("Store {address} failures"), server.failures()),
        row(&format!("Store {address} entries"), totals.entries),
        row(&format!("Store {address} used bytes"), totals.used),
        row(&format!("Store {address} size in bytes"), totals.size),
    ]
}

/// A lookup of a read in the store, once the store has answered.
struct StoreAnswer {
    server: Arc<StoreServer>,
    id: StoreKey,
    lifetime: Duration,
    /// When the lookup began, before the store was asked: in nanoseconds of [`clock::now`].
    begun: u64,
    damaged: Arc<Counter>,
}

impl StoreAnswer {
    /// Returns what memcached's answer means for the read. If this lookup has created the entry, the caller is to fill it. An empty entry
    /// that was reserved long ago is deleted.
    fn memcached_outcome(self, item: &MemcachedEntry, origin: ReplyOrigin) -> StoreLookup {
        if item.is_won && item.version != 0 {
            return self.vacant(AgeStart::Version(item.version), origin);
        }
        // An entry with more time left than its whole time to live was not made by a near cache.
        let Some(age) = self.lifetime.checked_sub(item.left) else { return StoreLookup::Nothing };
        if let Some(answer) = read(&item.value, &self.id, &self.damaged) {
            return self.found(answer, age);
        }
        if item.value.is_empty() && item.version != 0 && age >= ABANDONED {
            let request = memcached::delete(&self.id, item.version);
            self.server.send(request, Some(origin.connection), ReplyUse::Drop);
        }
        StoreLookup::Nothing
    }

    /// Returns what Valkey's answer means for the read. A value that was stamped with the clock of another process counts as missing; if
    /// the value is missing, the caller is to store the database server's answer.
    fn valkey_outcome(self, there: &TimedValue, origin: ReplyOrigin) -> StoreLookup {
        let Some(process) = origin.process else { return StoreLookup::Nothing };
        let young = age(&there.value, &process, there.now).filter(|(age, _)| *age < self.lifetime);
        match young.and_then(|(age, value)| Some((age, read(value, &self.id, &self.damaged)?))) {
            Some((age, answer)) => self.found(answer, age),
            None => {
                let lifetime = self.lifetime.as_secs();
                self.vacant(AgeStart::Clock { process, at: there.now, lifetime }, origin)
            }
        }
    }

    /// Returns [`StoreLookup::Vacant`]: the store has no result. It contains the entry that the caller should fill once the database server
    /// has answered.
    fn vacant(self, since: AgeStart, origin: ReplyOrigin) -> StoreLookup {
        StoreLookup::Vacant(Box::new(UnfilledEntry {
            server: self.server,
            id: self.id,
            since,
            connection: origin.connection,
        }))
    }

    /// Returns a result that was found, with a time of reading that is certainly not too late. `age`: the result's age by the store's
    /// clock, to which the clock's possible error is added here.
    fn found(&self, (answer, rows): (&[u8], u64), age: Duration) -> StoreLookup {
        let age = age + self.server.common().dialect.clock_error();
        let read_at = self.begun.saturating_sub(age.as_nanos() as u64) / 1000;
        StoreLookup::Found(SharedResult { answer: answer.to_vec(), rows, read_at })
    }
}

/// Returns `value` with a stamp before it: the process of Valkey, and the time `at` in microseconds by that process's clock.
fn stamped(process: &Process, at: u64, value: &[u8]) -> Vec<u8> {
    [process, &at.to_le_bytes()[..], value].concat()
}

/// Returns the age of a value that [`stamped`] has built, and the value without its stamp. `now`: the time by the clock of `process`, in
/// microseconds. None if the value was stamped by another process, or later than `now`.
fn age<'a>(stamped: &'a [u8], process: &Process, now: u64) -> Option<(Duration, &'a [u8])> {
    let (at, value) = stamped.strip_prefix(process)?.split_first_chunk()?;
    Some((Duration::from_micros(now.checked_sub(u64::from_le_bytes(*at))?), value))
}

/// Returns the value to store for a result: the key, a hash of everything, the number of rows, and the answer.
fn value(id: &StoreKey, answer: &[u8], rows: u64) -> Vec<u8> {
    let rows = rows.to_le_bytes();
    [&id[..], &hash(id, &rows, answer), &rows, answer].concat()
}

/// Takes a result and its number of rows out of a value from the store. None if `value` is empty, or belongs to another key, or was
/// changed; the last two are counted in `damaged`.
fn read<'a>(value: &'a [u8], id: &StoreKey, damaged: &Counter) -> Option<(&'a [u8], u64)> {
    if value.is_empty() {
        return None;
    }
    let read = intact(value, id);
    damaged.add(usize::from(read.is_none()));
    read
}

/// Takes a result and its number of rows out of a value from the store. None if the value belongs to another key, or was changed or cut.
fn intact<'a>(value: &'a [u8], id: &StoreKey) -> Option<(&'a [u8], u64)> {
    let (hashed, rest) = value.strip_prefix(id)?.split_first_chunk::<32>()?;
    let (rows, answer) = rest.split_first_chunk::<8>()?;
    (*hashed == hash(id, rows, answer)).then(|| (answer, u64::from_le_bytes(*rows)))
}

/// Returns the hash in a stored value that shows whether the value was changed or cut.
fn hash(id: &StoreKey, rows: &[u8; 8], answer: &[u8]) -> [u8; 32] {
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
