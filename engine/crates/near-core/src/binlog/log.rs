//! The state of the log that all connections share: it decides whether a result may be served, and stores results with their
//! dependencies.

use super::changes::{CatalogueObject, Changes, LogStatus, Privileges, QualifiedName, row_slot};
use super::event::{Event, PlacedEvent};
use super::gtid::Gtids;
use super::packed;
use super::position::{AbsolutePosition, Position};
use super::rows::RowKey;
use crate::clock;
use crate::identified::{FoundResult, KnownSession, ReadText};
use crate::memo::Memo;
use crate::published::{BY_LOG, LEASE_NS, PublishableRead, PublishableResult, Published};
use crate::reason::ContextReason;
use crate::result_set::{ResultSet, RowEncoding};
use crate::results::Results;
use crate::session_flags::FlagOffsets;
use crate::uses::{ResultSource, Uses};
use crate::wake_flag::WakeFlag;
use cache::{Cache, CellId, Key, Meta, Stamp};
use feed::Attachment;
use locks::RwLock;
use sql::{LexMode, touched};
use std::cell::RefCell;
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
    max_staleness_ns: u64,
    /// The time when a write through this program was last answered, in nanoseconds.
    last_write_ns: AtomicU64,
    /// Rings when the server should be asked soon: for the log position after a write, or about a table.
    pub has_to_ask: WakeFlag,
    /// The memory that other processes read results from, if they may.
    published: Option<Arc<Published>>,
}

/// The state of the log when a read was sent: which changes the read sees, and with which sessions it shares its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogState {
    attachment: u64,
    stamp: u64,
    /// The group of sessions that the result is for: [`ALL_SESSIONS`], or a session's private group id.
    group: u64,
}

/// The state of the privileges when a session began, which decides with whom it shares results. A server looks up some privileges
/// when a session begins or changes its database, and keeps using them. So a session shares results with others only while
/// privileges have not changed since it began.
#[derive(Clone, Copy, Debug)]
pub struct SessionPrivileges {
    /// The version of the privileges before the session's login, if it was certain.
    privileges: Option<Privileges>,
    /// A private group id, which no other session has.
    private_group: u64,
}

/// The maximum number of rows that a result may depend on individually. A read of more rows depends on its tables.
const MOST_ROWS: usize = 16;

/// The group id of all sessions that began after the last change of privileges.
const ALL_SESSIONS: u64 = 0;

/// How far the log has been received, for reports and metrics.
pub struct Progress {
    /// The maximum age of what may be served.
    pub max_staleness: Duration,
    /// The age that a result can have that is served now. None if nothing may be served now.
    pub staleness: Option<Duration>,
    /// The reason why nothing is served although the log is followed.
    pub obstacle: Option<&'static str>,
    /// The position up to which the log has been received.
    pub received: Position,
    /// How long the log has been waiting for events that the server has already written; zero if it waits for none.
    pub lag: Duration,
}

/// Names to look up in the server's catalogue, and the count of definition changes at that time, which the answer is given with.
pub struct CatalogueLookups {
    pub names: Vec<QualifiedName>,
    /// The count to pass to [`Log::learn`] with each answer.
    pub definitions_version: u64,
}

impl Log {
    /// Creates the state of a near cache that has no log to follow yet: it serves nothing before [`attach`](Self::attach).
    /// `max_staleness` is the maximum age of what may be served. `published` is the memory that other processes answer reads
    /// from, none if they may not.
    pub fn new(max_staleness: Duration, published: Option<Arc<Published>>) -> Log {
        Log {
            changes: RwLock::default(),
            sessions: AtomicU64::new(ALL_SESSIONS),
            max_staleness_ns: max_staleness.as_nanos() as u64,
            last_write_ns: AtomicU64::new(0),
            has_to_ask: WakeFlag::default(),
            published,
        }
    }

    /// Returns the maximum age of what may be served.
    pub fn max_staleness(&self) -> Duration {
        Duration::from_nanos(self.max_staleness_ns)
    }

