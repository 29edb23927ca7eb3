//! A response on its way to the client: what it says of the statement's end, and what is done then.

use crate::engine::Engine;
use crate::kinds::may_be_anything;
use crate::layout::Layout;
use crate::prepared::Metadata;
use crate::readings::Reading;
use crate::reason::{Own, Reason};
use crate::recording::Recording;
use crate::resting::keeps_track;
use crate::rows::{Terms, Wording};
use crate::session::Session;
use crate::surface::{Pending, Rendering};
use crate::tables::{Table, table_cells};
use crate::transaction::Snapshot;
use crate::variables::{ASKABLE, Effect as Understood};
use ::insight::Caching;
use cache::{Meta, Refusal, Stamp, Versions};
use sql::{Flush, Kind, Statement};
use std::sync::Arc;
use wire::{Expect, Outcome, OutcomeKind, Progress, ResponseTracker, status};

/// What the host does with bytes of a response.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    Send,
    /// The client must not see them.
    Swallow,
    /// These go to the client in place of all that was swallowed of this response.
    Replace(Vec<u8>),
}

pub(crate) enum Purpose {
    /// The client's own command.
    Client,
    /// A deferred BEGIN is made good.
    Begin,
    /// As is a deferred BEGIN, with the snapshot opened at once; the stamp was noted before.
    OpenSnapshot(Stamp),
    /// The session's settings.
    Ask,
    /// Nothing: the server only has to ask for the next command in its own way.
    Idle,
    /// FOUND_ROWS() is made to say what the client saw.
    Unseen,
}

pub(crate) enum Effect {
    None,
    Statement(Arc<Statement>),
    Prepare { text: Arc<[u8]>, reading: Arc<Reading>, context: u64, terms: Terms },
    ChangeUser { charset: Option<u16>, inherited: u64 },
    Reset { inherited: u64 },
}

/// A command that the server is busy with.
pub(crate) struct Running {
    pub tracker: ResponseTracker,
    pub purpose: Purpose,
    pub effect: Effect,
    pub read: Option<Recording>,
    /// How the response is to be changed; it is held back until it is complete.
    pub rendering: Option<Rendering>,
    pub held: Vec<u8>,
    /// Noted before the server had the command.
    pub moment: Stamp,
    pub epoch: u64,
    pub may_run_others: bool,
    /// The next statement that the server logs is this one, not one inside it.
    pub logs_itself: bool,
    /// The prepared statement that is executed, and what its column metadata is made from.
    pub execution: Option<(u32, Metadata)>,
    /// What the server did not know of before this read: still so, if it fails.
    pub replaced: Option<Pending>,
    /// Nothing has been reported of it yet: no table locked for writing, no statement inside.
    pub is_inert: bool,
    /// What a write says, for when its tables are locked.
    pub wording: Option<Wording>,
    /// The table that gets one new row, whose key the response tells.
    pub generated: Option<Arc<Table>>,
    /// Whether a transaction is open after it, if the server has told that already.
    pub has_begun: Option<bool>,
    /// The client's bytes belong to the response (a local file, an authentication).
    pub is_exchange: bool,
}

impl Running {
    pub fn new(engine: &Engine, purpose: Purpose, expect: Expect, capabilities: u64) -> Running {
        Running {
            tracker: ResponseTracker::new(expect, capabilities),
            purpose,
            effect: Effect::None,
            read: None,
            rendering: None,
            held: Vec::new(),
            moment: engine.versions.now(),
            epoch: engine.vigil.epoch(),
            may_run_others: false,
            logs_itself: expect == Expect::Query,
            execution: None,
            replaced: None,
            is_inert: true,
            wording: None,
            generated: None,
            has_begun: None,
            is_exchange: false,
        }
    }

    /// The client does not get the response as the server gives it.
    pub fn is_kept_back(&self) -> bool {
        self.is_hidden() || self.rendering.is_some()
    }

    pub(crate) fn is_hidden(&self) -> bool {
        !matches!(self.purpose, Purpose::Client)
    }
}

/// A read whose response has been sent: it may be stored now.
pub(crate) struct Finished {
    recording: Recording,
    outcome: Outcome,
}

