//! A command has arrived: serve it, or say what it may touch and let the server have it.

use crate::engine::Engine;
use crate::prepared::{Metadata, Prepared};
use crate::reason::{Own, Reason};
use crate::recording::Recording;
use crate::response::{Effect, Purpose, Running};
use crate::session::Session;
use crate::surface;
use crate::transaction::{Admission, Isolation, Snapshot};
use crate::{Decision, Outlet};
use cache::Key;
use sql::{Assignment, Begin, DdlScope, Flush, Hint, Kind, Statement, Target, Xa};
use std::sync::Arc;
use wire::{Command, Execute, Expect, capability, status};

/// What a statement of a kind closes when it arrives, besides the tables that the server will name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Closing {
    pub everything: bool,
    /// It may define anything: what is known of the catalogue is outdated.
    pub defines: bool,
    /// It may commit: what the transaction has written.
    pub written: bool,
}

pub fn closing(kind: &Kind) -> Closing {
    let inner = match kind {
        Kind::SetStatement(inner) => closing(&inner.kind),
        _ => Closing::default(),
    };
    let defines = inner.defines
        || matches!(
            kind,
            Kind::Ddl(DdlScope::Everything) | Kind::Execute | Kind::Compound | Kind::Multiple | Kind::Opaque
        );
    let is_global = match kind {
        Kind::Set(assignments) => assignments.iter().any(is_inherited),
        Kind::SetTransaction(set) => set.scope == sql::TransactionScope::Global,
        Kind::Xa(xa) => matches!(xa, Xa::Commit | Xa::Rollback),
        Kind::Flush(flush) => *flush == Flush::Other,
        _ => inner.everything,
    };
    let everything = defines || is_global;
    Closing { everything, defines, written: everything || may_commit(kind) }
}

fn is_inherited(assignment: &Assignment) -> bool {
    matches!(assignment.target, Target::Global(_) | Target::Password | Target::DefaultRole)
}

fn may_commit(kind: &Kind) -> bool {
    match kind {
        Kind::Read(_) | Kind::Write | Kind::Show(_) | Kind::Explain | Kind::Use(_) | Kind::Savepoint => false,
        Kind::RollbackToSavepoint | Kind::ReleaseSavepoint | Kind::Handler | Kind::Kill | Kind::Empty => false,
        Kind::Set(assignments) => {
            assignments.iter().any(|a| matches!(&a.target, Target::Session(n) if n == b"autocommit"))
        }
        Kind::SetTransaction(_) | Kind::Harmless | Kind::Do | Kind::Prepare | Kind::Deallocate => false,
        _ => true,
    }
}

/// Whether the number of rows found is certainly the same after it, or that of its own result.
fn leaves_found_rows(kind: &Kind) -> bool {
    let is_data = matches!(kind, Kind::Read(_) | Kind::Write);
    let is_transaction = matches!(
        kind,
        Kind::Begin(_)
            | Kind::Commit(_)
            | Kind::Rollback(_)
            | Kind::Savepoint
            | Kind::RollbackToSavepoint
            | Kind::ReleaseSavepoint
    );
    is_data || is_transaction || matches!(kind, Kind::Use(_) | Kind::Set(_) | Kind::SetTransaction(_))
}

/// Statements inside which the server runs others that must be looked at.
fn may_run_others(statement: &Statement) -> bool {
    match &statement.kind {
        Kind::Read(read) => read.refusal == Some(sql::Refusal::UnknownFunction),
        Kind::Show(_) | Kind::Begin(_) | Kind::Commit(_) | Kind::Rollback(_) | Kind::Use(_) | Kind::Empty => false,
        _ => true,
    }
}

/// A read that could be answered from the cache, by its bytes.
struct Asked<'a> {
    context: u64,
    text: &'a [u8],
    parameters: &'a [u8],
    /// The whole command.
    packet: &'a [u8],
}

impl Asked<'_> {
    fn key(&self) -> Key<'_> {
        Key { context: self.context, parts: [self.text, self.parameters] }
    }
}

enum Served {
    Answered,
    Inject(Vec<u8>),
    No,
}

impl Session {
    /// A complete command that the server has not seen. Called again with the same packet after an injection.
    pub fn on_command(&mut self, engine: &Engine, packet: &[u8], outlet: &mut dyn Outlet) -> Decision {
        self.settle(engine);
        let payload = &packet[4..];
        match payload.first().and_then(|byte| Command::from_byte(*byte)) {
            Some(Command::Query) => self.on_query(engine, packet, &payload[1..], outlet),
            Some(Command::StmtExecute) => self.on_execute(engine, packet, payload, outlet),
            command => self.on_other(engine, packet, command),
        }
    }

