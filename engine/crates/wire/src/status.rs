//! Status flags of OK and EOF packets.

pub const IN_TRANS: u16 = 1;
pub const AUTOCOMMIT: u16 = 1 << 1;
pub const MORE_RESULTS: u16 = 1 << 3;
pub const NO_GOOD_INDEX: u16 = 1 << 4;
pub const NO_INDEX: u16 = 1 << 5;
pub const CURSOR_EXISTS: u16 = 1 << 6;
pub const LAST_ROW_SENT: u16 = 1 << 7;
pub const DB_DROPPED: u16 = 1 << 8;
pub const NO_BACKSLASH_ESCAPES: u16 = 1 << 9;
pub const METADATA_CHANGED: u16 = 1 << 10;
pub const SLOW: u16 = 1 << 11;
pub const PS_OUT_PARAMS: u16 = 1 << 12;
pub const IN_TRANS_READONLY: u16 = 1 << 13;
/// Session tracking data follows in the OK packet.
pub const SESSION_STATE_CHANGED: u16 = 1 << 14;
pub const ANSI_QUOTES: u16 = 1 << 15;

/// The flags about the session's transaction. When a stored result is served, they are replaced by those of the session that receives it.
pub const OF_TRANSACTION: u16 = IN_TRANS | AUTOCOMMIT | IN_TRANS_READONLY;
/// The flags about the session's SQL mode that change how the server reads the text of statements.
pub const OF_MODE: u16 = ANSI_QUOTES | NO_BACKSLASH_ESCAPES;
/// The flags that a response may have and still be stored. With any other flag it must not be.
pub const STORABLE: u16 = OF_TRANSACTION | OF_MODE | NO_GOOD_INDEX | NO_INDEX | SLOW;
