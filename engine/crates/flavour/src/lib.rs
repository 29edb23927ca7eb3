//! The differences between server products, as data: a [`Flavour`] describes one product, or some release series of it.
//! The differences between the series of a product, and what is admitted on each, are in `engine/servers.tsv` ([`servers`]).
//!
//! The other crates are given a flavour and query it; none of them names a product. Whatever a flavour does not know is treated as the
//! worst case: an unknown function makes a read uncacheable, an unknown statement may change anything, a character set that is not
//! listed makes statements unreadable, and an unknown capability leaves a connection uncached. This crate has no code that parses a
//! statement or a packet, and depends on no other crate.
//!
//! The words of comments are explained in `docs/concepts/words.md`.

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

/// The engine's knowledge of one server product, or of one release series of it. Every flavour is a static value that exists once.
#[derive(Clone, Copy)]
pub struct Flavour {
    /// The product's name: `MariaDB` or `MySQL`.
    pub product: &'static str,
    pub comments: Comments,
    pub statements: Statements,
    pub functions: Functions,
    pub charsets: Charsets,
    pub schemas: Schemas,
    pub variables: Variables,
    pub modes: Modes,
    pub side_effect_settings: SideEffectSettings,
    /// What `fqc-near`, which is outside of the server, asks the server about a session.
    pub session_questions: SessionQuestions,
    pub engines: Engines,
    pub errors: Errors,
    pub capabilities: Capabilities,
    pub catalogue: Catalogue,
}

/// Flavours are compared by address, because each exists once. Two flavours of the same product are not equal.
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
    /// Returns an SQL string literal for `name`, a schema or table name in UTF-8: its bytes in hexadecimal, after a character set. It needs
    /// no escaping, and neither `sql_mode` nor the session's character set changes its meaning.
    pub fn literal(&self, name: &[u8]) -> String {
        let digits: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{} x'{digits}'", self.catalogue.utf8)
    }
}

/// The product's special comments: those that the server executes or parses as hints. `#`, `-- ` and `/* */` start ordinary comments in
/// every product.
#[derive(Clone, Copy)]
pub struct Comments {
    /// The texts that, directly after `/*`, mark a comment which the server may execute as SQL, such as `!`.
    pub executable: &'static [&'static str],
    /// The texts that, directly after `/*`, mark a comment in which the server parses optimizer hints, and quotes.
    pub hints: &'static [&'static str],
}

