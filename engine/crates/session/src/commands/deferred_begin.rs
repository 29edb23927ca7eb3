//! A BEGIN that was answered, but not yet passed on to the server.
//!
//! The server is told with the transaction's first statement. If that is served, the server opens its snapshot at that moment.

use crate::decision::{Decision, Outlet};
use crate::engine::Engine;
use crate::session::Session;
use crate::statement::running::Purpose;
use crate::transaction::state::Isolation;
use sql::{Begin, Kind, Statement};
use wire::{Command, Execute, Expect};

impl Session {
    /// Answers a BEGIN without the server, who is told of it with the transaction's first statement. That statement
    /// may then be a read from the cache, for which the server opens its snapshot at that very moment.
    pub(crate) fn begin_later(
        &mut self,
        engine: &Engine,
        statement: &Statement,
        packet: &[u8],
        outlet: &mut dyn Outlet,
    ) -> Option<Decision> {
        let Kind::Begin(begin) = &statement.kind else { return None };
        let can_wait = self.may_begin_itself(engine)
            && self.identity.cache_type() != 0
            && self.is_cached(engine)
            && self.context(engine, false).is_some()
            && !self.transaction.has_begun()
            && !self.transaction.is_unseen
            && self.transaction.autocommit
            && !self.transaction.is_read_only
            && !self.transaction.is_set_once
            && !self.writes.is_locked
            // The server must know that it is idle in a transaction.
            && !self.identity.habits().limits_idleness
            && self.transaction.isolation <= Isolation::RepeatableRead
            && *begin == Begin::default();
        if !can_wait {
            return None;
        }
        // To execute it the server goes there and back, and tells a client that tracks its database.
        if self.is_of_another_database(&packet[4..]) {
            return None;
        }
        // Warnings that the served read has cleared, as a BEGIN does not.
        if self.diagnostics.has_warnings
            && let Some(first) = self.tell_unseen(engine, |pending| pending.is_latest)
        {
            return Some(Decision::Inject(first));
        }
        // One that is prepared may be closed before the server is told.
        let is_text = packet.get(4) == Some(&(Command::Query as u8));
        self.transaction.deferred_begin = Some(if is_text { packet.to_vec() } else { self.own_query(b"BEGIN") });
        self.diagnostics.note_other();
        outlet.deliver(&[&wire::ok_packet(1, 0, 0, self.transaction.status_now(), 0)]);
        Some(Decision::Answered)
    }

    /// The engine may begin transactions at a moment of its own.
    pub(crate) fn may_begin_itself(&self, engine: &Engine) -> bool {
        engine.settings().defers_begin() && !self.identity.is_told_of_transactions()
    }

    fn is_of_another_database(&mut self, payload: &[u8]) -> bool {
        let execute = Execute::parse(payload, self.identity.capabilities())
            .filter(|_| payload.first() == Some(&(Command::StmtExecute as u8)));
        let prepared = execute.and_then(|execute| self.statements.get_mut(execute.id));
        prepared.is_some_and(|prepared| prepared.terms.database.as_deref() != Some(self.identity.database()))
    }

    /// A deferred BEGIN is made good. Before it goes what would open the transaction's snapshot, or take locks in it.
    pub(crate) fn tell_begin(&mut self, engine: &Engine) -> Option<Vec<u8>> {
        self.transaction.deferred_begin.as_ref()?;
        // One that is the latest was served after the BEGIN.
        if let Some(replay) = self.tell_unseen(engine, |pending| pending.is_replayed() && !pending.is_latest) {
            return Some(replay);
        }
        let packet = self.transaction.deferred_begin.take()?;
        Some(self.begin(engine, packet))
    }

    pub(crate) fn begin(&mut self, engine: &Engine, packet: Vec<u8>) -> Vec<u8> {
        self.inject(engine, Purpose::Begin, (packet, Expect::Query))
    }

    /// The server has not begun what the client takes for begun: nothing may run outside of it. With autocommit off the client
    /// has begun nothing: it was to be begun for a read.
    pub(crate) fn begin_once_more(&mut self) {
        self.transaction.deferred_begin = self.transaction.autocommit.then(|| self.own_query(b"BEGIN"));
    }

    pub(crate) fn open_snapshot(&mut self, engine: &Engine) -> Vec<u8> {
        self.transaction.deferred_begin = None;
        let packet = self.own_query(b"START TRANSACTION WITH CONSISTENT SNAPSHOT");
        self.inject(engine, Purpose::OpenSnapshot(engine.versions().now()), (packet, Expect::Query))
    }
}
