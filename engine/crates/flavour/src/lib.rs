//! The differences between server products, as data: a [`Flavour`] describes one product, or some release series of it.
//! The differences between the series of a product, and what is admitted on each, are in `engine/servers.tsv` ([`servers`]).
//!
//! The other crates are given a flavour and query it; none of them names a product. Whatever a flavour does not know is treated as the
//! worst case: an unknown function makes a read uncacheable, an unknown statement may change anything, a character set that is not
//! listed makes statements unreadable, and an unknown capability leaves a connection uncached. This crate has no code that parses a
//! statement or a packet, and depends on no other crate.

pub mod capability;
mod lines;
mod mariadb;
mod mysql;
mod names;
mod release;
pub mod servers;

pub use capability::Capabilities;
pub use lines::{has_statement, of};
pub use mariadb::MARIADB;
pub use mysql::MYSQL;
pub use names::{Names, Objections};

use std::fmt;
use std::ops::RangeInclusive;

/// One product, as far as the engine has to know it.
#[derive(Clone, Copy)]
pub struct Flavour {
    pub product: &'static str,
    pub comments: Comments,
    pub statements: Statements,
    pub functions: Functions,
    pub charsets: Charsets,
    pub schemas: Schemas,
    pub variables: Variables,
    pub modes: Modes,
    pub habits: Habits,
    pub asked: Asked,
    pub engines: Engines,
    pub errors: Errors,
    pub capabilities: Capabilities,
    pub catalogue: Catalogue,
}

/// Flavours are compared by address, because each exists once.
impl PartialEq for Flavour {
    fn eq(&self, other: &Flavour) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Flavour {}

impl fmt::Debug for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.product)
    }
}

impl Flavour {
    /// Returns a name as a hexadecimal literal, whose meaning no setting can change.
    pub fn literal(&self, name: &[u8]) -> String {
        let digits: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{} x'{digits}'", self.catalogue.utf8)
    }
}

/// Comments with a special meaning. `#`, `-- ` and `/* */` are comments in every product.
#[derive(Clone, Copy)]
pub struct Comments {
    /// What follows `/*` if the server may execute the comment.
    pub executable: &'static [&'static str],
    /// What follows `/*` if the server parses hints, and quotes, in the comment.
    pub hints: &'static [&'static str],
}

/// Statements that only some products have. If one is missing, its text counts as a statement that cannot be parsed.
#[derive(Clone, Copy)]
pub struct Statements {
    /// `SET STATEMENT ... FOR`, followed by a statement.
    pub has_set_statement: bool,
    /// `BEGIN NOT ATOMIC` and control statements outside of stored routines, and `EXECUTE IMMEDIATE`.
    pub has_compound: bool,
    /// `ANALYZE`, followed by a statement, which it runs.
    pub has_analyze: bool,
    /// `BACKUP STAGE`, `BACKUP LOCK` and `BACKUP UNLOCK`.
    pub has_backup: bool,
    /// `FLUSH STATUS` without a scope resets the whole server's counters, and not only those of the session.
    pub flushes_status_of_all: bool,
    /// `FLUSH QUERY CACHE` and `RESET QUERY CACHE`.
    pub has_query_cache: bool,
    /// A statement without effect that requires the privileges of FLUSH QUERY CACHE and RESET QUERY CACHE, for a server that no longer has
    /// these two.
    pub query_cache_test: Option<&'static str>,
    /// `SELECT SQL_CACHE`. If the server does not have it, the engine removes the word.
    pub has_sql_cache: bool,
    /// `$$` and `$name$` are quotes.
    pub has_dollar_quotes: bool,
    /// A client with session tracking is notified where a transaction begins and ends by a statement of its own, whatever
    /// `session_track_transaction_info` says.
    pub tells_transactions: bool,
    /// A statement that uses no table keeps the warnings of the previous one. Otherwise only a query for the warnings does.
    pub keeps_warnings: bool,
    /// `FOUND_ROWS()` after a successful UPDATE is the number of rows that it has found.
    pub updates_count_rows: bool,
    /// `BINARY` before an expression, SQL_CALC_FOUND_ROWS and FOUND_ROWS() are deprecated: the server issues a warning for each when it
    /// parses the statement.
    pub warns_of_words: bool,
    /// A read that fails midway leaves `FOUND_ROWS()` at the rows it had found. Otherwise the value of the previous read stays.
    pub counts_until_failure: bool,
    /// The server keeps the parameter types of an execution even if it cannot read the values.
    pub takes_unreadable_types: bool,
    /// The parameter types of earlier executions of a prepared statement affect later ones.
    pub heeds_earlier_types: bool,
    /// The plugin gives leases to near caches, as `servers.tsv` says of the series.
    pub admits_nears: bool,
    /// Words besides GLOBAL for settings that are not the session's own.
    pub global_scopes: &'static [&'static str],
    /// The word before each row of a VALUES statement.
    pub row: &'static str,
    /// The names of system variables that users and their tools know, and those that the engine registers for them.
    pub aliases: &'static [Alias],
    /// What to put before a read, and after its first SELECT, so that `max_join_size` does not stop it.
    pub unlimited: [&'static str; 2],
    /// A statement that fails without the PROCESS privilege, and otherwise does nothing.
    pub process_test: &'static str,
    /// A statement that fails without the privilege to administer replicas, and otherwise changes nothing. It is required to attach a near
    /// cache, because that may delay writers.
    pub attach_test: &'static str,
    /// The engine's variables that the server refuses to set for one statement. Its error must use the name that users know.
    pub not_in_set_statement: &'static [&'static str],
    /// The common start of the names that users know, in lower case.
    pub alias_prefix: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The name as users write it, in lower case.
    pub theirs: &'static str,
    pub ours: &'static str,
}