    fn read_changes(&self) -> RwLockReadGuard<'_, Changes> {
        self.changes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_changes(&self) -> RwLockWriteGuard<'_, Changes> {
        self.changes.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and publishes the change to other processes before any thread can serve again.
    fn update<T>(&self, with: impl FnOnce(&mut Changes) -> T) -> T {
        let mut changes = self.write_changes();
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
        let too_old = self.complete_until(changes)?.saturating_add(self.max_staleness_ns).saturating_add(1);
        Some(too_old.min(clock::now().saturating_add(LEASE_NS)))
    }

    /// Starts to follow a log from the position `from`, after the end of any earlier attachment. `server` is the server's
    /// [`KnownSession::server`]. `visible` contains the visible transactions if the server has GTIDs: the server sends only the others.
    /// Without GTIDs, everything before the position must be visible.
    pub fn attach(&self, server: Vec<u8>, from: Position, visible: Option<Gtids>) {
        self.update(|changes| changes.attach(server, from, visible));
    }

    /// Returns true if the log has ever contained a part of an XA transaction. It cannot be followed then, also after another
    /// attachment.
    pub fn has_xa(&self) -> bool {
        self.read_changes().has_xa()
    }

    /// Ends following the log: nothing is served by it until the next attachment.
    pub fn detach(&self) {
        self.update(Changes::detach);
    }

