//! What a user sees in SQL: MySQL's names for the cache's variables, and `SHOW FQC`.

mod report;

use crate::Decision;
use crate::commands::injections::query_packet;
use crate::engine::Engine;
use crate::identity::habits::Habits;
use crate::identity::variables::ASKABLE;
use crate::session::Session;
use sql::surface::Renamed;
use sql::{Kind, Show, ShowScope, Statement};
use std::sync::Arc;
use wire::Expect;

/// Rows of which the server is told one by one.
const MOST_WITHOUT_TABLE: u64 = 4096;

/// A result that was served without the server knowing of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pending {
    pub rows: u64,
    /// The server has run nothing since.
    pub is_latest: bool,
    /// The engine itself has replaced the number by a question of its own.
    pub is_owed: bool,
    /// The command itself, where the number of rows found is not that of the result.
    pub replay: Vec<u8>,
}

impl Pending {
    /// Whether the server must be told before it runs this statement. After others have run only the number of rows
    /// found is still that of the served result.
    pub fn matters_to(&self, statement: &Statement, text: &[u8]) -> bool {
        statement.reads_diagnostics && (self.is_latest || sql::says(text, b"found_rows"))
    }

    /// The server must run the statement itself to know the number.
    pub fn is_replayed(&self) -> bool {
        !self.replay.is_empty()
    }

    /// That of a prepared statement.
    pub fn execution(&self) -> Option<wire::Execute<'_>> {
        let payload = self.replay.get(4..)?;
        (payload.first() == Some(&(wire::Command::StmtExecute as u8))).then(|| wire::Execute::parse(payload)).flatten()
    }

    pub fn may_execute(&self, id: u32) -> bool {
        let is_last = |id| id == crate::statement::prepared::LAST;
        self.execution().is_some_and(|execute| execute.id == id || is_last(execute.id) || is_last(id))
    }

    /// The server can be told without a table, and so without an end of the warnings that it holds.
    pub fn can_keep_warnings(&self) -> bool {
        !self.is_replayed() && self.rows <= MOST_WITHOUT_TABLE
    }

    /// What the server must run, and what it will answer. What is set for a statement is in the way of max_join_size; where that is
    /// not needed nothing is set, because the server may report it to the client.
    pub fn command(self, keeps_warnings: bool, limits_joins: bool) -> (Vec<u8>, Expect) {
        let free: &[u8] = if limits_joins { b"SET STATEMENT sql_big_selects = 1 FOR " } else { b"" };
        match self.replay.get(4) {
            None if keeps_warnings => (query_packet(&[free, &self.statement_without_table()].concat()), Expect::Query),
            None => (query_packet(&[free, &self.statement()].concat()), Expect::Query),
            Some(&command) if command == wire::Command::Query as u8 => (self.replay, Expect::Query),
            Some(_) => (self.replay, Expect::Execute),
        }
    }

    /// A statement that leaves so many rows found, and the warnings as they are.
    fn statement_without_table(&self) -> Vec<u8> {
        let others = vec!["(1)"; self.rows.saturating_sub(1) as usize].join(",");
        let union = if others.is_empty() { String::new() } else { format!("VALUES {others} UNION ALL ") };
        format!("{union}SELECT 1 LIMIT {}", self.rows).into_bytes()
    }

    /// A statement that leaves the server as the served one would have: so many rows found, no warnings. It reads derived
    /// tables, because only a statement with a table clears the warnings of the last one, and which no character set or
    /// length of packets is in the way of; its LIMIT is in the way of sql_select_limit.
    fn statement(&self) -> Vec<u8> {
        const ROWS: u64 = 16;
        let values = vec!["(1)"; ROWS as usize].join(",");
        let table = |number: u32| format!("(VALUES {values}) AS t{number}");
        let enough = (1..=u64::BITS).find(|tables| ROWS.checked_pow(*tables).is_none_or(|rows| rows >= self.rows));
        let tables: Vec<_> = (0..enough.unwrap_or(1)).map(table).collect();
        format!("SELECT 1 FROM {} LIMIT {}", tables.join(", "), self.rows).into_bytes()
    }
}

/// Asks the server for the settings that a session changed by an expression, and first for the number of rows found,
/// which the question itself replaces, and for what sessions run at their beginning.
pub(crate) fn question() -> Vec<u8> {
    let askable = ASKABLE.iter().map(|name| format!("@@SESSION.{}", String::from_utf8_lossy(name)));
    let names: Vec<String> = askable.chain(Habits::QUESTIONS.map(str::to_owned)).collect();
    query_packet(format!("SELECT FOUND_ROWS(), @@GLOBAL.init_connect, {}", names.join(", ")).as_bytes())
}