/// What a storable result may say besides the transaction's state.
const HARMLESS_STATUS: u16 = status::IN_TRANS
    | status::AUTOCOMMIT
    | status::NO_GOOD_INDEX
    | status::NO_INDEX
    | status::NO_BACKSLASH_ESCAPES
    | status::SLOW
    | status::IN_TRANS_READONLY
    | status::ANSI_QUOTES;

impl Session {
    /// Bytes of the server, before the client gets them.
    pub fn on_response(&mut self, engine: &Engine, bytes: &[u8]) -> Reply {
        let Some(running) = self.running.as_mut() else { return Reply::Send };
        let progress = running.tracker.feed(bytes);
        if let Some(recording) = &mut running.read {
            recording.record(bytes, engine.settings.limit());
        }
        let is_held = running.rendering.is_some();
        if is_held || matches!(running.purpose, Purpose::Ask) {
            running.held.extend_from_slice(bytes);
        }
        let is_kept_back = running.is_kept_back();
        match progress {
            Progress::Done(outcome) => return self.finish(engine, outcome),
            Progress::LocalInfile => running.is_exchange = true,
            Progress::More => {}
            Progress::Confused => {
                let held = std::mem::take(&mut running.held);
                self.abandon(engine);
                self.draining = None;
                return if is_held { Reply::Replace(held) } else { Reply::Send };
            }
        }
        self.writes.advance(engine);
        if is_kept_back { Reply::Swallow } else { Reply::Send }
    }

    /// Whether these bytes of a session that was abandoned answer a question of ours: the client must not see them.
    pub fn drains(&mut self, bytes: &[u8]) -> bool {
        let Some(tracker) = &mut self.draining else { return false };
        if !matches!(tracker.feed(bytes), Progress::More) {
            self.draining = None;
        }
        true
    }

    /// The server reads what is not a command.
    pub fn is_in_exchange(&self) -> bool {
        self.running.as_ref().is_some_and(|running| running.is_exchange)
    }

    fn finish(&mut self, engine: &Engine, outcome: Outcome) -> Reply {
        let Some(running) = self.running.take() else { return Reply::Send };
        let was_open = self.transaction.is_open || self.transaction.is_doubtful;
        self.note_missed(engine, &running);
        if let Some(flags) = outcome.status {
            self.take_flags(&running, flags);
        }
        let has_failed = matches!(outcome.kind, OutcomeKind::Err { .. });
        self.has_failed = has_failed;
        self.note_warnings(&running, &outcome, has_failed);
        self.note_set_once(&running, has_failed);
        self.note_branch(&running);
        self.apply(engine, &running, &outcome, has_failed);
        // With something written, the statement may have committed that before its privileges were looked at.
        if running.is_inert && !self.writes.is_locked && self.transaction.written.is_empty() && was_refused(&outcome) {
            self.writes.reopen(engine);
        }
        if let Some(table) = &running.generated {
            self.narrow(engine, table, &outcome);
        }
        self.end_writes(engine, &running, has_failed);
        self.note_snapshot(&running, &outcome, was_open, has_failed);
        if let Some(has_begun) = running.has_begun.filter(|_| std::mem::take(&mut self.has_failed)) {
            self.take_transaction(has_begun);
        }
        if has_failed && running.replaced.is_some() {
            self.unseen = running.replaced;
        }
        if matches!(running.purpose, Purpose::Ask) {
            self.learn(engine, &running.held);
        }
        let reply = match (&running.purpose, &running.rendering) {
            (Purpose::Client, None) => Reply::Send,
            (Purpose::Client, Some(rendering)) => {
                Reply::Replace(rendering.apply(&running.held, self.capabilities).unwrap_or(running.held))
            }
            _ => Reply::Swallow,
        };
        if let (Some((id, metadata)), OutcomeKind::ResultSet { .. }) = (running.execution, outcome.kind)
            && let Some(prepared) = self.statements.get_mut(id)
        {
            prepared.metadata = Some(metadata);
        }
        if let Some(recording) = running.read {
            self.finished = Some(Finished { recording, outcome });
        }
        reply
    }

