//! Whether the result of a read is stored, once its response has been sent.

use crate::engine::Engine;
use crate::entries::cells::table_cells;
use crate::entries::lasting::Basis;
use crate::entries::layout::Layout;
use crate::reason::{Own, Reason};
use crate::session::Session;
use crate::statement::recording::{Finished, Recording};
use crate::statement::verification::Verification;
use crate::text::views::Reads;
use ::insight::Caching;
use cache::{Meta, NotStored};
use wire::{Outcome, OutcomeKind, status};

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
    /// The response has been sent: the time to store it.
    pub fn after_send(&mut self, engine: &Engine) {
        let Some(Finished { mut recording, outcome }) = self.work.finished.take() else { return };
        self.check(engine, &mut recording, &outcome);
        let mut finished = Finished { recording, outcome };
        if finished.recording.refusal.is_none() && !finished.recording.unsettled.is_empty() {
            match engine.late().put(engine, finished, self.identity.known_database()) {
                None => return,
                Some(refused) => finished = refused,
            }
        }
        if let Some(stored) = finish(engine, &mut finished) {
            self.own.count(stored);
            if stored.is_ok() {
                self.tell_stored(engine, &finished.recording);
            }
        }
        finished.recording.response.clear();
        self.work.scratch = finished.recording.response;
    }

    fn check(&self, engine: &Engine, recording: &mut Recording, outcome: &Outcome) {
        recording.settle(engine.catalogue().generation());
        if recording.is_passed_over {
            recording.refuse(Own::NotReused);
        }
        if recording.refusal.is_none() {
            self.depend_on_rows(engine, recording);
        }
        self.check_outcome(recording, outcome);
        if recording.refusal.is_none() && engine.insight().has_rules() {
            self.check_rules(engine, recording);
        }
        if recording.refusal.is_none() {
            self.check_catalogue(engine, recording);
        }
    }

    /// Whether a result may be stored, as far as changes since it was asked for are concerned. What outlives writes may be
    /// older than one.
    fn may_still_store(&self, engine: &Engine, recording: &Recording) -> bool {
        let layout = Layout::default().by_rows(recording.is_by_rows);
        let basis = Basis { cells: &recording.cells, stamp: recording.stamp, layout };
        let may_outlive = recording.lasts_seconds.is_some() && self.transaction.is_outside();
        engine.is_alive(basis) || may_outlive && basis.is_defined_as_then(engine.versions())
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
        } else if self.temporary.may_exist() {
            recording.refuse(Own::TemporaryTables);
        } else if self.transaction.written.iter().any(|cell| recording.cells.contains(cell)) {
            recording.refuse(Own::OwnWrites);
        }
    }

    fn check_rules(&self, engine: &Engine, recording: &mut Recording) {
        let Some(account) = self.identity.account() else { return };
        match engine.insight().caching(recording.shape, account, &recording.tables) {
            Caching::Normal => {}
            Caching::Never => recording.refuse(Own::Rule),
            Caching::Always { ttl_seconds } => recording.lasts_seconds = u32::try_from(ttl_seconds).ok(),
        }
    }

    fn check_catalogue(&self, engine: &Engine, recording: &mut Recording) {
        let is_as_then = engine.catalogue().generation() == recording.generation;
        let reads = self.reads(engine, &recording.reading, &recording.terms).filter(|_| is_as_then);
        let Some(reads) = reads else { return recording.refuse(Own::Changed) };
        if engine.flavour().schemas.is_system(recording.terms.database.as_deref().unwrap_or(self.identity.database())) {
            recording.refuse(Own::SystemTable);
        } else if let Reads::Refused(own) = reads {
            recording.refuse(own);
        } else if !self.may_still_store(engine, recording) {
            recording.refuse(Own::Changed);
        }
    }
}

/// What is to be stored is complete, and everything that could be said against it has been.
pub(crate) fn finish(engine: &Engine, finished: &mut Finished) -> Option<Result<(), Reason>> {
    let Finished { recording, outcome } = finished;
    let layout = Layout::describe(
        outcome.status_offsets.as_slice(),
        recording.bytes,
        recording.has_read_rows(outcome),
        !recording.may_read_views
            && matches!(outcome.kind, OutcomeKind::ResultSet { rows, .. } if recording.reading.shows_found(rows)),
    );
    let verdict = match (recording.refusal, layout) {
        (Some(reason), _) => Err(reason),
        (None, None) => Err(Own::Response.into()),
        (None, Some(layout)) => {
            // Its own execution was; what is served is not.
            wire::patch_status(&mut recording.response, &outcome.status_offsets, status::SLOW, 0);
            let layout = layout.by_rows(recording.is_by_rows).joining(recording.joins);
            Ok(layout.lasting(recording.lasts_seconds))
        }
    };
    keep(engine, recording, outcome, verdict)
}

/// Stores the result, compares it with the one that is stored, or only notes what would be stored.
/// Tells what became of it, if that counts.
fn keep(
    engine: &Engine,
    recording: &Recording,
    outcome: &Outcome,
    verdict: Result<Layout, Reason>,
) -> Option<Result<(), Reason>> {
    if let Ok(layout) = verdict
        && is_verified(engine, recording, layout)
    {
        return None;
    }
    let stored = verdict.and_then(|layout| store(engine, recording, outcome, layout).map_err(Reason::Own));
    engine.insight().missed(recording.shape, stored.err(), recording.bytes);
    if recording.is_observed {
        engine.insight().observed.add(u64::from(stored.is_ok()));
        return None;
    }
    match stored {
        Ok(()) => {
            engine.counts().inserts.add(1);
            engine.insight().read_from(recording.shape, table_cells(&recording.cells, recording.is_by_rows));
        }
        Err(reason) => engine.note_refusal(reason),
    }
    Some(stored)
}

/// Whether what was stored is what the server says, too. What is not is dropped, to be replaced by the server's answer.
fn is_verified(engine: &Engine, recording: &Recording, layout: Layout) -> bool {
    let is_comparable = |one: &&Verification| one.is_comparable(engine.versions(), &recording.cells);
    let Some(verification) = recording.verification.as_ref().filter(is_comparable) else { return false };
    engine.insight().verified.add(1);
    let agrees = verification.agrees(&recording.response, layout);
    if !agrees {
        let key = recording.key();
        engine.cache().remove(engine.cache().hash(&key), &key);
        engine.insight().differs(recording.shape);
    }
    agrees
}

fn store(engine: &Engine, recording: &Recording, outcome: &Outcome, layout: Layout) -> Result<(), Own> {
    let rows = match outcome.kind {
        OutcomeKind::ResultSet { rows, .. } => rows,
        _ => 0,
    };
    let cost_ns = engine.now_ns().saturating_sub(recording.started_ns);
    let meta = Meta { stamp: recording.stamp, rows, cost_ns, flags: layout.0, owner: recording.shape.0 };
    let key = recording.key();
    let hash = engine.cache().hash(&key);
    engine.insight().stored(hash, &key, &meta, &recording.cells, recording.bytes);
    if recording.is_observed {
        return Ok(());
    }
    engine.cache().insert(hash, &key, meta, &recording.cells, &recording.response).map_err(|refusal| match refusal {
        NotStored::TooLarge => Own::TooLarge,
        NotStored::NoBudget | NotStored::Busy => Own::NoMemory,
    })
}
