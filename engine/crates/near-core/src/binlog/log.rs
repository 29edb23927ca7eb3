//! The state of the log that all connections share: it decides whether a result may be served, and stores results with their
//! dependencies.

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
use crate::reason::ContextReason;
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

/// What all connections know of the server's binary log. It decides whether a result may be served, and which results are stored.
pub struct Log {
    changes: RwLock<Changes>,
    /// The number of sessions so far. It becomes the private group id of the last one.
    sessions: AtomicU64,
    /// The maximum age of what may be served, in nanoseconds.
    bound_ns: u64,
    /// The time when a write through this program was last answered, in nanoseconds.
    wrote: AtomicU64,
    /// Rings when the server should be asked soon: for the log position after a write, or about a table.
    pub has_to_ask: Bell,
    /// The memory that other processes read results from, if they may.
    published: Option<Arc<Published>>,
}

/// The state of the log when a read was sent: which changes the read sees, and with which sessions it shares its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noted {
    attachment: u64,
    stamp: u64,
    /// The group of sessions that the result is for: [`ALL`], or a session's private group id.
    circle: u64,
}

/// The state of the privileges when a session began, which decides with whom it shares results. A server looks up some privileges
/// when a session begins or changes its database, and keeps using them. So a session shares results with others only while
/// privileges have not changed since it began.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    /// The version of the privileges before the session's login, if it was certain.
    privileges: Option<Privileges>,
    /// A private group id, which no other session has.
    alone: u64,
}

/// The maximum number of rows that a result may depend on individually. A read of more rows depends on its tables.
const MOST_ROWS: usize = 16;

/// The group id of all sessions that began after the last change of privileges.
const ALL: u64 = 0;

/// How far the log has been received, for reports and metrics.
pub struct Progress {
    /// The maximum age of what may be served.
    pub bound: Duration,
    /// The age that a result can have that is served now. None if nothing may be served now.
    pub staleness: Option<Duration>,
    /// The reason why nothing is served although the log is followed.
    pub obstacle: Option<&'static str>,
    /// The position up to which the log has been received.
    pub heard: Place,
    /// How long the log has been waiting for events that the server has already written; zero if it waits for none.
    pub waits: Duration,
}

/// Names to look up in the server's catalogue, and the count of definition changes at that time, which the answer is given with.
pub struct Asked {
    pub names: Vec<Name>,
    /// The count to pass to [`Log::learn`] with each answer.
    pub definitions: u64,
}

impl Log {
    /// `bound` is the maximum age of what may be served. Other processes answer reads from the memory `published`, if there is
    /// one.
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

    /// Returns the maximum age of what may be served.
    pub fn bound(&self) -> Duration {
        Duration::from_nanos(self.bound_ns)
    }

    fn look(&self) -> RwLockReadGuard<'_, Changes> {
        self.changes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> RwLockWriteGuard<'_, Changes> {
        self.changes.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and publishes the change to other processes before any thread can serve again.
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

    /// Returns the time until which other processes may serve results that no received event has invalidated. None if they may
    /// serve none now.
    fn lease(&self, changes: &Changes) -> Option<u64> {
        let too_old = self.proved(changes)?.saturating_add(self.bound_ns).saturating_add(1);
        Some(too_old.min(clock::now().saturating_add(LENT_NS)))
    }

    /// Starts to follow a log from the position `from`, after the end of any earlier attachment. `server` is the server's
    /// [`Known::server`]. `shown` contains the visible transactions if the server has GTIDs: the server sends only the others.
    /// Without GTIDs, everything before the position must be visible.
    pub fn attach(&self, server: Vec<u8>, from: Place, shown: Option<Gtids>) {
        self.follow(|changes| changes.attach(server, from, shown));
    }

    /// Returns true if the log has ever contained a part of an XA transaction. It cannot be followed then, also after another
    /// attachment.
    pub fn has_xa(&self) -> bool {
        self.look().has_xa()
    }

    /// Ends following the log: nothing is served by it until the next attachment.
    pub fn lose(&self) {
        self.follow(Changes::lose);
    }

