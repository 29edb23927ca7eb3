//! A BEGIN that was acknowledged to the client but not yet sent to the server.
//!
//! The server gets it before the transaction's first statement. If that statement is a hit, the server opens the transaction's
//! snapshot at that moment instead.

use crate::decision::{ClientOutput, Decision};
use crate::engine::Engine;
use crate::session::Session;
use crate::statement::running::Purpose;
use crate::transaction::state::Isolation;
use sql::{Begin, Kind, Statement};
use wire::{Command, Execute, Expect};

impl Session {
    /// Acknowledges a BEGIN without the server, which gets it before the transaction's first statement. That statement may then
    /// be a hit, for which the server opens its snapshot at that moment. None if this statement is no BEGIN or cannot be
    /// deferred.
    pub(crate) fn begin_later(
        &mut self,
        engine: &Engine,
        statement: &Statement,
        packet: &[u8],
        output: &mut dyn ClientOutput,
    ) -> Option<Decision> {
        let Kind::Begin(begin) = &statement.kind else { return None };
        let can_wait = self.may_begin_itself(engine)
            && self.identity.cache_type() != 0
            && self.is_cached(engine)
            && self.context(engine, false).is_some()
            && !self.transaction.has_begun()
            && !self.transaction.is_unfollowed
            && self.transaction.autocommit
            && !self.transaction.is_read_only
            && !self.transaction.is_set_once
            && !self.writes.is_locked
            // With a limit on idle transactions, the server must know that the session is idle in one.
            && !self.identity.side_effects().limits_idleness
            && self.transaction.isolation <= Isolation::RepeatableRead
            && *begin == Begin::default();
        if !can_wait {
            return None;
        }
        // To run a statement that was prepared in another database, the server changes the current database and back, and
        // reports that to clients that track it.
        if self.is_of_another_database(&packet[4..]) {
            return None;
        }
        // The served read has cleared the warnings, but a BEGIN on the server would not. So the server runs the read first.
        if self.diagnostics.has_warnings
            && let Some(first) = self.inject_pending_read(engine, |pending| pending.is_latest)
        {
            return Some(Decision::Inject(first));
        }
        // A prepared BEGIN may be closed before the server gets it, so its text is sent instead.
        let is_text = packet.get(4) == Some(&(Command::Query as u8));
        self.transaction.deferred_begin = Some(if is_text { packet.to_vec() } else { self.query_packet(b"BEGIN") });
        self.diagnostics.note_other();
        output.deliver(&[&wire::ok_packet(1, 0, 0, self.transaction.status_now(), 0)]);
        Some(Decision::Answered)
    }

    /// True if the engine may choose when the server begins a transaction: the setting allows it and the client does not track
    /// transactions.
    pub(crate) fn may_begin_itself(&self, engine: &Engine) -> bool {
        engine.settings().defers_begin() && !self.identity.client_tracks_transactions()
    }

    /// True if this command executes a statement that was prepared in another database than the current one.
    fn is_of_another_database(&mut self, payload: &[u8]) -> bool {
        let execute = Execute::parse(payload, self.identity.capabilities())
            .filter(|_| payload.first() == Some(&(Command::StmtExecute as u8)));
        let prepared = execute.and_then(|execute| self.statements.get_mut(execute.id));
        prepared.is_some_and(|prepared| prepared.parse_context.database.as_deref() != Some(self.identity.database()))
    }

    /// Returns the packet that sends a deferred BEGIN to the server; None if there is none. An earlier served read that the
    /// server must replay comes first: inside the transaction, it would open the snapshot or take locks. The caller repeats
    /// this until it returns None.
    pub(crate) fn inject_deferred_begin(&mut self, engine: &Engine) -> Option<Vec<u8>> {
        self.transaction.deferred_begin.as_ref()?;
        // The latest served read came after the BEGIN, so it is not replayed before it.
        if let Some(replay) = self.inject_pending_read(engine, |pending| pending.is_replayed() && !pending.is_latest) {
            return Some(replay);
        }
        let packet = self.transaction.deferred_begin.take()?;
        Some(self.begin(engine, packet))
    }

    /// Returns the packet of a BEGIN that the engine sends on behalf of the client, and notes it as running.
    pub(crate) fn begin(&mut self, engine: &Engine, packet: Vec<u8>) -> Vec<u8> {
        self.inject(engine, Purpose::Begin, (packet, Expect::Query))
    }

    /// Called when a BEGIN of the engine's own has failed. The client believes that it is in a transaction, so nothing may run
    /// before a new BEGIN succeeds. With autocommit off the client has sent no BEGIN, and nothing has to be repeated.
    pub(crate) fn begin_once_more(&mut self) {
        self.transaction.deferred_begin = self.transaction.autocommit.then(|| self.query_packet(b"BEGIN"));
    }

    /// Returns the packet that makes the server begin the transaction and open its snapshot, and notes it as running. It takes
    /// the place of a deferred BEGIN. The stamp of the snapshot is read first.
    pub(crate) fn open_snapshot(&mut self, engine: &Engine) -> Vec<u8> {
        self.transaction.deferred_begin = None;
        let packet = self.query_packet(b"START TRANSACTION WITH CONSISTENT SNAPSHOT");
        self.inject(engine, Purpose::OpenSnapshot(engine.versions().now()), (packet, Expect::Query))
    }
}
