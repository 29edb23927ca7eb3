//! What all connections share of the log: whether a result may be served, and with what it is kept.

use super::changes::{Changes, Name};
use super::event::Told;
use super::place::Place;
use crate::ttl::{Found, Known, shelf};
use cache::{Cache, CellId, Key, Meta, Stamp};
use flavour::Flavour;
use locks::RwLock;
use sql::TableName;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;
use tokio::sync::Notify;

pub struct Log {
    changes: RwLock<Changes>,
    bound_ns: u64,
    /// When a write through this program was last answered.
    wrote: AtomicU64,
    /// The server is to be asked soon: for the place of a write, or about a table.
    pub has_to_ask: Notify,
}

/// What was known when a read was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noted {
    attachment: u64,
    stamp: u64,
}

/// A table's name as the catalogue is asked about it, and under which state of all definitions.
pub struct Asked {
    pub names: Vec<Name>,
    pub definitions: u64,
}

impl Log {
    pub fn new(bound: Duration) -> Log {
        Log {
            changes: RwLock::default(),
            bound_ns: bound.as_nanos() as u64,
            wrote: AtomicU64::new(0),
            has_to_ask: Notify::new(),
        }
    }

    pub fn bound(&self) -> Duration {
        Duration::from_nanos(self.bound_ns)
    }

    fn look(&self) -> RwLockReadGuard<'_, Changes> {
        self.changes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> RwLockWriteGuard<'_, Changes> {
        self.changes.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn attach(&self, server: Vec<u8>, from: Place) {
        self.change().attach(server, from);
    }

    pub fn has_xa(&self) -> bool {
        self.look().has_xa()
    }

    pub fn lose(&self) {
        self.change().lose();
    }

    pub fn hear(&self, told: &Told) -> Result<(), &'static str> {
        self.change().hear(told)
    }

    /// The server was asked at this time, and everything could be seen up to this place.
    pub fn mark(&self, asked: u64, shown: Place) -> Result<(), &'static str> {
        self.change().mark(asked, shown)
    }

    /// Since when it has been waited for what the server has in its log.
    pub fn waits_since(&self) -> Option<u64> {
        self.look().waits_since()
    }

    pub fn take_asked(&self) -> Asked {
        let mut changes = self.change();
        Asked { names: changes.take_asked(), definitions: changes.definitions() }
    }

    pub fn learn(&self, name: &Name, is_fit: bool, definitions: u64, now: u64) {
        self.change().learn(name, is_fit, definitions, now);
    }

    /// A write was answered, or may have been.
    pub fn wrote(&self, now: u64) {
        self.wrote.fetch_max(now, Ordering::SeqCst);
        self.has_to_ask.notify_one();
    }

    /// How old a result can be that is served now, in nanoseconds; none if nothing is served.
    pub fn staleness(&self, now: u64) -> Option<u64> {
        self.staleness_in(&self.look(), now)
    }

    fn staleness_in(&self, changes: &Changes, now: u64) -> Option<u64> {
        let proved = changes.proved().filter(|proved| *proved > self.wrote.load(Ordering::SeqCst))?;
        now.checked_sub(proved).filter(|age| *age <= self.bound_ns)
    }

    /// `now`: after the read has arrived.
    pub fn find(&self, cache: &Cache, text: &[u8], known: &Known, now: u64) -> Option<Found> {
        let changes = self.look();
        self.staleness_in(&changes, now)?;
        if !changes.is_of(&known.server) {
            return None;
        }
        let key = key(&changes, text, known);
        let pin = cache::pin();
        let entry = cache.get(cache.hash(&key), &key, &pin)?;
        let found = || Found { answer: entry.value().to_vec(), rows: entry.rows(), is_due: false };
        is_fresh(&changes, &entry).then(found)
    }

    /// For a read that is about to be sent.
    pub fn note(&self) -> Option<Noted> {
        let changes = self.look();
        changes.attachment().map(|attachment| Noted { attachment, stamp: changes.stamp() })
    }

    /// False if a result of this read is certainly not kept. What is not known of its tables is asked.
    pub fn may_keep(&self, text: &[u8], known: &Known) -> bool {
        let Some(names) = names(text, known) else { return false };
        if !self.look().is_of(&known.server) {
            return false;
        }
        let verdicts: Vec<_> = names.iter().map(|name| self.look().verdict(name)).collect();
        let unknown: Vec<_> = names.into_iter().zip(&verdicts).filter(|(_, verdict)| verdict.is_none()).collect();
        if !unknown.is_empty() {
            let mut changes = self.change();
            unknown.into_iter().for_each(|(name, _)| changes.ask(name));
            self.has_to_ask.notify_one();
        }
        verdicts.iter().all(|verdict| *verdict != Some(false))
    }

    pub fn keep(&self, cache: &Cache, read: &Read, known: &Known) {
        let Some(names) = names(read.text, known) else { return };
        let changes = self.look();
        let is_same = changes.attachment() == Some(read.noted.attachment) && changes.is_of(&known.server);
        let cells: Option<Vec<_>> = names.iter().map(|name| changes.cell(name)).collect();
        let Some(cells) = cells.filter(|cells| is_same && changes.is_fresh(cells.iter().copied(), read.noted.stamp))
        else {
            return;
        };
        let cells: Vec<_> = cells.into_iter().map(CellId).collect();
        let meta = Meta { stamp: Stamp(read.noted.stamp), rows: read.rows, cost_ns: 0, flags: 0, owner: 0 };
        let key = key(&changes, read.text, known);
        // What does not fit is not kept.
        let _ = cache.insert(cache.hash(&key), &key, meta, &cells, read.answer);
    }

    /// Drops what cannot be served any more.
    pub fn tidy(&self, cache: &Cache) {
        const SEGMENTS: usize = 4;
        cache.make_ready();
        // Locked for each one, so that no change waits for long.
        cache.sweep(|entry| is_fresh(&self.look(), entry), SEGMENTS);
    }
}

/// An answer that may be kept.
pub struct Read<'a> {
    pub text: &'a [u8],
    pub answer: &'a [u8],
    pub rows: u64,
    pub noted: Noted,
}

fn key<'a>(changes: &Changes, text: &'a [u8], known: &'a Known) -> Key<'a> {
    // What was kept under an earlier attachment is found no more.
    Key { context: changes.attachment().unwrap_or_default(), ..shelf::key(text, &known.identity) }
}

fn is_fresh(changes: &Changes, entry: &cache::Entry) -> bool {
    changes.is_fresh(entry.cells().iter().map(|cell| cell.0), entry.stamp().0)
}

/// The tables that a read may name, each as it is looked for; none if they cannot be told.
fn names(text: &[u8], known: &Known) -> Option<Vec<Name>> {
    let tables = sql::sources(text, known.mode).filter(|tables| !tables.is_empty())?;
    tables.into_iter().map(|table| name(table, &known.database, known.mode.flavour)).collect()
}

/// Letters outside ASCII have case rules of the server's own.
fn name(table: TableName, database: &str, flavour: &Flavour) -> Option<Name> {
    let schema = table.db.unwrap_or_else(|| database.as_bytes().to_vec());
    let is_plain = schema.is_ascii() && table.name.is_ascii() && !schema.is_empty();
    (is_plain && !flavour.schemas.is_system(&schema)).then_some(Name { schema, table: table.name })
}
