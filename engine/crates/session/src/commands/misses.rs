//! A statement goes to the server: the cells of tables that it may change are closed, and what is needed to store its
//! result is noted.

use crate::engine::Engine;
use crate::reason::{ContextReason, Reason};
use crate::session::Session;
use crate::statement::parse_context::ParseContext;
use crate::statement::recording::Recording;
use crate::statement::running::{Effect, Purpose, Running};
use crate::text::analysis::Analysis;
use crate::text::kinds::{closing, may_be_anything, may_change_database, may_run_others};
use crate::text::views::ViewUse;
use crate::transaction::state::Snapshot;
use ::insight::ShapeId;
use cache::Key;
use sql::{DdlScope, Hint, Kind, Refusal, Statement};
use std::sync::Arc;
use wire::Expect;

impl Session {
    /// Notes what is needed to store the result of a read that goes to the server. None if the statement is not a read, if this
    /// session is not cached, or if the result will not be stored and nothing else depends on it. `context` is from
    /// `cacheable_context`.
    pub(crate) fn recording(
        &mut self,
        engine: &Engine,
        analysis: &Arc<Analysis>,
        context: Option<u64>,
        text: &[u8],
        parameters: &[u8],
        parse_context: ParseContext,
    ) -> Option<Recording> {
        let Kind::Read(read) = &analysis.statement.kind else { return None };
        if !self.is_cached(engine) {
            return None;
        }
        self.identity.may_share_from_here(engine.settings().known_hosts());
        let is_observed = self.identity.cache_type() == 0;
        engine.counts().misses.add(u64::from(!is_observed));
        let verification = self.verification.take();
        let refusal = self.refusal(read, context, text);
        let (stamp, transaction_refusal) = match self.transaction.stamp(engine.versions().now()) {
            Ok(stamp) => (stamp, None),
            Err(own) => (engine.versions().now(), Some(Reason::Context(own))),
        };
        let refusal = refusal.or(transaction_refusal);
        let shape = self.reuse.shape().unwrap_or_else(|| analysis.shape(&engine.insight().digests));
        let key = Key { context: context.unwrap_or(0), parts: [text, parameters] };
        // Results for a near cache are reused in the near cache, which the counts of reuse here do not show.
        let may_pass_over = refusal.is_none()
            && verification.is_none()
            && !is_observed
            && self.near.mark.is_none()
            && engine.settings().adapts();
        let is_passed_over = may_pass_over && self.reuse.passes_over(engine, shape, &key);
        if is_passed_over && !self.transaction.heeds_reads() {
            engine.insight().missed(shape, Some(ContextReason::NotReused.into()), 0);
            self.note_refusal(engine, ContextReason::NotReused);
            self.coverage.is_uneventful = true;
            return None;
        }
        let keeps = refusal.is_none() && !is_passed_over;
        let may_read_views = self.view_use(engine, analysis, &parse_context) != Some(ViewUse::Tables);
        Some(Recording {
            analysis: analysis.clone(),
            shape,
            is_passed_over,
            is_observed,
            verification,
            bytes: 0,
            context: context.unwrap_or(0),
            text: if keeps { text.to_vec() } else { Vec::new() },
            parse_context,
            parameters: if keeps { parameters.to_vec() } else { Vec::new() },
            stamp,
            generation: engine.catalogue().generation(),
            inherited: engine.settings().inherited(),
            started_ns: engine.now_ns(),
            cells: Vec::new(),
            tables: Vec::new(),
            first_table: None,
            is_by_rows: false,
            all_snapshot: true,
            unsettled: Vec::new(),
            outside_transactions_only: false,
            may_read_views,
            refusal,
            stale_seconds: None,
            omits_metadata: false,
            is_count: false,
            capabilities: self.identity.capabilities(),
            is_binary: false,
            response: std::mem::take(&mut self.work.scratch),
        })
    }

    /// Returns whether this read reads views, and whether these forbid storing its result. None if the names of the
    /// views on the server are not known now. Asks the host to read the catalogue if a view's definition is missing.
    pub(crate) fn view_use(
        &self,
        engine: &Engine,
        analysis: &Analysis,
        parse_context: &ParseContext,
    ) -> Option<ViewUse> {
        if engine.catalogue().has_no_views() {
            return Some(ViewUse::Tables);
        }
        let views = engine.catalogue().views()?;
        let database = parse_context.database.as_deref().unwrap_or(self.identity.database());
        let reads = views.read_by(analysis.sources(), database);
        if reads == ViewUse::Refused(ContextReason::ViewUnknown) {
            engine.want_catalogue();
        }
        Some(reads)
    }

    /// Returns the shape that counts this read, if the read may be left out of the cache because results of that shape are
    /// rarely reused. None if it is to be looked up and stored in any case.
    pub(crate) fn adaptive_shape(&self, engine: &Engine, analysis: &Analysis) -> Option<ShapeId> {
        let may_pass_over = self.identity.cache_type() != 0 && self.near.mark.is_none() && engine.settings().adapts();
        may_pass_over.then(|| analysis.shape(&engine.insight().digests))
    }

