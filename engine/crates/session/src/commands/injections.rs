//! Commands of the engine's own that the server gets before the client's: what it was not told, what it is asked.

use crate::decision::{Decision, Outlet};
use crate::engine::Engine;
use crate::identity::habits::Habits;
use crate::packets::{command_packet, query_packet};
use crate::session::Session;
use crate::statement::question;
use crate::statement::running::HiddenError;
use crate::statement::running::{Purpose, Running};
use crate::statement::unseen::Unseen;
use crate::text::kinds::{changes_transaction, leaves_found_rows};
use crate::text::reading::Reading;
use crate::transaction::state::Isolation;
use sql::{Assignment, Begin, Kind, Statement, Target};
use wire::{Command, Execute, Expect};

impl Session {
    /// The server gets this packet; the client does not see its response.
    fn inject(&mut self, engine: &Engine, purpose: Purpose, (packet, expect): (Vec<u8>, Expect)) -> Vec<u8> {
        self.work.running = Some(Running::new(engine, purpose, expect, self.identity.capabilities()));
        packet
    }

    /// A statement that does nothing, for a host that must give the server something after an answer.
    pub fn idle(&mut self, engine: &Engine) -> Vec<u8> {
        self.inject(engine, Purpose::Idle, (command_packet(Command::Ping, b""), Expect::Ok))
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
        self.transaction.deferred_begin = self.transaction.autocommit.then(|| query_packet(b"BEGIN"));
    }

    /// The result that the server does not know of, if it matters.
    pub(crate) fn tell_unseen(&mut self, engine: &Engine, matters: impl Fn(&Unseen) -> bool) -> Option<Vec<u8>> {
        let pending = self.diagnostics.unseen.take_if(|pending| matters(pending))?;
        if let Some(execute) = pending.execution()
            && let Some(prepared) = self.statements.get_mut(execute.id)
        {
            // Those that were bound then.
            prepared.knows_types = execute.new_types(prepared.parameters).is_none_or(|types| types == prepared.types);
        }
        // Those of a statement that has run since the read was served.
        let keeps_warnings = self.diagnostics.has_warnings && !pending.is_latest && pending.can_keep_warnings();
        let limits_joins = self.identity.habits().limits_joins;
        let replaced = Unseen { is_latest: false, ..pending.clone() };
        let packet =
            self.inject(engine, Purpose::Unseen { keeps_warnings }, pending.command(keeps_warnings, limits_joins));
        if let Some(running) = &mut self.work.running {
            running.replaced = Some(replaced);
        }
        Some(packet)
    }

    /// What cannot be answered by an error goes on without the result that the server could not be told of.
    pub(crate) fn give_up_unseen(&mut self, hidden_error: Option<HiddenError>) {
        if hidden_error.is_some_and(|error| !error.is_of_begin) {
            self.diagnostics.unseen = None;
        }
    }

    /// A command will pass before it can be looked at: whatever the server does not know of yet, it must be told now.
    /// To be asked until there is nothing left.
    pub fn before_pieces(&mut self, engine: &Engine) -> Option<Vec<u8>> {
        self.settle(engine);
        let hidden_error = self.work.hidden_error.take();
        self.give_up_unseen(hidden_error);
        self.tell_types(engine).or_else(|| self.tell_begin(engine)).or_else(|| self.tell_unseen(engine, |_| true))
    }

    /// How parameters are bound that the server has not had: an execution that passes as it is may go by that.
    pub(crate) fn tell_types(&mut self, engine: &Engine) -> Option<Vec<u8>> {
        let (id, prepared) = self.statements.misunderstood()?;
        prepared.knows_types = true;
        let packet = wire::types_alone(id, &prepared.types);
        Some(self.inject(engine, Purpose::Types, (packet, Expect::Execute)))
    }

    /// The server does not know of something that the client was told, or answers what the client must not see.
    pub fn owes_server(&self) -> bool {
        self.transaction.deferred_begin.is_some()
            || !self.statements.are_understood()
            || self.work.running.as_ref().is_some_and(Running::is_kept_back)
    }

