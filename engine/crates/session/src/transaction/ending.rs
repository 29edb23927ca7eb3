//! Updates the state of the session's transaction at the end of a statement.

use crate::statement::recording::Recording;
use crate::statement::running::{Effect, Purpose, Running};
use crate::text::kinds::may_be_anything;
use crate::transaction::state::{Snapshot, Transaction};
use sql::{Kind, Xa};
use wire::{Outcome, status};

impl Transaction {
    /// Takes the status flags of a response: whether a transaction is open, and whether autocommit is on.
    pub fn take_flags(&mut self, flags: u16) {
        self.status = flags;
        let was_open = std::mem::replace(&mut self.is_open, flags & status::IN_TRANS != 0);
        self.may_have_savepoints &= self.is_open || !was_open;
        self.is_unfollowed &= self.is_open;
        self.is_doubtful = false;
        self.autocommit = flags & status::AUTOCOMMIT != 0;
    }

    /// Called after an error, whose packet has no flags. The failed statement may have started or ended a transaction;
    /// `has_begun` is the server's report whether one that was started explicitly is open now.
    pub fn take_begun(&mut self, has_begun: bool) {
        if !self.autocommit {
            return self.is_doubtful = !self.is_open;
        }
        if has_begun == self.is_open {
            return;
        }
        self.is_open = has_begun;
        self.snapshot = Snapshot::Unknown;
        self.is_branch &= has_begun;
        self.status &= !(status::IN_TRANS | status::IN_TRANS_READONLY);
        if has_begun {
            self.status |= status::IN_TRANS;
        }
    }

    /// Called at the end of a statement. Updates whether a SET TRANSACTION for the next transaction is pending. The next
    /// transaction that ends has used it up.
    pub fn note_set_once(&mut self, running: &Running, has_failed: bool) {
        let Effect::Statement(statement) = &running.effect else { return };
        let ends_one = match &statement.kind {
            Kind::SetTransaction(set) if set.scope == sql::TransactionScope::Next => {
                return self.is_set_once = true;
            }
            Kind::Set(assignments) if assignments.iter().any(|a| matches!(a.target, sql::Target::OneShot(_))) => {
                return self.is_set_once = true;
            }
            kind if may_be_anything(kind) => return self.is_set_once = true,
            Kind::Commit(_) | Kind::Rollback(_) => !has_failed,
            // A read of no transactional table was no transaction and did not use it up. For writes this is not known.
            Kind::Read(_) => !has_failed && running.read.as_ref().is_some_and(Recording::is_of_snapshot),
            _ => false,
        };
        if ends_one && !self.is_open {
            self.is_set_once = false;
        }
    }

    /// Called at the end of a statement. Updates whether there may be savepoints. They last until their transaction ends. With
    /// autocommit off they may exist before the transaction begins.
    pub fn note_savepoints(&mut self, running: &Running, has_failed: bool) {
        match running.kind() {
            Some(Kind::Begin(_) | Kind::Commit(_) | Kind::Rollback(_)) if !has_failed => {
                self.may_have_savepoints = false
            }
            Some(Kind::Savepoint | Kind::Call) => self.may_have_savepoints = true,
            Some(kind) if may_be_anything(kind) => self.may_have_savepoints = true,
            _ => {}
        }
    }

    /// Called at the end of a statement. Updates whether an XA transaction is open. It lasts as long as the server reports an
    /// open transaction.
    pub fn note_branch(&mut self, running: &Running, has_failed: bool) {
        let kind = running.kind();
        let may_begin = kind.is_some_and(|kind| matches!(kind, Kind::Xa(_) | Kind::Call) || may_be_anything(kind));
        let begins = matches!(kind, Some(Kind::Xa(Xa::Start)));
        self.is_branch = self.is_open && (may_begin || self.is_branch);
        self.is_own_branch = self.is_open && !has_failed && (begins || self.is_own_branch);
    }

    /// Updates what is known of the transaction's snapshot at the end of a command. `was_open` says that a transaction was open
    /// before it, or may have been.
    pub fn note_snapshot(&mut self, running: &Running, outcome: &Outcome, was_open: bool, has_failed: bool) {
        if let Purpose::OpenSnapshot(moment) = running.purpose {
            self.snapshot = if has_failed { Snapshot::Unknown } else { Snapshot::Open(moment) };
            return;
        }
        // Also after a failure: a deadlock, for instance, has rolled the transaction back, and the flags come only with the
        // next success.
        if !self.is_open || has_failed {
            self.snapshot = Snapshot::Unknown;
            return;
        }
        let kind = match (&running.effect, &running.purpose) {
            (_, Purpose::Idle | Purpose::QuerySettings) => return,
            (_, Purpose::Begin) => return self.snapshot = Snapshot::NotYet,
            (Effect::Statement(statement), _) => &statement.kind,
            _ => return,
        };
        if !was_open {
            self.snapshot = Snapshot::NotYet;
        }
        match kind {
            Kind::Begin(begin) if begin.consistent_snapshot => self.snapshot = Snapshot::Open(running.moment),
            Kind::Begin(_) | Kind::Commit(_) | Kind::Rollback(_) => self.snapshot = Snapshot::NotYet,
            Kind::Several => self.snapshot = Snapshot::Unknown,
            Kind::Read(_) => {
                let has_read = running.read.as_ref().is_some_and(|recording| recording.has_read_rows(outcome));
                self.after_read(running.moment, has_read);
            }
            _ => self.after_other(running.moment),
        }
    }
}