    /// A command will pass before it can be looked at: whatever the server does not know of yet, it must be told now.
    /// To be asked until there is nothing left.
    pub fn before_pieces(&mut self, engine: &Engine) -> Option<Vec<u8>> {
        self.settle(engine);
        let (purpose, packet, expect) = match (self.transaction.deferred_begin.take(), &self.unseen) {
            (Some(packet), _) => (Purpose::Begin, packet, Expect::Query),
            (None, Some(pending)) => {
                let (packet, expect) = pending.clone().command();
                self.unseen = None;
                (Purpose::Unseen, packet, expect)
            }
            (None, None) => return None,
        };
        self.running = Some(Running::new(purpose, expect, self.capabilities, engine.versions.now()));
        Some(packet)
    }

    /// A command whose first bytes the server has had already: it can only pass.
    pub fn on_observed(&mut self, engine: &Engine, packet: &[u8]) {
        self.settle(engine);
        let payload = &packet[4..];
        let command = payload.first().and_then(|byte| Command::from_byte(*byte));
        match command {
            Some(Command::Query) => {
                let statement = Arc::new(sql::classify(&payload[1..], self.variables.mode));
                self.note_temporary(&statement.kind, &payload[1..]);
                self.forward(engine, &statement, Expect::Query, None);
            }
            Some(Command::StmtExecute) => {
                let statement =
                    Execute::parse(payload).and_then(|e| self.statements.get_mut(e.id)).map(|p| p.statement.clone());
                self.forward(engine, &statement.unwrap_or_else(opaque), Expect::Execute, None);
            }
            command => {
                self.forward_other(engine, payload, command);
            }
        }
        engine.note_refusal(Own::Fragmented);
    }

    /// A command too long to be held: it may be anything.
    pub fn on_oversized(&mut self, engine: &Engine) {
        self.settle(engine);
        self.has_temporary_tables = true;
        self.forward(engine, &opaque(), Expect::Query, None);
    }

    /// The server does not know of something that the client was told, or answers what the client must not see.
    pub fn owes_server(&self) -> bool {
        self.transaction.deferred_begin.is_some() || self.running.as_ref().is_some_and(Running::is_kept_back)
    }

    fn on_query(&mut self, engine: &Engine, packet: &[u8], text: &[u8], outlet: &mut dyn Outlet) -> Decision {
        let context = self.cacheable_context(engine, false);
        if let Some(context) = context {
            match self.serve(engine, &Asked { context, text, parameters: &[], packet }, outlet) {
                Served::Answered => return Decision::Answered,
                Served::Inject(packet) => return Decision::Inject(packet),
                Served::No => {}
            }
        }
        let statement = self.classify(text);
        if let Some(question) = self.ask(engine, &statement) {
            return Decision::Inject(question);
        }
        if let Some(answer) = self.begin_later(engine, &statement, packet, outlet) {
            return answer;
        }
        if let Some(first) = self.before_forward(engine, &statement, text) {
            return Decision::Inject(first);
        }
        if let Some(decision) = surface::intercept(self, engine, &statement, text) {
            return decision;
        }
        let recording = self.recording(engine, &statement, context, text, &[]);
        self.note_temporary(&statement.kind, text);
        self.forward(engine, &statement, Expect::Query, recording);
        Decision::Forward
    }