/// Statements and other behaviour in which products differ. A statement that the product lacks counts as one that cannot be parsed.
#[derive(Clone, Copy)]
pub struct Statements {
    /// The product has `SET STATEMENT ... FOR`, which sets variables for the one statement that follows it.
    pub has_set_statement: bool,
    /// The product has `BEGIN NOT ATOMIC`, control statements such as IF outside of stored routines, and `EXECUTE IMMEDIATE`.
    pub has_compound: bool,
    /// The product has `ANALYZE` followed by a statement, which the server then runs.
    pub has_analyze: bool,
    /// The product has `BACKUP STAGE`, `BACKUP LOCK` and `BACKUP UNLOCK`.
    pub has_backup: bool,
    /// `FLUSH STATUS` without a scope resets the counters of the whole server. If false, it resets only those of the session.
    pub flushes_status_of_all: bool,
    /// `FLUSH QUERY CACHE` and `RESET QUERY CACHE` are parsed as statements, although the server may no longer have them: see
    /// `query_cache_test`.
    pub has_query_cache: bool,
    /// The statement that the server gets in place of FLUSH QUERY CACHE and RESET QUERY CACHE: it has no effect and requires the same
    /// privileges. None if the server has these two itself.
    pub query_cache_test: Option<&'static str>,
    /// The server has `SELECT SQL_CACHE`. If false, the engine removes the word from what the server gets.
    pub has_sql_cache: bool,
    /// `$$ ... $$` and `$name$ ... $name$` are quoted strings.
    pub has_dollar_quotes: bool,
    /// A client with session tracking is notified when an explicit statement, such as BEGIN, begins or ends a transaction, whatever
    /// `session_track_transaction_info` says. A BEGIN of such a client is not deferred.
    pub reports_transactions: bool,
    /// A statement that uses no table keeps the warnings of the previous one. If false, only a statement that queries the warnings keeps
    /// them.
    pub keeps_warnings: bool,
    /// After a successful UPDATE, `FOUND_ROWS()` returns the number of rows that the UPDATE found.
    pub updates_count_rows: bool,
    /// `BINARY` before an expression, SQL_CALC_FOUND_ROWS and FOUND_ROWS() are deprecated: the server issues a warning for each of them
    /// when it parses the statement.
    pub warns_of_deprecated_words: bool,
    /// After a read that fails midway, `FOUND_ROWS()` returns the number of rows found so far. If false, it keeps the value of the previous
    /// read.
    pub counts_until_failure: bool,
    /// The server keeps the parameter types of an execution of a prepared statement even if it cannot read the parameters' values.
    pub keeps_unreadable_types: bool,
    /// The parameter types of earlier executions of a prepared statement affect the results of later ones.
    pub depends_on_earlier_types: bool,
    /// The plugin attaches near caches (`fqc-near`, a cache next to the application) and gives them leases, that is, the right to serve
    /// results for a short time. The column `exact` of `servers.tsv` says so for the series.
    pub admits_nears: bool,
    /// The words after SET, besides GLOBAL, that set a variable of the whole server, such as PERSIST. In lower case.
    pub global_scopes: &'static [&'static str],
    /// The keyword before each row of a VALUES statement: `ROW`, or empty if the product has none.
    pub row_keyword: &'static str,
    /// The system variables that users and their tools know by a name of the server's own query cache, each with the engine's variable that
    /// replaces it. Empty if the engine's variables already have these names.
    pub aliases: &'static [Alias],
    /// What to put before a read, and directly after its first SELECT, so that the server does not refuse it because of `max_join_size`.
    pub join_limit_override: [&'static str; 2],
    /// A statement that fails without the PROCESS privilege, and otherwise does nothing. The server runs it in place of a SHOW of the
    /// engine, as a check of the privilege.
    pub process_test: &'static str,
    /// A statement that changes nothing, and fails without the privilege to administer replicas. The server runs it when a near cache
    /// attaches: that privilege is required because a near cache may delay writers.
    pub attach_test: &'static str,
    /// The engine's variables that the server refuses in SET STATEMENT. There the name that users know is not replaced by the engine's, so
    /// that the server's error shows the former.
    pub not_in_set_statement: &'static [&'static str],
    /// The common start, in lower case, of the names in `aliases` that users know. Empty if there are no aliases.
    pub alias_prefix: &'static str,
}

/// A system variable that users know by one name and the engine declares by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The name as users write it, in lower case.
    pub theirs: &'static str,
    /// The name of the engine's own variable, in lower case.
    pub ours: &'static str,
}

/// The words that may stand before a parenthesis in a read. Any other word there counts as a stored function, and the read is not cached.
///
/// A deterministic function is built into the server, so that no stored or loadable function can replace it, and its value depends on its
/// arguments and on settings that are part of a cached result's key.
#[derive(Clone, Copy)]
pub struct Functions {
    /// Keywords and types. A parenthesis after one of them is no function call.
    pub syntax: Names,
    /// Functions that are deterministic, in the sense that `Functions` explains.
    pub deterministic: Names,
    /// Functions that are deterministic and built in if the parenthesis directly follows the name. With a space in between, the name stands
    /// for a stored function, unless `sql_mode` has IGNORE_SPACE.
    pub deterministic_if_tight: Names,
    /// Functions that are deterministic if they are called with an argument. Without one, they return the current time.
    pub deterministic_with_argument: Names,
    /// Built-in functions whose results must not be cached, each with the reason.
    pub refused: Objections,
    /// Functions that are called without a parenthesis, such as CURRENT_USER, with the reason why their results must not be cached.
    pub niladic: Objections,
    /// The names of functions and system variables that return information about the previous statement, such as FOUND_ROWS.
    pub diagnostics: Names,
}

/// Why the result of a read that calls a function must not be cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objection {
    /// The function's value changes from call to call.
    Nondeterministic,
    /// The function's value depends on the state of the connection.
    SessionState,
    /// The function has an effect besides returning a value.
    SideEffect,
    /// The function returns a TIME value, which the server may complete with today's date.
    CurrentDate,
    /// The function reads or advances a sequence.
    SequenceValue,
    /// The function belongs to the PROCEDURE clause of a SELECT.
    Procedure,
}

