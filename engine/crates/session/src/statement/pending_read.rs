//! A pending read: a result that was served from the cache and that the server has not seen.

use flavour::Flavour;
use sql::Statement;
use wire::{Execute, Expect, Header, LAST_STATEMENT, Query};

/// Largest number of rows for which the replacing statement lists each row and needs no table.
const MOST_WITHOUT_TABLE: u64 = 4096;
/// Largest number of earlier served reads that the server has to run to catch up with a later one.
const MOST_BEFORE: usize = 8;

/// A pending read: a result that was served from the cache and that the server has not seen. Before FOUND_ROWS() or the
/// warnings matter, the server must catch up with it, by a command of the engine's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PendingRead {
    /// Number of rows in the result, which FOUND_ROWS() must return unless `replay` is set.
    pub rows: u64,
    /// The server has run no command since the read was served.
    pub is_latest: bool,
    /// The engine's own query has overwritten FOUND_ROWS() on the server, so the server must catch up before the next
    /// statement.
    pub is_owed: bool,
    /// The packet of the read, if the server must run it because FOUND_ROWS() is not the number of rows in the result. Otherwise
    /// empty.
    pub replay: Vec<u8>,
    /// The packet of the read, if its result has warnings that the server must raise before a statement asks for them. Otherwise
    /// empty.
    pub warned: Vec<u8>,
    /// Reads that were served before this one, oldest first. This read may have left FOUND_ROWS() as they did.
    pub before: Vec<PendingRead>,
}

impl PendingRead {
    /// Adds an earlier pending read, because this read may leave FOUND_ROWS() as that one would have set it. A command that was
    /// served twice is kept once: either the later one sets the number, or the earlier one did not either.
    pub fn after(mut self, mut earlier: PendingRead) -> PendingRead {
        earlier.is_latest = false;
        self.before = std::mem::take(&mut earlier.before);
        self.before.push(earlier);
        self.before.retain(|one| !one.is_replayed() || one.replay != self.replay);
        self
    }

    /// True if no further read may be added before the server has caught up.
    pub fn is_full(&self) -> bool {
        self.before.len() >= MOST_BEFORE
    }

    /// Returns the pending read that the server must catch up with first, and the rest; None if there is no other.
    pub fn split(mut self) -> (PendingRead, Option<PendingRead>) {
        if self.before.is_empty() { (self, None) } else { (self.before.remove(0), Some(self)) }
    }

    /// True if the server must catch up before it runs this statement, because the statement asks for FOUND_ROWS() or, right
    /// after the served read, for other diagnostics.
    pub fn matters_to(&self, statement: &Statement, text: &[u8]) -> bool {
        statement.reads_diagnostics && (self.is_latest || sql::contains_ignoring_case(text, b"found_rows"))
    }

    /// True if the next command may ask for the warnings of the served read, or must keep them.
    pub fn has_warnings(&self) -> bool {
        self.is_latest && !self.warned.is_empty()
    }

    /// True if the server must run the read itself to get FOUND_ROWS() right.
    pub fn is_replayed(&self) -> bool {
        !self.replay.is_empty()
    }

    /// True if `packet` is the command that the server must run to catch up, whatever its sequence number is.
    pub fn runs(&self, packet: &[u8]) -> bool {
        self.is_replayed() && self.replay.get(Header::SIZE..) == packet.get(Header::SIZE..)
    }

    /// The execution that the server must run to catch up, if it must run the read itself and that is one of a prepared
    /// statement.
    pub fn execution(&self, capabilities: u64) -> Option<Execute<'_>> {
        let payload = self.replay.get(4..)?;
        let is_it = payload.first() == Some(&(wire::Command::StmtExecute as u8));
        is_it.then(|| Execute::parse(payload, capabilities)).flatten()
    }

    /// True if the server may have to execute the prepared statement `id` to catch up. It must do that before the statement is
    /// closed.
    pub fn may_execute(&self, id: u32, capabilities: u64) -> bool {
        let is_last = |id| id == LAST_STATEMENT;
        let is_it = |execute: Execute| execute.id == id || is_last(execute.id) || is_last(id);
        self.before.iter().chain([self]).any(|one| one.execution(capabilities).is_some_and(is_it))
    }

    /// True if the server can catch up with a statement that uses no table, which leaves its list of warnings as it is.
    pub fn can_keep_warnings(&self) -> bool {
        !self.is_replayed() && self.rows <= MOST_WITHOUT_TABLE
    }

    /// Returns the packet that the server must run to catch up, and the kind of its response. `keeps_warnings` may be set only
    /// if `can_keep_warnings` is true. `limits_joins`: `max_join_size` applies to the session; it is lifted only then, because
    /// the server may report that to the client.
    pub fn command(
        self,
        flavour: &Flavour,
        capabilities: u64,
        keeps_warnings: bool,
        limits_joins: bool,
    ) -> (Vec<u8>, Expect) {
        let free = if limits_joins { flavour.statements.join_limit_override } else { [""; 2] };
        let row = format!("{}(1)", flavour.statements.row_keyword);
        match self.replay.get(4) {
            None => {
                let text =
                    if keeps_warnings { self.statement_without_table(free, &row) } else { self.statement(free, &row) };
                (Query::packet(&text, capabilities), Expect::Query)
            }
            Some(&command) if command == wire::Command::Query as u8 => (self.replay, Expect::Query),
            Some(_) => (self.replay, Expect::Execute),
        }
    }

    /// A statement that sets FOUND_ROWS() to this number of rows, and keeps the server's warnings as they are.
    fn statement_without_table(&self, [before, after]: [&str; 2], row: &str) -> Vec<u8> {
        let others = vec![row; self.rows.saturating_sub(1) as usize].join(",");
        let union = if others.is_empty() { String::new() } else { format!("VALUES {others} UNION ALL ") };
        format!("{before}{union}SELECT{after} 1 LIMIT {}", self.rows).into_bytes()
    }

    /// A statement that leaves the server as the served read would have: FOUND_ROWS() is this number of rows, and there are no
    /// warnings. It reads derived tables, because only a statement with a table clears the warnings. Its text works in every
    /// character set and fits into every packet limit, and its LIMIT overrides sql_select_limit.
    fn statement(&self, [before, after]: [&str; 2], row: &str) -> Vec<u8> {
        const ROWS: u64 = 16;
        let values = vec![row; ROWS as usize].join(",");
        let table = |number: u32| format!("(VALUES {values}) AS t{number}");
        let enough = (1..=u64::BITS).find(|tables| ROWS.checked_pow(*tables).is_none_or(|rows| rows >= self.rows));
        let tables: Vec<_> = (0..enough.unwrap_or(1)).map(table).collect();
        format!("{before}SELECT{after} 1 FROM {} LIMIT {}", tables.join(", "), self.rows).into_bytes()
    }
}
