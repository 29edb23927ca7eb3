//! Reports of the server that are not responses. They are about a client connection, or about a thread whose packets are not seen.
//!
//! Reports are plain data: one may come from the thread that runs the statement, or from another machine. Only the order matters: a lock is
//! reported before the statement uses the table, and the end of a statement before its response is sent.

use crate::identity::account::Account;

/// An event on the server, for [`Session::report`](crate::Session::report) or
/// [`UnfollowedThread::report`](crate::UnfollowedThread::report).
#[derive(Debug)]
pub enum Report<'a> {
    /// The connection is authenticated. `state` is the session's first.
    Connected { account: Account, state: SessionState<'a> },
    /// COM_CHANGE_USER has succeeded; its response is still to come.
    UserChanged { account: Account },
    /// The session has set its `fqc_type`: 0 off, 1 on, 2 on demand.
    CacheType(u8),
    /// A statement is about to use a table, to read it or, unless `is_read_only`, to write it.
    Locked { db: &'a [u8], name: &'a [u8], is_read_only: bool },
    /// A replication applier locks a table for writing, and each row that it then changes is reported as a `Row` with the same `handler`,
    /// if [`UnfollowedThread::needs_rows_of`](crate::UnfollowedThread::needs_rows_of) asks for that.
    LocksRows { db: &'a [u8], name: &'a [u8], handler: usize },
    /// A replication applier changes a row of a table of `LocksRows`. `key` is the row's key in the server's format, or none if unknown.
    /// The change is visible to other sessions only after the transaction has ended.
    Row { handler: usize, key: Option<[u8; 8]> },
    /// A replication applier is about to commit or roll back its transaction, or to prepare it for another session to end.
    Commits,
    /// A statement creates, drops, renames or alters a table.
    Defined { db: &'a [u8], name: &'a [u8] },
    /// A statement is about to run. This includes statements inside a routine.
    Statement { text: &'a [u8] },
    /// A replication applier is about to run a statement, whose text is reported only after it has run.
    Applies { state: SessionState<'a> },
    /// A statement has ended. `state` is the state after it. `executed` is its text; empty if it failed or did something else.
    Ended { state: SessionState<'a>, executed: &'a [u8] },
    /// The thread or the connection has ended.
    Gone,
}

/// The settings and the state of a session on the server.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionState<'a> {
    /// The isolation level, in the server's numbering: 0 is READ UNCOMMITTED, 3 is SERIALIZABLE.
    pub isolation: i32,
    /// LOCK TABLES is in force.
    pub in_lock_tables: bool,
    /// The current database. None if it is still the one that was reported last.
    pub database: Option<&'a [u8]>,
    /// The id of the collation of the client's texts.
    pub collation: u32,
    /// The session's `fqc_type`.
    pub cache_type: u8,
    /// The session's `fqc_trial`.
    pub is_trial: bool,
    /// The next transaction, or the open one, is read-only.
    pub is_read_only: bool,
    /// Every read must run on the server, because it may refer to the last inserted row (`sql_auto_is_null`), or because SHOW PROFILES
    /// lists it.
    pub must_run: bool,
    /// A transaction that was started explicitly is open.
    pub has_begun: bool,
    pub autocommit: bool,
}
