//! Which stored results may be served in a transaction, and which of its own results may be stored.
//!
//! The rule for snapshots: in a REPEATABLE READ transaction, a result may be served only if the transaction's snapshot is certainly open,
//! and if none of the result's tables has changed after a stamp that is not later than the opening of the snapshot. An earlier stamp is
//! always safe, a later one never.

use crate::reason::ContextReason;
use crate::transaction::state::{Isolation, Snapshot, Transaction};
use cache::{CellId, Stamp, Versions};

/// Whether a stored result may be served now, and what the engine has to do first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The result may be served at once.
    Serve,
    /// The server must begin the transaction first. The engine sends a BEGIN, and then the read is tried again.
    Begin,
    /// The server must begin the transaction with an open snapshot first. Then the read is tried again.
    OpenSnapshot,
    /// The server must run the read, for this reason.
    Refuse(ContextReason),
}

impl Transaction {
    /// True if the engine may begin the transaction now: the client's BEGIN was deferred, or autocommit is off and the next read begins
    /// one.
    fn is_due(&self) -> bool {
        let begins_with_read = !self.autocommit && !self.is_open && !self.is_doubtful && !self.may_have_savepoints;
        self.deferred_begin.is_some() || begins_with_read
    }

    /// Decides whether a stored result may be served in the session's transaction. `cells` are what the result depends on; the caller has
    /// checked that it is current. `opens_snapshot` says that running this read would certainly open the server's snapshot, and that the
    /// engine may open it instead.
    pub fn admit(&self, versions: &Versions, cells: &[CellId], opens_snapshot: bool) -> Admission {
        use Admission::{Begin, OpenSnapshot, Refuse, Serve};
        if self.is_branch {
            return Refuse(ContextReason::Branch);
        }
        if self.is_unfollowed {
            return Refuse(ContextReason::Snapshot);
        }
        if self.isolation == Isolation::ReadUncommitted {
            return Refuse(ContextReason::Isolation);
        }
        if !self.has_begun() && self.is_set_once {
            return Refuse(ContextReason::Snapshot);
        }
        if !self.has_begun() && self.autocommit {
            return Serve;
        }
        if self.written.iter().any(|cell| cells.contains(cell)) {
            return Refuse(ContextReason::OwnWrites);
        }
        match (self.isolation, self.snapshot) {
            (Isolation::ReadCommitted, _) if self.has_begun() => Serve,
            (Isolation::ReadCommitted, _) if opens_snapshot && self.is_due() => Begin,
            (Isolation::RepeatableRead, Snapshot::Open(stamp)) if self.is_open => {
                if versions.is_fresh(cells, stamp) {
                    Serve
                } else {
                    Refuse(ContextReason::Snapshot)
                }
            }
            (Isolation::RepeatableRead, _) if opens_snapshot && self.is_due() => OpenSnapshot,
            (Isolation::Serializable, _) => Refuse(ContextReason::Isolation),
            _ => Refuse(ContextReason::Snapshot),
        }
    }

    /// The stamp that bounds what a near cache may serve in the open transaction: results that have not changed since. `u64::MAX` if each
    /// read has a snapshot of its own. None if it may serve nothing. Unlike `admit`, this refuses any transaction that has written
    /// something, because a near cache does not know which tables were written.
    pub fn near_snapshot(&self) -> Option<Stamp> {
        let may_serve = self.has_begun() && !self.is_branch && !self.is_unfollowed && self.written.is_empty();
        match (self.isolation, self.snapshot) {
            _ if !may_serve => None,
            (Isolation::ReadCommitted, _) => Some(Stamp(u64::MAX)),
            (Isolation::RepeatableRead, Snapshot::Open(stamp)) if self.is_open => Some(stamp),
            _ => None,
        }
    }

    /// The stamp for the result that the server is about to compute: the result will contain all changes up to that stamp. `now` is the
    /// current stamp. `Err`: why the result must not be stored.
    pub fn stamp(&self, now: Stamp) -> Result<Stamp, ContextReason> {
        match self.isolation {
            Isolation::ReadUncommitted => Err(ContextReason::Isolation),
            _ if self.is_unfollowed => Err(ContextReason::Snapshot),
            _ if !self.is_open && self.autocommit => Ok(now),
            Isolation::Serializable => Err(ContextReason::Isolation),
            Isolation::ReadCommitted => Ok(now),
            Isolation::RepeatableRead => match self.snapshot {
                _ if self.is_doubtful => Err(ContextReason::Snapshot),
                _ if !self.is_open => Ok(now),
                Snapshot::NotYet => Ok(now),
                Snapshot::Possibly(stamp) | Snapshot::Open(stamp) => Ok(stamp),
                Snapshot::Unknown => Err(ContextReason::Snapshot),
            },
        }
    }
}
