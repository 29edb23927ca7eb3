//! `SELECT FOUND_ROWS()` right after a read with SQL_CALC_FOUND_ROWS: its answer is stored under a key of its own.
//!
//! Invariant: the answer depends on what the result of that read depends on, and is served only if both are fresh when it is asked
//! for. So both describe the same state of the tables.

use crate::commands::hits::ReadRequest;
use crate::engine::Engine;
use crate::entries::layout::Layout;
use crate::reason::Reason;
use crate::session::Session;
use crate::session::diagnostics::CountedRead;
use crate::statement::recording::Recording;
use cache::Entry;
use sql::{Kind, Refusal};

impl Session {
    /// True if the text is a SELECT FOUND_ROWS() that asks for the count of the read in `counted`, and nothing that this count depends on
    /// has changed.
    pub(crate) fn asks_for_count(&self, engine: &Engine, counted: &CountedRead, text: &[u8]) -> bool {
        sql::asks_for_found_rows_alone(text, self.identity.mode())
            && engine.versions().is_fresh(&counted.cells, counted.stamp)
    }

    /// Called after a hit. If it is a read with SQL_CALC_FOUND_ROWS outside of a transaction, notes it, so that the SELECT FOUND_ROWS()
    /// after it can be a hit.
    pub(crate) fn note_counted(&mut self, request: &ReadRequest, entry: &Entry) {
        let is_text = request.columns.is_none() && request.parameters.is_empty();
        if is_text && sql::may_count_found_rows(request.text) {
            let is_by_rows = Layout(entry.flags()).is_by_rows();
            self.diagnostics.counted = self.transaction.is_outside().then(|| CountedRead {
                text: request.text.to_vec(),
                cells: entry.cells().to_vec(),
                stamp: entry.stamp(),
                is_by_rows,
            });
        }
    }

    /// Called after a result was stored. If it is that of a read with SQL_CALC_FOUND_ROWS outside of a transaction,
    /// notes the read, so that the SELECT FOUND_ROWS() after it can be answered from the cache.
    pub(crate) fn note_counted_miss(&mut self, recording: &Recording) {
        let is_text = !recording.is_binary && !recording.is_count;
        if is_text && self.transaction.is_outside() && sql::may_count_found_rows(&recording.text) {
            self.diagnostics.counted = Some(CountedRead {
                text: recording.text.clone(),
                cells: recording.cells.clone(),
                stamp: recording.stamp,
                is_by_rows: recording.is_by_rows,
            });
        }
    }

    /// Turns the recording of `SELECT FOUND_ROWS()` into one that may be stored, with what the read in `counted` depends on. It stays
    /// refused if anything but its text, which asks about the session, speaks against storing it. `context` is the number of the session
    /// context, none if the session must not be cached. `text` is the text of the SELECT FOUND_ROWS() itself.
    pub(crate) fn record_count(
        &mut self,
        engine: &Engine,
        recording: &mut Recording,
        counted: &CountedRead,
        context: Option<u64>,
        text: &[u8],
    ) {
        let analysis = self.analyse(engine, &counted.text);
        let Kind::Read(read) = &analysis.statement.kind else { return };
        let is_refused = recording.refusal != Some(Reason::Text(Refusal::SessionState))
            || self.refusal(read, context, &counted.text).is_some();
        if is_refused || recording.is_observed || !self.transaction.is_outside() {
            return;
        }
        recording.refusal = None;
        recording.is_count = true;
        recording.analysis = analysis;
        recording.text.clone_from(&counted.text);
        recording.parameters = text.to_vec();
        recording.cells.clone_from(&counted.cells);
        recording.is_by_rows = counted.is_by_rows;
        recording.stamp = counted.stamp;
    }
}