    /// Not all that the server had to tell of it was told.
    fn note_missed(&mut self, engine: &Engine, running: &Running) {
        let keeps_track = !matches!(&running.effect, Effect::Statement(statement) if !keeps_track(&statement.kind));
        self.has_missed |= running.epoch != engine.vigil.epoch() && !keeps_track;
    }

    fn take_flags(&mut self, running: &Running, mut flags: u16) {
        const OF_MODE: u16 = status::ANSI_QUOTES | status::NO_BACKSLASH_ESCAPES;
        // These are told while the settings of SET STATEMENT are still in force.
        if matches!(&running.effect, Effect::Statement(statement) if matches!(statement.kind, Kind::SetStatement(_))) {
            flags = flags & !OF_MODE | self.status & OF_MODE;
        }
        self.status = flags;
        self.transaction.is_open = flags & status::IN_TRANS != 0;
        self.transaction.is_doubtful = false;
        self.transaction.autocommit = flags & status::AUTOCOMMIT != 0;
        self.variables.mode.ansi_quotes = flags & status::ANSI_QUOTES != 0;
        self.variables.mode.no_backslash_escapes = flags & status::NO_BACKSLASH_ESCAPES != 0;
    }

    /// Tables open again. In a transaction they are remembered, to be closed again when it may commit.
    fn end_writes(&mut self, engine: &Engine, running: &Running, has_failed: bool) {
        let kind = match &running.effect {
            Effect::Statement(statement) => Some(&statement.kind),
            _ => None,
        };
        let ends = matches!(kind, Some(Kind::Commit(_) | Kind::Rollback(_) | Kind::Begin(_))) && !has_failed;
        if matches!(kind, Some(Kind::LockTables)) && !has_failed {
            self.writes.is_locked = true;
        }
        if ends || !self.transaction.is_open && !has_failed {
            self.transaction.written.clear();
        } else {
            for cell in self.writes.cells() {
                if *cell != Versions::EVERYTHING && !self.transaction.written.contains(cell) {
                    self.transaction.written.push(*cell);
                }
            }
        }
        if matches!(kind, Some(Kind::UnlockTables)) && !has_failed {
            self.writes.is_locked = false;
        }
        if !self.writes.is_empty() {
            self.writes.open(engine);
        }
    }

    /// What SET TRANSACTION set is used up by a transaction that has ended.
    fn note_set_once(&mut self, running: &Running, has_failed: bool) {
        let Effect::Statement(statement) = &running.effect else { return };
        let ends_one = match &statement.kind {
            Kind::SetTransaction(set) if set.scope == sql::TransactionScope::Next => {
                return self.transaction.is_set_once = true;
            }
            Kind::Set(assignments) if assignments.iter().any(|a| matches!(a.target, sql::Target::OneShot(_))) => {
                return self.transaction.is_set_once = true;
            }
            kind if may_be_anything(kind) => return self.transaction.is_set_once = true,
            Kind::Commit(_) | Kind::Rollback(_) | Kind::Write => !has_failed,
            Kind::Read(_) => !has_failed && running.read.as_ref().is_some_and(|recording| !recording.cells.is_empty()),
            _ => false,
        };
        if ends_one && !self.transaction.is_open {
            self.transaction.is_set_once = false;
        }
    }

    /// An XA transaction that has begun lasts as long as the server says that one is open.
    fn note_branch(&mut self, running: &Running) {
        let begins = matches!(&running.effect, Effect::Statement(statement)
            if matches!(statement.kind, Kind::Xa(_) | Kind::Call) || may_be_anything(&statement.kind));
        self.transaction.is_branch = self.transaction.is_open && (begins || self.transaction.is_branch);
    }

    /// The server keeps its warnings until a statement that uses a table.
    fn note_warnings(&mut self, running: &Running, outcome: &Outcome, has_failed: bool) {
        let uses_table = match (&running.effect, &running.purpose) {
            (_, Purpose::Unseen) => true,
            (Effect::Statement(statement), _) => match statement.kind {
                Kind::Write => true,
                Kind::Read(_) => running.read.as_ref().is_some_and(|recording| !recording.cells.is_empty()),
                _ => false,
            },
            _ => false,
        };
        self.has_warnings = has_failed || outcome.warnings > 0 || self.has_warnings && !uses_table;
    }

