//! A connection's part in near caching: it may be a feed, or a connection that a near cache has marked as its own.

use crate::engine::Engine;
use crate::engine::marks::Marked;
use cache::{CellId, Stamp};
use feed::{CommandReport, NearId, Protocol, check_of, command_check};

/// The content of a message to a near cache, without the cells that the result depends on.
pub(crate) struct What {
    pub context: u64,
    pub stamp: Stamp,
    pub holds_over_preparations: bool,
    pub is_for_transactions: bool,
    pub snapshot: Option<Stamp>,
    pub is_of_session: bool,
}

#[derive(Default)]
pub struct Near {
    connection: u32,
    greeting: u64,
    /// Number of commands since login. `check` is that of the last command, computed only if a near cache has marked
    /// the connection.
    commands: u64,
    check: u64,
    is_execution: bool,
    /// The number of the last command about which a message was sent.
    told: u64,
    /// The next call of `count` will be about the same command.
    is_repeated: bool,
    /// This connection among those that can be marked. None before the greeting and after the end.
    marked: Option<Marked>,
    pub(crate) mark: Option<NearId>,
    /// Set if this connection is a feed. The inner value is none if the near cache could not attach.
    pub feed: Option<Option<NearId>>,
}

impl Near {
    pub fn greet(&mut self, engine: &Engine, connection: u32, greeting: &[u8]) {
        (self.connection, self.greeting) = (connection, check_of(greeting));
        self.marked = Some(engine.feed().marks.enter(self.connection, self.greeting));
    }

    /// The connection has ended.
    pub fn end(&mut self) {
        (self.marked, self.mark) = (None, None);
    }

    /// Counts a command, unless it is the same one again.
    #[inline]
    pub fn count(&mut self, engine: &Engine, payload: &[u8]) {
        if std::mem::take(&mut self.is_repeated) {
            return;
        }
        self.commands += 1;
        if engine.feed().has_nears() {
            self.look(payload);
        }
    }

    #[cold]
    fn look(&mut self, payload: &[u8]) {
        self.mark = self.marked.as_ref().and_then(Marked::owner);
        if self.mark.is_some() {
            self.check = command_check(self.greeting, payload);
            self.is_execution = Protocol::of(payload) == Protocol::Binary;
        }
    }

    /// The protocol of the last command (true: binary), if no message was sent about it yet and a near cache expects
    /// one.
    pub(crate) fn awaits(&self) -> Option<bool> {
        let is_awaited = self.mark.is_some() && self.told < self.commands && !self.is_repeated;
        is_awaited.then_some(self.is_execution)
    }

    /// Sets whether the next call of `count` is about the same command.
    pub fn expects_again(&mut self, expects: bool) {
        self.is_repeated = expects;
    }

    /// Sends the message about the last command to the near cache. `cells` and `tables` are what the result depends on.
    pub(crate) fn tell(&mut self, engine: &Engine, what: What, cells: &[CellId], tables: &[CellId]) {
        let Some(id) = self.mark.filter(|_| engine.feed().has_nears()) else { return };
        self.told = self.commands;
        let told = CommandReport {
            connection: self.connection,
            command: self.commands,
            check: self.check,
            context: what.context,
            stamp: what.stamp.0,
            holds_over_preparations: what.holds_over_preparations,
            is_for_transactions: what.is_for_transactions,
            snapshot: what.snapshot.map(|stamp| stamp.0),
            is_of_session: what.is_of_session,
            cells: Vec::new(),
        };
        engine.tell_near(id, tables, cells, told);
    }
}