    fn on_execute(&mut self, engine: &Engine, packet: &[u8], payload: &[u8], outlet: &mut dyn Outlet) -> Decision {
        let Some(execute) = Execute::parse(payload) else {
            return self.forward_after_begin(engine, &opaque(), Expect::Execute);
        };
        let context = self.cacheable_context(engine, true);
        let Some(prepared) = self.statements.get_mut(execute.id) else {
            return self.forward_after_begin(engine, &opaque(), Expect::Execute);
        };
        let (statement, text) = (prepared.statement.clone(), prepared.text.clone());
        let parameters = bind(prepared, &execute);
        let refusal = refusal_of_execution(prepared, &execute, context);
        let metadata = Metadata { definitions: engine.catalogue.definitions(), types: prepared.types.clone() };
        let keeps_metadata = self.capabilities & capability::MARIADB_CACHE_METADATA != 0;
        let has_metadata = !keeps_metadata || prepared.metadata.as_ref() == Some(&metadata);
        if let (Some(context), Some(parameters), None, true) = (context, &parameters, refusal, has_metadata) {
            match self.serve(engine, &Asked { context, text: &text, parameters, packet }, outlet) {
                Served::Answered => return Decision::Answered,
                Served::Inject(packet) => return Decision::Inject(packet),
                Served::No => {}
            }
        }
        if let Some(question) = self.ask(engine, &statement) {
            return Decision::Inject(question);
        }
        if let Some(answer) = self.begin_later(engine, &statement, packet, outlet) {
            return answer;
        }
        if let Some(first) = self.before_forward(engine, &statement, &text) {
            return Decision::Inject(first);
        }
        let mut recording =
            self.recording(engine, &statement, context, &text, parameters.as_deref().unwrap_or_default());
        if let Some(recording) = &mut recording {
            recording.omits_metadata = keeps_metadata;
            refusal.into_iter().for_each(|refusal| recording.refuse(refusal));
        }
        self.forward(engine, &statement, Expect::Execute, recording);
        if let Some(running) = &mut self.running {
            running.execution = Some((execute.id, metadata));
        }
        Decision::Forward
    }

    /// While it is not certain how texts are to be read, only the plainest kinds are believed.
    fn classify(&self, text: &[u8]) -> Arc<Statement> {
        let statement = sql::classify(text, self.variables.mode);
        let is_plain = matches!(
            statement.kind,
            Kind::Read(_)
                | Kind::Write
                | Kind::Set(_)
                | Kind::Show(_)
                | Kind::Use(_)
                | Kind::Commit(_)
                | Kind::Rollback(_)
        );
        if self.variables.is_uncertain && !is_plain { opaque() } else { Arc::new(statement) }
    }

    /// Before a read that could be stored, the server is asked for the settings that are not certain.
    fn ask(&mut self, engine: &Engine, statement: &Statement) -> Option<Vec<u8>> {
        let is_worth_it = self.variables.is_uncertain
            && self.transaction.deferred_begin.is_none()
            && matches!(&statement.kind, Kind::Read(read) if read.refusal.is_none())
            && !statement.reads_diagnostics;
        is_worth_it.then(|| {
            self.running = Some(Running::new(Purpose::Ask, Expect::Query, self.capabilities, engine.versions.now()));
            surface::question()
        })
    }

    /// The identity under which reads may be served or stored now.
    fn cacheable_context(&mut self, engine: &Engine, is_binary: bool) -> Option<u64> {
        if self.cache_type == 0 || !engine.settings.is_on() {
            return None;
        }
        self.context(engine, is_binary)
    }

    fn serve(&mut self, engine: &Engine, asked: &Asked, outlet: &mut dyn Outlet) -> Served {
        if self.has_temporary_tables || self.writes.is_locked {
            return Served::No;
        }
        let key = asked.key();
        let pin = cache::pin();
        let Some(entry) = engine.cache.get(engine.cache.hash(&key), &key, &pin) else { return Served::No };
        if !engine.versions.is_fresh(entry.cells(), entry.stamp()) {
            return Served::No;
        }
        let layout = Layout(entry.flags());
        match self.transaction.admit(&engine.versions, entry.cells(), layout.opens_snapshot()) {
            Admission::Serve => {}
            Admission::OpenSnapshot => return Served::Inject(self.open_snapshot(engine)),
            Admission::Refuse(_) => return Served::No,
        }
        // Counted before the client can know of it, so that nobody who has the answer sees an older count.
        engine.counts.hits.add(1);
        engine.counts.saved_ns.add(entry.cost_ns());
        engine.counts.saved_bytes.add(entry.value().len() as u64);
        let replay = if layout.shows_found() { Vec::new() } else { asked.packet.to_vec() };
        self.unseen = Some(surface::Pending { rows: entry.rows(), is_latest: true, is_owed: false, replay });
        self.deliver(entry.value(), layout, outlet);
        Served::Answered
    }

