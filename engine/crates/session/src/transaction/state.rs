//! Where a session stands in its transaction.

use cache::{CellId, Stamp};
use wire::status;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isolation {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

impl Isolation {
    /// The server's own numbering.
    pub fn from_number(number: i32) -> Isolation {
        match number {
            1 => Isolation::ReadCommitted,
            2 => Isolation::RepeatableRead,
            3 => Isolation::Serializable,
            _ => Isolation::ReadUncommitted,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Snapshot {
    /// The transaction has begun, no statement has run in it.
    NotYet,
    /// A statement has run that may have opened it, or not; the stamp was noted before.
    Possibly(Stamp),
    /// Open; the stamp was noted before it was opened.
    Open(Stamp),
    Unknown,
}

#[derive(Debug)]
pub struct Transaction {
    /// The flags of the last response that told any.
    pub status: u16,
    /// The last response was an error, which tells nothing of the transaction.
    pub has_failed: bool,
    pub is_open: bool,
    pub autocommit: bool,
    pub isolation: Isolation,
    pub is_read_only: bool,
    /// SET TRANSACTION waits for the next transaction, which may be a single statement: the server must run that one.
    pub is_set_once: bool,
    /// It may be a branch of an XA transaction, in which the server refuses reads after XA END.
    pub is_branch: bool,
    /// It certainly is one, which the session began before our eyes: until it has ended the server refuses to end another.
    pub is_own_branch: bool,
    pub snapshot: Snapshot,
    /// With autocommit off a statement has failed, and nothing was told since: it may have opened a snapshot.
    pub is_doubtful: bool,
    /// The server may know savepoints. With autocommit off it does so before a transaction is open, and a BEGIN removes them.
    pub may_have_savepoints: bool,
    /// It may be open since a doze of the engine, and have written anything. Until the server says that none is open.
    pub is_unseen: bool,
    /// Tables that the open transaction has written.
    pub written: Vec<CellId>,
    /// A BEGIN that was answered but not yet passed on: its packet.
    pub deferred_begin: Option<Vec<u8>>,
}

impl Default for Transaction {
    fn default() -> Self {
        Transaction {
            status: status::AUTOCOMMIT,
            has_failed: false,
            is_open: false,
            autocommit: true,
            isolation: Isolation::RepeatableRead,
            is_read_only: false,
            is_set_once: false,
            is_branch: false,
            is_own_branch: false,
            snapshot: Snapshot::Unknown,
            is_doubtful: false,
            may_have_savepoints: false,
            is_unseen: false,
            written: Vec::new(),
            deferred_begin: None,
        }
    }
}

impl Transaction {
    /// Another user or a reset: there is none any more.
    pub fn begin_anew(&mut self) {
        *self = Transaction { status: self.status, has_failed: self.has_failed, ..Transaction::default() };
    }

    /// What the server says at the end of a statement.
    pub fn take_state(&mut self, autocommit: bool, is_read_only: bool, isolation: Isolation) {
        self.autocommit = autocommit;
        self.status = self.status & !status::AUTOCOMMIT | if autocommit { status::AUTOCOMMIT } else { 0 };
        (self.is_read_only, self.isolation) = (is_read_only, isolation);
    }

    /// The flags of this session as the client must see them: a deferred BEGIN counts.
    pub fn status_now(&self) -> u16 {
        const LASTING: u16 = status::OF_TRANSACTION | status::OF_MODE;
        match &self.deferred_begin {
            None => self.status & LASTING,
            // One that reads only is never deferred.
            Some(_) => self.status & LASTING & !status::IN_TRANS_READONLY | status::IN_TRANS,
        }
    }

    /// In the client's eyes: a deferred BEGIN counts.
    pub fn has_begun(&self) -> bool {
        self.is_open || self.deferred_begin.is_some()
    }

    /// No transaction promises anything.
    pub fn is_outside(&self) -> bool {
        self.autocommit && !self.has_begun()
    }

    /// Whether it matters here what the next read has read.
    pub fn heeds_reads(&self) -> bool {
        let may_be_closed = matches!(self.snapshot, Snapshot::NotYet | Snapshot::Possibly(_));
        let opens = if self.is_open { may_be_closed } else { !self.autocommit };
        opens || self.is_set_once
    }

    /// What it has done lately was not told.
    pub fn lose_sight(&mut self) {
        self.is_unseen = true;
        self.snapshot = Snapshot::Unknown;
        self.written.clear();
    }

    /// A read has run. `moment` was noted before; `certainly_opened`: it read rows from InnoDB.
    pub fn after_read(&mut self, moment: Stamp, certainly_opened: bool) {
        if !self.is_open || self.isolation != Isolation::RepeatableRead {
            return;
        }
        self.after_other(moment);
        if let (Snapshot::Possibly(before), true) = (self.snapshot, certainly_opened) {
            self.snapshot = Snapshot::Open(before);
        }
    }

    /// Any other statement has run: whether it opened the snapshot is not known.
    pub fn after_other(&mut self, moment: Stamp) {
        if self.snapshot == Snapshot::NotYet {
            self.snapshot = Snapshot::Possibly(moment);
        }
    }
}