    /// Takes the next event of the log, and invalidates what it changes. An error says why the log can no longer be followed; the
    /// caller must then call [`lose`](Self::lose).
    pub fn hear(&self, told: &PlacedEvent) -> Result<(), &'static str> {
        let Event::Packed(packed) = told.event else { return self.follow(|changes| changes.hear(told)) };
        let plain = packed::unpack(packed).unwrap_or_default();
        let events = packed::events(&plain).filter(|events| !events.is_empty());
        let events = events.unwrap_or(vec![Event::Privileges]);
        self.follow(|changes| changes.hear_all(told.end, &events))
    }

    /// Takes the server's answer to the question how far its log has come, which was sent at the time `asked` in nanoseconds. An
    /// error says why the log can no longer be followed.
    pub fn mark(&self, asked: u64, said: Said) -> Result<(), &'static str> {
        self.follow(|changes| changes.mark(asked, said))
    }

    /// Returns the position up to which the log has been received.
    pub fn heard(&self) -> Place {
        self.look().heard()
    }

    /// Returns true if, since the attachment, the log has been received at least once as far as the server said it had come.
    pub fn has_come(&self) -> bool {
        self.look().proved().is_some()
    }

    /// Returns the time in nanoseconds of the oldest question whose answer names a position that has not been received yet. None
    /// if everything has been received.
    pub fn waits_since(&self) -> Option<u64> {
        self.look().waits_since()
    }

    /// Takes the names that the caller must now look up in the server's catalogue. Each answer is passed to
    /// [`learn`](Self::learn) with the returned count of definitions.
    pub fn take_asked(&self) -> Asked {
        let mut changes = self.change();
        Asked { names: changes.take_asked(), definitions: changes.definitions() }
    }

    /// Takes the catalogue's answer for a name: what the name means, or why results of it cannot be stored. `definitions` is the
    /// count of [`take_asked`](Self::take_asked); if definitions have changed since, the answer is ignored. `now` is the time in
    /// nanoseconds.
    pub fn learn(&self, name: &Name, fitness: Result<Meaning, ContextReason>, definitions: u64, now: u64) {
        self.change().learn(name, fitness, definitions, now);
    }

    /// Notes that a write through this program was answered, or may have been, at the time `now` in nanoseconds. Nothing is
    /// served by the log until it has been received up to that write.
    pub fn wrote(&self, now: u64) {
        self.wrote.fetch_max(now, Ordering::SeqCst);
        // Revoke after storing the time, so that the log's thread cannot grant other processes a lease that it computed before.
        self.published.iter().for_each(|published| published.revoke());
        self.has_to_ask.ring();
    }

    /// Returns the version of the privileges, to be noted before a session logs in. None if it is not certain; the session then
    /// shares no results with others.
    pub fn privileges(&self) -> Option<Privileges> {
        self.look().privileges()
    }

    /// Registers a session after its login. `privileges` is the version that was noted before the login. The returned value is
    /// needed for all lookups of the session.
    pub fn begin(&self, privileges: Option<Privileges>) -> Begun {
        let alone = self.sessions.fetch_add(1, Ordering::Relaxed) + 1;
        Begun { privileges, alone }
    }

    /// Returns how far the log has been received at the time `now`, in nanoseconds.
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

    /// Returns the reason why nothing may be served although the log is followed. None if it is not followed.
    fn why_late(&self, changes: &Changes) -> Option<&'static str> {
        changes.attachment()?;
        Some(match changes.proved() {
            None => "the server's log has not been heard as far as the server has come",
            Some(_) if self.is_awaited(changes) => "a write is awaited in the server's log",
            Some(_) => "the server, or its log, answers later than max-staleness-ms allows",
        })
    }

    /// Returns the time up to which all visible changes have been received, if that includes every write through this program.
    /// None otherwise.
    fn proved(&self, changes: &Changes) -> Option<u64> {
        changes.proved().filter(|proved| *proved > self.wrote.load(Ordering::SeqCst))
    }

    /// Returns the age in nanoseconds that a result may have that is served at the time `now`. None if that exceeds the bound or
    /// is not known.
    fn staleness_in(&self, changes: &Changes, now: u64) -> Option<u64> {
        now.checked_sub(self.proved(changes)?).filter(|age| *age <= self.bound_ns)
    }

    /// Looks up a result for a read of a session. None if there is none that may be served. `key` is the read's key, and `now` a
    /// time after the read has arrived. `uses` counts the request, and is none if the read was counted before. With `asking`, the
    /// result is also made available to other processes.
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

    /// Returns the state of the log, to be noted before a read is sent. None if the log is not followed; the result is then not
    /// stored.
    pub fn note(&self, begun: &Begun) -> Option<Noted> {
        let changes = self.look();
        let circle = circle(&changes, begun);
        changes.attachment().map(|attachment| Noted { attachment, stamp: changes.stamp(), circle })
    }

    /// Returns false if the result of this read will certainly not be stored. Tables that are not known yet are queued for a
    /// lookup in the catalogue.
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

    /// Returns the reason why a read that was just looked up was not answered from memory.
    pub fn why(&self, cache: &Cache, wording: &Wording, known: &Known, begun: &Begun, now: u64) -> ContextReason {
        let changes = self.look();
        let Some(names) = names(wording.text, known) else { return ContextReason::TableName };
        let Some(tables) = changes.behind(&names) else { return ContextReason::View };
        // A reason that will not go away by itself comes first.
        let unfit = tables.iter().filter_map(|name| changes.verdict(name)).find_map(Result::err);
        let is_known = || tables.iter().all(|name| changes.cell(name).is_some());
        match (unfit, self.staleness_in(&changes, now)) {
            (Some(why), _) => why,
            _ if changes.attachment().is_none() => ContextReason::NotFollowed,
            _ if !changes.is_of(&known.server) => ContextReason::OtherServer,
            (_, None) if self.is_awaited(&changes) => ContextReason::Awaited,
            (_, None) => ContextReason::Unproved,
            _ if !is_known() => ContextReason::TableUnknown,
            _ if has_result(cache, &changes, wording.key, known, begun) => ContextReason::Outdated,
            _ => ContextReason::Absent,
        }
    }

    /// Returns true if a write through this program has not been received in the log yet.
    fn is_awaited(&self, changes: &Changes) -> bool {
        changes.proved().is_some_and(|proved| proved <= self.wrote.load(Ordering::SeqCst))
    }

    /// Stores the result of a read if it is current, and counts the miss. Returns the bytes to share with other near caches,
    /// which are the log position that the result includes and the result itself. None if others cannot use it.
    pub fn keep(&self, results: &Results, read: &Read, known: &Known) -> Option<Vec<u8>> {
        let changes = self.look();
        let is_same = changes.attachment() == Some(read.noted.attachment);
        let is_kept = is_same.then(|| put(&changes, results, read, known)).flatten()?;
        results.uses.missed(read.source, read.result.bytes.len(), is_kept);
        let absolute = changes.absolute(read.noted.stamp).filter(|_| read.noted.circle == ALL)?;
        Some([&absolute.bytes()[..], read.result.bytes].concat())
    }

    /// Returns true if a result that another near cache has read could be served to this session. `now` is a time after the read
    /// has arrived.
    pub fn may_take(&self, wording: &Wording, known: &Known, begun: &Begun, now: u64) -> bool {
        let changes = self.look();
        self.staleness_in(&changes, now).is_some()
            && changes.is_of(&known.server)
            && circle(&changes, begun) == ALL
            && cells(&changes, wording, known).is_some()
    }

    /// Stores a result that another near cache encoded with [`keep`](Self::keep). `absolute` is the position up to which it sees
    /// the log. Returns false if the result is stale by the events received here, or cannot be compared with them.
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

    /// Drops some of the results that cannot be served any more, prepares memory for new ones, and forgets tables that were found
    /// unfit, so that they are asked about again. Must be called every second, so that other processes can serve. `now` is the
    /// time in nanoseconds.
    pub fn tidy(&self, cache: &Cache, now: u64) {
        const SEGMENTS: usize = 4;
        self.follow(|changes| changes.forget_unfit(now));
        cache.make_ready();
        // The lock is taken for each entry, so that no change waits for long.
        cache.sweep(|entry| is_fresh(&self.look(), entry), SEGMENTS);
    }
}

