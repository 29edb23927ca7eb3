//! Follows the server's bytes for one command, and reports when its whole response has been sent.
//!
//! Only the first bytes of each packet are examined. Payloads are never copied or kept, and a row costs one look at its header. After
//! `Done` or `Confused` every further byte is `Confused`.

mod machine;
mod prepare;
mod window;

use crate::{Command, status};
use machine::{Machine, Step};
pub use prepare::Parameter;
use window::Window;

/// The shape of response that a command can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// OK, ERR, results, or a request for a local file.
    Query,
    Prepare,
    /// Binary results or OK.
    Execute,
    FieldList,
    /// One OK, EOF or ERR.
    Ok,
    /// One packet of plain text.
    Text,
    /// The exchange of an authentication, up to its OK or ERR.
    ChangeUser,
    Nothing,
    Endless,
    /// Rows of an open cursor.
    Fetch,
}

impl Expect {
    /// The kind of response to a command. For an unknown command, and for one that may run any statement, it is the most general one.
    pub fn of(command: Option<Command>) -> Expect {
        match command {
            Some(Command::Query | Command::ProcessInfo) => Expect::Query,
            Some(Command::StmtPrepare) => Expect::Prepare,
            Some(Command::StmtClose | Command::StmtSendLongData | Command::Quit) => Expect::Nothing,
            Some(Command::Statistics) => Expect::Text,
            Some(Command::FieldList) => Expect::FieldList,
            Some(Command::StmtFetch) => Expect::Fetch,
            Some(Command::ChangeUser) => Expect::ChangeUser,
            Some(
                Command::StmtReset
                | Command::Ping
                | Command::SetOption
                | Command::Debug
                | Command::InitDb
                | Command::CreateDb
                | Command::DropDb
                | Command::Refresh
                | Command::Shutdown
                | Command::ProcessKill
                | Command::RegisterSlave
                | Command::ResetConnection,
            ) => Expect::Ok,
            _ => Expect::Execute,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    More,
    /// The server waits for the client's file. What it sends after that belongs to the same response.
    LocalInfile,
    Done(Outcome),
    /// The bytes do not follow the known protocol. Nothing may be concluded about this connection any more.
    Confused,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The kind of the last result.
    pub kind: OutcomeKind,
    /// The last status flags. None after ERR, after text, and after a prepared statement without columns.
    pub status: Option<u16>,
    pub warnings: u16,
    /// The number of results with rows.
    pub results: u32,
    pub more_results_seen: bool,
    /// Columns of a result came, whatever followed them: rows or an error.
    pub has_columns: bool,
    pub status_offsets: StatusOffsets,
    /// The number of affected rows in the last OK packet.
    pub affected_rows: u64,
    pub last_insert_id: u64,
    /// False if the server left column definitions out (MARIADB_CACHE_METADATA).
    pub metadata_follows: bool,
    /// The number of bytes of the whole response.
    pub length: u64,
    /// The parameters of a prepared statement. There are fewer than it has if the server left their definitions out.
    pub parameters: Vec<Parameter>,
}

/// Why a response is not one complete result that other sessions could be sent, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unstorable {
    Failed,
    /// It reports warnings, which the server would hold for later statements of the session.
    Warnings,
    /// The response is no result, has several results, or says something about its session.
    Response,
}

impl Outcome {
    /// Returns none if nothing in the response forbids storing it. `expected_warnings` gives the number of warnings that every execution of
    /// the statement raises.
    pub fn unstorable(&self, expected_warnings: impl FnOnce() -> u16) -> Option<Unstorable> {
        match self.kind {
            OutcomeKind::ResultSet { .. } => {}
            OutcomeKind::Err { .. } => return Some(Unstorable::Failed),
            _ => return Some(Unstorable::Response),
        }
        if self.warnings != 0 && self.warnings != expected_warnings() {
            return Some(Unstorable::Warnings);
        }
        let says_more = self.status.unwrap_or(0) & !status::STORABLE != 0;
        (self.results != 1 || self.more_results_seen || says_more).then_some(Unstorable::Response)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeKind {
    Ok,
    Err { code: u16 },
    ResultSet { rows: u64, columns: u64 },
    Prepared { id: u32, params: u16, columns: u16 },
    Text,
}

/// The offsets of the status flags within the response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatusOffsets {
    at: [u32; 2],
    count: u8,
}

impl StatusOffsets {
    /// The offsets. They are complete for a single result of less than 4 GB; of several results only the first ones are recorded.
    pub fn as_slice(&self) -> &[u32] {
        &self.at[..usize::from(self.count)]
    }

    fn push(&mut self, offset: u64) {
        if let (Some(slot), Ok(offset)) = (self.at.get_mut(usize::from(self.count)), u32::try_from(offset)) {
            *slot = offset;
            self.count += 1;
        }
    }
}

#[derive(Clone, Debug)]
pub struct ResponseTracker {
    machine: Machine,
    window: Window,
    is_over: bool,
}

impl ResponseTracker {
    pub fn new(expect: Expect, capabilities: u64) -> Self {
        ResponseTracker {
            machine: Machine::new(expect, capabilities),
            window: Window::default(),
            is_over: expect == Expect::Nothing,
        }
    }

    /// Takes the next bytes that the server sent, in pieces of any size.
    pub fn feed(&mut self, bytes: &[u8]) -> Progress {
        if self.is_over {
            return if bytes.is_empty() { Progress::More } else { Progress::Confused };
        }
        if self.machine.is_endless() {
            return Progress::More;
        }
        let mut rest = bytes;
        while let Some(front) = self.window.next_packet(&mut rest) {
            match self.machine.packet(&front) {
                Step::Continue => {}
                Step::ClientSpeaks => self.window.forget_sequence(),
                Step::LocalInfile if rest.is_empty() => {
                    self.window.forget_sequence();
                    return Progress::LocalInfile;
                }
                Step::Done(outcome) if rest.is_empty() => {
                    self.is_over = true;
                    return Progress::Done(outcome);
                }
                Step::LocalInfile | Step::Done(_) | Step::Confused => {
                    self.is_over = true;
                    return Progress::Confused;
                }
            }
        }
        self.is_over = self.window.is_broken();
        if self.is_over { Progress::Confused } else { Progress::More }
    }
}
