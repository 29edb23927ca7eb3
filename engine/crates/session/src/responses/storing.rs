//! Decides whether the result of a read is stored, once its response has been sent.

use crate::engine::Engine;
use crate::entries::basis::Basis;
use crate::entries::layout::Layout;
use crate::reason::ContextReason;
use crate::responses::keeping::finish;
use crate::session::Session;
use crate::statement::recording::{FinishedRead, Recording};
use crate::statement::rows::depend_on_rows;
use crate::text::views::ViewUse;
use ::insight::Caching;
use wire::{Outcome, Unstorable};

impl Session {
    /// Called by the host after a response, or a piece of it, was sent. If a read has ended with it, its result is stored now, or is
    /// counted as not stored. Does nothing otherwise.
    pub fn after_send(&mut self, engine: &Engine) {
        let Some(FinishedRead { mut recording, outcome }) = self.work.finished.take() else { return };
        self.check(engine, &mut recording, &outcome);
        let mut finished = FinishedRead { recording, outcome };
        if finished.recording.refusal.is_none() && !finished.recording.unsettled.is_empty() {
            match engine.add_late_result(finished, self.identity.known_database(), &self.read_counts.misses) {
                None => return,
                Some(refused) => finished = refused,
            }
        }
        if let Some(stored) = finish(engine, &mut finished) {
            self.read_counts.misses.count(stored);
            if stored.is_ok() {
                self.report_stored(engine, &finished.recording);
                self.note_counted_miss(&finished.recording);
            }
        }
        finished.recording.response.clear();
        self.work.scratch = finished.recording.response;
    }

    /// Decides whether the result may be stored: if anything speaks against it, sets its refusal.
    fn check(&self, engine: &Engine, recording: &mut Recording, outcome: &Outcome) {
        recording.resolve_unsettled(engine.catalogue().generation());
        if recording.is_passed_over {
            recording.refuse(ContextReason::NotReused);
        }
        if recording.refusal.is_none() {
            depend_on_rows(engine, recording, outcome, self.identity.known_database());
        }
        self.check_outcome(engine, recording, outcome);
        if recording.refusal.is_none() && engine.insight().has_rules() {
            self.check_rules(engine, recording);
        }
        // A result that depends on no table depends on no view either.
        if recording.refusal.is_none() && !recording.cells.is_empty() {
            self.check_catalogue(engine, recording);
        }
    }

    /// True if no change since the read was sent forbids storing its result. A result that a rule keeps alive may be stored although a
    /// write has happened since.
    fn may_still_store(&self, engine: &Engine, recording: &Recording) -> bool {
        let layout = Layout::default().by_rows(recording.is_by_rows);
        let basis = Basis { cells: &recording.cells, stamp: recording.stamp, layout };
        let may_be_served_stale = recording.stale_seconds.is_some() && self.transaction.is_outside();
        engine.is_alive(basis) || may_be_served_stale && basis.is_defined_as_then(engine.versions())
    }

    /// Refuses a result for reasons that its response or the session's transaction shows.
    fn check_outcome(&self, engine: &Engine, recording: &mut Recording, outcome: &Outcome) {
        let expected_warnings = || warnings_of_text(recording);
        if let Some(unstorable) = outcome.unstorable(expected_warnings) {
            recording.refuse(match unstorable {
                Unstorable::Failed => ContextReason::Failed,
                Unstorable::Warnings => ContextReason::Warnings,
                Unstorable::Response => ContextReason::Response,
            });
        } else if recording.omits_metadata == outcome.metadata_follows {
            recording.refuse(ContextReason::MetadataCached);
        } else if recording.cells.is_empty() {
            self.check_setting(engine, recording);
        } else if self.temporary.may_exist() {
            recording.refuse(ContextReason::TemporaryTables);
        } else if self.transaction.written.iter().any(|cell| recording.cells.contains(cell)) {
            recording.refuse(ContextReason::OwnWrites);
        }
    }

    /// Refuses a result that was read from no table, unless it is the value of a setting. That depends on nothing but the session's
    /// context. It opens no snapshot, so it is kept only for sessions outside of transactions.
    fn check_setting(&self, engine: &Engine, recording: &mut Recording) {
        recording.outside_transactions_only = true;
        if !self.transaction.is_outside() || !sql::shows_setting_alone(&recording.text, recording.parse_context.mode) {
            recording.refuse(ContextReason::NoTable);
        } else if !self.may_still_store(engine, recording) {
            // After a change of everything, the settings in force are looked up first. Reads of tables cause that look-up too.
            engine.want_catalogue();
            recording.refuse(ContextReason::Changed);
        }
    }

    /// Refuses a result that a rule of `fqc_rules` says never to store, or notes for how long a rule lets it be served.
    fn check_rules(&self, engine: &Engine, recording: &mut Recording) {
        let Some(account) = self.identity.account() else { return };
        match engine.insight().caching(recording.shape, account, &recording.tables) {
            Caching::Normal => {}
            Caching::Never => recording.refuse(ContextReason::Rule),
            Caching::Always(terms) => recording.stale_seconds = u32::try_from(terms.ttl.as_secs()).ok(),
        }
    }

    /// Refuses a result if a view forbids storing it, or if anything that it depends on has changed.
    fn check_catalogue(&self, engine: &Engine, recording: &mut Recording) {
        let is_as_then = engine.catalogue().generation() == recording.generation;
        let reads = self.view_use(engine, &recording.analysis, &recording.parse_context).filter(|_| is_as_then);
        let Some(reads) = reads else { return recording.refuse(ContextReason::Changed) };
        // This may not have been known yet when the read was sent.
        recording.may_read_views = reads != ViewUse::Tables;
        if engine
            .flavour()
            .schemas
            .is_system(recording.parse_context.database.as_deref().unwrap_or(self.identity.database()))
        {
            recording.refuse(ContextReason::SystemTable);
        } else if let ViewUse::Refused(own) = reads {
            recording.refuse(own);
        } else if !self.may_still_store(engine, recording) {
            recording.refuse(ContextReason::Changed);
        }
    }
}

/// Number of warnings that the server raises about words in the text, each time it runs it. They do not forbid storing the result.
fn warnings_of_text(recording: &Recording) -> u16 {
    let is_text = recording.parse_context.is_certain && !recording.is_binary;
    if is_text { sql::deprecations(recording.command_text(), recording.parse_context.mode) } else { 0 }
}