    /// Sends a stored response with this session's own transaction flags.
    fn deliver(&mut self, value: &[u8], layout: Layout, outlet: &mut dyn Outlet) {
        const OWN: u16 = status::IN_TRANS | status::AUTOCOMMIT | status::IN_TRANS_READONLY;
        let flags = self.status_now() & OWN;
        let offsets = layout.offsets(value.len());
        let stored = u16::from_le_bytes([value[offsets[1]], value[offsets[1] + 1]]);
        if stored & OWN == flags {
            return outlet.deliver(&[value]);
        }
        let own = (stored & !OWN | flags).to_le_bytes();
        match offsets[0] {
            0 => outlet.deliver(&[&value[..offsets[1]], &own, &value[offsets[1] + 2..]]),
            first => {
                outlet.deliver(&[&value[..first], &own, &value[first + 2..offsets[1]], &own, &value[offsets[1] + 2..]])
            }
        }
    }

    /// The flags of this session as the client must see them: a deferred BEGIN counts.
    pub(crate) fn status_now(&self) -> u16 {
        const LASTING: u16 = status::IN_TRANS
            | status::AUTOCOMMIT
            | status::IN_TRANS_READONLY
            | status::NO_BACKSLASH_ESCAPES
            | status::ANSI_QUOTES;
        match &self.transaction.deferred_begin {
            None => self.status & LASTING,
            Some(_) => self.status & LASTING | status::IN_TRANS,
        }
    }

    /// Answers a BEGIN without the server, who is told of it with the transaction's first statement. That statement
    /// may then be a read from the cache, for which the server opens its snapshot at that very moment.
    fn begin_later(
        &mut self,
        engine: &Engine,
        statement: &Statement,
        packet: &[u8],
        outlet: &mut dyn Outlet,
    ) -> Option<Decision> {
        let Kind::Begin(begin) = &statement.kind else { return None };
        let can_wait = engine.settings.defers_begin()
            && engine.settings.is_on()
            && self.cache_type != 0
            && self.context(engine, false).is_some()
            && !self.transaction.has_begun()
            && self.transaction.autocommit
            && !self.transaction.is_read_only
            && !self.transaction.is_set_once
            && !self.writes.is_locked
            && self.transaction.isolation <= Isolation::RepeatableRead
            && *begin == Begin::default();
        if !can_wait {
            return None;
        }
        self.transaction.deferred_begin = Some(packet.to_vec());
        if let Some(pending) = &mut self.unseen {
            pending.is_latest = false;
        }
        outlet.deliver(&[&wire::ok_packet(1, 0, 0, self.status_now(), 0)]);
        Some(Decision::Answered)
    }

    /// A statement that does nothing, for a host that must give the server something after an answer.
    pub fn idle(&mut self, engine: &Engine) -> Vec<u8> {
        self.running = Some(Running::new(Purpose::Idle, Expect::Ok, self.capabilities, engine.versions.now()));
        command_packet(Command::Ping, b"")
    }

    fn open_snapshot(&mut self, engine: &Engine) -> Vec<u8> {
        self.transaction.deferred_begin = None;
        let moment = engine.versions.now();
        self.running = Some(Running::new(Purpose::OpenSnapshot(moment), Expect::Query, self.capabilities, moment));
        query_packet(b"START TRANSACTION WITH CONSISTENT SNAPSHOT")
    }

    /// What the server must be told before this statement: a deferred BEGIN, or the result it does not know of.
    fn before_forward(&mut self, engine: &Engine, statement: &Statement, text: &[u8]) -> Option<Vec<u8>> {
        if let Some(packet) = self.transaction.deferred_begin.take() {
            self.running = Some(Running::new(Purpose::Begin, Expect::Query, self.capabilities, engine.versions.now()));
            return Some(packet);
        }
        let matters = self.unseen.as_ref().is_some_and(|pending| {
            let replaces_warnings = matches!(statement.kind, Kind::Read(_) | Kind::Write);
            pending.matters_to(statement, text)
                || pending.is_owed
                || self.may_leave_found_rows(statement, text)
                || pending.is_latest && !leaves_found_rows(&statement.kind)
                || pending.is_latest && self.has_warnings && !replaces_warnings
                || pending.is_latest && self.may_ask_by_view(engine, statement, text)
        });
        if let Some(pending) = self.unseen.take_if(|_| matters) {
            let (packet, expect) = pending.command();
            self.running = Some(Running::new(Purpose::Unseen, expect, self.capabilities, engine.versions.now()));
            return Some(packet);
        }
        None
    }

