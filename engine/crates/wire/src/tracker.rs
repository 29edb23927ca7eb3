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

/// The kind of response that a command can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// OK, ERR, results, or a request for a local file.
    Query,
    /// The response to COM_STMT_PREPARE: the statement's id, then definitions of its parameters and columns.
    Prepare,
    /// Like `Query`, with results in the binary protocol.
    Execute,
    /// Column definitions up to an EOF or OK.
    FieldList,
    /// One OK, EOF or ERR.
    Ok,
    /// One packet of plain text.
    Text,
    /// The exchange of an authentication, up to its OK or ERR.
    ChangeUser,
    /// The server does not respond.
    Nothing,
    /// The response never ends, and its bytes are not examined.
    Endless,
    /// Rows of an open cursor up to an EOF or OK, without column definitions.
    Fetch,
}

impl Expect {
    /// Returns the kind of response to a command. For `None`, an unknown command, and for one that may run any statement, it is the most
    /// general one, `Execute`. Never `Endless`: the caller chooses that itself, for example for a binary log.
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

/// How far a response has arrived, after [`ResponseTracker::feed`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The response is not complete: feed what the server sends next.
    More,
    /// The server waits for the client's file (LOAD DATA LOCAL). What the server sends after that belongs to the same response.
    LocalInfile,
    /// The response is complete.
    Done(Outcome),
    /// The bytes do not follow the known protocol. Nothing may be concluded about this connection any more.
    Confused,
}

/// A complete response of the server, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The kind of the response or, of several results, of the last one.
    pub kind: OutcomeKind,
    /// The last status flags, see [`status`]. None after an error, after plain text, and if a response to COM_STMT_PREPARE contains none.
    pub status: Option<u16>,
    /// The number of warnings that the last packet with status flags states.
    pub warnings: u16,
    /// The number of results with columns whose rows arrived completely, even if there were none.
    pub results: u32,
    /// True if the server announced a further result after one of them.
    pub more_results_seen: bool,
    /// True if columns of a result arrived, whatever followed them: rows or an error.
    pub has_columns: bool,
    /// The offsets of the status flags in the response, for [`patch_status`](crate::patch_status).
    pub status_offsets: StatusOffsets,
    /// The number of affected rows in the last OK packet that was no end of rows.
    pub affected_rows: u64,
    /// The last inserted id in the same packet.
    pub last_insert_id: u64,
    /// False if the server left definitions of columns or parameters out, as it may if that is agreed on.
    pub metadata_follows: bool,
    /// The number of bytes of the whole response, packet headers included.
    pub length: u64,
    /// The parameters of a prepared statement. There are fewer than the statement has if the server left their definitions out.
    pub parameters: Vec<Parameter>,
}

/// Why a response is not one complete result that could be sent to other sessions, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unstorable {
    /// The response is an error.
    Failed,
    /// The response reports warnings, which the server keeps for later statements of the session, such as SHOW WARNINGS.
    Warnings,
    /// The response is no result with columns, has several results, or has status flags about its session.
    Response,
}

impl Outcome {
    /// Returns why the response must not be stored, or none if nothing in it forbids that. `expected_warnings` is called only if there are
    /// warnings, and returns the number that every execution of the statement raises: so many do not forbid storing.
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

/// The kind of a complete response. `id` is that of a prepared statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeKind {
    Ok,
    Err { code: u16 },
    ResultSet { rows: u64, columns: u64 },
    Prepared { id: u32, params: u16, columns: u16 },
    Text,
}

/// The offsets of the status flags within a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatusOffsets {
    at: [u32; 2],
    count: u8,
}

impl StatusOffsets {
    /// Returns the offsets in bytes from the start of the response. They are complete for a single result of less than 4 GB; for several
    /// results only the first two are recorded.
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

/// Follows the server's response to one command as its bytes arrive, and reports when it is complete. It copies no rows.
#[derive(Clone, Debug)]
pub struct ResponseTracker {
    machine: Machine,
    window: Window,
    is_over: bool,
}

impl ResponseTracker {
    /// Creates a tracker for the response to one command. `capabilities` are those that client and server have agreed on.
    pub fn new(expect: Expect, capabilities: u64) -> Self {
        ResponseTracker {
            machine: Machine::new(expect, capabilities),
            window: Window::default(),
            is_over: expect == Expect::Nothing,
        }
    }

    /// Takes the next bytes that the server sent, in pieces of any size. Returns [`Progress::Confused`] if bytes follow the end of the
    /// response, in this call or in a later one. With [`Expect::Nothing`], any byte does.
    pub fn feed(&mut self, bytes: &[u8]) -> Progress {
        if self.is_over {
            return if bytes.is_empty() { Progress::More } else { Progress::Confused };
        }
        if self.machine.is_endless() {
            return Progress::More;
        }
        let mut rest = bytes;
        while let Some(prefix) = self.window.next_packet(&mut rest) {
            match self.machine.packet(&prefix) {
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