    /// Takes the next event of the log, and invalidates what it changes. An error says why the log can no longer be followed; the
    /// caller must then call [`detach`](Self::detach).
    pub fn receive(&self, event: &PlacedEvent) -> Result<(), &'static str> {
        let Event::CompressedTransaction(packed) = event.event else {
            return self.update(|changes| changes.receive(event));
        };
        let plain = packed::unpack(packed).unwrap_or_default();
        let events = packed::events(&plain).filter(|events| !events.is_empty());
        let events = events.unwrap_or(vec![Event::Privileges]);
        self.update(|changes| changes.receive_all(event.end, &events))
    }

    /// Takes the server's answer to the question how far its log has come, which was sent at the time `asked` in nanoseconds. An
    /// error says why the log can no longer be followed.
    pub fn apply_status(&self, asked: u64, status: LogStatus) -> Result<(), &'static str> {
        self.update(|changes| changes.apply_status(asked, status))
    }

    /// Returns the position up to which the log has been received.
    pub fn received(&self) -> Position {
        self.read_changes().received()
    }

    /// Returns true if, since the attachment, the log has been received at least once as far as the server said it had come.
    pub fn has_caught_up(&self) -> bool {
        self.read_changes().complete_until().is_some()
    }

    /// Returns the time in nanoseconds of the oldest question whose answer names a position that has not been received yet. None
    /// if everything has been received.
    pub fn lags_since(&self) -> Option<u64> {
        self.read_changes().lags_since()
    }

    /// Takes the names that the caller must now look up in the server's catalogue. Each answer is passed to
    /// [`learn`](Self::learn) with the returned count of definitions.
    pub fn take_lookups(&self) -> CatalogueLookups {
        let mut changes = self.write_changes();
        CatalogueLookups { names: changes.take_lookups(), definitions_version: changes.definitions_version() }
    }

    /// Takes the catalogue's answer for a name: what the name means, or why results of it cannot be stored. `definitions_version` is the
    /// count of [`take_lookups`](Self::take_lookups); if definitions have changed since, the answer is ignored. `now` is the time in
    /// nanoseconds by [`clock::now`].
    pub fn learn(
        &self,
        name: &QualifiedName,
        outcome: Result<CatalogueObject, ContextReason>,
        definitions_version: u64,
        now: u64,
    ) {
        self.write_changes().learn(name, outcome, definitions_version, now);
    }

    /// Notes that a write through this program was answered, or may have been, at `now`, in nanoseconds by
    /// [`clock::now`]. No result is served by the log until the log has been received up to that write.
    pub fn note_write(&self, now: u64) {
        self.last_write_ns.fetch_max(now, Ordering::SeqCst);
        // Revoke after storing the time, so that the log's thread cannot grant other processes a lease that it computed before.
        self.published.iter().for_each(|published| published.revoke());
        self.has_to_ask.set();
    }

    /// Returns the version of the privileges, to be noted before a session logs in. None if it is not certain; the session then
    /// shares no results with others.
    pub fn privileges(&self) -> Option<Privileges> {
        self.read_changes().privileges()
    }

    /// Registers a session after its login. `privileges` is the version that was noted before the login; with none, the session shares
    /// no results with others. The returned value is needed for all lookups of the session.
    pub fn register_session(&self, privileges: Option<Privileges>) -> SessionPrivileges {
        let private_group = self.sessions.fetch_add(1, Ordering::Relaxed) + 1;
        SessionPrivileges { privileges, private_group }
    }

    /// Returns how far the log has been received at the time `now`, in nanoseconds.
    pub fn progress(&self, now: u64) -> Progress {
        let changes = self.read_changes();
        let staleness = self.staleness_in(&changes, now);
        let lag = changes.lags_since().map_or(0, |since| now.saturating_sub(since));
        Progress {
            max_staleness: self.max_staleness(),
            staleness: staleness.map(Duration::from_nanos),
            obstacle: if staleness.is_some() { None } else { self.why_late(&changes) },
            received: changes.received(),
            lag: Duration::from_nanos(lag),
        }
    }

    /// Returns the reason why nothing may be served although the log is followed. None if it is not followed.
    fn why_late(&self, changes: &Changes) -> Option<&'static str> {
        changes.attachment()?;
        Some(match changes.complete_until() {
            None => "the server's log has not been heard as far as the server has come",
            Some(_) if self.is_awaited(changes) => "a write is awaited in the server's log",
            Some(_) => "the server, or its log, answers later than max-staleness-ms allows",
        })
    }

    /// Returns the time up to which all visible changes have been received, if that includes every write through this program.
    /// None otherwise.
    fn complete_until(&self, changes: &Changes) -> Option<u64> {
        changes.complete_until().filter(|complete_until| *complete_until > self.last_write_ns.load(Ordering::SeqCst))
    }

    /// Returns the age in nanoseconds that a result may have that is served at the time `now`. None if that exceeds the bound or
    /// is not known.
    fn staleness_in(&self, changes: &Changes, now: u64) -> Option<u64> {
        now.checked_sub(self.complete_until(changes)?).filter(|age| *age <= self.max_staleness_ns)
    }

    /// Looks up a result for a read of a session. None if there is none that may be served. `key` is the read's key, and `now` a
    /// time after the read has arrived. `uses` counts the request, and is none if the read was counted before. With `publishable`, the
    /// result is also made available to other processes.
    pub fn find(
        &self,
        cache: &Cache,
        uses: Option<&Uses>,
        key: &[u8],
        known: &KnownSession,
        session: &SessionPrivileges,
        (now, publishable): (u64, Option<PublishableRead<'_>>),
    ) -> Option<FoundResult> {
        let changes = self.read_changes();
        self.staleness_in(&changes, now)?;
        if !changes.is_log_of(&known.server) {
            return None;
        }
        let identity = identity_in_group(known, group(&changes, session));
        let key = key_of(&changes, key, &identity);
        let (pin, hash) = (cache::pin(), cache.hash(&key));
        let entry = cache.get(hash, &key, &pin);
        let is_like = |stamp: u64, cells: &[CellId]| changes.is_fresh(cells.iter().map(|cell| cell.0), stamp);
        uses.iter().for_each(|uses| uses.count_request(hash, entry.as_ref(), is_like));
        let entry = entry.filter(|entry| is_fresh(&changes, entry))?;
        let found = FoundResult::of(&entry, false);
        let served_contexts = publishable.and_then(|publishable| {
            let cells: Option<Vec<_>> = entry.cells().iter().map(|cell| for_others(cell.0)).collect();
            let result = PublishableResult { entry: &entry, cells: &cells?, reads_tables: false, until: u64::MAX };
            publishable.publish(attachment_of(&changes)?, &identity, result, 0)
        });
        Some(FoundResult { served_contexts, ..found })
    }

    /// Returns the state of the log, to be noted before a read is sent. None if the log is not followed; the result is then not
    /// stored.
    pub fn current_state(&self, session: &SessionPrivileges) -> Option<LogState> {
        let changes = self.read_changes();
        let group = group(&changes, session);
        changes.attachment().map(|attachment| LogState { attachment, stamp: changes.stamp(), group })
    }

    /// Returns false if the result of this read will certainly not be stored. Tables that are not known yet are queued for a
    /// lookup in the catalogue.
    pub fn may_keep(&self, text: &[u8], known: &KnownSession) -> bool {
        let Some(names) = names(text, known) else { return false };
        let (unknown, may_keep) = {
            let changes = self.read_changes();
            let Some(tables) = changes.dependencies(&names).filter(|_| changes.is_log_of(&known.server)) else {
                return false;
            };
            let (known, unknown): (Vec<_>, Vec<_>) = tables
                .into_iter()
                .map(|name| (name, changes.check_storable(name)))
                .partition(|(_, verdict)| verdict.is_some());
            let unknown: Vec<_> = unknown.into_iter().map(|(name, _)| name.clone()).collect();
            (unknown, !known.iter().any(|(_, verdict)| matches!(verdict, Some(Err(_)))))
        };
        if !unknown.is_empty() {
            let mut changes = self.write_changes();
            unknown.into_iter().for_each(|name| changes.queue_lookup(name));
            self.has_to_ask.set();
        }
        may_keep
    }

    /// Returns the reason why a read that was just looked up was not answered from memory.
    pub fn why(
        &self,
        cache: &Cache,
        read_text: &ReadText,
        known: &KnownSession,
        session: &SessionPrivileges,
        now: u64,
    ) -> ContextReason {
        let changes = self.read_changes();
        let Some(names) = names(read_text.text, known) else { return ContextReason::TableName };
        let Some(tables) = changes.dependencies(&names) else { return ContextReason::View };
        // A reason that will not go away by itself comes first.
        let unfit = tables.iter().filter_map(|name| changes.check_storable(name)).find_map(Result::err);
        let is_known = || tables.iter().all(|name| changes.cell(name).is_some());
        match (unfit, self.staleness_in(&changes, now)) {
            (Some(why), _) => why,
            _ if changes.attachment().is_none() => ContextReason::NotFollowed,
            _ if !changes.is_log_of(&known.server) => ContextReason::OtherServer,
            (_, None) if self.is_awaited(&changes) => ContextReason::Awaited,
            (_, None) => ContextReason::Unproved,
            _ if !is_known() => ContextReason::TableUnknown,
            _ if has_result(cache, &changes, read_text.key, known, session) => ContextReason::Outdated,
            _ => ContextReason::Absent,
        }
    }

    /// Returns true if a write through this program has not been received in the log yet.
    fn is_awaited(&self, changes: &Changes) -> bool {
        changes
            .complete_until()
            .is_some_and(|complete_until| complete_until <= self.last_write_ns.load(Ordering::SeqCst))
    }

    /// Stores the result of a read if it is current, and counts the miss. Returns the bytes to share with other near caches,
    /// which are the log position that the result includes and the result itself. None if others cannot use it.
    ///
    /// `state` is the state of the log before the read was sent.
    pub fn keep(
        &self,
        results: &Results,
        read: &StorableRead,
        known: &KnownSession,
        state: LogState,
    ) -> Option<Vec<u8>> {
        let changes = self.read_changes();
        let is_same = changes.attachment() == Some(state.attachment);
        let is_kept = is_same.then(|| put(&changes, results, read, known, state)).flatten()?;
        results.uses.count_miss(read.source, read.result.bytes.len(), is_kept);
        let absolute = changes.absolute(state.stamp).filter(|_| state.group == ALL_SESSIONS)?;
        Some([&absolute.bytes()[..], read.result.bytes].concat())
    }

    /// Returns true if a result that another near cache has read could be served to this session. `now` is a time after the read
    /// has arrived.
    pub fn may_store_shared(
        &self,
        read_text: &ReadText,
        known: &KnownSession,
        session: &SessionPrivileges,
        now: u64,
    ) -> bool {
        let changes = self.read_changes();
        self.staleness_in(&changes, now).is_some()
            && changes.is_log_of(&known.server)
            && group(&changes, session) == ALL_SESSIONS
            && cells(&changes, read_text, known, None).is_some()
    }

    /// Stores a result that another near cache encoded with [`keep`](Self::keep). `absolute` is the position up to which it sees
    /// the log. Returns false if the result is stale by the events received here, or cannot be compared with them.
    pub fn store_shared(
        &self,
        results: &Results,
        read: &StorableRead,
        known: &KnownSession,
        absolute: AbsolutePosition,
    ) -> bool {
        let changes = self.read_changes();
        let Some((attachment, stamp)) = changes.attachment().zip(changes.moment_of(absolute)) else { return false };
        put(&changes, results, read, known, LogState { attachment, stamp, group: ALL_SESSIONS }).is_some()
    }

    /// Drops some of the results that cannot be served any more, prepares memory for new ones, and forgets tables that were found
    /// unfit, so that they are asked about again. Must be called every second, so that other processes can serve. `now` is the
    /// time in nanoseconds.
    pub fn tidy(&self, cache: &Cache, now: u64) {
        const SEGMENTS: usize = 4;
        self.update(|changes| changes.forget_unstorable(now));
        cache.make_ready();
        // The lock is taken for each entry, so that no change waits for long.
        cache.sweep(|entry| is_fresh(&self.read_changes(), entry), SEGMENTS);
    }
}