    /// The number of rows found is replaced by a read that succeeds, and not the latest thing after anything else.
    fn note_forwarded(&mut self, statement: &Statement) -> Option<surface::Pending> {
        self.unseen.iter_mut().for_each(|pending| pending.is_latest = false);
        let has_own_rows = match statement.kind {
            Kind::Read(_) => true,
            Kind::Show(_) => !statement.reads_diagnostics,
            _ => false,
        };
        self.unseen.take_if(|_| has_own_rows)
    }

    /// An aggregate over nothing leaves the number of rows found as it was.
    fn may_leave_found_rows(&self, statement: &Statement, text: &[u8]) -> bool {
        matches!(statement.kind, Kind::Read(_)) && !surface::survey(text, self.variables.mode, |_| false).is_single_scan
    }

    /// A view may ask what its statement asks.
    fn may_ask_by_view(&self, engine: &Engine, statement: &Statement, text: &[u8]) -> bool {
        matches!(statement.kind, Kind::Read(_))
            && engine
                .catalogue
                .facts()
                .is_none_or(|facts| sql::mentions(text, self.variables.mode, |name| facts.views.contains(name)))
    }

    fn forward_after_begin(&mut self, engine: &Engine, statement: &Arc<Statement>, expect: Expect) -> Decision {
        if let Some(first) = self.before_forward(engine, statement, b"") {
            return Decision::Inject(first);
        }
        self.forward(engine, statement, expect, None);
        Decision::Forward
    }

    /// Notes what is needed to store the result of a read; none if it is no read, or reads are off here.
    fn recording(
        &mut self,
        engine: &Engine,
        statement: &Statement,
        context: Option<u64>,
        text: &[u8],
        parameters: &[u8],
    ) -> Option<Recording> {
        let Kind::Read(read) = &statement.kind else { return None };
        if self.cache_type == 0 || !engine.settings.is_on() {
            return None;
        }
        engine.counts.misses.add(1);
        let refusal = self.refusal(read, context);
        let (stamp, transaction_refusal) = match self.transaction.stamp(engine.versions.now()) {
            Ok(stamp) => (stamp, None),
            Err(own) => (engine.versions.now(), Some(Reason::Own(own))),
        };
        let refusal = refusal.or(transaction_refusal);
        let keeps = refusal.is_none();
        Some(Recording {
            context: context.unwrap_or(0),
            text: if keeps { text.to_vec() } else { Vec::new() },
            parameters: if keeps { parameters.to_vec() } else { Vec::new() },
            stamp,
            generation: engine.catalogue.generation(),
            started_ns: (engine.clock)(),
            cells: vec![engine.everything],
            all_snapshot: true,
            refusal,
            omits_metadata: false,
            response: std::mem::take(&mut self.scratch),
        })
    }

    fn refusal(&self, read: &sql::Read, context: Option<u64>) -> Option<Reason> {
        if let Some(refusal) = read.refusal {
            return Some(Reason::Text(refusal));
        }
        let own = match (self.cache_type, read.hint) {
            (_, Hint::SqlNoCache) => Own::NoCacheHint,
            (2, Hint::None) => Own::Demand,
            _ if context.is_none() => Own::SessionState,
            _ if self.has_temporary_tables => Own::TemporaryTables,
            _ if self.writes.is_locked => Own::LockedTables,
            _ => return None,
        };
        Some(Reason::Own(own))
    }

    /// Closes what the statement may touch, and notes that the server has it.
    pub(crate) fn forward(
        &mut self,
        engine: &Engine,
        statement: &Arc<Statement>,
        expect: Expect,
        read: Option<Recording>,
    ) {
        self.close_for(engine, &statement.kind);
        let replaced = self.note_forwarded(statement);
        if !self.transaction.is_open {
            self.transaction.snapshot = Snapshot::Unknown;
        }
        let mut running = Running::new(Purpose::Client, expect, self.capabilities, engine.versions.now());
        running.may_run_others = may_run_others(statement);
        running.effect = Effect::Statement(statement.clone());
        running.read = read;
        running.replaced = replaced;
        self.running = Some(running);
    }

    /// Temporary tables made where no event tells of them: in one of several statements, or by EXECUTE.
    fn note_temporary(&mut self, kind: &Kind, text: &[u8]) {
        let word = b"temporary";
        let says_temporary = || text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
        match kind {
            Kind::Multiple | Kind::Opaque | Kind::Compound => {
                self.has_temporary_tables |= says_temporary() || text.contains(&b'@');
            }
            Kind::Prepare => self.prepares_temporary |= says_temporary() || text.contains(&b'@'),
            Kind::Execute => self.has_temporary_tables |= self.prepares_temporary,
            _ => {}
        }
    }

