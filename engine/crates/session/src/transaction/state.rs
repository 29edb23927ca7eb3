//! The state of a session's transaction, as far as the server's responses and reports show it.

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
    /// The level that the server reports as this number, 0 to 3. Any other number counts as READ UNCOMMITTED, at which nothing
    /// is cached.
    pub fn from_number(number: i32) -> Isolation {
        match number {
            1 => Isolation::ReadCommitted,
            2 => Isolation::RepeatableRead,
            3 => Isolation::Serializable,
            _ => Isolation::ReadUncommitted,
        }
    }
}

/// The snapshot (read view) of an InnoDB transaction: which state of the tables its reads see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Snapshot {
    /// The transaction has started, and no statement has run in it that could open the snapshot.
    NotYet,
    /// A statement has run that may have opened the snapshot. The stamp was read before that statement ran.
    Possibly(Stamp),
    /// The snapshot is open. The stamp was read before it was opened, so it sees everything up to the stamp.
    Open(Stamp),
    /// Whether or when a snapshot was opened is not known: nothing is served or stored that depends on that.
    Unknown,
}

/// The state of a session's transaction, also while none is open.
#[derive(Debug)]
pub struct Transaction {
    /// The status flags of the last response that had any.
    pub status: u16,
    /// The last response was an error, which says nothing about the transaction.
    pub has_failed: bool,
    /// The server has a transaction open for this session. A deferred BEGIN does not count, see `has_begun`.
    pub is_open: bool,
    pub autocommit: bool,
    pub isolation: Isolation,
    /// The open transaction, or the next one, is read-only.
    pub is_read_only: bool,
    /// SET TRANSACTION is pending for the next transaction. That may be a single statement, so the server must run it.
    pub is_set_once: bool,
    /// This may be an XA transaction, in which the server refuses reads after XA END.
    pub is_branch: bool,
    /// This certainly is an XA transaction, which this session has started. Until it has ended, the server refuses to end
    /// another one.
    pub is_own_branch: bool,
    pub snapshot: Snapshot,
    /// With autocommit off, a statement has failed and no response with flags has come since. It may have opened a transaction
    /// and a snapshot.
    pub is_doubtful: bool,
    /// The server may know savepoints. With autocommit off they may exist before a transaction is open, and a BEGIN removes
    /// them.
    pub may_have_savepoints: bool,
    /// A transaction may be open since the engine was in light mode, and may have written anything. Cleared when the server
    /// reports that none is open.
    pub is_unfollowed: bool,
    /// Version cells of what the open transaction has written. They are closed again when it may commit.
    pub written: Vec<CellId>,
    /// The packet of a BEGIN that was acknowledged but not sent to the server yet.
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
            is_unfollowed: false,
            written: Vec::new(),
            deferred_begin: None,
        }
    }
}

impl Transaction {
    /// Resets the state, apart from the flags of the last response. Called after a change of user or a reset, which end the
    /// transaction.
    pub fn begin_anew(&mut self) {
        *self = Transaction { status: self.status, has_failed: self.has_failed, ..Transaction::default() };
    }

    /// Takes autocommit, read-only mode and isolation level, as the server reports them at the end of a statement.
    pub fn take_state(&mut self, autocommit: bool, is_read_only: bool, isolation: Isolation) {
        self.autocommit = autocommit;
        self.status = self.status & !status::AUTOCOMMIT | if autocommit { status::AUTOCOMMIT } else { 0 };
        (self.is_read_only, self.isolation) = (is_read_only, isolation);
    }

    /// The status flags for an answer that the engine gives this session's client. After a deferred BEGIN they say that a
    /// transaction is open.
    pub fn status_now(&self) -> u16 {
        const LASTING: u16 = status::OF_TRANSACTION | status::OF_MODE;
        match &self.deferred_begin {
            None => self.status & LASTING,
            // A read-only BEGIN is never deferred.
            Some(_) => self.status & LASTING & !status::IN_TRANS_READONLY | status::IN_TRANS,
        }
    }

    /// True if a transaction is open as the client sees it: on the server, or by a BEGIN that was acknowledged but not sent
    /// yet.
    pub fn has_begun(&self) -> bool {
        self.is_open || self.deferred_begin.is_some()
    }

    /// True if autocommit is on and no transaction is open as the client sees it, so that a read is a transaction of its own.
    pub fn is_outside(&self) -> bool {
        self.autocommit && !self.has_begun()
    }

    /// True if the state depends on whether the next read reads rows, because that opens a snapshot or uses up a pending SET
    /// TRANSACTION. Such a read must be followed to its end.
    pub fn heeds_reads(&self) -> bool {
        let may_be_closed = matches!(self.snapshot, Snapshot::NotYet | Snapshot::Possibly(_));
        let opens = if self.is_open { may_be_closed } else { !self.autocommit };
        opens || self.is_set_once
    }

    /// Called after light mode, in which the server did not report this session's statements. From here on a transaction may be
    /// open that has written anything.
    pub fn lose_sight(&mut self) {
        self.is_unfollowed = true;
        self.snapshot = Snapshot::Unknown;
        self.written.clear();
    }

    /// Notes that a read has run. `moment` is the stamp from before it; `certainly_opened` means that it has read rows from
    /// InnoDB, so that the snapshot is open.
    pub fn after_read(&mut self, moment: Stamp, certainly_opened: bool) {
        if !self.is_open || self.isolation != Isolation::RepeatableRead {
            return;
        }
        self.after_other(moment);
        if let (Snapshot::Possibly(before), true) = (self.snapshot, certainly_opened) {
            self.snapshot = Snapshot::Open(before);
        }
    }

    /// Notes that a statement has run that may or may not have opened the snapshot. `moment` is the stamp from before it.
    pub fn after_other(&mut self, moment: Stamp) {
        if self.snapshot == Snapshot::NotYet {
            self.snapshot = Snapshot::Possibly(moment);
        }
    }
}