/// Words that may precede a parenthesis in a read. All others count as stored functions.
///
/// A deterministic function is built into the server, so that no stored or loadable function can replace it, and its value depends on its
/// arguments and on settings that are part of a cached result's key.
#[derive(Clone, Copy)]
pub struct Functions {
    /// Keywords and types, which are not calls.
    pub syntax: Names,
    pub deterministic: Names,
    /// Deterministic, but built in only if the parenthesis follows at once; otherwise they are stored functions.
    pub deterministic_if_tight: Names,
    /// Deterministic with an argument; without one they return the current time.
    pub deterministic_with_argument: Names,
    pub refused: Objections,
    /// Functions that are called without a parenthesis.
    pub niladic: Objections,
    /// They return information about the previous statement, as functions or as system variables.
    pub diagnostics: Names,
}

/// Why a function's result must not be cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objection {
    /// Its value changes from call to call.
    Nondeterministic,
    /// Its value depends on the state of the connection.
    SessionState,
    /// The function has an effect besides returning a value.
    SideEffect,
    /// It returns a TIME value, which the server may complete with today's date.
    CurrentDate,
    /// It reads or advances a sequence.
    SequenceValue,
    /// It belongs to the PROCEDURE clause of a SELECT.
    Procedure,
}

/// Character sets of clients, by how far their statements can be read without decoding them. Others cannot be read.
#[derive(Clone, Copy)]
pub struct Charsets {
    pub utf8: &'static [&'static str],
    /// ASCII below 0x80, where no byte is ever the trail byte of another. Bytes above may mean anything.
    pub ascii_supersets: &'static [&'static str],
    /// Their collation ids, as the handshake reports them.
    pub utf8_collations: &'static [RangeInclusive<u16>],
    pub ascii_superset_collations: &'static [RangeInclusive<u16>],
    /// The character set of the login survives a reset of the session, which otherwise gets the server's default.
    pub outlives_reset: bool,
}

/// Schemas and tables that the server manages itself.
#[derive(Clone, Copy)]
pub struct Schemas {
    /// Reads of these schemas are not all reported, and they have many views.
    pub system: &'static [&'static str],
    /// Tables of schema `mysql` that the server itself reads or writes along with other statements.
    pub servers_own: &'static [&'static str],
    /// The table among them that the server reads when a session first uses a stored routine; none if it then reads none.
    pub routines: Option<&'static str>,
    /// The table among them that maps transactions to times, for tables with transaction-precise history; none if there is no such table.
    pub registry: Option<&'static str>,
    /// Tables of schema `mysql` that hold the privileges on databases, tables and columns. Every change of these privileges locks one of
    /// them.
    pub grants: &'static [&'static str],
}

impl Schemas {
    pub fn is_system(&self, db: &[u8]) -> bool {
        self.system.iter().any(|schema| schema.as_bytes().eq_ignore_ascii_case(db))
    }

    pub fn is_servers_own(&self, db: &[u8], name: &[u8]) -> bool {
        db == b"mysql" && self.servers_own.iter().any(|known| known.as_bytes() == name)
    }

    pub fn tells_grants(&self, db: &[u8], name: &[u8]) -> bool {
        db == b"mysql" && self.grants.iter().any(|known| known.as_bytes() == name)
    }
}

