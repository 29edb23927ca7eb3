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
    /// A deferred BEGIN is made good, or done for the read that would begin a transaction.
    Begin,
    /// The same with the snapshot opened at once; the stamp was noted before.
    OpenSnapshot(Stamp),
    /// The session's settings.
    Ask,
    /// Nothing: the server only has to ask for the next command in its own way.
    Idle,
    /// The server learns how a statement's parameters are bound.
    Types,
    /// FOUND_ROWS() is made to say what the client saw. The warnings of an older statement go, or those of a later one stay.
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

/// The answer of a command that the client did not send.
pub(crate) struct HiddenError {
    pub answer: Vec<u8>,
    /// It was to begin a transaction, without which nothing may run.
    pub is_of_begin: bool,
}

/// A command that the server is busy with.
pub(crate) struct Running {
    pub tracker: ResponseTracker,
    pub purpose: Purpose,
    pub effect: Effect,
    /// When the server got it, of a statement of the client's.
    pub started_ns: Option<u64>,
    pub read: Option<Recording>,
    /// How the response is to be changed; it is held back until it is complete.
    pub rendering: Option<Rendering>,
    pub held: Vec<u8>,
    /// Noted before the server had the command.
    pub moment: Stamp,
    pub epoch: u64,
    /// What `Settings::inherited` said then.
    pub inherited: u64,
    pub may_run_others: bool,
    /// A statement whose text names nothing of the server's own.
    pub is_plain: bool,
    /// The catalogue's generation by which it certainly meets no routine; none if it may.
    pub stays_in: Option<u64>,
    /// The next statement that the server logs is this one, not one inside it.
    pub logs_itself: bool,
    /// The prepared statement that is executed, and what its column metadata is made from.
    pub execution: Option<(u32, Metadata)>,
    /// What the server did not know of before this read: still so, if it fails.
    pub replaced: Option<Unseen>,
    /// Nothing has been reported of it yet: no table locked for writing, no statement inside.
    pub is_inert: bool,
    /// What a write says, for when its tables are locked.
    pub wording: Option<Wording>,
    /// The only table that it has locked for writing, and how many cells were closed then.
    pub written_alone: Option<(Arc<Table>, usize)>,
    /// The table that gets one new row, whose key the response tells.
    pub generated: Option<Arc<Table>>,
    /// Whether a transaction is open after it, if the server has told that already.
    pub has_begun: Option<bool>,
    /// The client's bytes belong to the response (a local file, an authentication).
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

    /// The client does not get the response as the server gives it.
    pub fn is_kept_back(&self) -> bool {
        self.is_hidden() || self.rendering.is_some()
    }

    /// It makes good a BEGIN that the client takes for done, or that its read needs.
    pub(crate) fn begins(&self) -> bool {
        matches!(self.purpose, Purpose::Begin | Purpose::OpenSnapshot(_))
    }

    pub(crate) fn is_hidden(&self) -> bool {
        !matches!(self.purpose, Purpose::Client)
    }
}
