//! A connection's part in near caches: one of theirs, whose results are told, or a feed.

use crate::engine::Engine;
use crate::engine::marks::Marked;
use cache::{CellId, Stamp};
use feed::{CommandReport, NearId, Protocol, check_of, command_check};

/// What is told of a result besides what it depends on.
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
    /// Commands since the log-in, and the check of the last one, if it is told of.
    commands: u64,
    check: u64,
    is_execution: bool,
    /// The last command that a message was sent about.
    told: u64,
    /// The next call is about the same command.
    is_repeated: bool,
    /// None before the greeting, and after the end.
    marked: Option<Marked>,
    pub(crate) mark: Option<NearId>,
    /// This connection is a feed; of none if the near cache could not attach.
    pub feed: Option<Option<NearId>>,
}

impl Near {
    pub fn greet(&mut self, engine: &Engine, connection: u32, greeting: &[u8]) {
        (self.connection, self.greeting) = (connection, check_of(greeting));
        self.marked = Some(engine.feed().marks.enter(self.connection, self.greeting));
    }

    /// The connection is over.
    pub fn end(&mut self) {
        (self.marked, self.mark) = (None, None);
    }

    /// A command has arrived, perhaps once more.
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

    /// The protocol of the last command, if no message has been sent about it yet: true for the binary one.
    pub(crate) fn awaits(&self) -> Option<bool> {
        let is_awaited = self.mark.is_some() && self.told < self.commands && !self.is_repeated;
        is_awaited.then_some(self.is_execution)
    }

    /// The next call is about the same command.
    pub fn expects_again(&mut self, expects: bool) {
        self.is_repeated = expects;
    }

    /// `cells` and `tables`: what the result depends on.
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
