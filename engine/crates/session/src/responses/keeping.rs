//! Stores the result of a read, or counts why it was not stored. Independent of the session that ran the read.

use crate::engine::Engine;
use crate::entries::cells::table_cells;
use crate::entries::layout::Layout;
use crate::reason::{ContextReason, Reason};
use crate::statement::recording::{FinishedRead, Recording};
use crate::statement::verification::Verification;
use cache::{Meta, NotStored};
use sql::Aggregates;
use wire::{Outcome, OutcomeKind, status};

/// Stores a complete result, or counts why it must not be stored. Returns `Ok` if it was stored and `Err` with the
/// reason if not. None if the read counts as neither: it was only observed, or was equal to the stored result that it
/// was compared with.
pub(crate) fn finish(engine: &Engine, finished: &mut FinishedRead) -> Option<Result<(), Reason>> {
    let FinishedRead { recording, outcome } = finished;
    let layout = Layout::describe(
        outcome.status_offsets.as_slice(),
        recording.bytes,
        recording.opens_snapshot(outcome),
        recording.is_count || !recording.may_read_views && shows_found(recording, outcome),
    );
    let verdict = match (recording.refusal, layout) {
        (Some(reason), _) => Err(reason),
        (None, None) => Err(ContextReason::Response.into()),
        (None, Some(layout)) => {
            // The flag says that running this statement was slow, which is not true when it is served from the cache.
            wire::patch_status(&mut recording.response, &outcome.status_offsets, status::SLOW, 0);
            let layout =
                layout.by_rows(recording.is_by_rows).only_outside_transactions(recording.outside_transactions_only);
            Ok(layout.with_stale_seconds(recording.stale_seconds))
        }
    };
    keep(engine, recording, outcome, verdict)
}

/// True if FOUND_ROWS() after this read is the number of rows in its result.
fn shows_found(recording: &Recording, outcome: &Outcome) -> bool {
    let OutcomeKind::ResultSet { rows, .. } = outcome.kind else { return false };
    let first = || wire::first_value(&recording.response, recording.capabilities, recording.is_binary);
    let has_aggregated = || first().is_some_and(|value| Aggregates::of(&recording.text).show_rows(value));
    recording.analysis.shows_found(rows, has_aggregated)
}

/// Stores the result, compares it with the stored one, or only notes what would be stored. `verdict` says why it must
/// not be stored, or where its status flags are. Returns what `finish` returns.
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
    let stored = verdict.and_then(|layout| store(engine, recording, outcome, layout).map_err(Reason::Context));
    if stored.is_ok() {
        engine.insight().read_from(recording.shape, table_cells(&recording.cells, recording.is_by_rows));
    }
    if !recording.is_observed || stored.is_err() {
        engine.insight().missed(recording.shape, stored.err(), recording.bytes);
    }
    if recording.is_observed {
        return None;
    }
    match stored {
        Ok(()) => engine.counts().inserts.add(1),
        Err(reason) => engine.note_refusal(reason, engine.now_ns().saturating_sub(recording.started_ns)),
    }
    Some(stored)
}

/// True if the result was compared with the stored one, and they are equal. If they differ, the stored one is removed,
/// and the server's answer is to be stored instead. False also if there was nothing to compare.
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

/// Stores the result, or only counts it if the session is observed. `Err`: why the cache has not taken it.
fn store(engine: &Engine, recording: &Recording, outcome: &Outcome, layout: Layout) -> Result<(), ContextReason> {
    let rows = match outcome.kind {
        OutcomeKind::ResultSet { rows, .. } => rows,
        _ => 0,
    };
    let cost_ns = engine.now_ns().saturating_sub(recording.started_ns);
    let meta = Meta { stamp: recording.stamp, rows, cost_ns, flags: layout.0, owner: recording.shape.0 };
    let key = recording.key();
    let hash = engine.cache().hash(&key);
    let would_hit = engine.insight().stored(hash, &key, &meta, &recording.cells, recording.bytes);
    if recording.is_observed {
        engine.insight().observed(recording.shape, cost_ns, would_hit);
        return Ok(());
    }
    engine.cache().insert(hash, &key, meta, &recording.cells, &recording.response).map_err(
        |refusal| match refusal {
            NotStored::TooLarge => ContextReason::TooLarge,
            NotStored::NoBudget | NotStored::Busy => ContextReason::NoMemory,
        },
    )?;
    engine.counts().stored_ns.add(cost_ns);
    Ok(())
}
