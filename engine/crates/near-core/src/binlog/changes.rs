//! The state that follows from the events of the log, without I/O and without a clock.
//!
//! Log positions are kept as *moments*: numbers that grow with the log, counted from the file in which the attachment started.
//! Names of tables are compared without regard to case. On a server that distinguishes case, a change of one table therefore also
//! invalidates results of the other.

use super::event::{Event, PlacedEvent};
use super::gtid::{GtidSource, Gtids};
use super::position::{AbsolutePosition, Position};
use super::row_versions::RowVersions;
use super::rows::{RowKey, RowLayout, Rows, TableMap};
use crate::reason::ContextReason;
use flavour::Flavour;
use sql::TableName;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// The number of bits of a moment that hold the position within a log file. Moments have 48 bits, like the stamp of a result.
const BITS_OF_FILE: u32 = 36;
/// The maximum number of files that the log may go on for within one attachment.
const MOST_FILES: u32 = 1 << 12;
/// The maximum number of table names that are known, including names of tables that clients asked for and that do not exist.
const MOST_TABLES: usize = 1 << 16;
/// The maximum number of tables and views that one read may name, directly or through views. Results of other reads are not
/// stored.
const MAX_DEPENDENCIES: usize = 64;
/// The time in nanoseconds after which the catalogue is asked again about a table whose results could not be stored.
const UNSTORABLE_NS: u64 = 10_000_000_000;
/// The maximum number of names that are looked up at once.
const MOST_AT_ONCE: usize = 8;
/// The maximum number of received transactions that the server has not yet reported as visible. They may wait for a replica, or for ever
/// if the server misbehaves. If there are more, the log is no longer followed.
const MOST_INVISIBLE: usize = 1 << 18;
/// The maximum number of log files whose creation times are remembered.
const MOST_CREATED: usize = 64;
/// The schema of the tables that define privileges.
const SYSTEM: &[u8] = b"mysql";

/// The reason why a log with XA transactions is not followed.
pub const XA: &str = "the server runs XA transactions, and its log does not tell when these can be seen; restart fqc-near once \
    nobody uses them";

/// The reason why a log is no longer followed whose position went back.
pub const RESET: &str = "the server's log was reset";
const NOT_IN_LOG: &str = "the server has transactions that its log does not contain; following starts again";
const TOO_MANY_INVISIBLE: &str =
    "too many transactions of the server's log are not visible yet; following starts again";
const ANONYMOUS: &str = "the server's log has transactions without numbers; run SET GLOBAL gtid_mode = 'ON'";

/// The schema and name of a table or view, spelled as in a statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QualifiedName {
    pub schema: Vec<u8>,
    pub table: Vec<u8>,
}

/// The object that a name in a statement stands for, by the server's catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogueObject {
    /// A table, with the key that identifies its rows in the cache. None if it has no usable key; its reads then depend on the
    /// whole table.
    Table(Option<RowKey>),
    /// A table whose rows also change when one of these tables does, for example by ON DELETE CASCADE.
    Child(Vec<QualifiedName>),
    /// A view, with the tables and views that it may read.
    View(Vec<QualifiedName>),
}

impl QualifiedName {
    /// Returns the name with its schema, which is `database` if the statement names none. None for the server's own schemas, and
    /// for names outside ASCII, whose case rules depend on the server; reads of such tables are not stored.
    pub fn of(table: TableName, database: &[u8], flavour: &Flavour) -> Option<QualifiedName> {
        let schema = table.db.unwrap_or_else(|| database.to_vec());
        let is_plain = schema.is_ascii() && table.name.is_ascii() && !schema.is_empty();
        (is_plain && !flavour.schemas.is_system(&schema)).then_some(QualifiedName { schema, table: table.name })
    }

    /// Returns the name in lower case. Changes are tracked by it.
    fn folded(&self) -> FoldedName {
        FoldedName(self.schema.to_ascii_lowercase(), self.table.to_ascii_lowercase())
    }
}

/// A schema and a name of a table or view in lower case.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct FoldedName(Vec<u8>, Vec<u8>);

/// The state of a table or view under one spelling of its name. Each spelling is looked up separately.
enum TableState {
    /// The server's catalogue is to be asked about the name.
    Queued,
    /// The catalogue was asked and has not answered.
    Requested,
    /// The catalogue's answer and its time. It is accepted once the log has been followed past everything visible at a later
    /// time, unless a definition has changed until then.
    Unconfirmed(u64, CatalogueObject),
    /// Results of this table cannot be stored, for this reason. The time is that of the catalogue's answer.
    Unstorable(ContextReason, u64),
    /// A table with this number, whose changes are tracked. Results of it may be stored.
    Tracked(u32),
    /// A table with this number, whose changes are tracked, and which also changes with these tables. Results of it may
    /// be stored.
    Child(u32, Vec<QualifiedName>),
    /// A view, with the tables and views that it may read.
    View(Vec<QualifiedName>),
}

/// The log positions of a table's last changes, as numbers (see `Changes::moment`).
struct TableVersions {
    /// The last change of the table.
    any: u64,
    /// The last change whose rows are not known, so that any row may have changed.
    whole: u64,
    /// The key that identifies the table's rows, if there is a usable one.
    key: Option<Arc<RowKey>>,
}

/// A table of the transaction whose events are being received. Its rows events refer to it by an id.
struct MappedTable {
    number: u32,
    /// The decoder of the rows, with the key. None if the rows cannot be decoded.
    layout: Option<(RowLayout, Arc<RowKey>)>,
}

/// The numbering of cells, the things that a result depends on: all changes of a table (`any`), or some rows. In the latter case
/// these are the cells of the rows (`ROWS`), and the changes of the table whose rows are not known (`whole`).
mod cell {
    pub const ROWS: u32 = 1 << 31;

    pub fn any(number: u32) -> u32 {
        number << 1
    }

    pub fn whole(number: u32) -> u32 {
        number << 1 | 1
    }
}

/// An answer of the server whose log position has not been received yet.
struct PendingStatus {
    /// The time of the question.
    asked: u64,
    /// The log position in the answer, as a moment.
    written: u64,
    /// The visible transactions, if the server has GTIDs.
    visible: Option<Gtids>,
}

/// The server's answer to the question how far its log has come, and which changes are visible.
pub enum LogStatus {
    /// Exactly the changes before this position are visible. This is the answer of a server without GTIDs.
    VisibleUpTo(Position),
    /// The log was written up to this position, and these transactions are visible. This is the answer of a server with GTIDs.
    WrittenUpTo(Position, Gtids),
}

/// A version of all privileges. Sessions that began under the same version see the same state of the privilege tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Privileges {
    attachment: u64,
    changed: u64,
}

/// The changes that sessions of the server can see already, as far as this is known. A change is in the log before it can be seen.
enum Visibility {
    /// Exactly the changes up to this moment are visible.
    Position(u64),
    /// The server reports the GTIDs of the visible transactions.
    Gtids {
        /// The transactions that are visible by the server's last answer.
        visible: Gtids,
        /// The transactions that were visible at the attachment, and all received since.
        received: Gtids,
        /// The received transactions that may not be visible yet, each with the moment before it.
        waiting: VecDeque<(GtidSource, u64, u64)>,
        /// True while the events belong to a transaction that has a GTID.
        is_begun: bool,
        /// True if no event of that transaction has been received yet.
        is_empty: bool,
    },
}

