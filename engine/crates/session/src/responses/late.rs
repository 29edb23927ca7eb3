//! Results of tables of which nobody knew what they are. They wait until the catalogue has been asked, and are stored if nothing that
//! they depend on has changed since they were asked for.

use crate::engine::Engine;
use crate::engine::late::Waiting;
use crate::entries::lasting::Basis;
use crate::entries::layout::Layout;
use crate::reason::Own;
use crate::responses::keeping::finish;
use crate::session::read_counts::Misses;
use crate::statement::recording::{Finished, Recording};
use crate::statement::rows::depend_on_rows;
use cache::Key;
use std::sync::Arc;

/// So many wait, of so many bytes each.
const MOST: usize = 64;
const LARGEST: usize = 64 * 1024;

struct LateResult {
    finished: Finished,
    /// Where its session counts what becomes of it.
    counted_in: Arc<Misses>,
}

impl LateResult {
    fn end(mut self, engine: &Engine) {
        if let Some(stored) = finish(engine, &mut self.finished) {
            self.counted_in.count(stored);
        }
    }
}

impl Waiting for LateResult {
    fn key(&self) -> Key<'_> {
        self.finished.recording.key()
    }

    fn store(mut self: Box<Self>, engine: &Engine) {
        let Finished { recording, outcome } = &mut self.finished;
        recording.settle(engine.catalogue().generation());
        depend_on_rows(engine, recording, outcome, None);
        if !recording.unsettled.is_empty() {
            recording.refuse(Own::TableUnknown);
        } else if !engine.is_as_then(recording) {
            recording.refuse(Own::Changed);
        }
        self.end(engine);
    }

    fn drop_it(mut self: Box<Self>, engine: &Engine) {
        self.finished.recording.refuse(Own::Changed);
        self.end(engine);
    }
}

impl Engine {
    /// Gives back what cannot wait. `database`: of its session, which counts what becomes of it in `counted_in`.
    pub(crate) fn put_late(
        &self,
        mut finished: Finished,
        database: Option<&[u8]>,
        counted_in: &Arc<Misses>,
    ) -> Option<Finished> {
        let mut list = self.late().list();
        if list.len() >= MOST || finished.recording.bytes > LARGEST {
            finished.recording.refuse(Own::TableUnknown);
            return Some(finished);
        }
        // Whoever looked them up may have looked for what waits before this.
        let recording = &finished.recording;
        recording.unsettled.iter().for_each(|table| self.tables().ask(table, recording.inherited));
        let terms = &mut finished.recording.terms;
        terms.database = terms.database.take().or(database.map(Arc::from));
        self.late().push(&mut list, Box::new(LateResult { finished, counted_in: counted_in.clone() }));
        self.want_catalogue();
        None
    }

    /// To be asked before the tables are taken that were asked about: these results wait for tables among them.
    pub fn late_count(&self) -> usize {
        self.late().list().len()
    }

    /// The first so many. To be called after the tables that were asked about have been looked up.
    pub fn store_late(&self, count: usize) {
        self.late().take(count, |result| result.store(self));
    }

    /// What waits is not stored any more.
    pub(crate) fn drop_late(&self) {
        self.late().take(usize::MAX, |result| result.drop_it(self));
    }

    /// A table that has been defined anew since is not: its verdict is of now.
    fn is_as_then(&self, recording: &Recording) -> bool {
        let layout = Layout::default().by_rows(recording.is_by_rows);
        let basis = Basis { cells: &recording.cells, stamp: recording.stamp, layout };
        self.vigil().is_awake() && recording.generation == self.catalogue().generation() && self.is_alive(basis)
    }
}