    /// Before a read that could be stored or a write of rows, the server is asked for the settings that are not certain.
    pub(crate) fn ask(&mut self, engine: &Engine, statement: &Statement) -> Option<Vec<u8>> {
        let is_worth_it = self.identity.variables().is_uncertain
            && !self.identity.must_run()
            // The question would be in the place of the last statement's trace.
            && !self.identity.wants_all()
            && self.transaction.deferred_begin.is_none()
            && (matches!(&statement.kind, Kind::Read(read) if read.refusal.is_none())
                || self.may_tell_rows(engine, statement))
            && !statement.reads_diagnostics;
        if !is_worth_it {
            return None;
        }
        // The question is about the number of rows found, too.
        let unseen = self.tell_unseen(engine, |_| true);
        unseen
            .or_else(|| Some(self.inject(engine, Purpose::Ask, (question::question(engine.flavour()), Expect::Query))))
    }

    fn may_tell_rows(&self, engine: &Engine, statement: &Statement) -> bool {
        statement.kind == Kind::Write
            && engine.settings().is_on()
            && engine.settings().tells_rows()
            && self.is_told(engine)
    }

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
        let can_wait = engine.settings().defers_begin()
            && self.identity.cache_type() != 0
            && self.is_cached(engine)
            && self.context(engine, false).is_some()
            && !self.transaction.has_begun()
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
        self.transaction.deferred_begin = Some(if is_text { packet.to_vec() } else { query_packet(b"BEGIN") });
        self.diagnostics.note_other();
        outlet.deliver(&[&wire::ok_packet(1, 0, 0, self.transaction.status_now(), 0)]);
        Some(Decision::Answered)
    }

    fn is_of_another_database(&mut self, payload: &[u8]) -> bool {
        let execute = Execute::parse(payload).filter(|_| payload.first() == Some(&(Command::StmtExecute as u8)));
        let prepared = execute.and_then(|execute| self.statements.get_mut(execute.id));
        prepared.is_some_and(|prepared| prepared.terms.database.as_deref() != Some(self.identity.database()))
    }

    pub(crate) fn open_snapshot(&mut self, engine: &Engine) -> Vec<u8> {
        self.transaction.deferred_begin = None;
        let packet = query_packet(b"START TRANSACTION WITH CONSISTENT SNAPSHOT");
        self.inject(engine, Purpose::OpenSnapshot(engine.versions().now()), (packet, Expect::Query))
    }

    /// What the server must be told before this statement: a deferred BEGIN, or the result it does not know of.
    pub(crate) fn before_forward(&mut self, engine: &Engine, reading: &Reading, text: &[u8]) -> Option<Vec<u8>> {
        if let Some(begin) = self.tell_begin(engine) {
            return Some(begin);
        }
        let matters =
            self.diagnostics.unseen.as_ref().is_some_and(|pending| self.matters(engine, pending, reading, text));
        self.tell_unseen(engine, |_| matters)
    }

    fn matters(&self, engine: &Engine, pending: &Unseen, reading: &Reading, text: &[u8]) -> bool {
        let statement = &*reading.statement;
        let is_read = matches!(&statement.kind, Kind::Read(read) if !read.leaves_found_rows);
        // An aggregate over nothing leaves the number of rows found as it was.
        let may_leave_found_rows = is_read && !reading.is_single_scan();
        // A read may use no table, and then leaves them.
        let is_write = statement.kind == Kind::Write;
        let may_count = || {
            let searches = is_write && (reading.searches() || self.may_name_view(engine, reading, text))
                || matches!(statement.kind, Kind::Set(_)) && reading.searches();
            searches || !leaves_found_rows(&statement.kind)
        };
        // From then on what the server is told leaves a trace.
        let may_trace = || {
            let is_habit = |one: &Assignment| matches!(&one.target, Target::Session(name) if Habits::hang_on(name));
            matches!(&statement.kind, Kind::Set(assignments) if assignments.iter().any(is_habit))
        };
        pending.matters_to(statement, text)
            || pending.is_owed
            || may_trace()
            || may_leave_found_rows
            || pending.is_replayed() && changes_transaction(&statement.kind, self.transaction.autocommit)
            || may_count()
            || pending.is_latest && self.diagnostics.has_warnings && !is_write
            // Which may ask what its statement asks.
            || pending.is_latest && is_read && self.may_name_view(engine, reading, text)
    }

    pub(crate) fn may_name_view(&self, engine: &Engine, reading: &Reading, text: &[u8]) -> bool {
        engine.catalogue().views().is_none_or(|views| reading.names_view(&views, text, self.identity.mode()))
    }
}