/// Returns the attachment for other processes. Cells get new numbers when everything has changed, so each such change counts as a new
/// attachment. None if no log is followed: other processes then serve nothing.
fn attachment_of(changes: &Changes) -> Option<Attachment> {
    changes.attachment().map(|_| [BY_LOG, changes.definitions_version()])
}

/// Returns the number of a cell (a table or some rows) in the memory of other processes, where cell 0 stands for everything. None
/// if that memory has no room for the cell.
fn for_others(cell: u32) -> Option<u32> {
    const OF_ROWS: u32 = 1 << 23;
    match row_slot(cell) {
        Some(word) => (word < OF_ROWS).then_some(OF_ROWS + word),
        None => (cell + 1 < OF_ROWS).then_some(cell + 1),
    }
}

/// A read that was answered, and whose result may be stored.
pub struct StorableRead<'a> {
    pub read_text: ReadText<'a>,
    pub result: ResultSet<'a>,
    pub encoding: RowEncoding,
    /// The statement's shape and the time that the server took, for the statistics.
    pub source: ResultSource,
}

/// Stores a result. Returns none if it is stale or a table is unknown, and false if there is no room for it.
fn put(
    changes: &Changes,
    results: &Results,
    read: &StorableRead,
    known: &KnownSession,
    LogState { stamp, group, .. }: LogState,
) -> Option<bool> {
    let StorableRead { read_text, result, source: ResultSource { shape, cost_ns }, .. } = *read;
    let cells = cells(changes, &read_text, known, Some(read)).filter(|_| changes.is_log_of(&known.server));
    let cells = cells.filter(|cells| changes.is_fresh(cells.iter().copied(), stamp))?;
    let cells: Vec<_> = cells.into_iter().map(CellId).collect();
    let flags = result.flag_offsets.map_or(0, FlagOffsets::bits);
    let meta = Meta { stamp: Stamp(stamp), rows: result.rows, cost_ns, flags, owner: shape.0 };
    let identity = identity_in_group(known, group);
    let key = key_of(changes, read_text.key, &identity);
    Some(results.uses.keep(results.cache(), &key, meta, &cells, result.bytes))
}

