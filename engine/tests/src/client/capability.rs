//! Capability bits of the handshake; MariaDB's own start at bit 32.

pub const LONG_PASSWORD: u64 = 1;
pub const FOUND_ROWS: u64 = 1 << 1;
pub const LONG_FLAG: u64 = 1 << 2;
pub const CONNECT_WITH_DB: u64 = 1 << 3;
pub const NO_SCHEMA: u64 = 1 << 4;
pub const LOCAL_FILES: u64 = 1 << 7;
pub const PROTOCOL_41: u64 = 1 << 9;
pub const TRANSACTIONS: u64 = 1 << 13;
pub const SECURE_CONNECTION: u64 = 1 << 15;
pub const MULTI_STATEMENTS: u64 = 1 << 16;
pub const MULTI_RESULTS: u64 = 1 << 17;
pub const PS_MULTI_RESULTS: u64 = 1 << 18;
pub const PLUGIN_AUTH: u64 = 1 << 19;
pub const SESSION_TRACK: u64 = 1 << 23;
pub const DEPRECATE_EOF: u64 = 1 << 24;
pub const EXTENDED_METADATA: u64 = 1 << 35;
pub const CACHE_METADATA: u64 = 1 << 36;

/// The capabilities that every login of this client asks for. A [`Login`](super::Login) adds others.
pub const BASE: u64 = LONG_PASSWORD
    | LONG_FLAG
    | PROTOCOL_41
    | TRANSACTIONS
    | SECURE_CONNECTION
    | MULTI_RESULTS
    | PS_MULTI_RESULTS
    | PLUGIN_AUTH
    | LOCAL_FILES;
