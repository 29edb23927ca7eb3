//! What all connections share of the log: whether a result may be served, and with what it is kept.

use super::changes::{Changes, Meaning, Name, Privileges, Said, rows_of};
use super::event::{Event, PlacedEvent};
use super::gtid::Gtids;
use super::packed;
use super::place::{Absolute, Place};
use super::rows::RowKey;
use crate::bell::Bell;
use crate::clock;
use crate::identified::{Found, Known, Wording};
use crate::published::{Asking, BY_LOG, Kept, LENT_NS, Published};
use crate::reason::Own;
use crate::result_set::ResultSet;
use crate::results::Results;
use crate::session_flags::Places;
use crate::uses::{Source, Uses};
use cache::{Cache, CellId, Key, Meta, Stamp};
use feed::Attachment;
use locks::RwLock;
use sql::touched;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::sync::{RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

pub struct Log {
    changes: RwLock<Changes>,
    /// Sessions so far.
    sessions: AtomicU64,
    bound_ns: u64,
    /// When a write through this program was last answered.
    wrote: AtomicU64,
    /// The server is to be asked soon: for the place of a write, or about a table.
    pub has_to_ask: Bell,
    /// What other processes read, if they may.
    published: Option<Arc<Published>>,
}

/// What was known when a read was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noted {
    attachment: u64,
    stamp: u64,
    circle: u64,
}

/// Who a session shares results with: a server looks up some privileges when a session begins, or comes into a database, and
/// keeps to them.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    /// As they were before its login.
    privileges: Option<Privileges>,
    /// The number of its own circle, with nobody else in it.
    alone: u64,
}

/// That a read may hang on, one by one.
const MOST_ROWS: usize = 16;

/// Of the sessions that began after the last change of any privilege.
const ALL: u64 = 0;

/// How far the log was heard, for those who look.
pub struct Progress {
    pub bound: Duration,
    /// How old a result can be that is served now.
    pub staleness: Option<Duration>,
    /// Why nothing is served, if it is followed.
    pub obstacle: Option<&'static str>,
    pub heard: Place,
    /// For how long what the server has told was not heard.
    pub waits: Duration,
}

/// A table's name as the catalogue is asked about it, and under which state of all definitions.
pub struct Asked {
    pub names: Vec<Name>,
    pub definitions: u64,
}

impl Log {
    pub fn new(bound: Duration, published: Option<Arc<Published>>) -> Log {
        Log {
            changes: RwLock::default(),
            sessions: AtomicU64::new(ALL),
            bound_ns: bound.as_nanos() as u64,
            wrote: AtomicU64::new(0),
            has_to_ask: Bell::default(),
            published,
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

    /// Changes what is known, and tells other processes of it before anything else can be served.
    fn follow<T>(&self, with: impl FnOnce(&mut Changes) -> T) -> T {
        let mut changes = self.change();
        let outcome = with(&mut changes);
        let changed = changes.take_changed();
        if let Some(published) = &self.published {
            let changed: Vec<_> = changed.iter().filter_map(|(cell, at)| Some((for_others(*cell)?, *at))).collect();
            published.follow_log(attachment_of(&changes), &changed, || self.lease(&changes));
        }
        outcome
    }

    /// The first moment at which other processes serve no result that nothing heard so far has changed; none if they may serve none now.
    fn lease(&self, changes: &Changes) -> Option<u64> {
        let too_old = self.proved(changes)?.saturating_add(self.bound_ns).saturating_add(1);
        Some(too_old.min(clock::now().saturating_add(LENT_NS)))
    }

    /// See [`Changes::attach`].
    pub fn attach(&self, server: Vec<u8>, from: Place, shown: Option<Gtids>) {
        self.follow(|changes| changes.attach(server, from, shown));
    }

    pub fn has_xa(&self) -> bool {
        self.look().has_xa()
    }

    pub fn lose(&self) {
        self.follow(Changes::lose);
    }

    pub fn hear(&self, told: &PlacedEvent) -> Result<(), &'static str> {
        let Event::Packed(packed) = told.event else { return self.follow(|changes| changes.hear(told)) };
        let plain = packed::unpack(packed).unwrap_or_default();
        let events = packed::events(&plain).filter(|events| !events.is_empty());
        let events = events.unwrap_or(vec![Event::Everything]);
        self.follow(|changes| changes.hear_all(told.end, &events))
    }

    /// The server was asked at this time.
    pub fn mark(&self, asked: u64, said: Said) -> Result<(), &'static str> {
        self.follow(|changes| changes.mark(asked, said))
    }

