//! A command that the server is running.

use crate::engine::Engine;
use crate::engine::tables::Table;
use crate::statement::prepared::Metadata;
use crate::statement::recording::Recording;
use crate::statement::rendering::Rendering;
use crate::statement::terms::{Terms, Wording};
use crate::statement::unseen::Unseen;
use crate::text::reading::Reading;
use cache::Stamp;
use sql::{Kind, Statement};
use std::sync::Arc;
use wire::{Expect, ResponseTracker};

pub(crate) enum Purpose {
    /// The client's own command.
    Client,
    /// A deferred BEGIN of the client, or the BEGIN for the read with which a transaction starts.
    Begin,
    /// Like `Begin`, but the snapshot is opened at once. The stamp was read before.
    OpenSnapshot(Stamp),
    /// The query for uncertain settings.
    Ask,
    /// A command without effect, for a host that needs the server to ask for the next command in its own way.
    Idle,
    /// Gives the server the parameter types of a prepared statement.
    Types,
    /// Makes FOUND_ROWS() return what the client expects after a pending read. The server's warnings are cleared, or kept if
    /// they belong to a later statement.
    Unseen { keeps_warnings: bool },
}

pub(crate) enum Effect {
    None,
    Statement(Arc<Statement>),
    Prepare { text: Arc<[u8]>, reading: Arc<Reading>, context: u64, terms: Terms },
    ChangeUser { charset: Option<u16> },
    Reset,
    Database,
}

/// The error of a command that the engine sent, kept as the answer to the client's command that depends on it.
pub(crate) struct HiddenError {
    pub answer: Vec<u8>,
    /// The command was to begin a transaction. Without it no statement of the client may run.
    pub is_of_begin: bool,
}

/// A command that the server is busy with.
pub(crate) struct Running {
    pub tracker: ResponseTracker,
    pub purpose: Purpose,
    pub effect: Effect,
    /// When the server got the command. None for commands that are no statement of the client.
    pub started_ns: Option<u64>,
    pub read: Option<Recording>,
    /// How the response is changed for the client. It is held back until it is complete.
    pub rendering: Option<Rendering>,
    pub held: Vec<u8>,
    /// The stamp from before the server got the command.
    pub moment: Stamp,
    pub epoch: u64,
    /// The value of `Settings::inherited` at that time.
    pub inherited: u64,
    pub may_run_others: bool,
    /// The text does not name the schema `sys`.
    pub is_plain: bool,
    /// The catalogue's generation in which the statement certainly calls no routine. None if it may call one.
    pub stays_in: Option<u64>,
    /// The next statement that the server reports is this one, not one inside it.
    pub logs_itself: bool,
    /// The prepared statement that is executed, and what its column metadata is made from.
    pub execution: Option<(u32, Metadata)>,
    /// The pending read before this statement, which sets FOUND_ROWS() itself. It is pending again if this statement fails.
    pub replaced: Option<Unseen>,
    /// Nothing was reported about it yet: no table locked for writing, no statement inside it.
    pub is_inert: bool,
    /// The text of a write, kept until its tables are locked.
    pub wording: Option<Wording>,
    /// The only table that it has locked for writing, and how many cells were closed then.
    pub written_alone: Option<(Arc<Table>, usize)>,
    /// The table that gets one new row, whose generated key is in the response.
    pub generated: Option<Arc<Table>>,
    /// Whether a transaction is open after it, if the server has reported that before the response.
    pub has_begun: Option<bool>,
    /// The client's packets belong to the response (a local file, an authentication).
    pub is_exchange: bool,
}

impl Running {
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
            epoch: engine.vigil().epoch(),
            inherited: engine.settings().inherited(),
            may_run_others: false,
            is_plain: false,
            stays_in: None,
            logs_itself: expect == Expect::Query,
            execution: None,
            replaced: None,
            is_inert: true,
            wording: None,
            written_alone: None,
            generated: None,
            has_begun: None,
            is_exchange: false,
        }
    }

    pub(crate) fn kind(&self) -> Option<&Kind> {
        match &self.effect {
            Effect::Statement(statement) => Some(&statement.kind),
            _ => None,
        }
    }

    /// True if the client does not get the response unchanged.
    pub fn is_kept_back(&self) -> bool {
        self.is_hidden() || self.rendering.is_some()
    }

    /// True if it sends a BEGIN that the client already got an answer for, or that a read needs.
    pub(crate) fn begins(&self) -> bool {
        matches!(self.purpose, Purpose::Begin | Purpose::OpenSnapshot(_))
    }

    pub(crate) fn is_hidden(&self) -> bool {
        !matches!(self.purpose, Purpose::Client)
    }
}