impl Default for Visibility {
    fn default() -> Visibility {
        Visibility::Position(0)
    }
}

/// The changes in the received part of the log: the moments of the last changes of tables and rows, and the time up to which
/// these are complete.
#[derive(Default)]
pub struct Changes {
    /// The number of attachments so far.
    attachment: u64,
    is_attached: bool,
    /// Identifies the server; see [`KnownSession::server`](crate::identified::KnownSession::server).
    server: Vec<u8>,
    /// The number of the file in which the attachment started.
    first: u32,
    /// The creation times of received log files, by the file's number, in seconds.
    created: BTreeMap<u32, u32>,
    /// The position up to which the log has been received.
    received: Position,
    /// The end of the log in the server's last answer, as a moment.
    written: u64,
    visibility: Visibility,
    /// The moment at which everything changed last.
    everything_changed_at: u64,
    /// The number of times that definitions may have changed, including changes of everything.
    definitions_version: u64,
    /// The moment at which privileges changed last.
    privileges: u64,
    /// The names that reads have used, and what is known of them.
    tables: HashMap<QualifiedName, TableState>,
    /// The versions of tables, by the table's number.
    versions: Vec<TableVersions>,
    /// The versions of rows.
    rows: RowVersions,
    /// The numbers of the tables whose changes are tracked.
    numbers: HashMap<FoldedName, u32>,
    /// Tables that were changed in transactions whose time of visibility is not known. Their results are never stored.
    unstorable_tables: HashSet<FoldedName>,
    /// True if the log has ever contained a part of an XA transaction.
    has_xa: bool,
    /// The tables of the current transaction.
    current_tables: HashSet<FoldedName>,
    /// The tables of the current transaction by the id that rows events use. None for tables without stored results.
    table_maps: HashMap<u64, Option<MappedTable>>,
    /// The server's answers whose positions have not been received yet, oldest first.
    pending_statuses: VecDeque<PendingStatus>,
    /// The time up to which all visible changes have been received. None before the first such time of an attachment: nothing may be
    /// served then.
    complete_until: Option<u64>,
    /// The cells that have changed since the last [`take_changed`](Self::take_changed), each with its moment.
    changed: Vec<(u32, u64)>,
}

/// Returns the number of the hash table's word if this is a cell of rows. None if it is a cell of a table.
pub fn row_slot(cell: u32) -> Option<u32> {
    (cell & cell::ROWS != 0).then_some(cell & !cell::ROWS)
}

impl Changes {
    /// Starts to follow a log from the position `from`, and forgets everything learnt before, except for tables whose results must never
    /// be stored, and whether the log had XA transactions. `server` identifies the server. `visible` contains the visible transactions
    /// if the server has GTIDs: the server sends only the others. Without GTIDs, everything before the position must be visible.
    pub fn attach(&mut self, server: Vec<u8>, from: Position, visible: Option<Gtids>) {
        let visibility = match visible {
            Some(visible) => Visibility::Gtids {
                received: visible.clone(),
                visible,
                waiting: VecDeque::new(),
                is_begun: false,
                is_empty: false,
            },
            None => Visibility::Position(from.at),
        };
        let kept = (std::mem::take(&mut self.unstorable_tables), self.has_xa);
        *self = Changes {
            attachment: self.attachment + 1,
            is_attached: true,
            server,
            first: from.file,
            received: from,
            written: from.at,
            visibility,
            definitions_version: self.definitions_version + 1,
            unstorable_tables: kept.0,
            has_xa: kept.1,
            ..Changes::default()
        };
    }

    /// Ends the attachment: from here on no result is known to be current, until the next `attach`.
    pub fn detach(&mut self) {
        (self.is_attached, self.complete_until) = (false, None);
    }

    /// Returns the number of the attachment, that is, of the period for which one server's log has been followed without a gap. None
    /// if no log is followed. Numbers of attachments are never used twice.
    pub fn attachment(&self) -> Option<u64> {
        self.is_attached.then_some(self.attachment)
    }

    /// Returns true if the log has ever contained a part of an XA transaction, in this or an earlier attachment.
    pub fn has_xa(&self) -> bool {
        self.has_xa
    }

    /// Returns true if the log is that of the server which is identified by `server`.
    pub fn is_log_of(&self, server: &[u8]) -> bool {
        self.server == server
    }