    pub fn heard(&self) -> Place {
        self.look().heard()
    }

    /// Since it is followed, the log has come as far as the server has said at least once.
    pub fn has_come(&self) -> bool {
        self.look().proved().is_some()
    }

    /// Since when it has been waited for what the server has in its log.
    pub fn waits_since(&self) -> Option<u64> {
        self.look().waits_since()
    }

    pub fn take_asked(&self) -> Asked {
        let mut changes = self.change();
        Asked { names: changes.take_asked(), definitions: changes.definitions() }
    }

    pub fn learn(&self, name: &Name, fitness: Result<Meaning, Own>, definitions: u64, now: u64) {
        self.change().learn(name, fitness, definitions, now);
    }

    /// A write was answered, or may have been.
    pub fn wrote(&self, now: u64) {
        self.wrote.fetch_max(now, Ordering::SeqCst);
        // After that, so that the log's thread grants nothing that it has computed before.
        self.published.iter().for_each(|published| published.revoke());
        self.has_to_ask.ring();
    }

    /// Before a session logs in.
    pub fn privileges(&self) -> Option<Privileges> {
        self.look().privileges()
    }

    /// After it has.
    pub fn begin(&self, privileges: Option<Privileges>) -> Begun {
        let alone = self.sessions.fetch_add(1, Ordering::Relaxed) + 1;
        Begun { privileges, alone }
    }

    pub fn progress(&self, now: u64) -> Progress {
        let changes = self.look();
        let staleness = self.staleness_in(&changes, now);
        let waits = changes.waits_since().map_or(0, |since| now.saturating_sub(since));
        Progress {
            bound: self.bound(),
            staleness: staleness.map(Duration::from_nanos),
            obstacle: if staleness.is_some() { None } else { self.why_late(&changes) },
            heard: changes.heard(),
            waits: Duration::from_nanos(waits),
        }
    }

