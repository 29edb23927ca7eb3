//! A read that the server is running: what it reads, and its response so far.

use crate::engine::tables::{Table, Verdict};
use crate::reason::{ContextReason, Reason};
use crate::statement::parse_context::ParseContext;
use crate::statement::verification::Verification;
use crate::text::analysis::Analysis;
use ::insight::ShapeId;
use cache::{CellId, Key, Stamp};
use std::sync::Arc;
use wire::{Outcome, OutcomeKind};

/// A read that was sent to the server, and everything that is needed to store its result.
#[derive(Debug)]
pub struct Recording {
    pub analysis: Arc<Analysis>,
    /// The shape (text without literals) that counts the read.
    pub shape: ShapeId,
    /// The result is not stored, because results of this shape are rarely reused.
    pub is_passed_over: bool,
    /// The cache is off for this session, and only what it would do is counted. Only the size of the response is
    /// recorded.
    pub is_observed: bool,
    /// The stored result that this one is to be compared with.
    pub verification: Option<Verification>,
    /// Size of the response in bytes.
    pub bytes: usize,
    /// The number of the session context, as a part of the result's key; 0 if the session is not cached.
    pub context: u64,
    /// The text of the read, as a part of the result's key. Empty if the result will not be stored.
    pub text: Vec<u8>,
    pub parse_context: ParseContext,
    /// The types and values of the parameters of a prepared statement, as a part of the result's key.
    pub parameters: Vec<u8>,
    /// The stamp of the result: it contains all changes up to this point.
    pub stamp: Stamp,
    /// The catalogue's generation from before the statement. In another one, views and tables may mean something else.
    pub generation: u64,
    /// The value of `Settings::inherited` from before the statement.
    pub inherited: u64,
    /// The time of the engine's clock in nanoseconds when the server got the statement.
    pub started_ns: u64,
    /// The version cells that the result depends on.
    pub cells: Vec<CellId>,
    /// The tables of the read. Noted only while there are rules.
    pub tables: Vec<Arc<Table>>,
    /// The first table that the statement has locked.
    pub first_table: Option<Arc<Table>>,
    /// True if `cells` are those of rows and blocks of rows, without the cell that advances with any change of the
    /// table.
    pub is_by_rows: bool,
    /// All tables that the read has locked have snapshots (InnoDB), not counting those in `unsettled`.
    pub all_snapshot: bool,
    /// Tables that were not looked up yet when they were locked, so that it is not known whether results from them may
    /// be cached.
    pub unsettled: Vec<Arc<Table>>,
    /// The result must not be served inside a transaction, for instance because the engine of its table must know every
    /// transaction that reads it.
    pub outside_transactions_only: bool,
    /// The statement reads a view, or may. Then the rows that it returns need not be rows that it has read.
    pub may_read_views: bool,
    /// The first reason against storing the result. Once it is set, nothing is recorded any more.
    pub refusal: Option<Reason>,
    /// The number of seconds for which a rule lets the result outlive writes.
    pub stale_seconds: Option<u32>,
    /// The client keeps column metadata itself, so a stored result can be served again only if it has none.
    pub omits_metadata: bool,
    /// The statement is `SELECT FOUND_ROWS()`. Then `text` is that of the read before it, and `parameters` holds its
    /// own text.
    pub is_count: bool,
    /// The capabilities of the connection, which decide how the response is parsed.
    pub capabilities: u64,
    /// The response has the binary protocol of prepared statements.
    pub is_binary: bool,
    /// The response so far. Empty if it is not going to be stored.
    pub response: Vec<u8>,
}

impl Recording {
    /// The key with which the result is found in the cache.
    pub fn key(&self) -> Key<'_> {
        Key { context: self.context, parts: [&self.text, &self.parameters] }
    }

    /// The text that the client has sent; for a SELECT FOUND_ROWS() its own text, and not that of the read before it.
    pub fn command_text(&self) -> &[u8] {
        if self.is_count { &self.parameters } else { &self.text }
    }

    /// Notes that the result must not be stored, and drops what was recorded of the response. Only the first reason
    /// counts.
    pub fn refuse(&mut self, reason: impl Into<Reason>) {
        if self.refusal.is_none() {
            self.refusal = Some(reason.into());
            self.response = Vec::new();
        }
    }

    /// Adds a table that the read has locked to what the result depends on. `verdict` says whether results of the table
    /// may be stored, as far as that is known now.
    pub fn depend_on(&mut self, table: &Arc<Table>, verdict: Verdict) {
        self.take_verdict(table, verdict);
        if !self.cells.contains(&table.any_change) {
            self.cells.push(table.any_change);
            self.first_table.get_or_insert_with(|| table.clone());
        }
    }

    fn take_verdict(&mut self, table: &Arc<Table>, verdict: Verdict) {
        self.all_snapshot &= matches!(verdict, Verdict::Snapshot | Verdict::Unknown);
        match verdict {
            Verdict::Snapshot | Verdict::Plain => {}
            Verdict::NoSavepoints => self.outside_transactions_only = true,
            Verdict::Unknown => self.unsettled.push(table.clone()),
            Verdict::Unfit => self.refuse(ContextReason::TableEngine),
            Verdict::Times => self.refuse(ContextReason::TimeColumn),
            Verdict::Sequence => self.refuse(ContextReason::Sequence),
        }
    }

    /// Takes what is known by now of the tables that were not looked up yet when they were locked. The result is
    /// refused if one of them may not be cached. `generation` is that of the catalogue: what was looked up before it
    /// began does not count.
    pub fn resolve_unsettled(&mut self, generation: u64) {
        for table in std::mem::take(&mut self.unsettled) {
            self.take_verdict(&table, table.verdict(generation));
        }
    }

    /// True if all rows come from one InnoDB snapshot, as far as is known. False if a table was not looked up yet, or
    /// if none was read.
    pub fn is_of_snapshot(&self) -> bool {
        self.all_snapshot && self.unsettled.is_empty() && !self.cells.is_empty() && !self.is_count
    }

    /// Adds a piece of the response. A response of more than `limit` bytes is not stored.
    pub fn record(&mut self, bytes: &[u8], limit: u64) {
        if self.refusal.is_some() || self.is_passed_over {
            return;
        }
        self.bytes += bytes.len();
        if self.bytes as u64 > limit {
            self.refuse(ContextReason::TooLarge);
            return;
        }
        if !self.is_observed {
            self.response.extend_from_slice(bytes);
        }
    }

    /// True if running this statement always makes the server open its snapshot, whether there are rows or not.
    pub fn opens_snapshot(&self, outcome: &Outcome) -> bool {
        let reads = || self.parse_context.is_certain && sql::certainly_reads(&self.text, self.parse_context.mode);
        self.has_read_rows(outcome)
            || !self.may_read_views && self.analysis.is_single_select() && self.is_of_snapshot() && reads()
    }

    /// True if the server has certainly opened its snapshot for this result, because it has read rows of InnoDB tables.
    pub fn has_read_rows(&self, outcome: &Outcome) -> bool {
        let has_rows = matches!(outcome.kind, OutcomeKind::ResultSet { rows, .. } if rows > 0);
        has_rows
            && !self.may_read_views
            && self.analysis.returns_what_it_reads()
            && self.refusal.is_none()
            && self.is_of_snapshot()
    }
}

/// A read whose response is complete. Its result may be stored once the response was sent.
pub struct FinishedRead {
    pub recording: Recording,
    pub outcome: Outcome,
}