/// System variables, in lower case.
#[derive(Clone, Copy)]
pub struct Variables {
    /// No result depends on these, or the server itself reports their effect (autocommit, isolation).
    pub without_effect: &'static [&'static str],
    /// The product's own part of [`Variables::harmless_globals`].
    pub own_harmless_globals: &'static [&'static str],
    /// Variables that a SET with an expression may have changed, and whose values can be queried.
    pub askable: &'static [&'static str],
}

/// The global variables that all products have and no result depends on.
#[rustfmt::skip]
const HARMLESS_GLOBALS: &[&str] = &[
    "binlog_expire_logs_seconds", "connect_timeout", "general_log", "general_log_file", "innodb_adaptive_flushing",
    "innodb_buffer_pool_dump_at_shutdown", "innodb_buffer_pool_dump_pct", "innodb_buffer_pool_size",
    "innodb_flush_log_at_timeout", "innodb_flush_log_at_trx_commit", "innodb_flush_neighbors",
    "innodb_flushing_avg_loops", "innodb_io_capacity", "innodb_io_capacity_max", "innodb_lock_wait_timeout",
    "innodb_lru_scan_depth", "innodb_max_dirty_pages_pct", "innodb_max_dirty_pages_pct_lwm", "innodb_old_blocks_pct",
    "innodb_old_blocks_time", "innodb_print_all_deadlocks", "innodb_read_ahead_threshold", "interactive_timeout",
    "lock_wait_timeout", "log_output", "log_queries_not_using_indexes", "log_slow_admin_statements",
    "long_query_time", "max_binlog_size", "max_connect_errors", "max_connections", "max_user_connections",
    "min_examined_row_limit", "net_read_timeout", "net_write_timeout", "slow_launch_time", "slow_query_log",
    "slow_query_log_file", "sync_binlog", "table_open_cache", "thread_cache_size", "wait_timeout",
];

impl Variables {
    pub fn has_no_effect(&self, name: &[u8]) -> bool {
        self.without_effect.iter().any(|known| known.as_bytes() == name)
    }

    pub fn is_harmless_global(&self, name: &[u8]) -> bool {
        self.harmless_globals().any(|known| known.as_bytes() == name)
    }

    /// Settings of the whole server that affect no result and nothing that the engine knows of new sessions: limits, timeouts, logs,
    /// memory, threads and flushing.
    pub fn harmless_globals(&self) -> impl Iterator<Item = &'static str> {
        HARMLESS_GLOBALS.iter().chain(self.own_harmless_globals).copied()
    }

    pub fn is_askable(&self, name: &[u8]) -> bool {
        self.askable.iter().any(|known| known.as_bytes() == name)
    }
}

/// Names in `sql_mode`, besides those that every product interprets alike.
#[derive(Clone, Copy)]
pub struct Modes {
    /// They include ANSI_QUOTES and IGNORE_SPACE, among others.
    pub ansi: &'static [&'static str],
    /// They give statements another grammar.
    pub foreign: &'static [&'static str],
    /// The status flags of a response say whether double quotes are those of names.
    pub tells_quotes: bool,
}

impl Modes {
    pub fn is_ansi(&self, name: &[u8]) -> bool {
        lists(self.ansi, name)
    }

    pub fn is_foreign(&self, name: &[u8]) -> bool {
        lists(self.foreign, name)
    }
}

fn lists(names: &[&str], name: &[u8]) -> bool {
    names.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name))
}

/// Session settings with effects besides results, each with the way to query it.
#[derive(Clone, Copy)]
pub struct Habits {
    /// Every statement leaves an optimizer trace, which the session can read.
    pub traces: Habit,
    /// The server ends a session that is idle in a transaction, even in one that has written nothing.
    pub idleness: Habit,
    /// Responses report what each statement did to the transaction.
    pub reports: Habit,
    /// The server refuses statements that may examine too many rows.
    pub joins: Habit,
    /// The session sets the GTID of its next transaction. The server must then decide what it skips or refuses.
    pub numbers: Habit,
}

#[derive(Clone, Copy)]
pub struct Habit {
    /// The variables that the setting depends on, in lower case. To set one may change another.
    pub variables: &'static [&'static str],
    /// An SQL expression for its value in a session.
    pub question: &'static str,
    /// The values for which the setting has no effect.
    pub none: &'static [&'static str],
}

impl Habit {
    pub fn hangs_on(&self, name: &[u8]) -> bool {
        self.variables.iter().any(|known| known.as_bytes() == name)
    }

    pub fn is_none(&self, value: &[u8]) -> bool {
        lists(self.none, value)
    }
}