    fn why_late(&self, changes: &Changes) -> Option<&'static str> {
        changes.attachment()?;
        Some(match changes.proved() {
            None => "the server's log has not been heard as far as the server has come",
            Some(_) if self.is_awaited(changes) => "a write is awaited in the server's log",
            Some(_) => "the server, or its log, answers later than max-staleness-ms allows",
        })
    }

    /// All that could be seen at this time has been heard, and so has each write through this program.
    fn proved(&self, changes: &Changes) -> Option<u64> {
        changes.proved().filter(|proved| *proved > self.wrote.load(Ordering::SeqCst))
    }

    fn staleness_in(&self, changes: &Changes, now: u64) -> Option<u64> {
        now.checked_sub(self.proved(changes)?).filter(|age| *age <= self.bound_ns)
    }

    /// `now`: after the read has arrived. `uses`: where it counts, if it is looked for at first.
    pub fn find(
        &self,
        cache: &Cache,
        uses: Option<&Uses>,
        key: &[u8],
        known: &Known,
        begun: &Begun,
        (now, asking): (u64, Option<Asking<'_>>),
    ) -> Option<Found> {
        let changes = self.look();
        self.staleness_in(&changes, now)?;
        if !changes.is_of(&known.server) {
            return None;
        }
        let identity = of_circle(known, circle(&changes, begun));
        let key = key_of(&changes, key, &identity);
        let (pin, hash) = (cache::pin(), cache.hash(&key));
        let entry = cache.get(hash, &key, &pin);
        let is_like = |stamp: u64, cells: &[CellId]| changes.is_fresh(cells.iter().map(|cell| cell.0), stamp);
        uses.iter().for_each(|uses| uses.requested(hash, entry.as_ref(), is_like));
        let entry = entry.filter(|entry| is_fresh(&changes, entry))?;
        let found = Found::of(&entry, false);
        let standing = asking.and_then(|asking| {
            let cells: Option<Vec<_>> = entry.cells().iter().map(|cell| for_others(cell.0)).collect();
            let result = Kept { entry: &entry, cells: &cells?, reads_tables: false, until: u64::MAX };
            asking.publish(attachment_of(&changes)?, &identity, result, 0)
        });
        Some(Found { standing, ..found })
    }

    /// For a read that is about to be sent.
    pub fn note(&self, begun: &Begun) -> Option<Noted> {
        let changes = self.look();
        let circle = circle(&changes, begun);
        changes.attachment().map(|attachment| Noted { attachment, stamp: changes.stamp(), circle })
    }

    /// False if a result of this read is certainly not kept. What is not known of its tables is asked.
    pub fn may_keep(&self, text: &[u8], known: &Known) -> bool {
        let Some(names) = names(text, known) else { return false };
        let (unknown, may_keep) = {
            let changes = self.look();
            let Some(tables) = changes.behind(&names).filter(|_| changes.is_of(&known.server)) else { return false };
            let (known, unknown): (Vec<_>, Vec<_>) = tables
                .into_iter()
                .map(|name| (name, changes.verdict(name)))
                .partition(|(_, verdict)| verdict.is_some());
            let unknown: Vec<_> = unknown.into_iter().map(|(name, _)| name.clone()).collect();
            (unknown, !known.iter().any(|(_, verdict)| matches!(verdict, Some(Err(_)))))
        };
        if !unknown.is_empty() {
            let mut changes = self.change();
            unknown.into_iter().for_each(|name| changes.ask(name));
            self.has_to_ask.ring();
        }
        may_keep
    }

    /// Why a read that was looked for just now was not answered from memory.
    pub fn why(&self, cache: &Cache, wording: &Wording, known: &Known, begun: &Begun, now: u64) -> Own {
        let changes = self.look();
        let Some(names) = names(wording.text, known) else { return Own::TableName };
        let Some(tables) = changes.behind(&names) else { return Own::View };
        // What does not pass by comes first.
        let unfit = tables.iter().filter_map(|name| changes.verdict(name)).find_map(Result::err);
        let is_known = || tables.iter().all(|name| changes.cell(name).is_some());
        match (unfit, self.staleness_in(&changes, now)) {
            (Some(why), _) => why,
            _ if changes.attachment().is_none() => Own::NotFollowed,
            _ if !changes.is_of(&known.server) => Own::OtherServer,
            (_, None) if self.is_awaited(&changes) => Own::Awaited,
            (_, None) => Own::Unproved,
            _ if !is_known() => Own::TableUnknown,
            _ if has_result(cache, &changes, wording.key, known, begun) => Own::Outdated,
            _ => Own::Absent,
        }
    }

    /// A write through this program was not heard of yet.
    fn is_awaited(&self, changes: &Changes) -> bool {
        changes.proved().is_some_and(|proved| proved <= self.wrote.load(Ordering::SeqCst))
    }

    /// Returns what it is worth to other near caches, if it is of use to them.
    pub fn keep(&self, results: &Results, read: &Read, known: &Known) -> Option<Vec<u8>> {
        let changes = self.look();
        let is_same = changes.attachment() == Some(read.noted.attachment);
        let is_kept = is_same.then(|| put(&changes, results, read, known)).flatten()?;
        results.uses.missed(read.source, read.result.bytes.len(), is_kept);
        let absolute = changes.absolute(read.noted.stamp).filter(|_| read.noted.circle == ALL)?;
        Some([&absolute.bytes()[..], read.result.bytes].concat())
    }

    /// What another near cache has read could be served to this session.
    pub fn may_take(&self, wording: &Wording, known: &Known, begun: &Begun, now: u64) -> bool {
        let changes = self.look();
        self.staleness_in(&changes, now).is_some()
            && changes.is_of(&known.server)
            && circle(&changes, begun) == ALL
            && cells(&changes, wording, known).is_some()
    }

    /// Keeps what another one has made by `keep`, unless it is outdated by what was heard here.
    pub fn take(
        &self,
        results: &Results,
        wording: &Wording,
        known: &Known,
        absolute: Absolute,
        result: ResultSet<'_>,
        source: Source,
    ) -> bool {
        let changes = self.look();
        let Some((attachment, stamp)) = changes.attachment().zip(changes.moment_of(absolute)) else { return false };
        let noted = Noted { attachment, stamp, circle: ALL };
        put(&changes, results, &Read { wording: *wording, result, noted, source }, known).is_some()
    }

    /// Drops what cannot be served any more, and what is to be asked for again. Must be called every second, so that other processes serve.
    pub fn tidy(&self, cache: &Cache, now: u64) {
        const SEGMENTS: usize = 4;
        self.follow(|changes| changes.forget_unfit(now));
        cache.make_ready();
        // Locked for each one, so that no change waits for long.
        cache.sweep(|entry| is_fresh(&self.look(), entry), SEGMENTS);
    }
}

