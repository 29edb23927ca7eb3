//! What FOUND_ROWS(), ROW_COUNT(), SHOW WARNINGS and the like must return, although the server has not seen every statement.

use crate::statement::running::{Effect, Purpose, Running};
use crate::statement::unseen::Unseen;
use cache::{CellId, Stamp};
use flavour::Flavour;
use sql::{Kind, Show, Statement};
use wire::Outcome;

/// A result with SQL_CALC_FOUND_ROWS that the client has just received. FOUND_ROWS() depends on the same cells.
#[derive(Clone, Debug)]
pub(crate) struct Counted {
    pub text: Vec<u8>,
    pub cells: Vec<CellId>,
    pub stamp: Stamp,
    pub is_by_rows: bool,
}

#[derive(Default)]
pub struct Diagnostics {
    /// Set if the last command was such a read.
    pub counted: Option<Counted>,
    /// A served result that the server does not know of (pending read). FOUND_ROWS() must return its number of rows.
    pub unseen: Option<Unseen>,
    /// The server's list of warnings belongs to an older statement, and may not be empty.
    pub has_warnings: bool,
}

impl Diagnostics {
    /// Notes a read that was served. `leaves_found` means that it may leave FOUND_ROWS() as it was.
    pub fn note_served(&mut self, served: Unseen, leaves_found: bool) {
        let earlier = self.unseen.take().filter(|_| leaves_found);
        self.unseen = Some(match earlier {
            Some(earlier) => served.after(earlier),
            None => served,
        });
    }

    /// True if no statement has left warnings that the server would keep when it runs a read without a table.
    pub fn have_no_warnings(&self, flavour: &Flavour) -> bool {
        let has_warned = || self.has_warnings || self.unseen.as_ref().is_some_and(Unseen::has_warnings);
        !flavour.statements.keeps_warnings || !has_warned()
    }

    /// The server has run something since the read was served.
    pub fn note_other(&mut self) {
        self.unseen.iter_mut().for_each(|unseen| unseen.is_latest = false);
    }

    /// A statement was forwarded. If it sets FOUND_ROWS() itself, as a read and in some products an UPDATE does, the pending read is
    /// removed and returned. Otherwise it stays, but is no longer the latest statement.
    pub fn note_forwarded(&mut self, flavour: &Flavour, statement: &Statement) -> Option<Unseen> {
        self.note_other();
        let has_own_rows = match &statement.kind {
            Kind::Read(read) => !read.leaves_found_rows,
            Kind::Show(show) => !matches!(show, Show::Warnings | Show::Errors),
            _ => statement.is_update && flavour.statements.updates_count_rows,
        };
        self.unseen.take_if(|_| has_own_rows)
    }

    /// Updates `has_warnings` after a statement. The server keeps its warnings until a statement uses a table.
    pub fn note_warnings(&mut self, running: &Running, outcome: &Outcome, has_failed: bool) {
        let uses_table = match (&running.effect, &running.purpose) {
            (_, Purpose::Unseen { keeps_warnings }) => !keeps_warnings,
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