impl Habits {
    pub const fn all(&self) -> [Habit; 5] {
        [self.traces, self.idleness, self.reports, self.joins, self.numbers]
    }
}

/// Queries for a host next to the application, which knows a session only from outside. Settings in `askable` are queried as well.
#[derive(Clone, Copy)]
pub struct Asked {
    /// SQL expressions that results depend on.
    pub others: &'static [&'static str],
    /// The system variables that `others` reads.
    pub variables: &'static [&'static str],
    /// The session reads uncommitted rows.
    pub uncommitted: Habit,
    /// The session has created temporary tables.
    pub temporaries: Habit,
}

/// Storage engines whose tables may be read from the cache.
#[derive(Clone, Copy)]
pub struct Engines {
    /// A transaction reads a snapshot of these tables.
    pub snapshot: &'static [&'static str],
    /// These have no transactions.
    pub plain: &'static [&'static str],
    /// These have no snapshots, but a transaction that reads them can have no savepoints.
    pub joining: &'static [&'static str],
}

/// An error with the server's own message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    pub code: u16,
    pub state: &'static [u8; 5],
    pub message: &'static str,
}

/// The errors that the engine raises or recognises.
#[derive(Clone, Copy)]
pub struct Errors {
    /// For anything that has no number of its own.
    pub unknown: u32,
    pub wrong_arguments: u32,
    pub wrong_value_for_variable: u32,
    pub wrong_type_for_variable: u32,
    pub truncated_wrong_value: u32,
    pub not_supported: u32,
    /// Errors of a statement that was interrupted.
    pub interruptions: &'static [Error],
    /// Errors raised before a statement starts: syntax, privileges, names of variables.
    pub before_beginning: &'static [u16],
}

/// Queries on the server's catalogue. `{schema}` and `{table}` stand for literals; [`ask`] replaces them.
#[derive(Clone, Copy)]
pub struct Catalogue {
    /// The prefix of a literal in UTF-8.
    pub utf8: &'static str,
    /// Users with grants for more than one host. The anonymous user, whose grants apply to all others, is included if its grants are not
    /// the same for every host.
    pub users_with_several_hosts: &'static str,
    /// Returns 1 if passwords do not expire over time.
    pub passwords_last: &'static str,
    pub schemas: &'static str,
    /// The views of a schema; `{schema}` is a quoted name here.
    pub views: &'static str,
    /// Schema, name and definition of a view.
    pub view: &'static str,
    /// Storage engine and type of a table.
    pub table: &'static str,
    /// Like `table`, but also returns tables whose rows change unreported with those of another table.
    pub any_table: &'static str,
    /// Name, type, full type, key, attributes and expression of each column of a table, in their order. One query returns all that has to
    /// be known of columns, because MariaDB creates a temporary table on disk for each one.
    pub columns: &'static str,
    /// Schema and name of each table with whose rows those of a table change unreported (the parents of cascading foreign keys).
    pub parents: &'static str,
    /// If one of these returns a row, rows may change that no statement names: a trigger may change the key, or other rows; a statement on
    /// a parent may change its children; a table with history has more rows than a statement shows.
    pub unnamed_changes: &'static [&'static str],
    /// The columns of unique keys besides the primary key, ordered by key: key, column, and 1 if the key holds the column's whole value,
    /// never NULL. Without such a key, a new row can only conflict with one that has the same primary key.
    pub unique_keys: &'static str,
    pub warnings: &'static str,
    /// The status of this plugin in the server's table of plugins.
    pub own_plugin: &'static str,
    /// Returns a row if another plugin subscribes to statements.
    pub other_listeners: &'static str,
    /// The id of the newest thread.
    pub newest_thread: &'static str,
    /// Returns a row if there is a trigger outside of the schema `sys`. None if that need not be known, because the server reports each
    /// session that runs a stored routine.
    pub triggers: Option<&'static str>,
    /// Is none if there is no known way to query them.
    pub programs: Option<Programs>,
}

/// Stored programs that a statement may run without naming more than a table, a view or a function.
#[derive(Clone, Copy)]
pub struct Programs {
    /// Each returns a row if there is such a program, outside of the schema `left_out`.
    pub existing: &'static [&'static str],
    /// The schema that is left out. A view elsewhere that contains its name may run a program in it.
    pub left_out: &'static str,
    /// Its rows stay the same as long as no program is created, and the counters they come from are not reset.
    pub made: &'static str,
}

/// Returns a query for one table: replaces the placeholders by the given literals.
pub fn ask(question: &str, schema: &str, table: &str) -> String {
    question.replace("{schema}", schema).replace("{table}", table)
}