/// Cells get new numbers when everything has changed, so that is another attachment to other processes.
fn attachment_of(changes: &Changes) -> Option<Attachment> {
    changes.attachment().map(|_| [BY_LOG, changes.definitions()])
}

/// The number of a cell in the memory of other processes, where the first one has a meaning of its own. None: it has no room for it.
fn for_others(cell: u32) -> Option<u32> {
    const OF_ROWS: u32 = 1 << 23;
    match rows_of(cell) {
        Some(word) => (word < OF_ROWS).then_some(OF_ROWS + word),
        None => (cell + 1 < OF_ROWS).then_some(cell + 1),
    }
}

/// An answer that may be kept.
pub struct Read<'a> {
    pub wording: Wording<'a>,
    pub result: ResultSet<'a>,
    pub noted: Noted,
    pub source: Source,
}

/// None if it is not fresh, and false if there is no room for it.
fn put(changes: &Changes, results: &Results, read: &Read, known: &Known) -> Option<bool> {
    let Read { wording, result, noted: Noted { stamp, circle, .. }, source: Source { shape, cost_ns } } = *read;
    let cells = cells(changes, &wording, known).filter(|_| changes.is_of(&known.server));
    let cells = cells.filter(|cells| changes.is_fresh(cells.iter().copied(), stamp))?;
    let cells: Vec<_> = cells.into_iter().map(CellId).collect();
    let flags = result.places.map_or(0, Places::bits);
    let meta = Meta { stamp: Stamp(stamp), rows: result.rows, cost_ns, flags, owner: shape.0 };
    let identity = of_circle(known, circle);
    let key = key_of(changes, wording.key, &identity);
    Some(results.uses.keep(results.cache(), &key, meta, &cells, result.bytes))
}

/// Of the tables of a read, or of its rows; none if not all are known.
fn cells(changes: &Changes, wording: &Wording, known: &Known) -> Option<Vec<u32>> {
    let names = names(wording.text, known)?;
    let of_rows = if let [name] = names.as_slice() { cells_of_rows(changes, name, wording, known) } else { None };
    of_rows.or_else(|| changes.behind(&names)?.into_iter().map(|name| changes.cell(name)).collect())
}

/// None if its wording does not tell which rows it reads.
fn cells_of_rows(changes: &Changes, only: &Name, wording: &Wording, known: &Known) -> Option<Vec<u32>> {
    let RowKey { column, .. } = changes.key(only)?;
    let &Wording { text, bound, .. } = wording;
    let (table, keys) = touched::read(touched::Text { text, mode: known.mode, bound }, column)?;
    let is_it = Name::of(table, known.database.as_bytes(), known.mode.flavour)? == *only;
    changes.cells_of_rows(only, &keys.points(MOST_ROWS).filter(|_| is_it)?)
}

fn circle(changes: &Changes, begun: &Begun) -> u64 {
    let is_of_all = begun.privileges.is_some_and(|privileges| changes.has_still(privileges));
    if is_of_all { ALL } else { begun.alone }
}

fn of_circle(known: &Known, circle: u64) -> [u8; 40] {
    let mut identity = [0; 40];
    identity[..32].copy_from_slice(&known.identity);
    identity[32..].copy_from_slice(&circle.to_le_bytes());
    identity
}

fn key_of<'a>(changes: &Changes, key: &'a [u8], identity: &'a [u8; 40]) -> Key<'a> {
    // What was kept under an earlier attachment is found no more.
    Key { context: changes.attachment().unwrap_or_default(), parts: [key, identity] }
}

fn has_result(cache: &Cache, changes: &Changes, key: &[u8], known: &Known, begun: &Begun) -> bool {
    let identity = of_circle(known, circle(changes, begun));
    let key = key_of(changes, key, &identity);
    let (pin, hash) = (cache::pin(), cache.hash(&key));
    cache.get(hash, &key, &pin).is_some()
}

fn is_fresh(changes: &Changes, entry: &cache::Entry) -> bool {
    changes.is_fresh(entry.cells().iter().map(|cell| cell.0), entry.stamp().0)
}

/// The tables that a read may name, each as it is looked for; none if they cannot be told.
fn names(text: &[u8], known: &Known) -> Option<Vec<Name>> {
    let tables = sql::sources(text, known.mode).filter(|tables| !tables.is_empty())?;
    tables.into_iter().map(|table| Name::of(table, known.database.as_bytes(), known.mode.flavour)).collect()
}