/// The values of the one row of a text result.
pub(crate) fn answer(response: &[u8], capabilities: u64) -> Option<Vec<Vec<u8>>> {
    let mut packets = wire::packets(response);
    let columns = *packets.next()?.payload.first()?;
    let skipped = usize::from(columns) + usize::from(capabilities & wire::capability::DEPRECATE_EOF == 0);
    let row = packets.nth(skipped)?;
    let mut reader = wire::lenenc::Reader::new(row.payload);
    // What the server is asked for has no zeros but those of a wide character set of results.
    let narrow = |value: &[u8]| value.iter().copied().filter(|byte| *byte != 0).collect();
    (0..columns).map(|_| reader.string().map(narrow)).collect()
}

/// How a response is changed before the client gets it.
pub(crate) enum Rendering {
    /// Column names that were translated for the server.
    Names(Vec<Renamed>),
    /// Values of the server's own, switched-off query cache.
    Values(Vec<(&'static str, String)>),
    /// The statement was only a test of privileges: with a result, this one is sent instead.
    Report(Vec<u8>),
}

impl Rendering {
    pub fn apply(&self, response: &[u8], capabilities: u64) -> Option<Vec<u8>> {
        match self {
            Rendering::Names(renamed) if is_error(response) => Some(rename_in_error(response, renamed)),
            Rendering::Names(renamed) => {
                let names: Vec<_> = renamed.iter().map(|name| (name.ours.as_bytes(), name.theirs.as_slice())).collect();
                wire::surface::rename_columns(response, capabilities, &names)
            }
            Rendering::Values(values) => {
                let values: Vec<_> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
                wire::surface::replace_values(response, capabilities, &values)
            }
            Rendering::Report(report) => (!is_error(response)).then(|| report.clone()),
        }
    }
}

/// With a state and a message behind its header.
fn is_error(response: &[u8]) -> bool {
    response.get(4) == Some(&0xFF) && response.len() >= 13
}

/// The server's message names the variable that it knows; the user wrote another.
fn rename_in_error(response: &[u8], renamed: &[Renamed]) -> Vec<u8> {
    let mut payload = String::from_utf8_lossy(&response[13..]).into_owned();
    for name in renamed {
        payload = payload.replace(name.ours, &String::from_utf8_lossy(&name.theirs));
    }
    let mut packet = Vec::new();
    let head = &response[4..13];
    wire::push_packet(&mut packet, &mut { response[3] }, &[head, payload.as_bytes()].concat());
    packet
}

/// Fails without the PROCESS privilege, and otherwise does nothing: this storage engine has no status to show.
const PROCESS_TEST: &[u8] = b"SHOW ENGINE MyISAM STATUS";

pub(crate) fn intercept(
    session: &mut Session,
    engine: &Engine,
    statement: &Arc<Statement>,
    text: &[u8],
) -> Option<Decision> {
    let (packet, rendering) = match &statement.kind {
        Kind::Show(Show::Fqc { topic, .. }) => {
            let report = report::build(session, engine, *topic);
            (Some(query_packet(PROCESS_TEST)), Rendering::Report(report))
        }
        Kind::Show(Show::Variables { scope, .. }) => (None, Rendering::Values(values(session, engine, *scope))),
        _ => {
            let rewrite = sql::surface::rewrite(text, session.variables.mode)?;
            let statement = Arc::new(sql::classify(&rewrite.text, session.variables.mode));
            session.forward(engine, &statement, Expect::Query, None);
            session.hold(Rendering::Names(rewrite.renamed));
            return Some(Decision::Replace(query_packet(&rewrite.text)));
        }
    };
    session.forward(engine, statement, Expect::Query, None);
    session.hold(rendering);
    Some(packet.map_or(Decision::Forward, Decision::Replace))
}

/// What `SHOW VARIABLES` must say in place of the server's own, switched-off cache.
fn values(session: &Session, engine: &Engine, scope: ShowScope) -> Vec<(&'static str, String)> {
    let type_number = match scope {
        ShowScope::Global => engine.settings.global_type(),
        ShowScope::Session => session.cache_type,
    };
    let type_name = ["OFF", "ON", "DEMAND"][usize::from(type_number.min(2))];
    vec![
        ("query_cache_type", type_name.to_owned()),
        ("query_cache_size", engine.settings.size().to_string()),
        ("query_cache_limit", engine.settings.limit().to_string()),
    ]
}

impl Session {
    fn hold(&mut self, rendering: Rendering) {
        if let Some(running) = &mut self.running {
            running.rendering = Some(rendering);
        }
    }
}