    pub(crate) fn close_for(&mut self, engine: &Engine, kind: &Kind) {
        let closing = closing(kind);
        if closing.everything {
            self.writes.close_everything(engine, closing.defines);
        }
        if let Kind::Ddl(DdlScope::Tables(names)) = kind {
            self.close_defined(engine, names);
        }
        if closing.written {
            self.close_written(engine);
        }
    }

    /// Tables that a definition names change.
    fn close_defined(&mut self, engine: &Engine, names: &[sql::TableName]) {
        if !engine.settings.tells_case() {
            return self.writes.close_everything(engine, true);
        }
        for name in names {
            let db = name.db.clone().unwrap_or_else(|| self.database.clone());
            let table = engine.tables.find(&engine.versions, &db, &name.name);
            self.writes.close_defined(engine, table);
        }
    }

    fn on_other(&mut self, engine: &Engine, packet: &[u8], command: Option<Command>) -> Decision {
        use Command::{Quit, StmtClose, StmtSendLongData};
        // These have no response that would tell of the transaction.
        if !matches!(command, Some(Quit | StmtClose | StmtSendLongData))
            && let Some(begin) = self.transaction.deferred_begin.take()
        {
            self.running = Some(Running::new(Purpose::Begin, Expect::Query, self.capabilities, engine.versions.now()));
            return Decision::Inject(begin);
        }
        if self.has_warnings
            && !matches!(command, Some(Quit | StmtClose | StmtSendLongData))
            && let Some(pending) = self.unseen.take_if(|pending| pending.is_latest)
        {
            let (packet, expect) = pending.command();
            self.running = Some(Running::new(Purpose::Unseen, expect, self.capabilities, engine.versions.now()));
            return Decision::Inject(packet);
        }
        if command == Some(Command::StmtPrepare)
            && let Some(question) = self.ask(engine, &self.classify(&packet[5..]))
        {
            return Decision::Inject(question);
        }
        self.unseen.iter_mut().for_each(|pending| pending.is_latest = false);
        self.forward_other(engine, &packet[4..], command).map_or(Decision::Forward, Decision::Replace)
    }

    /// Commands that are no statement of their own. A packet is given where the server must get another one.
    fn forward_other(&mut self, engine: &Engine, payload: &[u8], command: Option<Command>) -> Option<Vec<u8>> {
        let body = payload.get(1..).unwrap_or_default();
        let (expect, effect) = match command {
            Some(Command::StmtPrepare) => return self.on_prepare(engine, body),
            Some(Command::StmtClose) => {
                self.statements.remove(id_of(body));
                (Expect::Nothing, Effect::None)
            }
            Some(Command::StmtSendLongData) => {
                if let Some(prepared) = self.statements.get_mut(id_of(body)) {
                    prepared.has_long_data = true;
                }
                (Expect::Nothing, Effect::None)
            }
            Some(Command::StmtReset) => {
                if let Some(prepared) = self.statements.get_mut(id_of(body)) {
                    prepared.has_long_data = false;
                }
                (Expect::Ok, Effect::None)
            }
            Some(Command::Quit) => (Expect::Nothing, Effect::None),
            Some(Command::Ping | Command::SetOption) => (Expect::Ok, Effect::None),
            Some(Command::InitDb) => {
                self.database_known = false;
                self.forget_contexts();
                (Expect::Ok, Effect::None)
            }
            Some(Command::Statistics) => (Expect::Text, Effect::None),
            Some(Command::FieldList) => (Expect::FieldList, Effect::None),
            Some(Command::StmtFetch) => (Expect::Fetch, Effect::None),
            Some(Command::ChangeUser) => {
                let charset = wire::ChangeUser::parse(payload, self.capabilities).and_then(|change| change.charset);
                self.close_written(engine);
                self.account = None;
                self.database_known = false;
                (Expect::ChangeUser, Effect::ChangeUser { charset, inherited: engine.settings.inherited() })
            }
            Some(Command::ResetConnection) => {
                self.close_written(engine);
                (Expect::Ok, Effect::Reset { inherited: engine.settings.inherited() })
            }
            Some(Command::BinlogDump | Command::BinlogDumpGtid | Command::RegisterSlave) => {
                self.abandon(engine);
                return None;
            }
            _ => {
                self.forward(engine, &opaque(), Expect::Execute, None);
                return None;
            }
        };
        let mut running = Running::new(Purpose::Client, expect, self.capabilities, engine.versions.now());
        running.effect = effect;
        running.is_exchange = expect == Expect::ChangeUser;
        self.running = Some(running);
        None
    }

