//! A result that the client got and the server did not see.

use flavour::Flavour;
use sql::Statement;
use wire::{Execute, Expect, Header, LAST_STATEMENT, Query};

/// Rows of which the server is told one by one.
const MOST_WITHOUT_TABLE: u64 = 4096;
/// Results that wait for each other, of which the server must run each.
const MOST_BEFORE: usize = 8;

/// A result that was served without the server knowing of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unseen {
    pub rows: u64,
    /// The server has run nothing since.
    pub is_latest: bool,
    /// The engine itself has replaced the number by a question of its own.
    pub is_owed: bool,
    /// The command itself, where the number of rows found is not that of the result.
    pub replay: Vec<u8>,
    /// The command itself, if its result reports warnings that the server must raise before a question about them.
    pub warned: Vec<u8>,
    /// Those served before it, the first one first: it may have left the number as they did.
    pub before: Vec<Unseen>,
}

impl Unseen {
    /// A result after which the number of rows found is perhaps that of these. The same command counts once: the later one either
    /// sets the number, or the earlier one did not.
    pub fn after(mut self, mut earlier: Unseen) -> Unseen {
        earlier.is_latest = false;
        self.before = std::mem::take(&mut earlier.before);
        self.before.push(earlier);
        self.before.retain(|one| !one.is_replayed() || one.replay != self.replay);
        self
    }

    /// No more can be served before the server has been told.
    pub fn is_full(&self) -> bool {
        self.before.len() >= MOST_BEFORE
    }

    /// The one that the server must be told of first, and those after it.
    pub fn split(mut self) -> (Unseen, Option<Unseen>) {
        if self.before.is_empty() { (self, None) } else { (self.before.remove(0), Some(self)) }
    }

    /// Whether the server must be told before it runs this statement. After others have run only the number of rows
    /// found is still that of the served result.
    pub fn matters_to(&self, statement: &Statement, text: &[u8]) -> bool {
        statement.reads_diagnostics && (self.is_latest || sql::says(text, b"found_rows"))
    }

    /// The next command may leave the warnings of the served result, or ask for them.
    pub fn has_warnings(&self) -> bool {
        self.is_latest && !self.warned.is_empty()
    }

    /// The server must run the statement itself to know the number.
    pub fn is_replayed(&self) -> bool {
        !self.replay.is_empty()
    }

    /// Whether a command is the one that the server must run, whatever its number in the sequence of packets is.
    pub fn runs(&self, packet: &[u8]) -> bool {
        self.is_replayed() && self.replay.get(Header::SIZE..) == packet.get(Header::SIZE..)
    }

    /// That of a prepared statement.
    pub fn execution(&self, capabilities: u64) -> Option<Execute<'_>> {
        let payload = self.replay.get(4..)?;
        let is_it = payload.first() == Some(&(wire::Command::StmtExecute as u8));
        is_it.then(|| Execute::parse(payload, capabilities)).flatten()
    }

    pub fn may_execute(&self, id: u32, capabilities: u64) -> bool {
        let is_last = |id| id == LAST_STATEMENT;
        let is_it = |execute: Execute| execute.id == id || is_last(execute.id) || is_last(id);
        self.before.iter().chain([self]).any(|one| one.execution(capabilities).is_some_and(is_it))
    }

    /// The server can be told without a table, and so without an end of the warnings that it holds.
    pub fn can_keep_warnings(&self) -> bool {
        !self.is_replayed() && self.rows <= MOST_WITHOUT_TABLE
    }

    /// What the server must run, and what it will answer. What is set for a statement is in the way of max_join_size; where that is
    /// not needed nothing is set, because the server may report it to the client.
    pub fn command(
        self,
        flavour: &Flavour,
        capabilities: u64,
        keeps_warnings: bool,
        limits_joins: bool,
    ) -> (Vec<u8>, Expect) {
        let free = if limits_joins { flavour.statements.unlimited } else { [""; 2] };
        let row = format!("{}(1)", flavour.statements.row);
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

    /// A statement that leaves so many rows found, and the warnings as they are.
    fn statement_without_table(&self, [before, after]: [&str; 2], row: &str) -> Vec<u8> {
        let others = vec![row; self.rows.saturating_sub(1) as usize].join(",");
        let union = if others.is_empty() { String::new() } else { format!("VALUES {others} UNION ALL ") };
        format!("{before}{union}SELECT{after} 1 LIMIT {}", self.rows).into_bytes()
    }

    /// A statement that leaves the server as the served one would have: so many rows found, no warnings. It reads derived
    /// tables, because only a statement with a table clears the warnings of the last one, and which no character set or
    /// length of packets is in the way of; its LIMIT is in the way of sql_select_limit.
    fn statement(&self, [before, after]: [&str; 2], row: &str) -> Vec<u8> {
        const ROWS: u64 = 16;
        let values = vec![row; ROWS as usize].join(",");
        let table = |number: u32| format!("(VALUES {values}) AS t{number}");
        let enough = (1..=u64::BITS).find(|tables| ROWS.checked_pow(*tables).is_none_or(|rows| rows >= self.rows));
        let tables: Vec<_> = (0..enough.unwrap_or(1)).map(table).collect();
        format!("{before}SELECT{after} 1 FROM {} LIMIT {}", tables.join(", "), self.rows).into_bytes()
    }
}
