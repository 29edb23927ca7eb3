//! What a transaction allows: which stored results may be served in it, and which of its own results may be stored.
//!
//! The rule for snapshots: in a REPEATABLE READ transaction a result may be served only if none of its tables changed
//! after a moment that is not later than the opening of the transaction's own snapshot, and only if that snapshot is
//! certainly open. An earlier moment is always safe, a later one never.

use crate::reason::Own;
use crate::transaction::state::{Isolation, Snapshot, Transaction};
use cache::{CellId, Stamp, Versions};

/// Whether a stored result may be served now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    Serve,
    /// The server must begin the transaction first.
    Begin,
    /// It must begin it with its snapshot open.
    OpenSnapshot,
    Refuse(Own),
}

impl Transaction {
    /// The client has begun a transaction that the server does not know of, or its first read begins one.
    fn is_due(&self) -> bool {
        let begins_with_read = !self.autocommit && !self.is_open && !self.is_doubtful && !self.may_have_savepoints;
        self.deferred_begin.is_some() || begins_with_read
    }

    /// `opens_snapshot`: running the statement of this result would certainly open the server's snapshot, and the engine may
    /// open it in its place.
    pub fn admit(&self, versions: &Versions, cells: &[CellId], opens_snapshot: bool) -> Admission {
        use Admission::{Begin, OpenSnapshot, Refuse, Serve};
        if self.is_branch {
            return Refuse(Own::Branch);
        }
        if self.is_unseen {
            return Refuse(Own::Snapshot);
        }
        if self.isolation == Isolation::ReadUncommitted {
            return Refuse(Own::Isolation);
        }
        if !self.has_begun() && self.is_set_once {
            return Refuse(Own::Snapshot);
        }
        if !self.has_begun() && self.autocommit {
            return Serve;
        }
        if self.written.iter().any(|cell| cells.contains(cell)) {
            return Refuse(Own::OwnWrites);
        }
        match (self.isolation, self.snapshot) {
            (Isolation::ReadCommitted, _) if self.has_begun() => Serve,
            (Isolation::ReadCommitted, _) if opens_snapshot && self.is_due() => Begin,
            (Isolation::RepeatableRead, Snapshot::Open(stamp)) if self.is_open => {
                if versions.is_fresh(cells, stamp) {
                    Serve
                } else {
                    Refuse(Own::Snapshot)
                }
            }
            (Isolation::RepeatableRead, _) if opens_snapshot && self.is_due() => OpenSnapshot,
            (Isolation::Serializable, _) => Refuse(Own::Isolation),
            _ => Refuse(Own::Snapshot),
        }
    }

    /// In the open transaction, a near cache may serve results that have not changed since this stamp. `None`: it may serve nothing. The
    /// conditions are those of `admit`, with one more: the transaction has written nothing, because a near cache does not know which tables
    /// were written.
    pub fn snapshot_beside(&self) -> Option<Stamp> {
        let may_serve = self.has_begun() && !self.is_branch && !self.is_unseen && self.written.is_empty();
        match (self.isolation, self.snapshot) {
            _ if !may_serve => None,
            (Isolation::ReadCommitted, _) => Some(Stamp(u64::MAX)),
            (Isolation::RepeatableRead, Snapshot::Open(stamp)) if self.is_open => Some(stamp),
            _ => None,
        }
    }

    /// The stamp under which a result that the server is about to compute may be stored.
    pub fn stamp(&self, now: Stamp) -> Result<Stamp, Own> {
        match self.isolation {
            Isolation::ReadUncommitted => Err(Own::Isolation),
            _ if self.is_unseen => Err(Own::Snapshot),
            _ if !self.is_open && self.autocommit => Ok(now),
            Isolation::Serializable => Err(Own::Isolation),
            Isolation::ReadCommitted => Ok(now),
            Isolation::RepeatableRead => match self.snapshot {
                _ if self.is_doubtful => Err(Own::Snapshot),
                _ if !self.is_open => Ok(now),
                Snapshot::NotYet => Ok(now),
                Snapshot::Possibly(stamp) | Snapshot::Open(stamp) => Ok(stamp),
                Snapshot::Unknown => Err(Own::Snapshot),
            },
        }
    }
}