    fn note_snapshot(&mut self, running: &Running, outcome: &Outcome, was_open: bool, has_failed: bool) {
        if let Purpose::OpenSnapshot(moment) = running.purpose {
            self.transaction.snapshot = if has_failed { Snapshot::Unknown } else { Snapshot::Open(moment) };
            return;
        }
        if !self.transaction.is_open {
            self.transaction.snapshot = Snapshot::Unknown;
            return;
        }
        if has_failed {
            // A deadlock, say, has rolled the transaction back: the flags are told with the next success.
            self.transaction.snapshot = Snapshot::Unknown;
            return;
        }
        let kind = match (&running.effect, &running.purpose) {
            (_, Purpose::Idle | Purpose::Ask) => return,
            (_, Purpose::Begin) => return self.transaction.snapshot = Snapshot::NotYet,
            (Effect::Statement(statement), _) => &statement.kind,
            _ => return,
        };
        match kind {
            Kind::Begin(begin) if begin.consistent_snapshot => {
                self.transaction.snapshot = Snapshot::Open(running.moment)
            }
            Kind::Begin(_) | Kind::Commit(_) | Kind::Rollback(_) => self.transaction.snapshot = Snapshot::NotYet,
            Kind::Several => self.transaction.snapshot = Snapshot::Unknown,
            Kind::Read(_) => {
                if !was_open {
                    self.transaction.snapshot = Snapshot::NotYet;
                }
                let has_read = running.read.as_ref().is_some_and(|recording| has_read_rows(recording, outcome));
                self.transaction.after_read(running.moment, has_read);
            }
            _ => self.transaction.after_other(),
        }
    }

    fn apply(&mut self, engine: &Engine, running: &Running, outcome: &Outcome, has_failed: bool) {
        match &running.effect {
            Effect::None => {}
            Effect::Statement(statement) => self.apply_statement(engine, statement, has_failed),
            Effect::Prepare { text, reading, context, terms } => match outcome.kind {
                OutcomeKind::Prepared { id, params, .. } => {
                    let (text, reading) = (text.clone(), reading.clone());
                    let prepared = crate::prepared::Prepared {
                        text,
                        reading,
                        terms: terms.clone(),
                        parameters: params,
                        types: Vec::new(),
                        has_long_data: false,
                        context: *context,
                        metadata: None,
                    };
                    self.statements.insert(id, prepared);
                }
                _ => self.statements.forget_last(),
            },
            Effect::ChangeUser { charset, inherited } => {
                self.charset = charset.unwrap_or(self.charset);
                self.begin_again(engine, *inherited);
                if has_failed {
                    self.abandon(engine);
                }
            }
            Effect::Reset { inherited } => self.begin_again(engine, *inherited),
        }
    }

    fn apply_statement(&mut self, engine: &Engine, statement: &Statement, has_failed: bool) {
        match &statement.kind {
            // One that failed may have been applied in part.
            Kind::Set(assignments) if has_failed => self.lose_settings(engine, assignments),
            Kind::Set(assignments) => self.apply_settings(engine, assignments),
            Kind::CreateTemporary => self.has_temporary_tables = true,
            // Told at the end of the statement, but not while the engine sleeps.
            Kind::Use(_) if !has_failed => {
                self.database_known = false;
                self.forget_contexts();
            }
            // Anything may have been set inside.
            kind if may_be_anything(kind) => self.become_private(engine),
            Kind::Flush(Flush::QueryCache) | Kind::ResetQueryCache if !has_failed => {
                if matches!(statement.kind, Kind::ResetQueryCache) {
                    engine.cache.clear();
                }
            }
            Kind::Flush(Flush::Status) if !has_failed => {
                engine.counts.flush();
                engine.insight.flush();
            }
            _ => {}
        }
    }

