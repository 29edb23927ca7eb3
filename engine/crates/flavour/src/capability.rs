//! Capability bits: what client and server agree on in the handshake.
//!
//! The server offers some, the client answers with those that it wants, and those that both name are in force. A client may ask for more
//! than the server offers, and many do; the server ignores the rest. The upper 32 bits are MariaDB's extensions. They are sent in
//! four bytes that are otherwise filler, and only count if the lowest bit, [`MYSQL`], is clear.
//!
//! The comments say what a bit does to packets after the handshake. A bit without a comment does nothing to them.

pub const MYSQL: u64 = 1;
/// An UPDATE reports the rows that it found, not those that it changed.
pub const FOUND_ROWS: u64 = 1 << 1;
pub const LONG_FLAG: u64 = 1 << 2;
pub const CONNECT_WITH_DB: u64 = 1 << 3;
/// The server ignores the database in `database.table.column`.
pub const NO_SCHEMA: u64 = 1 << 4;
/// Packets are wrapped in compressed ones (zlib).
pub const COMPRESS: u64 = 1 << 5;
pub const ODBC: u64 = 1 << 6;
/// The server may request a file from the client.
pub const LOCAL_FILES: u64 = 1 << 7;
/// The server ignores spaces between a function's name and the parenthesis.
pub const IGNORE_SPACE: u64 = 1 << 8;
pub const PROTOCOL_41: u64 = 1 << 9;
pub const INTERACTIVE: u64 = 1 << 10;
pub const SSL: u64 = 1 << 11;
pub const IGNORE_SIGPIPE: u64 = 1 << 12;
pub const TRANSACTIONS: u64 = 1 << 13;
pub const RESERVED: u64 = 1 << 14;
pub const SECURE_CONNECTION: u64 = 1 << 15;
/// A command may contain several statements.
pub const MULTI_STATEMENTS: u64 = 1 << 16;
/// A response may contain several results.
pub const MULTI_RESULTS: u64 = 1 << 17;
pub const PS_MULTI_RESULTS: u64 = 1 << 18;
pub const PLUGIN_AUTH: u64 = 1 << 19;
pub const CONNECT_ATTRS: u64 = 1 << 20;
pub const PLUGIN_AUTH_LENENC: u64 = 1 << 21;
/// A client with an expired password may log in to change it; until then every statement fails.
pub const EXPIRED_PASSWORDS: u64 = 1 << 22;
/// An OK packet may report what has changed in the session.
pub const SESSION_TRACK: u64 = 1 << 23;
/// Rows end with an OK packet, and column definitions have no packet at their end.
pub const DEPRECATE_EOF: u64 = 1 << 24;
/// MySQL 8: a byte after the column count, and one in the response to a prepare, say whether definitions follow.
pub const OPTIONAL_RESULTSET_METADATA: u64 = 1 << 25;
/// MySQL 8: packets are wrapped in compressed ones (zstd).
pub const ZSTD_COMPRESS: u64 = 1 << 26;
/// MySQL 8: attributes precede the text of a query, and are among the parameters of an execution.
pub const QUERY_ATTRIBUTES: u64 = 1 << 27;
/// MySQL 8: the login may require several factors, one after the other.
pub const MULTI_FACTOR: u64 = 1 << 28;
/// MariaDB before its extensions: an ERR packet with the number 0xFFFF reports progress. Reserved by MySQL for bits beyond 32.
pub const PROGRESS_OBSOLETE: u64 = 1 << 29;
/// The client library's own note that it verifies the server's certificate. Without meaning to servers, although one may offer it.
pub const SSL_VERIFY_SERVER_CERT: u64 = 1 << 30;
/// The client library's own note that it keeps its options after a failed connection. Without meaning to servers, although one may offer it.
pub const REMEMBER_OPTIONS: u64 = 1 << 31;
/// MariaDB: an ERR packet with the number 0xFFFF reports progress.
pub const MARIADB_PROGRESS: u64 = 1 << 32;
/// MariaDB 10.2: several commands in one packet, COM_MULTI. No later release series has it.
pub const MARIADB_MULTI: u64 = 1 << 33;
/// MariaDB: COM_STMT_BULK_EXECUTE may be sent.
pub const MARIADB_BULK: u64 = 1 << 34;
/// MariaDB: a column definition has one string more.
pub const MARIADB_EXTENDED_METADATA: u64 = 1 << 35;
/// MariaDB: a byte after the column count says whether definitions follow.
pub const MARIADB_CACHE_METADATA: u64 = 1 << 36;
/// MariaDB 11.5: COM_STMT_BULK_EXECUTE may ask for a result with a row for each execution.
pub const MARIADB_BULK_UNIT_RESULTS: u64 = 1 << 37;

/// The bits that mean the same in every product, and with which the engine can parse packets.
pub const ORDINARY: u64 = MYSQL
    | FOUND_ROWS
    | LONG_FLAG
    | CONNECT_WITH_DB
    | NO_SCHEMA
    | ODBC
    | LOCAL_FILES
    | IGNORE_SPACE
    | PROTOCOL_41
    | INTERACTIVE
    | SSL
    | IGNORE_SIGPIPE
    | TRANSACTIONS
    | RESERVED
    | SECURE_CONNECTION
    | MULTI_STATEMENTS
    | MULTI_RESULTS
    | PS_MULTI_RESULTS
    | PLUGIN_AUTH
    | CONNECT_ATTRS
    | PLUGIN_AUTH_LENENC
    | EXPIRED_PASSWORDS
    | SESSION_TRACK
    | DEPRECATE_EOF
    | SSL_VERIFY_SERVER_CERT
    | REMEMBER_OPTIONS;

/// Which capability bits the engine can handle on a product's connections, and which of them results depend on.
#[derive(Clone, Copy, Debug)]
pub struct Capabilities {
    /// Capabilities with which the engine can parse packets. A connection with any other one in force is not cached.
    pub known: u64,
    /// Capabilities that change what a statement means or the bytes of its response. They are part of a cached result's key. How spaces
    /// are parsed (`IGNORE_SPACE`) is part of it, too, as a mode.
    pub shaping: u64,
}

/// The bits for compression. If one of them is in force, packets are compressed, and the engine does not follow the connection.
pub const COMPRESSED: u64 = COMPRESS | ZSTD_COMPRESS;

/// Sets or clears the bit of [`SSL`] in place. `low` is the low two bytes of the capabilities, in a server's greeting or a client's
/// handshake response.
pub fn set_tls(low: &mut [u8; 2], is_set: bool) {
    let others = u16::from_le_bytes(*low) & !(SSL as u16);
    *low = (others | if is_set { SSL as u16 } else { 0 }).to_le_bytes();
}

impl Capabilities {
    /// Returns the bits of `in_force` that are not known; 0 if there are none. Bits for compression count as known, although the engine
    /// cannot parse compressed packets: check [`COMPRESSED`] as well.
    pub const fn unknown(&self, in_force: u64) -> u64 {
        in_force & !(self.known | COMPRESSED)
    }
}