    fn close_written(&mut self, engine: &Engine) {
        for index in 0..self.transaction.written.len() {
            self.writes.close(engine, self.transaction.written[index]);
        }
    }

    fn on_prepare(&mut self, engine: &Engine, text: &[u8]) -> Option<Vec<u8>> {
        let rewritten = sql::surface::rewrite(text, self.variables.mode);
        let text = rewritten.as_ref().map_or(text, |rewrite| &rewrite.text);
        let statement = Arc::new(sql::classify(text, self.variables.mode));
        let context = self.context(engine, true).unwrap_or(0);
        let mut running = Running::new(Purpose::Client, Expect::Prepare, self.capabilities, engine.versions.now());
        running.effect = Effect::Prepare { text: text.into(), statement, context };
        self.running = Some(running);
        rewritten.map(|rewrite| command_packet(Command::StmtPrepare, &rewrite.text))
    }
}

fn id_of(body: &[u8]) -> u32 {
    body.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

fn opaque() -> Arc<Statement> {
    Arc::new(Statement { kind: Kind::Opaque, reads_diagnostics: true })
}

/// The bound parameters as bytes that identify them; none if they cannot be read.
fn bind(prepared: &mut Prepared, execute: &Execute) -> Option<Vec<u8>> {
    if prepared.parameters == 0 {
        return Some(Vec::new());
    }
    let params = execute.params(prepared.parameters, &prepared.types)?;
    let bytes = [params.nulls, params.types, params.values].concat();
    if params.are_types_new {
        let types = params.types.to_vec();
        prepared.types = types;
    }
    Some(bytes)
}

fn refusal_of_execution(prepared: &mut Prepared, execute: &Execute, context: Option<u64>) -> Option<Own> {
    let has_long_data = std::mem::take(&mut prepared.has_long_data);
    if has_long_data || execute.flags != 0 || execute.iterations != 1 {
        return Some(Own::Cursor);
    }
    context.filter(|context| *context != prepared.context).map(|_| Own::StatementContext)
}

pub(crate) fn query_packet(text: &[u8]) -> Vec<u8> {
    command_packet(Command::Query, text)
}

pub(crate) fn command_packet(command: Command, body: &[u8]) -> Vec<u8> {
    let mut packet = Vec::with_capacity(body.len() + 5);
    let payload = [&[command as u8], body].concat();
    wire::push_packet(&mut packet, &mut 0, &payload);
    packet
}

/// Where a stored response has its status flags, and what it says of snapshots: packed into an entry's flags.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout(pub u32);

impl Layout {
    const OPENS_SNAPSHOT: u32 = 1 << 31;
    const SHORT_TAIL: u32 = 1 << 30;
    const SHOWS_FOUND: u32 = 1 << 29;

    /// None if the flags are not where they can be described.
    pub fn describe(offsets: &[u32], length: usize, opens_snapshot: bool, shows_found: bool) -> Option<Layout> {
        let (&last, first) = offsets.split_last()?;
        let first = first.first().copied().unwrap_or(0);
        let tail = length.checked_sub(last as usize)?;
        if first >= Self::SHOWS_FOUND || !(tail == 2 || tail == 4) || offsets.len() > 2 {
            return None;
        }
        let short = if tail == 2 { Self::SHORT_TAIL } else { 0 };
        let opens = if opens_snapshot { Self::OPENS_SNAPSHOT } else { 0 };
        let shows = if shows_found { Self::SHOWS_FOUND } else { 0 };
        Some(Layout(first | short | opens | shows))
    }

    fn opens_snapshot(self) -> bool {
        self.0 & Self::OPENS_SNAPSHOT != 0
    }

    /// FOUND_ROWS() is the number of rows in the result. It is not where rows are skipped, grouped or combined.
    fn shows_found(self) -> bool {
        self.0 & Self::SHOWS_FOUND != 0
    }

    /// The first offset is 0 where there is only one field.
    fn offsets(self, length: usize) -> [usize; 2] {
        let tail = if self.0 & Self::SHORT_TAIL != 0 { 2 } else { 4 };
        [(self.0 & (Self::SHOWS_FOUND - 1)) as usize, length - tail]
    }
}