    /// Returns a log position as a number that is valid in this attachment and grows with the log: a *moment*. Fails if the position is
    /// before the attachment's first file, or too far after it; the log can no longer be followed then.
    fn moment(&self, position: Position) -> Result<u64, &'static str> {
        let file = position.file.checked_sub(self.first).ok_or(RESET)?;
        if file >= MOST_FILES || position.at >> BITS_OF_FILE != 0 {
            return Err("the log has gone on for long; following starts again");
        }
        Ok(u64::from(file) << BITS_OF_FILE | position.at)
    }

    /// Applies the next event of the log. An error says why the log can no longer be followed; the state must then not be used
    /// until the next attachment.
    pub fn receive(&mut self, event: &PlacedEvent) -> Result<(), &'static str> {
        if let Event::Rotate { file, at } = event.event {
            let position = Position::of(file, at).ok_or("the name of a log file is not understood")?;
            return self.go_to(position, event.end.is_some());
        }
        self.receive_all(event.end, &[event.event])
    }

    /// Applies events that end at one position. `end` contains its lower 32 bits, and is none for events that are not part of the log:
    /// the position stays then. The position counts as received only after all of the events. Fails like [`receive`](Self::receive).
    pub fn receive_all(&mut self, end: Option<u32>, events: &[Event]) -> Result<(), &'static str> {
        let end = match end {
            // Without GTIDs the server leaves nothing out, so a heartbeat does not move the position.
            _ if events == [Event::Heartbeat] && !self.has_gtids() => self.received,
            Some(lower) => self.received.end(lower).ok_or("the server's log went back")?,
            None => self.received,
        };
        let moment = self.moment(end)?;
        for event in events {
            self.apply(event, moment)?;
        }
        self.received = end;
        self.advance()
    }

    /// Applies one event that ends at this log position, given as a number. An error says why the log can no longer be followed.
    fn apply(&mut self, event: &Event, moment: u64) -> Result<(), &'static str> {
        if self.follow_gtids(event)? {
            self.change_everything(moment);
        }
        match *event {
            Event::Rotate { .. } | Event::Gtid(_) | Event::Heartbeat | Event::Nothing => {}
            Event::Format { created, .. } => self.begin_file(created),
            Event::AnonymousGtid => return Err(ANONYMOUS),
            Event::Table { schema, name, table_map } => self.touch(schema, name, &table_map, moment),
            Event::Rows(_) if self.current_tables.is_empty() => self.change_everything(moment),
            Event::Rows(rows) => self.change_rows(rows.as_ref(), moment),
            Event::Committed => self.end(),
            Event::Ended => self.end_unordered(moment),
            Event::Xa => {
                self.has_xa = true;
                return Err(XA);
            }
            Event::Everything => self.change_everything(moment),
            Event::Privileges | Event::CompressedTransaction(_) => self.change_privileges(moment),
        }
        Ok(())
    }

    fn has_gtids(&self) -> bool {
        matches!(self.visibility, Visibility::Gtids { .. })
    }

    /// Tracks GTIDs: a transaction is pending until the server reports it as visible. Returns true at the end of a transaction for which
    /// the log contains nothing but the GTID, for example because it ran with `sql_log_bin = 0`. Such a transaction may have changed
    /// anything. False for all other events, and for a server without GTIDs. An error says why the log can no longer be followed.
    fn follow_gtids(&mut self, event: &Event) -> Result<bool, &'static str> {
        let before = self.moment(self.received)?;
        let Visibility::Gtids { received, waiting, is_begun, is_empty, .. } = &mut self.visibility else {
            return Ok(false);
        };
        match event {
            Event::Gtid(_) if waiting.len() >= MOST_INVISIBLE => return Err(TOO_MANY_INVISIBLE),
            Event::Gtid(gtid) => {
                received.add(gtid.source(), gtid.number);
                waiting.push_back((gtid.source(), gtid.number, before));
                (*is_begun, *is_empty) = (true, true);
                self.drop_visible();
            }
            Event::Committed | Event::Ended if *is_begun => {
                *is_begun = false;
                return Ok(*is_empty);
            }
            Event::Rotate { .. } | Event::Format { .. } | Event::Heartbeat | Event::Nothing => {}
            _ if *is_begun => *is_empty = false,
            _ => return Err(ANONYMOUS),
        }
        Ok(false)
    }

    /// Removes the oldest pending transactions up to the first one that the server has not reported as visible.
    fn drop_visible(&mut self) {
        if let Visibility::Gtids { visible, waiting, .. } = &mut self.visibility {
            while waiting.pop_front_if(|(source, number, _)| visible.has(source, *number)).is_some() {}
        }
    }

    /// Moves to the position of a rotate event. `is_in_log` is true if the event is part of the log, so that the file of the position
    /// follows the current one. Otherwise a different file means that the log was reset, which is an error: the log can no longer be
    /// followed.
    fn go_to(&mut self, position: Position, is_in_log: bool) -> Result<(), &'static str> {
        if position.file != self.received.file && !(is_in_log && position.file > self.received.file) {
            return Err(RESET);
        }
        // The server sends the change of file twice: in the log, and before the next file.
        self.received = self.received.max(position);
        self.advance()
    }

    /// Notes the creation time of the current file, in seconds. With it, other followers of the log can recognise the file.
    fn begin_file(&mut self, created: u32) {
        self.created.insert(self.received.file, created);
        if self.created.len() > MOST_CREATED {
            self.created.pop_first();
        }
    }

    /// Notes that rows of this table change in the current transaction, which its rows events refer to by the id in `table_map`. A table
    /// of schema `mysql` counts as a change of privileges. `moment` is the log position as a number.
    fn touch(&mut self, schema: &[u8], table: &[u8], table_map: &TableMap, moment: u64) {
        let name = FoldedName(schema.to_ascii_lowercase(), table.to_ascii_lowercase());
        if name.0 == SYSTEM {
            self.change_privileges(moment);
        }
        let mapped = self.numbers.get(&name).map(|&number| {
            let versions = &mut self.versions[number as usize];
            versions.any = moment;
            self.changed.push((cell::any(number), moment));
            let layout = versions.key.as_ref().and_then(|key| Some((RowLayout::of(table_map, key)?, key.clone())));
            MappedTable { number, layout }
        });
        self.table_maps.insert(table_map.id, mapped);
        self.current_tables.insert(name);
    }

    /// Notes which rows of a table change, at this log position as a number. If `rows` is none or cannot be decoded, any row may have
    /// changed, and if the table is not known, any row of the transaction's tables.
    fn change_rows(&mut self, rows: Option<&Rows>, moment: u64) {
        let Some((rows, mapped)) = rows.and_then(|rows| Some((rows, self.table_maps.get(&rows.id)?))) else {
            return self.change_current_tables(moment);
        };
        let Some(MappedTable { number, layout }) = mapped else { return };
        let versions = &mut self.versions[*number as usize];
        let layout = layout.as_ref().filter(|(_, key)| versions.key.as_ref() == Some(key));
        match layout.and_then(|(layout, key)| layout.keys(rows, key)) {
            Some(keys) => {
                for key in keys {
                    self.rows.set(*number, key, moment);
                    self.changed.push((cell::ROWS | self.rows.slot(*number, key), moment));
                }
            }
            None => {
                versions.whole = moment;
                self.changed.push((cell::whole(*number), moment));
            }
        }
    }

    /// Invalidates all results of every table of the transaction, because it is not known which rows have changed. `moment` is the log
    /// position as a number.
    fn change_current_tables(&mut self, moment: u64) {
        for number in self.current_tables.iter().filter_map(|name| self.numbers.get(name)) {
            self.versions[*number as usize].whole = moment;
            self.changed.push((cell::whole(*number), moment));
        }
    }

    /// Returns the cells (tables or rows) that have changed since the last call, each with the moment of its last change. Empty
    /// after a change of everything, which is visible by a new value of [`definitions_version`](Self::definitions_version).
    pub fn take_changed(&mut self) -> Vec<(u32, u64)> {
        std::mem::take(&mut self.changed)
    }

    /// Ends the current transaction, which becomes visible in the order of the log.
    fn end(&mut self) {
        self.current_tables.clear();
        self.table_maps.clear();
    }

    /// Ends the current transaction, whose time of visibility is not known. Results of its tables are never stored any more.
    fn end_unordered(&mut self, moment: u64) {
        self.table_maps.clear();
        for name in std::mem::take(&mut self.current_tables) {
            if self.unstorable_tables.insert(name) {
                // Stored results of this table must not be found any more, and only invalidating everything ensures that.
                self.change_everything(moment);
            }
        }
    }

    fn change_privileges(&mut self, moment: u64) {
        self.privileges = moment;
        self.change_everything(moment);
    }

    /// Invalidates all results that were read before this log position, given as a number, and forgets all tables, so that the catalogue
    /// is asked about them again.
    fn change_everything(&mut self, moment: u64) {
        self.everything_changed_at = moment;
        self.definitions_version += 1;
        self.tables.clear();
        self.numbers.clear();
        self.versions.clear();
        self.table_maps.clear();
        self.changed.clear();
    }

    /// Takes the server's answer to the question how far its log has come, which was sent at the time `asked`. Fails if the log
    /// or the visible transactions went back, since the log was reset then.
    pub fn apply_status(&mut self, asked: u64, status: LogStatus) -> Result<(), &'static str> {
        let (LogStatus::VisibleUpTo(position) | LogStatus::WrittenUpTo(position, _)) = status;
        let written = self.moment(position)?;
        let numbers = match (&mut self.visibility, status) {
            _ if written < self.written => return Err(RESET),
            (Visibility::Position(visible), LogStatus::VisibleUpTo(_)) => {
                *visible = written;
                None
            }
            (Visibility::Gtids { visible, .. }, LogStatus::WrittenUpTo(_, now)) if now.has_all(visible) => {
                visible.clone_from(&now);
                Some(now)
            }
            _ => return Err(RESET),
        };
        self.written = written;
        self.drop_visible();
        self.pending_statuses.push_back(PendingStatus { asked, written, visible: numbers });
        self.advance()
    }

    /// Removes the server's answers whose position has been received: all changes that were visible when the server was asked have been
    /// received then. Fails if a transaction that such an answer contains is not in the log; the log can no longer be followed then.
    fn advance(&mut self) -> Result<(), &'static str> {
        let received = self.moment(self.received)?;
        while let Some(pending) = self.pending_statuses.pop_front_if(|pending| pending.written <= received) {
            if pending.visible.is_some_and(|visible| !self.has_received(&visible)) {
                return Err(NOT_IN_LOG);
            }
            self.complete_until = Some(pending.asked);
            self.accept(pending.asked, received);
        }
        Ok(())
    }

    /// Returns true if all these transactions have been received, or were visible at the attachment.
    fn has_received(&self, numbers: &Gtids) -> bool {
        if let Visibility::Gtids { received, .. } = &self.visibility { received.has_all(numbers) } else { false }
    }

    /// Accepts the catalogue's answers from before `asked`: their tables are tracked from here on, and their results may be stored. The
    /// caller has made sure that all changes visible at `asked` have been received. A change of a definition among them would have
    /// removed the answers. `received` is the log position as a number.
    fn accept(&mut self, asked: u64, received: u64) {
        for (name, table) in &mut self.tables {
            let TableState::Unconfirmed(at, object) = table else { continue };
            if *at >= asked {
                continue;
            }
            let (key, parents) = match object {
                CatalogueObject::Table(key) => (key.take().map(Arc::new), None),
                CatalogueObject::Child(parents) => (None, Some(std::mem::take(parents))),
                CatalogueObject::View(names) => {
                    *table = TableState::View(std::mem::take(names));
                    continue;
                }
            };
            let next = self.versions.len() as u32;
            let number = *self.numbers.entry(name.folded()).or_insert(next);
            if number == next {
                // Changes of this table that were received earlier have not been recorded.
                self.versions.push(TableVersions { any: received, whole: received, key });
            } else if self.versions[number as usize].key != key {
                // Two tables whose names differ only in case share this number.
                self.versions[number as usize].key = None;
            }
            *table = match parents {
                Some(parents) => TableState::Child(number, parents),
                None => TableState::Tracked(number),
            };
        }
    }

    /// Returns the time, as the caller gave it to [`apply_status`](Self::apply_status), of the oldest question whose
    /// answer names a position that has not been received yet. None if everything has been received.
    pub fn lags_since(&self) -> Option<u64> {
        self.pending_statuses.front().map(|pending| pending.asked)
    }

    /// Returns the position up to which the log has been received.
    pub fn received(&self) -> Position {
        self.received
    }

    /// Returns the time up to which all visible changes have been received. None before the log has been received as far as the
    /// server said.
    pub fn complete_until(&self) -> Option<u64> {
        self.complete_until
    }

    /// Returns the stamp for a read that is sent now: the moment (a log position as a number) up to which all changes have been
    /// received, and are certainly visible to the read.
    pub fn stamp(&self) -> u64 {
        let received = self.moment(self.received).unwrap_or_default();
        match &self.visibility {
            Visibility::Position(visible) => received.min(*visible),
            Visibility::Gtids { waiting, .. } => waiting.front().map_or(received, |(.., before)| *before),
        }
    }

    /// Returns the log position of a moment in a form that all followers of the log understand. None if the creation time of the
    /// file is not known. A moment is a log position as a number that is valid in this attachment only.
    pub fn absolute(&self, moment: u64) -> Option<AbsolutePosition> {
        let file = self.first + (moment >> BITS_OF_FILE) as u32;
        let position = Position { file, at: moment & ((1 << BITS_OF_FILE) - 1) };
        Some(AbsolutePosition { position, created: *self.created.get(&file)? })
    }

    /// Returns the moment (the number of a log position in this attachment) of a position. None if the position belongs to
    /// another log, or has not been received here yet.
    pub fn moment_of(&self, absolute: AbsolutePosition) -> Option<u64> {
        let AbsolutePosition { position, created } = absolute;
        let is_same = self.created.get(&position.file) == Some(&created) && position <= self.received;
        self.moment(position).ok().filter(|_| is_same)
    }

    /// Returns true if, by the events received, none of these cells (tables or rows) has changed after `stamp`, nor everything. A
    /// result with this stamp is then current.
    pub fn is_fresh(&self, mut cells: impl Iterator<Item = u32>, stamp: u64) -> bool {
        self.everything_changed_at <= stamp
            && cells.all(|cell| self.changed_at(cell).is_some_and(|version| version <= stamp))
    }

    /// Returns the number of the last change of what this cell stands for, a table or some rows, in the order of the log. Zero if it has not
    /// changed since the log is followed. None if no table has this cell.
    fn changed_at(&self, cell: u32) -> Option<u64> {
        if cell & cell::ROWS != 0 {
            return Some(self.rows.changed_at(cell & !cell::ROWS));
        }
        let versions = self.versions.get((cell >> 1) as usize)?;
        Some(if cell == cell::any(cell >> 1) { versions.any } else { versions.whole })
    }

    /// Returns the version of the privileges for a session that is about to log in. None if a change of privileges may not be
    /// visible yet.
    pub fn privileges(&self) -> Option<Privileges> {
        let is_certain = self.is_attached && self.privileges <= self.stamp();
        is_certain.then_some(Privileges { attachment: self.attachment, changed: self.privileges })
    }

    /// Returns true if this is still the current version of the privileges, as far as the log has been received. A change that
    /// has not been received is more recent than the staleness bound, or no result is served.
    pub fn are_privileges_current(&self, privileges: Privileges) -> bool {
        privileges == Privileges { attachment: self.attachment, changed: self.privileges }
    }

    /// Returns the number of times that definitions, or everything, may have changed.
    pub fn definitions_version(&self) -> u64 {
        self.definitions_version
    }

    /// Returns the tables that a read of these names depends on, as far as known: for views the tables that they read, and for
    /// tables also the tables that change them. None if there are too many, or no table at all.
    pub fn dependencies<'a>(&'a self, names: &'a [QualifiedName]) -> Option<Vec<&'a QualifiedName>> {
        let (mut visited, mut tables): (Vec<&QualifiedName>, _) = (Vec::new(), Vec::new());
        let mut left: Vec<_> = names.iter().collect();
        while let Some(name) = left.pop() {
            if visited.contains(&name) {
                continue;
            }
            (visited.len() < MAX_DEPENDENCIES).then(|| visited.push(name))?;
            match self.tables.get(name) {
                Some(TableState::View(inner)) => left.extend(inner),
                Some(TableState::Child(_, parents)) => {
                    tables.push(name);
                    left.extend(parents);
                }
                _ => tables.push(name),
            }
        }
        (!tables.is_empty()).then_some(tables)
    }

    /// Returns `Ok` if results of this table may be stored, as far as that is known, and the reason if they must not be. None if the
    /// catalogue has not been asked about the table. While the catalogue's answer is pending, the result is `Ok`.
    pub fn check_storable(&self, name: &QualifiedName) -> Option<Result<(), ContextReason>> {
        if self.unstorable_tables.contains(&name.folded()) {
            return Some(Err(ContextReason::MixedEngines));
        }
        self.tables.get(name).map(|table| if let TableState::Unstorable(why, _) = table { Err(*why) } else { Ok(()) })
    }

    /// Returns the cell that stands for all changes of this table. None as long as it is not known that results of the table may be
    /// stored, and for a view.
    pub fn cell(&self, name: &QualifiedName) -> Option<u32> {
        self.number(name).map(cell::any)
    }

    /// Returns the table's number. None as long as it is not known that results of the table may be stored, and for a view.
    fn number(&self, name: &QualifiedName) -> Option<u32> {
        match self.tables.get(name) {
            Some(TableState::Tracked(number) | TableState::Child(number, _)) => Some(*number),
            _ => None,
        }
    }

    /// Returns the key that identifies the rows of this table. None if the table has no single integer key, or as long as it is not
    /// known that results of the table may be stored.
    pub fn key(&self, name: &QualifiedName) -> Option<&RowKey> {
        self.versions.get(self.number(name)? as usize)?.key.as_deref()
    }

    /// Returns the cells that a read of the rows with these keys depends on. None as long as it is not known that results of the table
    /// may be stored.
    pub fn cells_of_rows(&self, name: &QualifiedName, keys: &[i128]) -> Option<Vec<u32>> {
        let number = self.number(name)?;
        let words = keys.iter().map(|key| cell::ROWS | self.rows.slot(number, *key));
        Some(std::iter::once(cell::whole(number)).chain(words).collect())
    }

    /// Notes that the catalogue is to be asked about this name. Does nothing if it was noted before, or if too many names are known.
    pub fn queue_lookup(&mut self, name: QualifiedName) {
        if self.tables.len() >= MOST_TABLES {
            // Drops names that may belong to no table.
            self.tables.retain(|_, table| {
                matches!(table, TableState::Tracked(_) | TableState::Child(..) | TableState::View(_))
            });
        }
        if self.tables.len() < MOST_TABLES {
            self.tables.entry(name).or_insert(TableState::Queued);
        }
    }

    /// Returns up to eight names to look up in the catalogue now, each only once. Empty if there are none, or while a received change of
    /// definitions may not be visible yet.
    pub fn take_lookups(&mut self) -> Vec<QualifiedName> {
        if self.stamp() < self.everything_changed_at {
            return Vec::new();
        }
        let wanted = self.tables.iter_mut().filter(|(_, table)| matches!(table, TableState::Queued)).take(MOST_AT_ONCE);
        wanted
            .map(|(name, table)| {
                *table = TableState::Requested;
                name.clone()
            })
            .collect()
    }

    /// Takes the catalogue's answer for a name: what the name means, or why results of it cannot be stored. `definitions_version` is the
    /// count when the catalogue was asked; if it has changed since, the answer is ignored. `now` is the time in nanoseconds after
    /// the answer.
    pub fn learn(
        &mut self,
        name: &QualifiedName,
        outcome: Result<CatalogueObject, ContextReason>,
        definitions_version: u64,
        now: u64,
    ) {
        if definitions_version != self.definitions_version {
            return;
        }
        if let Ok(CatalogueObject::View(names) | CatalogueObject::Child(names)) = &outcome {
            names.iter().for_each(|name| self.queue_lookup(name.clone()));
        }
        if let Some(table) = self.tables.get_mut(name) {
            *table = match outcome {
                Ok(object) => TableState::Unconfirmed(now, object),
                Err(why) => TableState::Unstorable(why, now),
            };
        }
    }

    /// Forgets tables whose results could not be stored, if the catalogue said so more than ten seconds before `now` (in nanoseconds):
    /// the next read of them asks about them again. The catalogue can be wrong for a moment, for example during an ALTER TABLE.
    pub fn forget_unstorable(&mut self, now: u64) {
        self.tables.retain(
            |_, table| !matches!(table, TableState::Unstorable(_, since) if now.saturating_sub(*since) > UNSTORABLE_NS),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::gtid::Gtid;
    use super::super::rows::Images;
    use super::*;

    /// Returns the name of this table in schema `d`.
    fn name(table: &str) -> QualifiedName {
        QualifiedName { schema: b"d".to_vec(), table: table.into() }
    }

    /// Returns the event that precedes changes of rows of this table.
    fn of_table(name: &str) -> Event<'_> {
        Event::Table { schema: b"d", name: name.as_bytes(), table_map: TableMap::default() }
    }

    /// Returns the position at this offset of the log's first file.
    fn at(at: u64) -> Position {
        Position { file: 1, at }
    }

    /// The state of a log that the tests write themselves, with a clock.
    struct Scene {
        changes: Changes,
        now: u64,
        /// The number of the last visible transaction, if the server has GTIDs.
        visible: Option<u64>,
    }

    /// Returns the set of the transactions from 1 to `last`.
    fn gtids(last: u64) -> Gtids {
        Gtids::parse(format!("{UUID}:1-{last}").as_bytes()).expect("a set")
    }

    const UUID: &str = "01010101-0101-0101-0101-010101010101";

    impl Scene {
        /// Creates a scene that is attached at position 100 and knows these tables as fit.
        fn with(tables: &[&str]) -> Scene {
            Scene::attached(tables, None)
        }

        /// Creates a scene that is attached at position 100 and knows these tables as fit, on a server with GTIDs of
        /// whose transactions the first nine are visible.
        fn with_numbers(tables: &[&str]) -> Scene {
            Scene::attached(tables, Some(9))
        }

        /// Creates a scene that is attached at position 100 and knows these tables as fit. `visible` is the number of the last
        /// visible transaction, if the server has GTIDs.
        fn attached(tables: &[&str], visible: Option<u64>) -> Scene {
            let mut scene = Scene { changes: Changes::default(), now: 1, visible };
            scene.changes.attach(b"server".to_vec(), at(100), visible.map(gtids));
            scene.learn(tables);
            scene
        }

        /// Receives the beginning of the transaction with this number, in an event that ends at `end`.
        fn begins(&mut self, number: u64, end: u32) {
            self.receive(Event::Gtid(Gtid { uuid: [1; 16], tag: &[], number }), end);
        }

        /// Lets the catalogue report these tables as fit, without keys.
        fn learn(&mut self, tables: &[&str]) {
            tables.iter().for_each(|table| self.changes.queue_lookup(name(table)));
            for name in self.changes.take_lookups() {
                self.changes.learn(
                    &name,
                    Ok(CatalogueObject::Table(None)),
                    self.changes.definitions_version(),
                    self.now,
                );
            }
            let received = self.changes.received.at;
            self.apply_status(received);
        }

        /// Receives an event that ends at this position of the file.
        fn receive(&mut self, event: Event, end: u32) {
            self.changes.receive(&PlacedEvent { end: Some(end), event }).expect("it is understood");
        }

        /// Receives a transaction that changes unknown rows of this table, and ends at this position.
        fn writes(&mut self, table: &str, end: u32) {
            self.receive(of_table(table), end - 2);
            self.receive(Event::Rows(None), end - 1);
            self.receive(Event::Committed, end);
        }

        /// Reports that everything before `position` is visible, and returns the time of that question.
        fn apply_status(&mut self, position: u64) -> u64 {
            self.now += 1;
            let status = match self.visible {
                Some(last) => LogStatus::WrittenUpTo(at(position), gtids(last)),
                None => LogStatus::VisibleUpTo(at(position)),
            };
            self.changes.apply_status(self.now, status).expect("it goes on");
            self.now
        }

        /// Returns true if a result of this table with this stamp would be served.
        fn is_fresh(&self, table: &str, stamp: u64) -> bool {
            self.changes.cell(&name(table)).is_some_and(|cell| self.changes.is_fresh([cell].into_iter(), stamp))
        }
    }

    #[test]
    fn a_change_ends_what_was_read_from_its_table_and_nothing_else() {
        let mut scene = Scene::with(&["t", "u"]);
        let stamp = scene.changes.stamp();
        assert!(scene.is_fresh("t", stamp) && scene.is_fresh("u", stamp));
        scene.writes("T", 200);
        assert!(!scene.is_fresh("t", stamp) && scene.is_fresh("u", stamp));
        scene.apply_status(200);
        assert!(scene.is_fresh("t", scene.changes.stamp()));
        scene.receive(Event::Everything, 300);
        scene.apply_status(300);
        scene.learn(&["t", "u"]);
        assert!(!scene.is_fresh("u", stamp) && scene.is_fresh("u", scene.changes.stamp()));
    }

    /// The log contains a change before the change is visible. A read in between returns the old rows, so its result must not
    /// count as current.
    #[test]
    fn what_is_read_before_a_change_can_be_seen_is_not_kept_though_the_change_was_heard() {
        let mut scene = Scene::with(&["t"]);
        scene.writes("t", 200);
        let early = scene.changes.stamp();
        assert!(!scene.is_fresh("t", early));
        scene.apply_status(150);
        assert!(!scene.is_fresh("t", scene.changes.stamp()));
        scene.apply_status(200);
        assert!(!scene.is_fresh("t", early) && scene.is_fresh("t", scene.changes.stamp()));
    }

    #[test]
    fn what_was_unfit_is_asked_about_again_after_some_time() {
        let mut scene = Scene::with(&[]);
        scene.changes.queue_lookup(name("t"));
        let asked = scene.changes.take_lookups();
        scene.changes.learn(&asked[0], Err(ContextReason::TableHidden), scene.changes.definitions_version(), scene.now);
        scene.changes.forget_unstorable(scene.now + UNSTORABLE_NS);
        assert!(scene.changes.check_storable(&name("t")).is_some_and(|verdict| verdict.is_err()));
        scene.changes.forget_unstorable(scene.now + UNSTORABLE_NS + 1);
        assert!(scene.changes.check_storable(&name("t")).is_none());
        scene.learn(&["t"]);
        assert!(scene.is_fresh("t", scene.changes.stamp()));
    }

    /// Returns a key that is the only column of a table, a TINYINT.
    fn row_key() -> RowKey {
        let column = footprint::KeyColumn::new(b"id".to_vec(), i8::MIN.into(), i8::MAX.into());
        RowKey { column, index: 0, columns: 1 }
    }

    impl Scene {
        /// Learns a table with a single column, a TINYINT, as its key.
        fn learn_key(&mut self, table: &str) {
            self.changes.queue_lookup(name(table));
            for name in self.changes.take_lookups() {
                self.changes.learn(
                    &name,
                    Ok(CatalogueObject::Table(Some(row_key()))),
                    self.changes.definitions_version(),
                    self.now,
                );
            }
            let received = self.changes.received.at;
            self.apply_status(received);
        }

        /// Receives a table map with this id for a table with a single TINYINT column.
        fn describes(&mut self, id: u64, table: &str, end: u32) {
            let table_map = TableMap { id, columns: &[1, 1, 0] };
            self.receive(Event::Table { schema: b"d", name: table.as_bytes(), table_map }, end);
        }

        /// Receives an insert of a row with this key into the table with this id.
        fn inserts(&mut self, id: u64, key: u8, end: u32) {
            let bytes = [1, 1, 0, key];
            self.receive(Event::Rows(Some(Rows { id, images: Images::One, bytes: &bytes })), end);
        }

        /// Returns true if a result of the row with this key and this stamp would be served.
        fn is_row_fresh(&self, table: &str, key: i128, stamp: u64) -> bool {
            let cells = self.changes.cells_of_rows(&name(table), &[key]).expect("it is known");
            self.changes.is_fresh(cells.into_iter(), stamp)
        }
    }

    #[test]
    fn a_row_that_is_told_changes_itself_and_what_reads_all() {
        let mut scene = Scene::with(&["u"]);
        scene.learn_key("t");
        let stamp = scene.changes.stamp();
        scene.describes(7, "t", 150);
        scene.describes(8, "u", 160);
        scene.inserts(7, 5, 170);
        assert!(!scene.is_row_fresh("t", 5, stamp) && scene.is_row_fresh("t", 6, stamp));
        assert!(!scene.is_fresh("t", stamp));
        // Table ids end with the transaction. Afterwards it is not known which table a rows event changes.
        scene.receive(Event::Committed, 180);
        scene.describes(9, "t", 190);
        scene.inserts(7, 1, 200);
        assert!(!scene.is_row_fresh("t", 6, stamp));
        scene.apply_status(200);
        assert!(scene.is_row_fresh("t", 5, scene.changes.stamp()));
    }

    #[test]
    fn rows_that_are_not_told_change_all_rows_of_the_transaction() {
        for rows in [None, Some(Rows { id: 7, images: Images::One, bytes: &[1, 1, 1] })] {
            let mut scene = Scene::with(&[]);
            scene.learn_key("t");
            let stamp = scene.changes.stamp();
            scene.describes(7, "t", 150);
            assert!(scene.is_row_fresh("t", 6, stamp));
            scene.receive(Event::Rows(rows), 160);
            assert!(!scene.is_row_fresh("t", 6, stamp));
        }
    }

    #[test]
    fn a_definition_in_between_makes_rows_unknown() {
        let mut scene = Scene::with(&[]);
        scene.learn_key("t");
        scene.describes(7, "t", 150);
        scene.receive(Event::Everything, 160);
        scene.apply_status(160);
        scene.learn_key("t");
        let stamp = scene.changes.stamp();
        assert!(scene.is_row_fresh("t", 6, stamp));
        scene.inserts(7, 5, 170);
        assert!(!scene.is_row_fresh("t", 6, stamp));
    }

    #[test]
    fn two_tables_of_one_name_have_no_rows_apart() {
        let mut scene = Scene::with(&[]);
        scene.learn_key("t");
        let stamp = scene.changes.stamp();
        scene.learn(&["T"]);
        assert_eq!(scene.changes.key(&name("t")), None);
        scene.describes(7, "T", 150);
        scene.inserts(7, 5, 160);
        assert!(!scene.is_row_fresh("t", 6, stamp));
    }

    #[test]
    fn what_is_read_before_a_transaction_is_among_those_that_can_be_seen_is_not_kept() {
        let mut scene = Scene::with_numbers(&["t", "u"]);
        scene.begins(10, 110);
        scene.writes("t", 200);
        let asked = scene.apply_status(200);
        assert_eq!(scene.changes.complete_until(), Some(asked), "all that could be seen is heard");
        let early = scene.changes.stamp();
        assert!(!scene.is_fresh("t", early) && scene.is_fresh("u", early));
        // The next transaction becomes visible before this one.
        scene.begins(11, 210);
        scene.writes("u", 300);
        scene.apply_status(300);
        assert_eq!(scene.changes.stamp(), early);
        scene.visible = Some(11);
        scene.apply_status(300);
        assert!(!scene.is_fresh("t", early) && !scene.is_fresh("u", early));
        assert!(scene.is_fresh("t", scene.changes.stamp()) && scene.is_fresh("u", scene.changes.stamp()));
    }

    #[test]
    fn of_a_transaction_in_one_piece_nothing_counts_as_heard_before_all_of_it() {
        let mut scene = Scene::with_numbers(&["t", "u"]);
        scene.begins(10, 110);
        let asked = scene.apply_status(200);
        let early = scene.changes.stamp();
        let table = of_table("t");
        scene
            .changes
            .receive_all(Some(200), &[Event::Nothing, table, Event::Rows(None), Event::Committed])
            .expect("understood");
        assert_eq!(scene.changes.complete_until(), Some(asked));
        assert!(!scene.is_fresh("t", early) && scene.is_fresh("u", early));
        scene.begins(11, 210);
        scene.visible = Some(10);
        scene.apply_status(200);
        assert!(scene.is_fresh("t", scene.changes.stamp()));
    }

    #[test]
    fn a_transaction_that_is_heard_after_it_can_be_seen_does_not_wait() {
        let mut scene = Scene::with_numbers(&["t"]);
        let stamp = scene.changes.stamp();
        scene.visible = Some(10);
        let asked = scene.apply_status(200);
        assert!(scene.changes.complete_until() < Some(asked));
        scene.begins(10, 110);
        scene.writes("t", 200);
        assert_eq!(scene.changes.complete_until(), Some(asked));
        assert!(!scene.is_fresh("t", stamp) && scene.is_fresh("t", scene.changes.stamp()));
    }

    #[test]
    fn transactions_that_are_never_seen_do_not_fill_the_memory() {
        let mut scene = Scene::with_numbers(&["t"]);
        let event = |number| PlacedEvent { end: None, event: Event::Gtid(Gtid { uuid: [1; 16], tag: &[], number }) };
        let mut received = (10..).map(|number| scene.changes.receive(&event(number)));
        assert_eq!(received.by_ref().take(MOST_INVISIBLE).find(Result::is_err), None);
        assert_eq!(received.next(), Some(Err(TOO_MANY_INVISIBLE)));
    }

    #[test]
    fn numbers_that_are_gone_or_missing_end_the_attachment() {
        let mut scene = Scene::with_numbers(&["t"]);
        assert!(
            scene.changes.apply_status(99, LogStatus::WrittenUpTo(at(500), gtids(8))).is_err(),
            "another log has come as far"
        );
        assert!(scene.changes.apply_status(99, LogStatus::VisibleUpTo(at(500))).is_err());
        let table = of_table("t");
        for event in [Event::AnonymousGtid, table, Event::Everything] {
            let mut scene = Scene::with_numbers(&["t"]);
            scene.begins(10, 110);
            scene.writes("t", 200);
            assert_eq!(scene.changes.receive(&PlacedEvent { end: Some(300), event }), Err(ANONYMOUS));
        }
    }

    #[test]
    fn a_heartbeat_stands_for_transactions_that_were_not_wanted_and_for_nothing_else() {
        for (mut scene, comes) in [(Scene::with_numbers(&["t"]), true), (Scene::with(&["t"]), false)] {
            let before = scene.changes.complete_until();
            let asked = scene.apply_status(200);
            scene.receive(Event::Heartbeat, 200);
            assert_eq!(scene.changes.complete_until(), if comes { Some(asked) } else { before });
        }
    }

    #[test]
    fn only_what_was_asked_before_the_log_came_so_far_is_proved() {
        let mut scene = Scene::with(&["t"]);
        let before = scene.changes.complete_until();
        let asked = scene.apply_status(200);
        assert_eq!(scene.changes.complete_until(), before);
        assert_eq!(scene.changes.lags_since(), Some(asked));
        scene.receive(Event::Nothing, 199);
        assert_eq!(scene.changes.complete_until(), before);
        scene.receive(Event::Nothing, 200);
        assert_eq!((scene.changes.complete_until(), scene.changes.lags_since()), (Some(asked), None));
        scene.changes.detach();
        assert_eq!((scene.changes.complete_until(), scene.changes.attachment()), (None, None));
    }

    #[test]
    fn a_mark_in_the_next_file_is_passed_only_there() {
        let mut scene = Scene::with(&["t"]);
        let before = scene.changes.complete_until();
        scene.changes.apply_status(90, LogStatus::VisibleUpTo(Position { file: 2, at: 50 })).expect("it goes on");
        scene.receive(Event::Nothing, 900);
        assert_eq!(scene.changes.complete_until(), before);
        let rotate = Event::Rotate { file: b"log.000002", at: 4 };
        scene.changes.receive(&PlacedEvent { end: Some(950), event: rotate }).expect("the next file");
        scene.changes.receive(&PlacedEvent { end: None, event: rotate }).expect("it is said once more");
        assert_eq!(scene.changes.complete_until(), before);
        scene.receive(Event::Nothing, 60);
        assert_eq!(scene.changes.complete_until(), Some(90));
    }

    #[test]
    fn a_log_that_goes_back_is_another_one() {
        let mut scene = Scene::with(&["t"]);
        scene.apply_status(200);
        assert!(scene.changes.apply_status(99, LogStatus::VisibleUpTo(at(150))).is_err());
        scene.receive(Event::Nothing, 200);
        assert!(scene.changes.receive(&PlacedEvent { end: Some(150), event: Event::Nothing }).is_err());
        let rotate = Event::Rotate { file: b"log.000000", at: 4 };
        assert!(scene.changes.receive(&PlacedEvent { end: Some(250), event: rotate }).is_err());
        assert!(scene.changes.apply_status(99, LogStatus::VisibleUpTo(Position { file: 0, at: 4 })).is_err());
    }

    #[test]
    fn a_file_that_the_last_one_does_not_lead_to_is_another_log() {
        let mut scene = Scene::with(&["t"]);
        let rotate = Event::Rotate { file: b"log.000002", at: 4 };
        assert!(scene.changes.receive(&PlacedEvent { end: None, event: rotate }).is_err());
    }

    #[test]
    fn transactions_that_can_be_seen_and_were_not_heard_are_in_another_log() {
        let mut scene = Scene::with_numbers(&["t"]);
        scene.begins(10, 110);
        scene.writes("t", 200);
        scene.visible = Some(10);
        let asked = scene.apply_status(200);
        assert_eq!(scene.changes.complete_until(), Some(asked));
        assert!(scene.changes.apply_status(90, LogStatus::WrittenUpTo(at(200), gtids(11))).is_err());
        let mut scene = Scene::with_numbers(&["t"]);
        // The visible transaction is received before the log reaches the position of the answer.
        scene.changes.apply_status(90, LogStatus::WrittenUpTo(at(200), gtids(10))).expect("it goes on");
        scene.begins(10, 110);
        scene.writes("t", 200);
        assert_eq!(scene.changes.complete_until(), Some(90));
    }

    #[test]
    fn a_transaction_with_nothing_but_a_number_may_have_changed_anything() {
        for end in [Event::Committed, Event::Ended] {
            let mut scene = Scene::with_numbers(&["t", "u"]);
            let stamp = scene.changes.stamp();
            scene.begins(10, 110);
            scene.writes("t", 200);
            assert!(scene.is_fresh("u", stamp));
            scene.begins(11, 210);
            scene.receive(end, 220);
            scene.visible = Some(11);
            scene.apply_status(220);
            scene.learn(&["u"]);
            assert!(!scene.is_fresh("u", stamp) && scene.is_fresh("u", scene.changes.stamp()));
        }
    }

    #[test]
    fn an_answer_of_the_catalogue_counts_once_the_log_has_no_later_definition() {
        let mut scene = Scene::with(&[]);
        scene.changes.queue_lookup(name("t"));
        let (names, definitions_version) = (scene.changes.take_lookups(), scene.changes.definitions_version());
        assert_eq!(names, [name("t")]);
        scene.apply_status(300);
        scene.changes.learn(&name("t"), Ok(CatalogueObject::Table(None)), definitions_version, scene.now + 1);
        scene.receive(Event::Nothing, 300);
        assert_eq!(scene.changes.cell(&name("t")), None, "asked before the answer");
        scene.now += 1;
        scene.apply_status(300);
        assert!(scene.changes.cell(&name("t")).is_some());
        // A change of definitions that was received in between makes the answer obsolete.
        scene.receive(Event::Everything, 400);
        scene.changes.learn(&name("t"), Ok(CatalogueObject::Table(None)), definitions_version, scene.now);
        scene.apply_status(400);
        assert_eq!(scene.changes.check_storable(&name("t")), None);
        scene.receive(Event::Everything, 500);
        scene.changes.queue_lookup(name("t"));
        assert!(scene.changes.take_lookups().is_empty(), "the definition may not be seen yet");
        scene.apply_status(500);
        assert_eq!(scene.changes.take_lookups(), [name("t")]);
    }

    #[test]
    fn a_view_stands_for_what_it_reads_once_that_is_known() {
        let mut scene = Scene::with(&["t"]);
        let tables = |scene: &Scene, names: &[&str]| {
            let names: Vec<_> = names.iter().map(|one| name(one)).collect();
            let tables = scene.changes.dependencies(&names);
            tables.map(|tables| tables.into_iter().cloned().collect::<Vec<_>>())
        };
        let define = |scene: &mut Scene, view: &str, reads: &[&str]| {
            scene.changes.queue_lookup(name(view));
            scene.changes.take_lookups();
            let object = CatalogueObject::View(reads.iter().map(|one| name(one)).collect());
            scene.changes.learn(&name(view), Ok(object), scene.changes.definitions_version(), scene.now);
        };
        define(&mut scene, "v", &["t", "w"]);
        assert_eq!(tables(&scene, &["v"]), Some(vec![name("v")]), "asked before the answer");
        let received = scene.changes.received.at;
        scene.apply_status(received);
        assert_eq!(tables(&scene, &["v", "t"]), Some(vec![name("t"), name("w")]));
        assert_eq!(scene.changes.check_storable(&name("w")), Some(Ok(())), "it is asked about");
        // Views that refer to each other in a cycle, which no server has.
        define(&mut scene, "w", &["u", "v", "t"]);
        scene.apply_status(received);
        assert_eq!(tables(&scene, &["v"]), Some(vec![name("t"), name("u")]));
        define(&mut scene, "nothing", &[]);
        let many: Vec<_> = (0..MAX_DEPENDENCIES).map(|number| format!("t{number}")).collect();
        define(&mut scene, "many", &many.iter().map(String::as_str).collect::<Vec<_>>());
        scene.apply_status(received);
        assert_eq!((tables(&scene, &["nothing"]), tables(&scene, &["many"])), (None, None));
        scene.receive(Event::Everything, 200);
        assert_eq!(tables(&scene, &["v"]), Some(vec![name("v")]), "it may be another one");
        assert_eq!(scene.changes.check_storable(&name("v")), None);
    }

    #[test]
    fn what_was_read_before_a_table_was_known_is_not_kept() {
        let mut scene = Scene::with(&[]);
        let stamp = scene.changes.stamp();
        scene.writes("t", 200);
        scene.apply_status(200);
        scene.learn(&["t"]);
        assert!(!scene.is_fresh("t", stamp) && scene.is_fresh("t", scene.changes.stamp()));
    }

    #[test]
    fn a_transaction_without_its_place_among_others_bars_its_tables() {
        let mut scene = Scene::with(&["t", "u"]);
        scene.receive(of_table("t"), 150);
        scene.receive(Event::Rows(None), 160);
        scene.receive(Event::Ended, 170);
        scene.apply_status(170);
        scene.learn(&["u"]);
        assert_eq!(
            (scene.changes.check_storable(&name("t")), scene.changes.cell(&name("t"))),
            (Some(Err(ContextReason::MixedEngines)), None)
        );
        assert!(scene.is_fresh("u", scene.changes.stamp()));
        scene.changes.attach(b"server".to_vec(), at(100), None);
        assert_eq!(scene.changes.check_storable(&name("t")), Some(Err(ContextReason::MixedEngines)));
    }

    #[test]
    fn two_phases_end_it_for_good() {
        let mut scene = Scene::with(&["t"]);
        assert_eq!(scene.changes.receive(&PlacedEvent { end: Some(200), event: Event::Xa }), Err(XA));
        scene.changes.attach(b"server".to_vec(), at(300), None);
        assert!(scene.changes.has_xa());
    }

    #[test]
    fn rows_without_a_table_and_grants_by_hand_change_everything() {
        for event in [Event::Rows(None), Event::Table { schema: b"mysql", name: b"db", table_map: TableMap::default() }]
        {
            let mut scene = Scene::with(&["t"]);
            let stamp = scene.changes.stamp();
            scene.receive(event, 200);
            assert!(!scene.changes.is_fresh([].into_iter(), stamp));
        }
    }

    #[test]
    fn a_session_has_the_privileges_of_others_if_none_changed_since_it_began() {
        let mut scene = Scene::with(&["t"]);
        let privileges = scene.changes.privileges().expect("they are certain");
        assert!(scene.changes.are_privileges_current(privileges));
        scene.writes("t", 150);
        scene.receive(Event::Everything, 160);
        assert!(scene.changes.are_privileges_current(privileges));
        scene.receive(Event::Privileges, 200);
        assert!(!scene.changes.are_privileges_current(privileges));
        assert_eq!(scene.changes.privileges(), None, "the change may not be seen yet");
        scene.apply_status(200);
        assert!(scene.changes.privileges().is_some_and(|now| now != privileges));
        scene.changes.attach(b"server".to_vec(), at(100), None);
        assert!(!scene.changes.are_privileges_current(privileges));
    }

    #[test]
    fn names_of_no_table_do_not_fill_the_memory() {
        let mut scene = Scene::with(&["t"]);
        (0..2 * MOST_TABLES).for_each(|number| scene.changes.queue_lookup(name(&number.to_string())));
        assert!(scene.changes.tables.len() <= MOST_TABLES);
        assert!(scene.is_fresh("t", scene.changes.stamp()));
    }
}