/// The character sets of clients whose statements the engine can read without decoding them. Statements in any other character set count as
/// unreadable.
#[derive(Clone, Copy)]
pub struct Charsets {
    /// The server's names for UTF-8.
    pub utf8: &'static [&'static str],
    /// The names of character sets in which each byte below 0x80 is that ASCII character, and never the trail byte of another character.
    /// Bytes from 0x80 on may mean anything.
    pub ascii_supersets: &'static [&'static str],
    /// The collation ids of the character sets in `utf8`. The handshake names a character set by such an id.
    pub utf8_collations: &'static [RangeInclusive<u16>],
    /// The collation ids of the character sets in `ascii_supersets`.
    pub ascii_superset_collations: &'static [RangeInclusive<u16>],
    /// After COM_RESET_CONNECTION, the session still has the character set of its login. If false, it gets the server's default.
    pub survives_reset: bool,
}

/// Schemas and tables that the server manages itself.
#[derive(Clone, Copy)]
pub struct Schemas {
    /// The system schemas, such as `information_schema`. A statement that names one is not cached, because the server does not report all
    /// reads of them.
    pub system: &'static [&'static str],
    /// Tables of schema `mysql` that the server itself reads or writes while it runs other statements. A lock on one does not make a
    /// statement depend on that table.
    pub internal_tables: &'static [&'static str],
    /// The table among `internal_tables` that the server reads when a session first uses a stored routine. None if the server reads no
    /// table then.
    pub routines: Option<&'static str>,
    /// The table among `internal_tables` that maps transactions to times, for tables with transaction-precise history. None if there is no
    /// such table.
    pub registry: Option<&'static str>,
    /// Tables of schema `mysql` that hold the privileges on databases, tables and columns. Every change of these privileges locks one of
    /// them.
    pub grants: &'static [&'static str],
}

impl Schemas {
    /// True if `db` is one of the `system` schemas. Compared without regard to case.
    pub fn is_system(&self, db: &[u8]) -> bool {
        self.system.iter().any(|schema| schema.as_bytes().eq_ignore_ascii_case(db))
    }

    /// True if the table `name` of schema `db` is one of `internal_tables`.
    pub fn is_internal_table(&self, db: &[u8], name: &[u8]) -> bool {
        db == b"mysql" && self.internal_tables.iter().any(|known| known.as_bytes() == name)
    }

    /// True if a lock on the table `name` of schema `db` means that privileges are changing: it is one of `grants`.
    pub fn holds_grants(&self, db: &[u8], name: &[u8]) -> bool {
        db == b"mysql" && self.grants.iter().any(|known| known.as_bytes() == name)
    }
}

/// Lists of system variables, in lower case, by how they affect results.
#[derive(Clone, Copy)]
pub struct Variables {
    /// Variables whose value changes no result, or whose effect the server itself reports (autocommit, isolation).
    pub without_effect: &'static [&'static str],
    /// The product's own part of [`Variables::harmless_globals`], which also returns the part that all products have in common.
    pub own_harmless_globals: &'static [&'static str],
    /// Session variables that results depend on and that can be queried. The engine queries them after a SET whose value it cannot tell
    /// from the text.
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
    /// True if no result depends on the system variable `name` (in lower case), or the server itself reports its
    /// effect.
    pub fn has_no_effect(&self, name: &[u8]) -> bool {
        self.without_effect.iter().any(|known| known.as_bytes() == name)
    }

    /// True if a change of the global variable `name` (in lower case) affects no result and nothing that the engine
    /// knows of new sessions.
    pub fn is_harmless_global(&self, name: &[u8]) -> bool {
        self.harmless_globals().any(|known| known.as_bytes() == name)
    }

    /// Returns the global variables whose change affects no result and nothing that the engine knows of new sessions: limits, timeouts,
    /// logs, memory, threads and flushing.
    pub fn harmless_globals(&self) -> impl Iterator<Item = &'static str> {
        HARMLESS_GLOBALS.iter().chain(self.own_harmless_globals).copied()
    }

    /// True if results depend on the session variable `name` (in lower case) and the engine may query its value. It
    /// does so after a SET whose value the text does not show.
    pub fn is_askable(&self, name: &[u8]) -> bool {
        self.askable.iter().any(|known| known.as_bytes() == name)
    }
}

/// The words in `sql_mode` that change how statements are parsed, besides those that mean the same in every product.
#[derive(Clone, Copy)]
pub struct Modes {
    /// Words that include ANSI_QUOTES and IGNORE_SPACE, among others.
    pub ansi: &'static [&'static str],
    /// Words that give statements another grammar, which the engine does not know.
    pub foreign: &'static [&'static str],
    /// The status flags of a response say whether double quotes enclose names, that is, whether ANSI_QUOTES is in force.
    pub flags_show_ansi_quotes: bool,
}

