//! What differs from one server product to another, as data: a [`Flavour`] describes one product, or some lines of it.
//! What differs from one line of a product to another, and what is admitted on each, is in `engine/servers.tsv` ([`servers`]).
//!
//! The other crates are given a flavour and ask it; none of them names a product. Whatever a flavour does not know is treated
//! as the worst case: an unknown function makes a read uncacheable, an unknown statement may change anything, a character set
//! that is not listed makes texts unreadable, and an unknown capability leaves a connection uncached.
//! Deliberately absent: code that reads a text or a packet, and any dependency on another crate.

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

/// Each line's flavour exists once.
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
    /// A name as a literal that no setting can change the meaning of.
    pub fn literal(&self, name: &[u8]) -> String {
        let digits: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{} x'{digits}'", self.catalogue.utf8)
    }
}

/// `#`, `-- ` and `/* */` are comments in every product.
#[derive(Clone, Copy)]
pub struct Comments {
    /// What follows `/*` where the server may run what the comment says.
    pub executable: &'static [&'static str],
    /// What follows `/*` where the server reads words of its own, and quotes, in the comment.
    pub hints: &'static [&'static str],
}

/// Statements that only some products have. Where one is missing, its text is a statement that nobody understands.
#[derive(Clone, Copy)]
pub struct Statements {
    /// `SET STATEMENT ... FOR` and a statement.
    pub has_set_statement: bool,
    /// `BEGIN NOT ATOMIC` and control statements outside of stored routines, and `EXECUTE IMMEDIATE`.
    pub has_compound: bool,
    /// `ANALYZE` and a statement, which it runs.
    pub has_analyze: bool,
    /// `BACKUP STAGE`, `BACKUP LOCK` and `BACKUP UNLOCK`.
    pub has_backup: bool,
    /// `FLUSH STATUS` without a scope sets the whole server's counters back, and not only those of the session.
    pub flushes_status_of_all: bool,
    /// `FLUSH QUERY CACHE` and `RESET QUERY CACHE`.
    pub has_query_cache: bool,
    /// Does nothing, with the privileges that these two need: for a server that has lost them.
    pub query_cache_test: Option<&'static str>,
    /// SELECT SQL_CACHE: otherwise the word is taken out.
    pub has_sql_cache: bool,
    /// `$$` and `$name$` are quotes.
    pub has_dollar_quotes: bool,
    /// A client that is told of its session is told where a transaction begins and ends by a statement of its own, whatever
    /// `session_track_transaction_info` says.
    pub tells_transactions: bool,
    /// A statement that uses no table leaves the warnings of the one before. Otherwise only a question about them does.
    pub keeps_warnings: bool,
    /// `FOUND_ROWS()` after an UPDATE that succeeded is the number of rows that it has found.
    pub updates_count_rows: bool,
    /// `BINARY` before an expression, SQL_CALC_FOUND_ROWS and FOUND_ROWS() are deprecated: the server warns of each one when it
    /// parses the text.
    pub warns_of_words: bool,
    /// A read that fails on its way leaves the number of rows that it had found. Otherwise that of the read before stays.
    pub counts_until_failure: bool,
    /// It goes by the types that a prepared statement's execution binds also where its values cannot be read.
    pub takes_unreadable_types: bool,
    /// What the types of a prepared statement's parameters were before matters to its later executions.
    pub heeds_earlier_types: bool,
    /// Near caches get leases, as `servers.tsv` says of the line.
    pub admits_nears: bool,
    /// Words besides GLOBAL for settings that are not the session's own.
    pub global_scopes: &'static [&'static str],
    /// What stands before each row of VALUES as a statement.
    pub row: &'static str,
    /// The names of system variables that users and their tools know, and those that the engine registers for them.
    pub aliases: &'static [Alias],
    /// What stands before a read, and what after its first SELECT, so that `max_join_size` is not in its way.
    pub unlimited: [&'static str; 2],
    /// Fails without the PROCESS privilege, and otherwise does nothing.
    pub process_test: &'static str,
    /// Fails without the privilege of an administrator of replicas, and otherwise changes nothing: who attaches a near cache may hold
    /// up writers.
    pub attach_test: &'static str,
    /// Of these, those that the server refuses to set for one statement, in words of its own for the name that users know.
    pub not_in_set_statement: &'static [&'static str],
    /// What the names that users know have in common, in lower case.
    pub alias_prefix: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alias {
    /// As users write it, in lower case.
    pub theirs: &'static str,
    pub ours: &'static str,
}

