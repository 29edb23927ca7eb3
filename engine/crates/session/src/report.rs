//! What the server tells of a session besides its responses.

/// What the server says of the session at the end of a statement.
#[derive(Clone, Copy, Debug)]
pub struct ThreadFacts<'a> {
    pub isolation: i32,
    pub in_lock_tables: bool,
    pub database: &'a [u8],
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