/// Returns the cells that a read depends on: those of its tables, or of single rows, which `answered`, the answered read, may show. None
/// if a table is not known.
fn cells(
    changes: &Changes,
    read_text: &ReadText,
    known: &KnownSession,
    answered: Option<&StorableRead>,
) -> Option<Vec<u32>> {
    let names = names(read_text.text, known)?;
    let of_rows = if let [name] = &*names { cells_of_rows(changes, name, read_text, known, answered) } else { None };
    of_rows.or_else(|| changes.dependencies(&names)?.into_iter().map(|name| changes.cell(name)).collect())
}

/// Returns the cells of the rows that a read selects by the key of its only table. None if neither the text nor the result shows which
/// rows these are.
fn cells_of_rows(
    changes: &Changes,
    only: &QualifiedName,
    read_text: &ReadText,
    known: &KnownSession,
    answered: Option<&StorableRead>,
) -> Option<Vec<u32>> {
    let RowKey { column, .. } = changes.key(only)?;
    let text = touched::Text { text: read_text.text, mode: known.mode, bound: read_text.bound };
    let (table, keys) = touched::read(text, column).or_else(|| {
        let StorableRead { result, encoding, .. } = answered.filter(|answered| answered.result.rows == 1)?;
        touched::read_by_unique_key(text, column, encoding.is_binary, |place| result.value(*encoding, place))
    })?;
    let is_it = QualifiedName::of(table, known.database.as_bytes(), known.mode.flavour)? == *only;
    changes.cells_of_rows(only, &keys.points(MOST_ROWS).filter(|_| is_it)?)
}