    /// Why the result of this read must not be stored, as far as its text and the session's state decide. None if nothing
    /// speaks against it.
    pub(crate) fn refusal(&self, read: &sql::Read, context: Option<u64>, text: &[u8]) -> Option<Reason> {
        let shows_setting = || self.transaction.is_outside() && sql::shows_setting_alone(text, self.identity.mode());
        let spoken_against = read.refusal.filter(|refusal| match refusal {
            Refusal::CalcFoundRows => !sql::may_count_found_rows(text),
            Refusal::SystemVariable => !shows_setting(),
            _ => true,
        });
        if let Some(refusal) = spoken_against {
            return Some(Reason::Text(refusal));
        }
        let own = match (self.identity.cache_type(), read.hint) {
            (_, Hint::SqlNoCache) => ContextReason::NoCacheHint,
            (2, Hint::None) => ContextReason::Demand,
            _ if context.is_none() => ContextReason::SessionState,
            _ if self.temporary.may_exist() => ContextReason::TemporaryTables,
            _ if self.writes.is_locked => ContextReason::LockedTables,
            _ => return None,
        };
        Some(Reason::Context(own))
    }

    /// Notes that the server is running this statement, and closes the version cells of what it may change, as far as its text
    /// shows that: results that depend on them are neither served nor stored until the statement has ended. `expect` is the
    /// kind of its response, and `read` is what is recorded of a read.
    pub(crate) fn forward(
        &mut self,
        engine: &Engine,
        statement: &Arc<Statement>,
        expect: Expect,
        read: Option<Recording>,
    ) {
        engine.counts().followed.add(1);
        self.close_for(engine, &statement.kind);
        self.coverage.note_forwarded(may_change_database(&statement.kind));
        self.statements.note_sent(&statement.kind);
        let replaced = self.diagnostics.note_forwarded(engine.flavour(), statement);
        if !self.transaction.is_open {
            self.transaction.snapshot = Snapshot::Unknown;
        }
        let mut running = Running::new(engine, Purpose::Client, expect, self.identity.capabilities());
        running.may_run_others = may_run_others(&statement.kind);
        running.logs_itself |= matches!(statement.kind, Kind::Read(_));
        running.effect = Effect::Statement(statement.clone());
        running.started_ns = Some(read.as_ref().map_or_else(|| engine.now_ns(), |read| read.started_ns));
        running.read = read;
        running.replaced = replaced;
        self.work.running = Some(running);
    }

    /// Notes temporary tables that a compound statement or a routine may create without any report of it, and settings that it
    /// may make whose side effects the session then expects of its statements.
    pub(crate) fn note_temporary(&mut self, kind: &Kind, text: &[u8]) {
        if may_be_anything(kind) && !matches!(kind, Kind::Execute(_)) {
            self.identity.note_side_effects(text);
        }
        self.temporary.note(kind, text, self.identity.mode());
    }

    /// Closes the version cells of what a statement of this kind may change, apart from tables that the server will report:
    /// results that depend on them are neither served nor stored until the statement has ended.
    pub(crate) fn close_for(&mut self, engine: &Engine, kind: &Kind) {
        if matches!(kind, Kind::Read(_) | Kind::Write) {
            // The server reports the tables that these statements lock.
            return;
        }
        let closing = closing(engine.flavour(), kind);
        let ends_own_branch = matches!(kind, Kind::Xa(_)) && self.transaction.is_own_branch;
        if closing.everything && !ends_own_branch {
            self.writes.close_everything(engine, closing.defines);
        }
        if closing.flushes {
            engine.look_ups().await_end();
        }
        if let Kind::Ddl(DdlScope::Tables(names)) = kind {
            self.close_defined(engine, names);
        }
        if closing.written {
            self.close_written(engine);
        }
    }

    /// Closes the version cells of tables that a DDL statement names, as a definition of them: no result of these tables is
    /// served or stored until the statement has ended. Does that for all results if names cannot be compared reliably.
    fn close_defined(&mut self, engine: &Engine, names: &[sql::TableName]) {
        if !engine.settings().has_case_sensitive_names() {
            return self.writes.close_everything(engine, true);
        }
        for name in names {
            let db = name.db.clone().unwrap_or_else(|| self.identity.database().to_vec());
            let table = engine.tables().find(engine.versions(), &db, &name.name);
            self.writes.close_defined(engine, table);
        }
    }

    /// Closes the version cells of everything that the open transaction has written, because it may be about to commit: results
    /// that depend on them are neither served nor stored until the running statement has ended.
    pub(crate) fn close_written(&mut self, engine: &Engine) {
        if self.transaction.is_unfollowed {
            self.writes.close_everything(engine, false);
        }
        for index in 0..self.transaction.written.len() {
            self.writes.close(engine, self.transaction.written[index]);
        }
    }
}