impl Modes {
    /// True if `name`, one word of `sql_mode`, includes ANSI_QUOTES and IGNORE_SPACE. Compared without regard to case.
    pub fn is_ansi(&self, name: &[u8]) -> bool {
        lists(self.ansi, name)
    }

    /// True if `name`, one word of `sql_mode`, gives statements a grammar that the engine does not know. Compared
    /// without regard to case.
    pub fn is_foreign(&self, name: &[u8]) -> bool {
        lists(self.foreign, name)
    }
}

/// True if `name` is in `names`, without regard to case.
fn lists(names: &[&str], name: &[u8]) -> bool {
    names.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name))
}

/// Session settings that make each read or BEGIN do something besides returning a result. An answer from the cache would not have that
/// effect, so the engine must know whether one of them is in force.
#[derive(Clone, Copy)]
pub struct SideEffectSettings {
    /// The setting that has the server write an optimizer trace for every statement, which the session can read.
    pub traces: SideEffectSetting,
    /// The setting that has the server close a session that is idle in a transaction for too long, even if the transaction has written
    /// nothing.
    pub idleness: SideEffectSetting,
    /// The setting that has responses report what each statement did to the transaction.
    pub reports: SideEffectSetting,
    /// The setting that has the server refuse statements that may examine too many rows (`max_join_size`).
    pub joins: SideEffectSetting,
    /// The session's own choice of the GTID of its next transaction. The server must then decide what it skips or refuses.
    pub numbers: SideEffectSetting,
    /// The setting that has the server answer a read only after it has waited for other members of a replication group.
    pub waits: SideEffectSetting,
}

/// A session setting with an effect besides results: the variables that it depends on, and how to find out whether it is in force.
#[derive(Clone, Copy)]
pub struct SideEffectSetting {
    /// The system variables that the setting depends on, in lower case. A SET of one may also change another one of them.
    pub variables: &'static [&'static str],
    /// An SQL expression that returns the setting's value in the session that runs it.
    pub expression: &'static str,
    /// The values of `expression` with which the setting has no effect.
    pub off_values: &'static [&'static str],
}

impl SideEffectSetting {
    /// True if the setting depends on the system variable `name`, in lower case.
    pub fn depends_on(&self, name: &[u8]) -> bool {
        self.variables.iter().any(|known| known.as_bytes() == name)
    }

    /// True if `value`, a value of `expression`, means that the setting has no effect. Compared without regard to case.
    pub fn is_off(&self, value: &[u8]) -> bool {
        lists(self.off_values, value)
    }
}

impl SideEffectSettings {
    /// Returns the settings in the order of the fields.
    pub const fn all(&self) -> [SideEffectSetting; 6] {
        [self.traces, self.idleness, self.reports, self.joins, self.numbers, self.waits]
    }
}

/// The questions that `fqc-near`, which sees a session only from outside of the server, asks the server about the session. It also asks for
/// the values of `Variables::askable`.
#[derive(Clone, Copy)]
pub struct SessionQuestions {
    /// SQL expressions whose values results depend on, besides the variables in `Variables::askable`.
    pub others: &'static [&'static str],
    /// The system variables that the expressions in `others` read. After a SET of one, the session must be asked again.
    pub variables: &'static [&'static str],
    /// The isolation level. It has an effect if the session reads uncommitted rows; such a session is not served.
    pub uncommitted: SideEffectSetting,
    /// Whether the session has created temporary tables; such a session is not served.
    pub temporaries: SideEffectSetting,
}

/// Storage engines whose tables' results may be cached, by what a transaction sees of these tables.
#[derive(Clone, Copy)]
pub struct Engines {
    /// Engines of whose tables a transaction reads a snapshot.
    pub snapshot: &'static [&'static str],
    /// Engines without transactions: a read sees the present rows.
    pub plain: &'static [&'static str],
    /// Engines without snapshots. A transaction that has read one of their tables can have no savepoints.
    pub without_savepoints: &'static [&'static str],
}

/// An error of the server: its number, its SQLSTATE and the server's own message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    pub code: u16,
    pub state: &'static [u8; 5],
    pub message: &'static str,
}