    fn lose_settings(&mut self, engine: &Engine, assignments: &[sql::Assignment]) {
        if assignments.iter().all(|a| matches!(a.target, sql::Target::Global(_))) {
            return;
        }
        let is_askable = |a: &sql::Assignment| match &a.target {
            sql::Target::Session(name) => ASKABLE.contains(&name.as_slice()),
            sql::Target::Names { .. } => true,
            _ => false,
        };
        self.variables.doubt();
        self.has_set_role |= assignments.iter().any(|a| a.target == sql::Target::Role);
        self.forget_contexts();
        if !assignments.iter().all(is_askable) {
            self.become_private(engine);
        }
    }

    fn learn(&mut self, engine: &Engine, response: &[u8]) {
        match crate::surface::answer(response, self.capabilities).as_deref() {
            Some([found, first, values @ ..]) => {
                self.variables.learn(values);
                if self.was_reset && !first.is_empty() {
                    self.become_private(engine);
                }
                let rows = std::str::from_utf8(found).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
                self.unseen = Some(Pending { rows, is_latest: false, is_owed: true, replay: Vec::new() });
            }
            _ => self.variables.knowledge = crate::variables::Knowledge::Lost,
        }
        self.variables.is_uncertain = false;
        self.forget_contexts();
    }

    fn apply_settings(&mut self, engine: &Engine, assignments: &[sql::Assignment]) {
        let inherited = engine.settings.inherited();
        for assignment in assignments {
            self.has_set_role |= assignment.target == sql::Target::Role;
            match self.variables.apply(assignment, inherited) {
                Understood::Nothing => {}
                Understood::Changed => self.forget_contexts(),
                Understood::NotUnderstood => self.become_private(engine),
            }
        }
    }

    /// The server asks for the next command: whatever ran has ended, even if its response was not understood.
    pub(crate) fn settle(&mut self, engine: &Engine) {
        let Some(running) = self.running.take() else { return };
        self.note_missed(engine, &running);
        self.end_writes(engine, &running, true);
        if let Effect::Statement(statement) = &running.effect {
            self.apply_statement(engine, statement, true);
            self.transaction.after_other();
        }
    }

    /// The response has been sent: the time to store it.
    pub fn after_send(&mut self, engine: &Engine) {
        let Some(Finished { mut recording, outcome }) = self.finished.take() else { return };
        self.check(engine, &mut recording, &outcome);
        let reading = &recording.reading;
        let layout = Layout::describe(
            outcome.status_offsets.as_slice(),
            recording.bytes,
            has_read_rows(&recording, &outcome),
            matches!(outcome.kind, OutcomeKind::ResultSet { rows, .. } if reading.shows_found(rows)),
        );
        let verdict = match (recording.refusal, layout) {
            (Some(reason), _) => Err(reason),
            (None, None) => Err(Own::Response.into()),
            (None, Some(layout)) => {
                let layout = layout.by_rows(recording.is_by_rows).joining(recording.joins);
                Ok(layout.lasting(recording.lasts_seconds))
            }
        };
        keep(engine, &recording, &outcome, verdict);
        recording.response.clear();
        self.scratch = recording.response;
    }

    fn check(&self, engine: &Engine, recording: &mut Recording, outcome: &Outcome) {
        if recording.is_passed_over {
            recording.refuse(Own::NotReused);
        }
        if recording.refusal.is_none() {
            self.depend_on_rows(engine, recording);
        }
        self.check_outcome(recording, outcome);
        if recording.refusal.is_none() && engine.insight.has_rules() {
            self.check_rules(engine, recording);
        }
        if recording.refusal.is_none() {
            self.check_catalogue(engine, recording);
        }
    }

    fn check_outcome(&self, recording: &mut Recording, outcome: &Outcome) {
        let flags = outcome.status.unwrap_or(0);
        match outcome.kind {
            OutcomeKind::ResultSet { .. } => {}
            OutcomeKind::Err { .. } => return recording.refuse(Own::Failed),
            _ => return recording.refuse(Own::Response),
        }
        if outcome.warnings != 0 {
            recording.refuse(Own::Warnings);
        } else if outcome.results != 1 || outcome.more_results_seen || flags & !HARMLESS_STATUS != 0 {
            recording.refuse(Own::Response);
        } else if recording.omits_metadata == outcome.metadata_follows {
            recording.refuse(Own::MetadataCached);
        } else if recording.cells.is_empty() {
            recording.refuse(Own::NoTable);
        } else if self.has_temporary_tables {
            recording.refuse(Own::TemporaryTables);
        } else if self.transaction.written.iter().any(|cell| recording.cells.contains(cell)) {
            recording.refuse(Own::OwnWrites);
        }
    }

