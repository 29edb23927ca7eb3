//! A read that the server is running: what it reads, and its response so far.

use crate::engine::tables::{Table, Verdict};
use crate::reason::{Own, Reason};
use crate::statement::terms::Terms;
use crate::statement::verification::Verification;
use crate::text::reading::Reading;
use ::insight::ShapeId;
use cache::{CellId, Key, Stamp};
use std::sync::Arc;
use wire::{Outcome, OutcomeKind};

#[derive(Debug)]
pub struct Recording {
    pub reading: Arc<Reading>,
    /// The shape that counts the read.
    pub shape: ShapeId,
    /// Results of this shape are rarely reused, so this one is not stored.
    pub is_passed_over: bool,
    /// The cache is off for this session. Only the size of the response is recorded.
    pub is_observed: bool,
    pub verification: Option<Verification>,
    /// Size of the response in bytes.
    pub bytes: usize,
    pub context: u64,
    pub text: Vec<u8>,
    pub terms: Terms,
    pub parameters: Vec<u8>,
    pub stamp: Stamp,
    pub generation: u64,
    /// The value of `Settings::inherited` from before the statement.
    pub inherited: u64,
    pub started_ns: u64,
    pub cells: Vec<CellId>,
    /// The tables of the read. Noted only while there are rules.
    pub tables: Vec<Arc<Table>>,
    pub first_table: Option<Arc<Table>>,
    /// The cells are those of rows and blocks, not that of any change of the table.
    pub is_by_rows: bool,
    /// All tables have snapshots, not counting the unsettled ones.
    pub all_snapshot: bool,
    /// Tables whose verdict was not known when they were locked.
    pub unsettled: Vec<Arc<Table>>,
    /// It reads a table whose engine takes part in transactions without snapshots or savepoints.
    pub joins: bool,
    /// It reads a view, or may. Then the rows that it returns need not be rows that it has read.
    pub may_read_views: bool,
    /// Set by the first reason against storing the result. From then on nothing is recorded.
    pub refusal: Option<Reason>,
    /// The number of seconds for which a rule lets the result outlive writes.
    pub lasts_seconds: Option<u32>,
    /// The client keeps column metadata itself, so a stored result can be served again only if it has none.
    pub omits_metadata: bool,
    /// The statement is `SELECT FOUND_ROWS()`. Then `text` is that of the read before it, and `parameters` holds its
    /// own text.
    pub is_count: bool,
    /// The capabilities of the connection, which decide how the response is parsed.
    pub capabilities: u64,
    pub is_binary: bool,
    pub response: Vec<u8>,
}

impl Recording {
    pub fn key(&self) -> Key<'_> {
        Key { context: self.context, parts: [&self.text, &self.parameters] }
    }

    /// The text that the client has sent.
    pub fn command_text(&self) -> &[u8] {
        if self.is_count { &self.parameters } else { &self.text }
    }

    pub fn refuse(&mut self, reason: impl Into<Reason>) {
        if self.refusal.is_none() {
            self.refusal = Some(reason.into());
            self.response = Vec::new();
        }
    }

    pub fn depend_on(&mut self, table: &Arc<Table>, verdict: Verdict) {
        self.take_verdict(table, verdict);
        if !self.cells.contains(&table.any) {
            self.cells.push(table.any);
            self.first_table.get_or_insert_with(|| table.clone());
        }
    }

    fn take_verdict(&mut self, table: &Arc<Table>, verdict: Verdict) {
        self.all_snapshot &= matches!(verdict, Verdict::Snapshot | Verdict::Unknown);
        match verdict {
            Verdict::Snapshot | Verdict::Plain => {}
            Verdict::Joining => self.joins = true,
            Verdict::Unknown => self.unsettled.push(table.clone()),
            Verdict::Unfit => self.refuse(Own::TableEngine),
            Verdict::Times => self.refuse(Own::TimeColumn),
            Verdict::Sequence => self.refuse(Own::Sequence),
        }
    }

    /// Takes the verdicts that are known by now for tables that had none.
    pub fn settle(&mut self, generation: u64) {
        for table in std::mem::take(&mut self.unsettled) {
            self.take_verdict(&table, table.verdict(generation));
        }
    }

    /// True if all rows come from one InnoDB snapshot, as far as is known.
    pub fn is_of_snapshot(&self) -> bool {
        self.all_snapshot && self.unsettled.is_empty() && !self.cells.is_empty() && !self.is_count
    }

    pub fn record(&mut self, bytes: &[u8], limit: u64) {
        if self.refusal.is_some() || self.is_passed_over {
            return;
        }
        self.bytes += bytes.len();
        if self.bytes as u64 > limit {
            self.refuse(Own::TooLarge);
            return;
        }
        if !self.is_observed {
            self.response.extend_from_slice(bytes);
        }
    }

    /// True if running this statement always makes the server open its snapshot, whether there are rows or not.
    pub fn opens_snapshot(&self, outcome: &Outcome) -> bool {
        let reads = || self.terms.is_certain && sql::certainly_reads(&self.text, self.terms.mode);
        self.has_read_rows(outcome)
            || !self.may_read_views && self.reading.is_single_select() && self.is_of_snapshot() && reads()
    }

    /// True if the server has certainly opened its snapshot for this result.
    pub fn has_read_rows(&self, outcome: &Outcome) -> bool {
        let has_rows = matches!(outcome.kind, OutcomeKind::ResultSet { rows, .. } if rows > 0);
        has_rows
            && !self.may_read_views
            && self.reading.returns_what_it_reads()
            && self.refusal.is_none()
            && self.is_of_snapshot()
    }
}

/// A read whose response is complete.
pub struct Finished {
    pub recording: Recording,
    pub outcome: Outcome,
}