/// Returns the attachment for other processes. Cells get new numbers when everything has changed, so each such change counts as a
/// new attachment.
fn attachment_of(changes: &Changes) -> Option<Attachment> {
    changes.attachment().map(|_| [BY_LOG, changes.definitions()])
}

/// Returns the number of a cell (a table or some rows) in the memory of other processes, where cell 0 stands for everything. None
/// if that memory has no room for the cell.
fn for_others(cell: u32) -> Option<u32> {
    const OF_ROWS: u32 = 1 << 23;
    match rows_of(cell) {
        Some(word) => (word < OF_ROWS).then_some(OF_ROWS + word),
        None => (cell + 1 < OF_ROWS).then_some(cell + 1),
    }
}

/// A read that was answered, and whose result may be stored.
pub struct Read<'a> {
    pub wording: Wording<'a>,
    pub result: ResultSet<'a>,
    /// The state of the log before the read was sent.
    pub noted: Noted,
    /// The statement's shape and the time that the server took, for the statistics.
    pub source: Source,
}

/// Stores a result. Returns none if it is stale or a table is unknown, and false if there is no room for it.
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

/// Returns the cells that a read depends on: those of its tables, or of single rows. None if a table is not known.
fn cells(changes: &Changes, wording: &Wording, known: &Known) -> Option<Vec<u32>> {
    let names = names(wording.text, known)?;
    let of_rows = if let [name] = names.as_slice() { cells_of_rows(changes, name, wording, known) } else { None };
    of_rows.or_else(|| changes.behind(&names)?.into_iter().map(|name| changes.cell(name)).collect())
}

