//! A read on its way through the server: what it touches, and its response.

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
    /// Where its shape is counted.
    pub shape: ShapeId,
    /// Results of its shape are rarely reused: this one is not stored.
    pub is_passed_over: bool,
    /// The cache is off: nothing is kept but the size.
    pub is_observed: bool,
    pub verification: Option<Verification>,
    /// Of the response.
    pub bytes: usize,
    pub context: u64,
    pub text: Vec<u8>,
    pub terms: Terms,
    pub parameters: Vec<u8>,
    pub stamp: Stamp,
    pub generation: u64,
    /// What `Settings::inherited` said before.
    pub inherited: u64,
    pub started_ns: u64,
    pub cells: Vec<CellId>,
    /// Noted while there are rules about tables.
    pub tables: Vec<Arc<Table>>,
    pub first_table: Option<Arc<Table>>,
    /// The cells are those of rows, not of their table.
    pub is_by_rows: bool,
    /// All tables but the unsettled ones have snapshots.
    pub all_snapshot: bool,
    /// Of these it was not known what they are.
    pub unsettled: Vec<Arc<Table>>,
    /// Reads a table whose engine takes part in transactions without snapshots or savepoints.
    pub joins: bool,
    /// It reads a view, or may: what it returns need not be what it has read.
    pub may_read_views: bool,
    /// Set by the first thing that speaks against storing; the rest is not recorded.
    pub refusal: Option<Reason>,
    /// For how long a rule lets the result outlive writes.
    pub lasts_seconds: Option<u32>,
    /// The client keeps column metadata itself: only a result without it can be served again.
    pub omits_metadata: bool,
    /// The statement is `SELECT FOUND_ROWS()`: `text` is that of the read before it, and `parameters` holds its own.
    pub is_count: bool,
    /// How the response is to be read.
    pub capabilities: u64,
    pub is_binary: bool,
    pub response: Vec<u8>,
}

impl Recording {
    pub fn key(&self) -> Key<'_> {
        Key { context: self.context, parts: [&self.text, &self.parameters] }
    }

    /// What the client has sent.
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

    /// Takes note of what has been found out meanwhile.
    pub fn settle(&mut self, generation: u64) {
        for table in std::mem::take(&mut self.unsettled) {
            self.take_verdict(&table, table.verdict(generation));
        }
    }

    /// All that it has read comes from one snapshot, as far as is known.
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

    /// To run this statement the server opens its snapshot, whatever rows there are.
    pub fn opens_snapshot(&self, outcome: &Outcome) -> bool {
        let reads = || self.terms.is_certain && sql::certainly_reads(&self.text, self.terms.mode);
        self.has_read_rows(outcome)
            || !self.may_read_views && self.reading.is_single_select() && self.is_of_snapshot() && reads()
    }

    /// The server has certainly opened its snapshot for this result.
    pub fn has_read_rows(&self, outcome: &Outcome) -> bool {
        let has_rows = matches!(outcome.kind, OutcomeKind::ResultSet { rows, .. } if rows > 0);
        has_rows
            && !self.may_read_views
            && self.reading.returns_what_it_reads()
            && self.refusal.is_none()
            && self.is_of_snapshot()
    }
}

/// A read whose response has been sent.
pub struct Finished {
    pub recording: Recording,
    pub outcome: Outcome,
}
