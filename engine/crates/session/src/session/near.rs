//! A connection's part in near caching. A near cache is a cache next to clients, which serves results of this server
//! under a lease. The connection may be its feed, over which this server sends it invalidations, or a connection that
//! it has marked because it wants to receive reports about its results.

use crate::engine::Engine;
use crate::engine::marks::MarkHandle;
use cache::{CellId, Stamp};
use feed::{CommandReport, NearId, Protocol, check_of, command_check};

/// The content of a message to a near cache about a result or a session, without the cells that the result depends on.
/// The fields are those of [`CommandReport`].
pub(crate) struct CommandReportContent {
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
    /// The value of `commands` when the last message to the near cache was sent.
    reported_command: u64,
    /// The next call of `count` will be about the same command.
    is_repeated: bool,
    /// This connection's entry in the list of connections that near caches can mark. None before the greeting and after
    /// the end.
    marked: Option<MarkHandle>,
    /// The near cache that had marked this connection when its last command came. None if there was none.
    pub(crate) mark: Option<NearId>,
    /// Set once this connection has become a feed. The inner value is None if the near cache could not attach.
    pub feed: Option<Option<NearId>>,
}

impl Near {
    pub fn greet(&mut self, engine: &Engine, connection: u32, greeting: &[u8]) {
        (self.connection, self.greeting) = (connection, check_of(greeting));
        self.marked = Some(engine.feed().marks.enter(self.connection, self.greeting));
    }

    /// Called when the connection has ended: no near cache can request reports on it any more.
    pub fn end(&mut self) {
        (self.marked, self.mark) = (None, None);
    }

    /// Counts a command of the client, unless `expects_again` has announced that it is the last one once more. Notes
    /// which near cache has marked this connection, if any are attached.
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
        self.mark = self.marked.as_ref().and_then(MarkHandle::owner);
        if self.mark.is_some() {
            self.check = command_check(self.greeting, payload);
            self.is_execution = Protocol::of(payload) == Protocol::Binary;
        }
    }

    /// True if a near cache expects a message about the last command, which has the binary protocol, and false for the text
    /// protocol. None if no near cache expects one, or it was already sent.
    pub(crate) fn awaits_report(&self) -> Option<bool> {
        let is_awaited = self.mark.is_some() && self.reported_command < self.commands && !self.is_repeated;
        is_awaited.then_some(self.is_execution)
    }

    /// Sets whether the client's present command will be passed to `count` once more, because a command of the engine's
    /// own goes to the server first. It is then not counted twice.
    pub fn expects_again(&mut self, expects: bool) {
        self.is_repeated = expects;
    }

    /// Sends the report on the last command to the near cache that receives reports on this connection; does nothing if
    /// there is none. `cells` are the version cells that the result depends on, and `tables` those that advance with
    /// any change of its tables.
    pub(crate) fn report(
        &mut self,
        engine: &Engine,
        content: CommandReportContent,
        cells: &[CellId],
        tables: &[CellId],
    ) {
        let Some(id) = self.mark.filter(|_| engine.feed().has_nears()) else { return };
        self.reported_command = self.commands;
        let report = CommandReport {
            connection: self.connection,
            command: self.commands,
            check: self.check,
            context: content.context,
            stamp: content.stamp.0,
            holds_over_preparations: content.holds_over_preparations,
            is_for_transactions: content.is_for_transactions,
            snapshot: content.snapshot.map(|stamp| stamp.0),
            is_of_session: content.is_of_session,
            cells: Vec::new(),
        };
        engine.report_to_near(id, tables, cells, report);
    }
}
