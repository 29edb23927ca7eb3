//! Reads a session's state from the server. MariaDB and MySQL keep the same options of a session under the same bits.

use crate::declared::abi::Thd;
use crate::declared::variables;
use session::SessionState;

const AUTO_IS_NULL: i64 = 1 << 14;
/// Option bit: autocommit is off.
pub const NOT_AUTOCOMMIT: i64 = 1 << 19;
/// Option bit: a transaction was started explicitly.
pub const BEGIN: i64 = 1 << 20;
const TABLE_LOCK: i64 = 1 << 21;
const PROFILING: i64 = 1 << 33;

/// State of one server session, as the server has it now. Call only on the thread that runs the session.
pub trait Facts {
    /// Returns the server's own structure of the session, to pass to functions of the server.
    fn pointer(&self) -> *mut Thd;

    /// Returns the isolation level: 0 READ UNCOMMITTED, 1 READ COMMITTED, 2 REPEATABLE READ, 3 SERIALIZABLE.
    fn isolation(&self) -> i32;

    /// True if the session's transaction, or its next one if none is open, is read-only.
    fn is_read_only(&self) -> bool;

    /// Returns the collation id of `character_set_client`; 0 if the server does not say.
    fn collation_id(&self) -> u32;

    /// True if the session has any of the options in `bits`.
    fn option(&self, bits: i64) -> bool;

    /// True if LOCK TABLES is in force. The exported `thd_in_lock_tables` is true only while the tables are being locked.
    fn in_lock_tables(&self) -> bool {
        self.option(TABLE_LOCK)
    }

    /// Returns the part of the state that matters for a thread whose reads are never served from the cache; the other fields are defaults.
    fn transaction_state(&self) -> SessionState<'static> {
        SessionState {
            in_lock_tables: self.in_lock_tables(),
            has_begun: self.option(BEGIN),
            autocommit: !self.option(NOT_AUTOCOMMIT),
            ..SessionState::default()
        }
    }

    /// Returns the whole state. `database` is the current database, passed through as it is: none if it is still the one that was reported
    /// last.
    fn session_state<'a>(&self, database: Option<&'a [u8]>) -> SessionState<'a> {
        SessionState {
            isolation: self.isolation(),
            database,
            collation: self.collation_id(),
            cache_type: variables::type_of(self.pointer()),
            is_trial: variables::is_trial(self.pointer()),
            is_read_only: self.is_read_only(),
            must_run: self.option(AUTO_IS_NULL | PROFILING),
            ..self.transaction_state()
        }
    }
}
