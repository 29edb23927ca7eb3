//! What FOUND_ROWS(), ROW_COUNT(), SHOW WARNINGS and the like must return, although the server has not seen every statement.

use crate::statement::pending_read::PendingRead;
use crate::statement::running::{Effect, Purpose, Running};
use cache::{CellId, Stamp};
use flavour::Flavour;
use sql::{Kind, Show, Statement};
use wire::Outcome;

/// A result with SQL_CALC_FOUND_ROWS that the client has just received. The answer to a SELECT FOUND_ROWS() right after it depends on the
/// same cells, and may be served while they are unchanged since `stamp`.
#[derive(Clone, Debug)]
pub(crate) struct CountedRead {
    pub text: Vec<u8>,
    pub cells: Vec<CellId>,
    pub stamp: Stamp,
    pub is_by_rows: bool,
}

#[derive(Default)]
pub struct Diagnostics {
    /// The read with SQL_CALC_FOUND_ROWS, if that was the session's last command. None after any other command.
    pub counted: Option<CountedRead>,
    /// The pending read: a result served from the cache that the server does not know of. FOUND_ROWS() must return its number of rows, so
    /// the server must catch up with it before a statement for which that matters.
    pub pending_read: Option<PendingRead>,
    /// The server's list of warnings may have entries. They may be from an earlier statement: one that uses no table leaves the list as it
    /// is.
    pub has_warnings: bool,
}

impl Diagnostics {
    /// Notes that a read was answered from the cache: it becomes the pending read, which the server has not seen. `leaves_found` means that
    /// it may leave FOUND_ROWS() as it was. Then the earlier pending read is kept before it, and otherwise dropped.
    pub fn note_served(&mut self, served: PendingRead, leaves_found: bool) {
        let earlier = self.pending_read.take().filter(|_| leaves_found);
        self.pending_read = Some(match earlier {
            Some(earlier) => served.after(earlier),
            None => served,
        });
    }

    /// True if the server's list of warnings is certainly empty, or the product clears it for every statement. Otherwise a read without a
    /// table must run on the server, which keeps the earlier warnings then.
    pub fn have_no_warnings(&self, flavour: &Flavour) -> bool {
        let has_warned = || self.has_warnings || self.pending_read.as_ref().is_some_and(PendingRead::has_warnings);
        !flavour.statements.keeps_warnings || !has_warned()
    }

    /// Notes that the server gets another command, so that the pending read (a served result that the server has not seen) is no longer the
    /// session's latest statement.
    pub fn note_other(&mut self) {
        self.pending_read.iter_mut().for_each(|pending_read| pending_read.is_latest = false);
    }

    /// Called when this statement goes to the server. If it sets FOUND_ROWS() itself, as a read and in some products an UPDATE does, the
    /// pending read (a served result that the server has not seen) is removed and returned. Otherwise it stays, but is no longer the latest
    /// statement.
    pub fn note_forwarded(&mut self, flavour: &Flavour, statement: &Statement) -> Option<PendingRead> {
        self.note_other();
        let has_own_rows = match &statement.kind {
            Kind::Read(read) => !read.leaves_found_rows,
            Kind::Show(show) => !matches!(show, Show::Warnings | Show::Errors),
            _ => statement.is_update && flavour.statements.updates_count_rows,
        };
        self.pending_read.take_if(|_| has_own_rows)
    }

    /// Updates `has_warnings` from the response to a command. The server keeps its warnings until a statement uses a table.
    pub fn note_warnings(&mut self, running: &Running, outcome: &Outcome, has_failed: bool) {
        let uses_table = match (&running.effect, &running.purpose) {
            (_, Purpose::PendingRead { keeps_warnings }) => !keeps_warnings,
            (Effect::Statement(statement), _) => match statement.kind {
                Kind::Write => true,
                Kind::Read(_) => running.read.as_ref().is_some_and(|recording| !recording.cells.is_empty()),
                _ => false,
            },
            _ => false,
        };
        self.has_warnings = has_failed || outcome.warnings > 0 || self.has_warnings && !uses_table;
    }
}