/// Numbers of the errors that the engine raises itself, or recognises in the server's responses.
#[derive(Clone, Copy)]
pub struct Errors {
    /// The number of an error that has none of its own.
    pub unknown: u32,
    pub wrong_arguments: u32,
    pub wrong_value_for_variable: u32,
    pub wrong_type_for_variable: u32,
    pub truncated_wrong_value: u32,
    pub not_supported: u32,
    /// Errors of a statement that was killed, timed out or waited too long for a lock.
    pub interruptions: &'static [Error],
    /// Numbers of errors that the server raises before a statement starts, so that it has changed nothing: syntax, privileges, names of
    /// variables.
    pub before_beginning: &'static [u16],
}

/// Texts of queries on the server's catalogue. In some, `{schema}` and `{table}` stand for SQL literals, which [`fill_in`] fills in.
#[derive(Clone, Copy)]
pub struct Catalogue {
    /// The character set before a string literal in UTF-8, such as `_utf8mb4`.
    pub utf8: &'static str,
    /// A query that returns the users with grants for more than one host. The anonymous user, whose grants apply to all others, is among
    /// them if its grants are not the same for every host.
    pub users_with_several_hosts: &'static str,
    /// A query that returns 1 if no password expires over time.
    pub no_password_expires: &'static str,
    /// A query that returns the names of all schemas.
    pub schemas: &'static str,
    /// A query that returns the names of the views of a schema in its first column. Here `{schema}` stands for a name in backticks instead
    /// of a literal.
    pub views: &'static str,
    /// A query that returns schema, name and definition of a view. Names are compared without regard to case, so it may return another
    /// view.
    pub view: &'static str,
    /// A query that returns storage engine and type of a table. It returns no row if the table does not exist; it may also leave out tables
    /// whose results must not be cached.
    pub table: &'static str,
    /// A query that returns storage engine and type of a table, and unlike `table` also finds tables whose rows change
    /// unreported when those of another table change.
    pub any_table: &'static str,
    /// A query that returns a row for each column of a table, in their order: name, type, full type, key, attributes and expression. One
    /// query returns all that has to be known of columns, because MariaDB creates a temporary table on disk for each such query.
    pub columns: &'static str,
    /// A query that returns schema and name of each parent in a cascading foreign key of the table: a change of the parent's rows changes
    /// this table's rows unreported.
    pub parents: &'static str,
    /// Queries about a table. If one of them returns a row, rows may change that no statement names: a trigger may change the key, or other
    /// rows; a statement on a parent may change its children; a table with history has more rows than a statement shows.
    pub unnamed_changes: &'static [&'static str],
    /// A query that returns the columns of the table's unique keys besides the primary key, ordered by key: key, column, and 1 if the key
    /// holds the column's whole value, never NULL. Without such a key, a new row can only conflict with one that has the same primary key.
    pub unique_keys: &'static str,
    /// A query that returns the warnings of the session's previous statement.
    pub warnings: &'static str,
    /// A query that returns the status of the plugin `fqc`, such as ACTIVE. It returns no row if the server does not know the plugin.
    pub own_plugin: &'static str,
    /// A query that returns a row if an audit plugin other than this one is installed, which may need the server's reports of statements.
    pub other_listeners: &'static str,
    /// A query that returns the highest thread id in the process list.
    pub newest_thread: &'static str,
    /// A query that returns a row if there is a trigger outside of the schema `sys`. None if that need not be known, because the server
    /// reports each session that runs a stored routine.
    pub triggers: Option<&'static str>,
    /// How to find stored programs. None if there is no known way; the engine then never enters light mode.
    pub programs: Option<Programs>,
}

/// Queries for stored programs that a statement may run although it names only a table, a view or a function.
#[derive(Clone, Copy)]
pub struct Programs {
    /// Queries that each return a row if there is such a program, outside of the schema `excluded_schema`.
    pub existing: &'static [&'static str],
    /// The schema that `existing` leaves out. A view elsewhere whose definition contains this name may run a program in it.
    pub excluded_schema: &'static str,
    /// A query whose rows stay the same as long as no program is created, and the counters behind them are not reset.
    pub creation_counts: &'static str,
}

/// Returns the query `query` with `{schema}` and `{table}` replaced by these texts. The caller passes SQL literals (`Flavour::literal`):
/// nothing is escaped.
pub fn fill_in(query: &str, schema: &str, table: &str) -> String {
    query.replace("{schema}", schema).replace("{table}", table)
}
