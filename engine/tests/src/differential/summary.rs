//! What a run amounted to.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::action::Kind;
use super::lane::Answer;

#[derive(Debug, Default)]
pub struct Summary {
    pub statements: u64,
    pub epochs: u64,
    /// Epochs that ended early: only the plain server waited for a metadata lock.
    pub partings: u64,
    /// Epochs that ended early: a read whose answer hangs on how its rows are found.
    pub plans: u64,
    /// Epochs that ended early: one server alone warned of a write to tables of two engines.
    pub engines: u64,
    /// Epochs of which both servers died: a fault of their own.
    pub deaths: u64,
    pub elapsed: Duration,
    /// `Qcache_hits` of the cached server over this run; `None` when it knows no such counter.
    pub hits: Option<u64>,
    /// `Fqc_invalidations_avoided`, likewise.
    pub outlived: Option<u64>,
    /// Steps of this kind, and how many of them failed on both servers.
    pub per_kind: BTreeMap<Kind, (u64, u64)>,
    pub per_error: BTreeMap<u16, u64>,
    /// Differences of locks that did not come again.
    pub unrepeated: u64,
}

impl Summary {
    pub(super) fn count(&mut self, kind: Kind, answer: &Answer) {
        self.statements += 1;
        let counts = self.per_kind.entry(kind).or_default();
        counts.0 += 1;
        if let Some(failure) = answer.responses.iter().find_map(|one| one.failure()) {
            counts.1 += 1;
            *self.per_error.entry(failure.code).or_default() += 1;
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let speed = self.statements as f64 / self.elapsed.as_secs_f64();
        writeln!(out, "{} statements in {} epochs, {speed:.0}/s, hits {:?}", self.statements, self.epochs, self.hits)?;
        writeln!(
            out,
            "  {} epochs ended early at a metadata lock, {} at another plan, {} at a warning of two engines, {} in both servers' death",
            self.partings, self.plans, self.engines, self.deaths
        )?;
        writeln!(out, "  results that outlived a write of other rows: {:?}", self.outlived)?;
        for (kind, (count, errors)) in &self.per_kind {
            writeln!(out, "  {kind:?}: {count}, of these {errors} errors")?;
        }
        writeln!(out, "  errors by code: {:?}", self.per_error)?;
        writeln!(out, "  locks met by one server alone, and not again: {}", self.unrepeated)
    }
}
