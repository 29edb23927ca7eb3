//! Capability bits; MariaDB's extended ones are in the high half.

pub const MYSQL: u64 = 1;
pub const FOUND_ROWS: u64 = 1 << 1;
pub const CONNECT_WITH_DB: u64 = 1 << 3;
/// A name's database is left out.
pub const NO_SCHEMA: u64 = 1 << 4;
pub const COMPRESS: u64 = 1 << 5;
pub const LOCAL_FILES: u64 = 1 << 7;
pub const IGNORE_SPACE: u64 = 1 << 8;
pub const PROTOCOL_41: u64 = 1 << 9;
pub const INTERACTIVE: u64 = 1 << 10;
pub const SSL: u64 = 1 << 11;
pub const TRANSACTIONS: u64 = 1 << 13;
pub const SECURE_CONNECTION: u64 = 1 << 15;
pub const MULTI_STATEMENTS: u64 = 1 << 16;
pub const MULTI_RESULTS: u64 = 1 << 17;
pub const PS_MULTI_RESULTS: u64 = 1 << 18;
pub const PLUGIN_AUTH: u64 = 1 << 19;
pub const CONNECT_ATTRS: u64 = 1 << 20;
pub const PLUGIN_AUTH_LENENC: u64 = 1 << 21;
pub const SESSION_TRACK: u64 = 1 << 23;
pub const DEPRECATE_EOF: u64 = 1 << 24;
/// MySQL 8: zstd compression.
pub const ZSTD_COMPRESS: u64 = 1 << 26;
/// Progress reports in older clients.
pub const PROGRESS_OBSOLETE: u64 = 1 << 29;
pub const MARIADB_PROGRESS: u64 = 1 << 32;
pub const MARIADB_MULTI: u64 = 1 << 33;
pub const MARIADB_BULK: u64 = 1 << 34;
pub const MARIADB_EXTENDED_METADATA: u64 = 1 << 35;
pub const MARIADB_CACHE_METADATA: u64 = 1 << 36;
pub const MARIADB_BULK_UNIT_RESULTS: u64 = 1 << 37;

/// Those that change what a statement means or the bytes of its response: part of what makes two statements the same. How spaces
/// are read is part of it, too, as a mode.
pub const RESPONSE_SHAPING: u64 = FOUND_ROWS
    | NO_SCHEMA
    | PROTOCOL_41
    | MULTI_RESULTS
    | PS_MULTI_RESULTS
    | SESSION_TRACK
    | DEPRECATE_EOF
    | MARIADB_EXTENDED_METADATA
    | MARIADB_CACHE_METADATA;
