//! A command that the server is running.

use crate::engine::Engine;
use crate::engine::tables::Table;
use crate::statement::parse_context::{ParseContext, RunningWrite};
use crate::statement::pending_read::PendingRead;
use crate::statement::prepared::Metadata;
use crate::statement::recording::Recording;
use crate::statement::rendering::Rendering;
use crate::text::analysis::Analysis;
use cache::Stamp;
use sql::{Kind, Statement};
use std::sync::Arc;
use wire::{Expect, ResponseTracker};

/// The reason why a command was sent to the server. All but the client's own are hidden from the client.
pub(crate) enum Purpose {
    /// The client's own command.
    Client,
    /// A deferred BEGIN of the client, or the BEGIN for the read with which a transaction starts.
    Begin,
    /// A START TRANSACTION WITH CONSISTENT SNAPSHOT in place of a BEGIN for the read with which a transaction starts.
    /// The stamp was read before it was sent.
    OpenSnapshot(Stamp),
    /// The engine's query for settings of the session that are not certain.
    QuerySettings,
    /// A command without effect, for a host that needs the server to ask for the next command in its own way.
    Idle,
    /// Gives the server parameter types of a prepared statement that it has not seen, because the executions with them were
    /// answered from the cache.
    Types,
    /// Makes the server catch up with a pending read (a served result that it has not seen): FOUND_ROWS() then returns what the
    /// client expects. The server's warnings are cleared, or kept if they belong to a later statement.
    PendingRead { keeps_warnings: bool },
}

/// The part of the session that a command changes when it succeeds.
pub(crate) enum Effect {
    /// No effect on the session.
    None,
    /// The effect of this statement.
    Statement(Arc<Statement>),
    /// A statement is prepared, under the id in the response. `context` is the number of the session context, or 0 if it is not
    /// cached.
    Prepare { text: Arc<[u8]>, analysis: Arc<Analysis>, context: u64, parse_context: ParseContext },
    /// The session begins afresh with another account. `charset` is None if the command does not name one.
    ChangeUser { charset: Option<u16> },
    /// The session begins afresh with the same account.
    Reset,
    /// Another database becomes the current one.
    Database,
}

/// The error of a command that the engine sent, kept as the answer to the client's command that depends on it.
pub(crate) struct HiddenError {
    /// The error packet for the client.
    pub answer: Vec<u8>,
    /// The command was to begin a transaction. Without it no statement of the client may run.
    pub is_of_begin: bool,
}

/// A command that the server is busy with: one of the client, or one of the engine's own.
pub(crate) struct Running {
    pub tracker: ResponseTracker,
    pub purpose: Purpose,
    pub effect: Effect,
    /// The time of the engine's clock in nanoseconds when the server got the command. None for commands that are no statement
    /// of the client.
    pub started_ns: Option<u64>,
    /// The recording of a read, so that its result can be stored. None for other commands and for reads that are not cached.
    pub read: Option<Recording>,
    /// How the response is changed for the client. It is held back until it is complete.
    pub rendering: Option<Rendering>,
    /// The bytes of the response so far, if they are needed once it is complete. Otherwise empty.
    pub held: Vec<u8>,
    /// The stamp (a point in the sequence of all changes) from before the server got the command.
    pub moment: Stamp,
    /// The value of `EngineMode::epoch` from before the server got the command. If it has changed at the end, reports may be
    /// missing.
    pub epoch: u64,
    /// The value of `Settings::inherited` from before the server got the command.
    pub inherited: u64,
    /// The server may run other statements inside this one, for instance of a routine.
    pub may_run_others: bool,
    /// The text certainly does not name the schema `sys`.
    pub is_plain: bool,
    /// The catalogue's generation in which the statement certainly calls no routine, so that the server does not look up
    /// privileges again. None if it may.
    pub stays_in: Option<u64>,
    /// The next statement that the server reports is this one, not one inside it.
    pub logs_itself: bool,
    /// The id of the prepared statement that is executed, and what the column metadata of its result is made from. None for
    /// other commands.
    pub execution: Option<(u32, Metadata)>,
    /// The pending read (a served result that the server has not seen) before this statement, which sets FOUND_ROWS() itself.
    /// It is pending again if this statement fails.
    pub replaced: Option<PendingRead>,
    /// Nothing was reported about the command yet: no table locked for writing, no statement inside it.
    pub is_inert: bool,
    /// The text of a write, until its tables are locked. None for other statements.
    pub running_write: Option<RunningWrite>,
    /// The only table that the statement has locked for writing, and how many cells were closed then. None if there is none, or
    /// more than one.
    pub written_alone: Option<(Arc<Table>, usize)>,
    /// The table that gets one new row, whose generated key is in the response. None for other statements.
    pub generated: Option<Arc<Table>>,
    /// The server's report whether a transaction that was started explicitly is open after the statement. None if it was not
    /// reported before the response.
    pub has_begun: Option<bool>,
    /// The client's packets are no commands now but belong to this command (a local file, an authentication).
    pub is_exchange: bool,
}

impl Running {
    /// A command that is about to be sent to the server. To be made before the server gets it, because it reads the current
    /// stamp.
    pub fn new(engine: &Engine, purpose: Purpose, expect: Expect, capabilities: u64) -> Running {
        Running {
            tracker: ResponseTracker::new(expect, capabilities),
            purpose,
            effect: Effect::None,
            started_ns: None,
            read: None,
            rendering: None,
            held: Vec::new(),
            moment: engine.versions().now(),
            epoch: engine.mode().epoch(),
            inherited: engine.settings().inherited(),
            may_run_others: false,
            is_plain: false,
            stays_in: None,
            logs_itself: expect == Expect::Query,
            execution: None,
            replaced: None,
            is_inert: true,
            running_write: None,
            written_alone: None,
            generated: None,
            has_begun: None,
            is_exchange: false,
        }
    }

    /// The kind of the statement; None for a command that runs none.
    pub(crate) fn kind(&self) -> Option<&Kind> {
        match &self.effect {
            Effect::Statement(statement) => Some(&statement.kind),
            _ => None,
        }
    }

    /// True if the client does not get the response unchanged: it is hidden, or changed once it is complete.
    pub fn is_kept_back(&self) -> bool {
        self.is_hidden() || self.rendering.is_some()
    }

    /// True if the command is a BEGIN that the engine sends: one that the client already got an answer for, or one that a read
    /// needs.
    pub(crate) fn begins(&self) -> bool {
        matches!(self.purpose, Purpose::Begin | Purpose::OpenSnapshot(_))
    }

    /// True if the command is one of the engine's own, whose response the client does not get.
    pub(crate) fn is_hidden(&self) -> bool {
        !matches!(self.purpose, Purpose::Client)
    }
}