/// Returns the cells of the rows that a read selects by the key of its only table. None if the text does not show which rows
/// these are.
fn cells_of_rows(changes: &Changes, only: &Name, wording: &Wording, known: &Known) -> Option<Vec<u32>> {
    let RowKey { column, .. } = changes.key(only)?;
    let &Wording { text, bound, .. } = wording;
    let (table, keys) = touched::read(touched::Text { text, mode: known.mode, bound }, column)?;
    let is_it = Name::of(table, known.database.as_bytes(), known.mode.flavour)? == *only;
    changes.cells_of_rows(only, &keys.points(MOST_ROWS).filter(|_| is_it)?)
}

/// Returns the group of sessions with which a session shares results: all whose privileges are the present ones, or itself alone.
fn circle(changes: &Changes, begun: &Begun) -> u64 {
    let is_of_all = begun.privileges.is_some_and(|privileges| changes.has_still(privileges));
    if is_of_all { ALL } else { begun.alone }
}

/// Returns the identity for the keys of a session's results: its own, and its group.
fn of_circle(known: &Known, circle: u64) -> [u8; 40] {
    let mut identity = [0; 40];
    identity[..32].copy_from_slice(&known.identity);
    identity[32..].copy_from_slice(&circle.to_le_bytes());
    identity
}

/// Returns the key in the cache of a read's result, for sessions with this identity.
fn key_of<'a>(changes: &Changes, key: &'a [u8], identity: &'a [u8; 40]) -> Key<'a> {
    // The attachment is part of the key, so results of an earlier attachment are not found any more.
    Key { context: changes.attachment().unwrap_or_default(), parts: [key, identity] }
}

/// Returns true if there is a result for this read and session, whether it may be served or not.
fn has_result(cache: &Cache, changes: &Changes, key: &[u8], known: &Known, begun: &Begun) -> bool {
    let identity = of_circle(known, circle(changes, begun));
    let key = key_of(changes, key, &identity);
    let (pin, hash) = (cache::pin(), cache.hash(&key));
    cache.get(hash, &key, &pin).is_some()
}

/// Returns true if nothing that the entry depends on has changed since it was read, by the events received.
fn is_fresh(changes: &Changes, entry: &cache::Entry) -> bool {
    changes.is_fresh(entry.cells().iter().map(|cell| cell.0), entry.stamp().0)
}

/// Returns the tables that a read may name, in the form in which they are looked up. None if they cannot be determined.
fn names(text: &[u8], known: &Known) -> Option<Vec<Name>> {
    let tables = sql::sources(text, known.mode).filter(|tables| !tables.is_empty())?;
    tables.into_iter().map(|table| Name::of(table, known.database.as_bytes(), known.mode.flavour)).collect()
}