    fn check_rules(&self, engine: &Engine, recording: &mut Recording) {
        let Some(account) = &self.account else { return };
        match engine.insight.caching(recording.slot, account, &recording.tables) {
            Caching::Normal => {}
            Caching::Never => recording.refuse(Own::Rule),
            Caching::Always { ttl_seconds } => recording.lasts_seconds = u32::try_from(ttl_seconds).ok(),
        }
    }

    fn check_catalogue(&self, engine: &Engine, recording: &mut Recording) {
        let facts = engine.catalogue.facts().filter(|facts| facts.generation == recording.generation);
        let Some(facts) = facts else { return recording.refuse(Own::Changed) };
        if recording.reading.names_view(&facts, &recording.text, self.variables.mode) {
            recording.refuse(Own::View);
        } else if !self.may_still_store(engine, recording) {
            recording.refuse(Own::Changed);
        }
    }
}

/// Errors that the server gives before a statement begins: syntax, privileges, names and values of variables.
fn was_refused(outcome: &Outcome) -> bool {
    const BEFORE_BEGINNING: [u16; 11] = [1044, 1045, 1064, 1142, 1143, 1193, 1227, 1229, 1231, 1232, 1238];
    matches!(outcome.kind, OutcomeKind::Err { code } if BEFORE_BEGINNING.contains(&code)) && outcome.results == 0
}

/// The server has certainly opened its snapshot for this result.
fn has_read_rows(recording: &Recording, outcome: &Outcome) -> bool {
    let has_rows = matches!(outcome.kind, OutcomeKind::ResultSet { rows, .. } if rows > 0);
    has_rows
        && recording.reading.returns_what_it_reads()
        && recording.refusal.is_none()
        && recording.all_snapshot
        && !recording.cells.is_empty()
}

/// Stores the result, compares it with the one that is stored, or only notes what would be stored.
fn keep(engine: &Engine, recording: &Recording, outcome: &Outcome, verdict: Result<Layout, Reason>) {
    if let (Some(verification), Ok(layout)) = (&recording.verification, verdict)
        && verification.is_passed(engine, recording, layout)
    {
        return;
    }
    let stored = verdict.and_then(|layout| store(engine, recording, outcome, layout).map_err(Reason::Own));
    engine.insight.missed(recording.slot, stored.err(), recording.bytes);
    match stored {
        Ok(()) if recording.is_observed => engine.insight.observed.add(1),
        Ok(()) => {
            engine.counts.inserts.add(1);
            engine.insight.read_from(recording.slot, table_cells(&recording.cells, recording.is_by_rows));
        }
        Err(_) if recording.is_observed => {}
        Err(reason) => engine.note_refusal(reason),
    }
}

fn store(engine: &Engine, recording: &Recording, outcome: &Outcome, layout: Layout) -> Result<(), Own> {
    let rows = match outcome.kind {
        OutcomeKind::ResultSet { rows, .. } => rows,
        _ => 0,
    };
    let cost_ns = (engine.clock)().saturating_sub(recording.started_ns);
    let meta = Meta { stamp: recording.stamp, rows, cost_ns, flags: layout.0, owner: recording.slot.0 };
    let key = recording.key();
    let hash = engine.cache.hash(&key);
    engine.insight.stored(hash, &key, &meta, &recording.cells, recording.bytes);
    if recording.is_observed {
        return Ok(());
    }
    engine.cache.insert(hash, &key, meta, &recording.cells, &recording.response).map_err(|refusal| match refusal {
        Refusal::TooLarge => Own::TooLarge,
        Refusal::NoBudget | Refusal::Busy => Own::NoMemory,
    })
}