/// Returns the id of the group of sessions that a session shares results with. It is [`ALL_SESSIONS`] if privileges have certainly not
/// changed since the session began; otherwise the session's private group id, so that it shares results with no other session.
fn group(changes: &Changes, session: &SessionPrivileges) -> u64 {
    let is_of_all = session.privileges.is_some_and(|privileges| changes.are_privileges_current(privileges));
    if is_of_all { ALL_SESSIONS } else { session.private_group }
}

/// Returns the identity for the keys of a session's results: its own, and its group.
fn identity_in_group(known: &KnownSession, group: u64) -> [u8; 40] {
    let mut identity = [0; 40];
    identity[..32].copy_from_slice(&known.identity);
    identity[32..].copy_from_slice(&group.to_le_bytes());
    identity
}

/// Returns the key in the cache of a read's result, for sessions with this identity.
fn key_of<'a>(changes: &Changes, key: &'a [u8], identity: &'a [u8; 40]) -> Key<'a> {
    // The attachment is part of the key, so results of an earlier attachment are not found any more.
    Key { context: changes.attachment().unwrap_or_default(), parts: [key, identity] }
}

/// Returns true if there is a result for this read and session, whether it may be served or not.
fn has_result(cache: &Cache, changes: &Changes, key: &[u8], known: &KnownSession, session: &SessionPrivileges) -> bool {
    let identity = identity_in_group(known, group(changes, session));
    let key = key_of(changes, key, &identity);
    let (pin, hash) = (cache::pin(), cache.hash(&key));
    cache.get(hash, &key, &pin).is_some()
}

/// Returns true if nothing that the entry depends on has changed since it was read, by the events received.
fn is_fresh(changes: &Changes, entry: &cache::Entry) -> bool {
    changes.is_fresh(entry.cells().iter().map(|cell| cell.0), entry.stamp().0)
}

thread_local! {
    /// The tables of the reads that connections of this thread have sent lately. Each read that goes to the server is asked for its
    /// tables several times.
    static NAMED: RefCell<Memo<NamedTables>> = RefCell::default();
}

/// The tables that a text names in a session of this mode, whose current database is this one.
struct NamedTables {
    text: Box<[u8]>,
    mode: LexMode,
    database: Box<str>,
    names: Option<Arc<[QualifiedName]>>,
}

/// Returns the tables that a read may name, in the form in which they are looked up. None if they cannot be determined.
fn names(text: &[u8], known: &KnownSession) -> Option<Arc<[QualifiedName]>> {
    let (mode, database) = (known.mode, known.database.as_str());
    let is_same = |named: &NamedTables| *named.text == *text && named.mode == mode && *named.database == *database;
    let known_here = |named: &RefCell<Memo<NamedTables>>| Some(named.borrow().find(text, b"", is_same)?.names.clone());
    NAMED.with(known_here).unwrap_or_else(|| {
        let tables = sql::sources(text, mode).filter(|tables| !tables.is_empty());
        let name = |table| QualifiedName::of(table, database.as_bytes(), mode.flavour);
        let names: Option<Arc<[QualifiedName]>> = tables.and_then(|tables| tables.into_iter().map(name).collect());
        let named = NamedTables { text: text.into(), mode, database: database.into(), names: names.clone() };
        NAMED.with_borrow_mut(|memo| memo.put(text, b"", named));
        names
    })
}
