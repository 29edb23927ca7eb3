//! Results from tables whose types were not known yet. They wait until the catalogue has been read, and are stored if nothing that
//! they depend on has changed in the meantime.

use crate::engine::Engine;
use crate::engine::late::WaitingResult;
use crate::entries::basis::Basis;
use crate::entries::layout::Layout;
use crate::reason::ContextReason;
use crate::responses::keeping::finish;
use crate::session::read_counts::Misses;
use crate::statement::recording::{FinishedRead, Recording};
use crate::statement::rows::depend_on_rows;
use cache::Key;
use std::sync::Arc;

/// Largest number of results that wait for the look-up of their tables at the same time. `LARGEST` is the limit for the size of each, in
/// bytes.
const MOST: usize = 64;
const LARGEST: usize = 64 * 1024;

/// A result that waits for the look-up of its tables.
struct LateResult {
    finished: FinishedRead,
    /// The session's counter for the outcome.
    counted_in: Arc<Misses>,
}

impl LateResult {
    /// Stores the result unless it is refused, and counts the outcome for its session.
    fn end(mut self, engine: &Engine) {
        if let Some(stored) = finish(engine, &mut self.finished) {
            self.counted_in.count(stored);
        }
    }
}

impl WaitingResult for LateResult {
    fn key(&self) -> Key<'_> {
        self.finished.recording.key()
    }

    fn store(mut self: Box<Self>, engine: &Engine) {
        let FinishedRead { recording, outcome } = &mut self.finished;
        recording.resolve_unsettled(engine.catalogue().generation());
        depend_on_rows(engine, recording, outcome, None);
        if !recording.unsettled.is_empty() {
            recording.refuse(ContextReason::TableUnknown);
        } else if !engine.is_as_then(recording) {
            recording.refuse(ContextReason::Changed);
        }
        self.end(engine);
    }

    fn drop_it(mut self: Box<Self>, engine: &Engine) {
        self.finished.recording.refuse(ContextReason::Changed);
        self.end(engine);
    }
}

impl Engine {
    /// Lets a result wait until its tables have been looked up, and returns None. If too many are waiting or it is too large, returns it
    /// with its refusal set. `database` is the current one of its session, and `counted_in` is the session's counter for the outcome.
    pub(crate) fn add_late_result(
        &self,
        mut finished: FinishedRead,
        database: Option<&[u8]>,
        counted_in: &Arc<Misses>,
    ) -> Option<FinishedRead> {
        let mut list = self.late_results().list();
        if list.len() >= MOST || finished.recording.bytes > LARGEST {
            finished.recording.refuse(ContextReason::TableUnknown);
            return Some(finished);
        }
        // A look-up that has just run may have been for earlier results only, so these tables are asked for again.
        let recording = &finished.recording;
        recording.unsettled.iter().for_each(|table| self.tables().request_look_up(table, recording.inherited));
        let parse_context = &mut finished.recording.parse_context;
        parse_context.database = parse_context.database.take().or(database.map(Arc::from));
        self.late_results().push(&mut list, Box::new(LateResult { finished, counted_in: counted_in.clone() }));
        self.want_catalogue();
        None
    }

    /// Number of results that wait for a look-up of their tables. To be read before the tables to look up are taken: these results wait for
    /// tables among them.
    pub fn late_result_count(&self) -> usize {
        self.late_results().list().len()
    }

    /// Stores the first `count` waiting results, or counts why they cannot be stored. To be called after the tables that were asked for
    /// have been looked up.
    pub fn store_late_results(&self, count: usize) {
        self.late_results().take(count, |result| result.store(self));
    }

    /// Drops all waiting results without storing them.
    pub(crate) fn drop_late_results(&self) {
        self.late_results().take(usize::MAX, |result| result.drop_it(self));
    }

    /// True if nothing that the result depends on has changed. After a definition of one of its tables it is false, because what was looked
    /// up is about the new table.
    fn is_as_then(&self, recording: &Recording) -> bool {
        let layout = Layout::default().by_rows(recording.is_by_rows);
        let basis = Basis { cells: &recording.cells, stamp: recording.stamp, layout };
        self.mode().is_awake() && recording.generation == self.catalogue().generation() && self.is_alive(basis)
    }
}