/// Words that may stand before a parenthesis in a read. All others are taken for stored functions.
///
/// A deterministic function is built into the line, so that no stored or loadable function can take its place, and its value
/// depends on its arguments and on settings that are part of a cached result's identity.
#[derive(Clone, Copy)]
pub struct Functions {
    /// Keywords and types: not calls.
    pub syntax: Names,
    pub deterministic: Names,
    /// Deterministic, but built in only if the parenthesis follows at once; otherwise they are stored functions.
    pub deterministic_if_tight: Names,
    /// Deterministic with an argument; without one they tell the time.
    pub deterministic_with_argument: Names,
    pub refused: Objections,
    /// They call a function without any parenthesis.
    pub niladic: Objections,
    /// They tell about the statement before, as functions or as system variables.
    pub diagnostics: Names,
}

/// Why a result of a function must not be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objection {
    /// Its value changes from call to call.
    Nondeterministic,
    /// It tells the state of the connection.
    SessionState,
    /// It does something besides returning a value.
    SideEffect,
    /// It makes a TIME value, which the server may complete with the date of today.
    CurrentDate,
    /// It reads or advances a sequence.
    SequenceValue,
    /// It belongs to PROCEDURE.
    Procedure,
}

/// Character sets of clients, by how far their texts can be read without decoding them. Others cannot be read.
#[derive(Clone, Copy)]
pub struct Charsets {
    pub utf8: &'static [&'static str],
    /// ASCII below 0x80; above it any byte may mean anything, but none is the trail byte of another.
    pub ascii_supersets: &'static [&'static str],
    /// The numbers of their collations, as the handshake tells them.
    pub utf8_collations: &'static [RangeInclusive<u16>],
    pub ascii_superset_collations: &'static [RangeInclusive<u16>],
    /// That of the login outlives a reset of the session, which otherwise gets the server's.
    pub outlives_reset: bool,
}

/// Schemas and tables that the server keeps for itself.
#[derive(Clone, Copy)]
pub struct Schemas {
    /// Of what is read there not everything is told, and their views are many.
    pub system: &'static [&'static str],
    /// Tables of schema `mysql` that the server itself reads or writes along with other statements.
    pub servers_own: &'static [&'static str],
    /// The one of them that it reads when a session first meets a stored routine; none if it then reads nothing.
    pub routines: Option<&'static str>,
    /// The one of them that it asks for moments of tables whose history is told by transactions.
    pub registry: Option<&'static str>,
    /// Tables of schema `mysql` from which it reads what is granted for databases, tables and columns. Whatever changes
    /// that locks one of them.
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
    /// No result depends on them, or their effect is known from what the server itself tells (autocommit, isolation).
    pub without_effect: &'static [&'static str],
    /// The product's own among [`Variables::harmless_globals`].
    pub own_harmless_globals: &'static [&'static str],
    /// What a SET with an expression may have changed, and the server can be asked for.
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

    /// Settings of the whole server that change no result and nothing that the engine knows of new sessions: limits, timeouts, logs,
    /// memory, threads and flushing.
    pub fn harmless_globals(&self) -> impl Iterator<Item = &'static str> {
        HARMLESS_GLOBALS.iter().chain(self.own_harmless_globals).copied()
    }

    pub fn is_askable(&self, name: &[u8]) -> bool {
        self.askable.iter().any(|known| known.as_bytes() == name)
    }
}

/// Names that `sql_mode` may list, besides those that every product reads alike.
#[derive(Clone, Copy)]
pub struct Modes {
    /// They stand for ANSI_QUOTES and IGNORE_SPACE, among others.
    pub ansi: &'static [&'static str],
    /// Under them texts have a grammar of their own.
    pub foreign: &'static [&'static str],
    /// The flags of a response tell whether quotes are those of names.
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

/// What a session may expect of the server besides results, by how it is set.
#[derive(Clone, Copy)]
pub struct Habits {
    /// Every statement leaves a trace of its plan behind, which the session can read.
    pub traces: Habit,
    /// The server ends a session that does nothing in a transaction, one that has written nothing included.
    pub idleness: Habit,
    /// Responses tell what each statement did to the transaction.
    pub reports: Habit,
    /// The server refuses what may look at many rows.
    pub joins: Habit,
    /// The session says which number its next transaction has. What the server skips or refuses then is for it to say.
    pub numbers: Habit,
}

