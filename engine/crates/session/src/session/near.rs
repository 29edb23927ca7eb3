//! A connection's part in near caches: one of theirs, whose results are told, or a feed.

use crate::engine::Engine;
use crate::entries::cells::table_cells;
use crate::entries::layout::Layout;
use crate::session::Session;
use crate::statement::recording::Recording;
use cache::{CellId, Entry, Stamp};
use feed::{NearId, Told, check_of};

#[derive(Default)]
pub struct Near {
    connection: u32,
    greeting: u64,
    /// Commands since the log-in, and the check of the last one, if it is told of.
    commands: u64,
    check: u64,
    /// The next call is about the same command.
    is_repeated: bool,
    /// What `Feed::marks_changed` said when `mark` was looked up.
    looked: u64,
    mark: Option<NearId>,
    /// This connection is a feed; of none if the near cache could not attach.
    pub feed: Option<Option<NearId>>,
}

impl Near {
    pub fn greet(&mut self, connection: u32, greeting: &[u8]) {
        (self.connection, self.greeting) = (connection, check_of(greeting));
    }

    /// A command has arrived, perhaps once more.
    #[inline]
    pub fn count(&mut self, engine: &Engine, payload: &[u8]) {
        if std::mem::take(&mut self.is_repeated) {
            return;
        }
        self.commands += 1;
        if engine.feed().has_nears() {
            self.look(engine, payload);
        }
    }

    #[cold]
    fn look(&mut self, engine: &Engine, payload: &[u8]) {
        let changed = engine.feed().marks_changed();
        if self.looked != changed {
            (self.looked, self.mark) = (changed, engine.feed().mark_of(self.connection, self.greeting));
        }
        if self.mark.is_some() {
            self.check = check_of(payload);
        }
    }

    /// The next call is about the same command.
    pub fn expects_again(&mut self, expects: bool) {
        self.is_repeated = expects;
    }

    fn tell(&self, engine: &Engine, context: u64, stamp: Stamp, cells: &[CellId], tables: &[CellId]) {
        let Some(id) = self.mark.filter(|_| engine.feed().has_nears()) else { return };
        let told = Told {
            connection: self.connection,
            command: self.commands,
            check: self.check,
            context,
            stamp: stamp.0,
            cells: Vec::new(),
        };
        engine.tell_near(id, tables, cells, told);
    }
}

impl Session {
    pub fn feed(&self) -> Option<Option<NearId>> {
        self.near.feed
    }

    /// The result of a miss, which could be stored.
    pub(crate) fn tell_stored(&self, engine: &Engine, recording: &Recording) {
        if self.near.mark.is_some() {
            let tables: Vec<_> = table_cells(&recording.cells, recording.is_by_rows).collect();
            self.near.tell(engine, recording.context, recording.stamp, &recording.cells, &tables);
        }
    }

    /// A hit in the server's own cache.
    pub(crate) fn tell_served(&self, engine: &Engine, context: u64, entry: &Entry) {
        if self.near.mark.is_some() {
            let tables: Vec<_> = table_cells(entry.cells(), Layout(entry.flags()).is_by_rows()).collect();
            self.near.tell(engine, context, entry.stamp(), entry.cells(), &tables);
        }
    }

    /// The server has agreed to the statement that makes this connection a feed.
    pub(crate) fn attach(&mut self, engine: &Engine, name: &[u8], protocol: u16) {
        let name = String::from_utf8_lossy(name);
        let name: String = name.chars().filter(|one| !one.is_control()).take(feed::LONGEST_NAME).collect();
        let address = self.identity.account().map(|account| account.address.clone()).unwrap_or_default();
        let version = protocol.min(feed::VERSION);
        let is_spoken = protocol >= feed::OLDEST;
        let address = String::from_utf8_lossy(&address);
        let id = is_spoken.then(|| engine.attach_near(&name, &address, version)).flatten();
        self.near.feed = Some(id);
    }
}
