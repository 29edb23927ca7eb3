//! What the server reports besides its responses, about a connection or about a thread whose bytes are not seen.
//!
//! Plain data: a report may come from the thread that runs the statement, or from another machine. Only the order matters: a lock
//! is reported before the statement uses the table, and the end of a statement before its response leaves.

use crate::identity::account::Account;

#[derive(Debug)]
pub enum Report<'a> {
    /// The connection is authenticated.
    Connected { account: Account, state: SessionState<'a> },
    /// COM_CHANGE_USER has succeeded; its response is still to come.
    UserChanged { account: Account },
    /// The session has set its `fqc_type`.
    CacheType(u8),
    /// A statement locks a table.
    Locked { db: &'a [u8], name: &'a [u8], is_read_only: bool },
    /// An applier locks a table for writing, and each of its rows that change will be told of under this number.
    LocksRows { db: &'a [u8], name: &'a [u8], handler: usize },
    /// An applier has changed a row of such a table, or is about to: its key, as the server keeps it, if that is known. Nobody sees
    /// it before the transaction has ended.
    Row { handler: usize, key: Option<[u8; 8]> },
    /// An applier is about to end its transaction, or to prepare it for whoever ends it.
    Commits,
    /// A table is created, dropped, renamed or altered.
    Defined { db: &'a [u8], name: &'a [u8] },
    /// A statement is about to run, also one inside a routine.
    Statement { text: &'a [u8] },
    /// An applier is about to run a statement, which is told of only after it has run.
    Applies { state: SessionState<'a> },
    /// A statement has ended. `executed`: the text of what it has done, empty if it failed or did something else.
    Ended { state: SessionState<'a>, executed: &'a [u8] },
    /// The thread has ended, or the connection.
    Gone,
}

/// What is in force in a session of the server.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionState<'a> {
    /// The server's own numbering.
    pub isolation: i32,
    pub in_lock_tables: bool,
    /// None: the one that was told last.
    pub database: Option<&'a [u8]>,
    pub collation: u32,
    /// The session's `fqc_type`.
    pub cache_type: u8,
    /// The session's `fqc_trial`.
    pub is_trial: bool,
    /// The next transaction, or the one that is open, is read only.
    pub is_read_only: bool,
    /// No read may pass the server by: it may mean the last inserted row (`sql_auto_is_null`), or SHOW PROFILES lists it.
    pub must_run: bool,
    /// A transaction that was begun explicitly is open.
    pub has_begun: bool,
    pub autocommit: bool,
}