#[derive(Clone, Copy)]
pub struct Habit {
    /// The variables that it hangs on, in lower case. To set one may be to set another.
    pub variables: &'static [&'static str],
    /// An expression for its value in a session.
    pub question: &'static str,
    /// The values with which there is none.
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

/// What a host beside the application asks of a session, which it knows from outside alone, besides settings that are askable.
#[derive(Clone, Copy)]
pub struct Asked {
    /// Expressions that results depend on.
    pub others: &'static [&'static str],
    /// The variables among them.
    pub variables: &'static [&'static str],
    /// It reads what may never be committed.
    pub uncommitted: Habit,
    /// Temporary tables were made in it.
    pub temporaries: Habit,
}

/// Storage engines whose tables may be read from the cache.
#[derive(Clone, Copy)]
pub struct Engines {
    /// A transaction reads a snapshot of them.
    pub snapshot: &'static [&'static str],
    /// They know no transactions.
    pub plain: &'static [&'static str],
    /// Without snapshots, but a transaction that reads them can have no savepoints.
    pub joining: &'static [&'static str],
}

/// An error, in the words of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    pub code: u16,
    pub state: &'static [u8; 5],
    pub message: &'static str,
}

/// Numbers and words of errors that the engine gives or recognises.
#[derive(Clone, Copy)]
pub struct Errors {
    /// For anything that has no number of its own.
    pub unknown: u32,
    pub wrong_arguments: u32,
    pub wrong_value_for_variable: u32,
    pub wrong_type_for_variable: u32,
    pub truncated_wrong_value: u32,
    pub not_supported: u32,
    /// A statement was ended from outside.
    pub interruptions: &'static [Error],
    /// The server gives them before a statement begins: syntax, privileges, names of variables.
    pub before_beginning: &'static [u16],
}

/// Questions to the server's catalogue. `{schema}` and `{table}` stand for literals, [`ask`] puts them in.
#[derive(Clone, Copy)]
pub struct Catalogue {
    /// Before a literal in UTF-8.
    pub utf8: &'static str,
    /// Users to whom something is granted for several hosts: of the nameless user, whose grants all others have, if they are
    /// not the same for every host.
    pub users_with_several_hosts: &'static str,
    /// 1 if passwords do not expire with time.
    pub passwords_last: &'static str,
    pub schemas: &'static str,
    /// The views of a schema; `{schema}` is a quoted name here.
    pub views: &'static str,
    /// Schema, name and definition of a view.
    pub view: &'static str,
    /// Storage engine and type of a table.
    pub table: &'static str,
    /// Asks the same, also about tables whose rows change unseen with those of another table.
    pub any_table: &'static str,
    /// Name, type, full type, key, attributes and expression of each column of a table, in their order. All that is to be known of
    /// columns is asked at once: MariaDB makes a temporary table on disk for each such question.
    pub columns: &'static str,
    /// Schema and name of each table with whose rows those of a table change, unseen.
    pub parents: &'static str,
    /// Any row says that rows may change which no statement names. A trigger may change the key, or other rows; a
    /// statement on a parent may change its children; of rows that are kept as history a statement names more than it shows.
    pub unnamed_changes: &'static [&'static str],
    /// The parts of unique keys besides the primary key, ordered by key: key, column, and 1 if the key holds the column's value as it is,
    /// never NULL. With no such key, a new row can be in the way of one with the same primary key alone.
    pub unique_keys: &'static str,
    pub warnings: &'static str,
    /// How this library stands in the server's table of plugins.
    pub own_plugin: &'static str,
    /// A row if another plugin hears of statements.
    pub other_listeners: &'static str,
    /// The number of the newest thread.
    pub newest_thread: &'static str,
    /// A row if there is a trigger outside of the schema `sys`. None: the question is not
    /// needed, because the server reports each session that runs a stored routine.
    pub triggers: Option<&'static str>,
    /// None: it is not known how to ask.
    pub programs: Option<Programs>,
}

/// Stored programs that a statement may run without naming more than a table, a view or a function.
#[derive(Clone, Copy)]
pub struct Programs {
    /// A row of any of them: there is one, outside of the schema that is left out.
    pub existing: &'static [&'static str],
    /// A view elsewhere that says its name may hide one inside.
    pub left_out: &'static str,
    /// Rows that stay the same as long as none is made, and the counts they come from are not set back.
    pub made: &'static str,
}

/// A question about one table.
pub fn ask(question: &str, schema: &str, table: &str) -> String {
    question.replace("{schema}", schema).replace("{table}", table)
}
