//! The counts of a run of the differential tester.

use std::collections::BTreeMap;

use std::fmt;
use std::time::Duration;

use super::action::Kind;
use super::lane::Answer;
use super::pair::EarlyEnd;
use crate::near::{Near, hits_told};

/// The counts of a run, over all its epochs. An epoch is a history of its own, on empty servers.
#[derive(Debug, Default)]
pub struct Summary {
    /// The number of steps that both servers have run alike.
    pub statements: u64,
    pub epochs: u64,
    /// Epochs that ended early because only the plain server waited for a metadata lock.
    pub partings: u64,
    /// Epochs that ended early because the answer to a read depended on how the server finds its rows.
    pub plans: u64,
    /// Epochs that ended early because one server alone warned of a write to tables of two engines.
    pub engines: u64,
    /// Epochs that ended early because a near cache refused to give the number of rows found.
    pub refusals: u64,
    /// Epochs that ended early because the servers numbered rows differently after an insert had failed.
    pub numbers: u64,
    /// Epochs in which both servers crashed, which is a fault of the server itself.
    pub deaths: u64,
    pub elapsed: Duration,
    /// `Qcache_hits` of the cached server over this run. None if the server has no such counter.
    pub hits: Option<u64>,
    /// The number of reads answered by near caches that follow the log. None without such near caches.
    pub beside: Option<u64>,
    /// The reasons why reads went through these near caches to the server, and how often.
    pub reasons: BTreeMap<String, u64>,
    /// `Fqc_invalidations_avoided` of the cached server over this run: hits that were served although other rows of the table had been
    /// written. None if the server has no such counter.
    pub outlived: Option<u64>,
    /// The number of steps of each kind, and how many of them failed on both servers.
    pub per_kind: BTreeMap<Kind, (u64, u64)>,
    /// The number of errors that both servers have answered, by error code.
    pub per_error: BTreeMap<u16, u64>,
    /// The number of differences about locks that did not occur again.
    pub unrepeated: u64,
}

/// A near cache that follows the log must answer at least one in this many statements.
const ONE_IN: u64 = 50;

impl Summary {
    /// True if near caches that follow the log have answered at least one in fifty statements, so that the absence of differences means
    /// something.
    pub fn proves_something_beside(&self) -> bool {
        self.beside.is_some_and(|hits| hits > 0 && hits >= self.statements / ONE_IN)
    }

    /// Adds the counters of a near cache, as it reports them at the end of its history.
    pub(super) fn count_beside(&mut self, near: &Near) {
        self.beside = near.hits().map(|hits| self.beside.unwrap_or(0) + hits).or(self.beside);
        near.reasons().into_iter().for_each(|(name, count)| *self.reasons.entry(name).or_default() += count);
    }

    /// Counts an epoch that ended early. A difference is not counted.
    pub(super) fn end_early(&mut self, parting: &EarlyEnd) {
        *match parting {
            EarlyEnd::Difference(_) => return,
            EarlyEnd::Lock => &mut self.partings,
            EarlyEnd::Plan => &mut self.plans,
            EarlyEnd::Engines => &mut self.engines,
            EarlyEnd::Rows => &mut self.refusals,
            EarlyEnd::Numbers => &mut self.numbers,
        } += 1;
    }

    /// Counts a step, and the error of its answer if there is one.
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
        let Self { statements, epochs, hits, beside, .. } = self;
        writeln!(out, "{statements} statements in {epochs} epochs, {speed:.0}/s, {}", hits_told(*hits, *beside))?;
        writeln!(
            out,
            "  {} epochs ended early at a metadata lock, {} at another plan, {} at a warning of two engines, {} at a row's number, \
            {} at rows found that are not told, {} in both servers' death",
            self.partings, self.plans, self.engines, self.numbers, self.refusals, self.deaths
        )?;
        writeln!(out, "  results that outlived a write of other rows: {:?}", self.outlived)?;
        for (kind, (count, errors)) in &self.per_kind {
            writeln!(out, "  {kind:?}: {count}, of these {errors} errors")?;
        }
        writeln!(out, "  errors by code: {:?}", self.per_error)?;
        writeln!(out, "  passed by near caches: {:?}", self.reasons)?;
        writeln!(out, "  locks met by one server alone, and not again: {}", self.unrepeated)
    }
}
