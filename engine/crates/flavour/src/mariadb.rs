//! MariaDB in its newest release series.

mod catalogue;
mod functions;

use crate::capability::*;
use crate::servers;
use crate::{
    Alias, Capabilities, Charsets, Comments, Engines, Error, Errors, Flavour, Modes, Schemas, SessionQuestions,
    SideEffectSetting, SideEffectSettings, Statements, Variables,
};

/// MariaDB in its newest release series. For a given server use `flavour::of`.
pub static MARIADB: Flavour = Flavour {
    product: servers::MARIADB,
    comments: Comments { executable: &["!", "M!"], hints: &[] },
    statements: Statements {
        has_set_statement: true,
        has_compound: true,
        has_analyze: true,
        has_backup: true,
        // With OLD_FLUSH_STATUS in `old_mode` the server resets its counters again, but the engine's counters still stay.
        flushes_status_of_all: false,
        has_query_cache: true,
        query_cache_test: None,
        has_sql_cache: true,
        has_dollar_quotes: false,
        reports_transactions: false,
        keeps_warnings: true,
        updates_count_rows: false,
        warns_of_deprecated_words: false,
        counts_until_failure: true,
        keeps_unreadable_types: true,
        depends_on_earlier_types: false,
        admits_nears: true,
        global_scopes: &[],
        row_keyword: "",
        aliases: &ALIASES,
        not_in_set_statement: &["fqc_type"],
        alias_prefix: "query_cache_",
        join_limit_override: ["SET STATEMENT sql_big_selects = 1 FOR ", ""],
        // This storage engine has no status to show.
        process_test: "SHOW ENGINE MyISAM STATUS",
        attach_test: "SHOW SLAVE HOSTS",
    },
    functions: functions::FUNCTIONS,
    charsets: CHARSETS,
    schemas: Schemas {
        system: &["information_schema", "mysql", "performance_schema", "sys"],
        internal_tables: INTERNAL_TABLES,
        routines: Some("proc"),
        registry: Some("transaction_registry"),
        grants: &["db", "tables_priv", "columns_priv", "roles_mapping"],
    },
    variables: Variables { without_effect: WITHOUT_EFFECT, own_harmless_globals: HARMLESS_GLOBALS, askable: ASKABLE },
    modes: Modes {
        ansi: &["ANSI", "DB2", "MAXDB", "MSSQL", "ORACLE", "POSTGRESQL"],
        foreign: &["ORACLE"],
        flags_show_ansi_quotes: true,
    },
    side_effect_settings: SIDE_EFFECT_SETTINGS,
    session_questions: SESSION_QUESTIONS,
    engines: Engines { snapshot: &["InnoDB"], plain: &["MyISAM", "MEMORY"], without_savepoints: &["Aria"] },
    errors: ERRORS,
    capabilities: CAPABILITIES,
    catalogue: catalogue::CATALOGUE,
};

/// The capabilities of MariaDB's connections. Bits 25 to 28 are MySQL's: no MariaDB offers them, so they are not known here.
const CAPABILITIES: Capabilities = Capabilities {
    known: ORDINARY
        | PROGRESS_OBSOLETE
        | MARIADB_PROGRESS
        | MARIADB_BULK
        | MARIADB_EXTENDED_METADATA
        | MARIADB_CACHE_METADATA
        | MARIADB_BULK_UNIT_RESULTS,
    shaping: FOUND_ROWS
        | NO_SCHEMA
        | PROTOCOL_41
        | MULTI_RESULTS
        | PS_MULTI_RESULTS
        | SESSION_TRACK
        | DEPRECATE_EOF
        | MARIADB_EXTENDED_METADATA
        | MARIADB_CACHE_METADATA,
};

/// The variables of MariaDB's own query cache that the engine answers for. The other three `query_cache_` variables have no effect here.
/// They remain the server's own, so that all statements that show them agree.
const ALIASES: [Alias; 3] = [
    Alias { theirs: "query_cache_limit", ours: "fqc_limit" },
    Alias { theirs: "query_cache_size", ours: "fqc_size" },
    Alias { theirs: "query_cache_type", ours: "fqc_type" },
];

/// The character sets in which the engine can read statements. Not listed are big5, sjis, swe7, gbk and cp932: there a trail byte may equal
/// a quote or a backslash, or ASCII itself is changed. Nor are ucs2, utf16, utf16le and utf32, which clients may not use. The ids of "no
/// pad" collations are those of the others plus 1024.
#[rustfmt::skip]
const CHARSETS: Charsets = Charsets {
    utf8: &["utf8", "utf8mb3", "utf8mb4"],
    ascii_supersets: &[
        "armscii8", "ascii", "binary", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852", "cp866", "dec8",
        "eucjpms", "euckr", "gb2312", "geostd8", "greek", "hebrew", "hp8", "keybcs2", "koi8r", "koi8u", "latin1",
        "latin2", "latin5", "latin7", "macce", "macroman", "tis620", "ujis",
    ],
    utf8_collations: &[
        33..=33, 45..=46, 76..=76, 83..=83, 192..=247, 255..=323, 576..=578, 608..=610, 1057..=1057, 1069..=1070,
        1100..=1100, 1107..=1107, 1216..=1271, 1279..=1347, 1600..=1602, 1632..=1634, 2048..=2559,
    ],
    ascii_superset_collations: &[
        2..=9, 11..=12, 14..=27, 29..=32, 34..=34, 36..=44, 47..=53, 57..=59, 63..=75, 77..=81, 85..=86, 89..=89,
        91..=94, 97..=99, 1026..=1033, 1035..=1036, 1038..=1051, 1053..=1056, 1058..=1058, 1060..=1068, 1071..=1077,
        1081..=1083, 1087..=1099, 1101..=1105, 1109..=1110, 1113..=1113, 1115..=1118, 1121..=1123,
    ],
    survives_reset: true,
};

const INTERNAL_TABLES: &[&str] = &[
    "table_stats",
    "table_stat",
    "column_stats",
    "column_stat",
    "index_stats",
    "index_stat",
    "innodb_table_stats",
    "innodb_index_stats",
    "proc",
    "event",
    "gtid_slave_pos",
    "general_log",
    "slow_log",
    "transaction_registry",
];

/// Session variables that change no result. The session trackers are among them: they only add to the response of a statement that has
/// changed something, which is never stored.
#[rustfmt::skip]
const WITHOUT_EFFECT: &[&str] = &[
    "autocommit", "foreign_key_checks", "fqc_limit", "fqc_min_res_unit", "fqc_size", "fqc_strip_comments", "fqc_type",
    "fqc_wlock_invalidate", "idle_write_transaction_timeout", "innodb_lock_wait_timeout", "interactive_timeout",
    "lock_wait_timeout", "long_query_time", "net_read_timeout", "net_write_timeout", "profiling",
    "query_cache_strip_comments", "query_cache_type", "query_cache_wlock_invalidate", "session_track_schema",
    "session_track_state_change", "session_track_system_variables", "slow_query_log", "sql_log_bin",
    "sql_safe_updates", "transaction_isolation", "transaction_read_only", "tx_isolation", "tx_read_only",
    "unique_checks", "wait_timeout",
];

#[rustfmt::skip]
const HARMLESS_GLOBALS: &[&str] = &[
    "expire_logs_days", "innodb_log_file_size", "log_slow_min_examined_row_limit", "log_slow_query",
    "log_slow_query_file", "log_slow_query_time", "log_slow_rate_limit", "log_slow_verbosity", "log_warnings",
    "thread_pool_idle_timeout", "thread_pool_max_threads", "thread_pool_oversubscribe", "thread_pool_size",
    "thread_pool_stall_limit",
];

const ASKABLE: &[&str] = &[
    "sql_mode",
    "time_zone",
    "character_set_client",
    "character_set_connection",
    "character_set_results",
    "collation_connection",
    "sql_select_limit",
    "group_concat_max_len",
    "div_precision_increment",
    "default_week_format",
    "lc_time_names",
    "max_sort_length",
    "optimizer_switch",
];

const SIDE_EFFECT_SETTINGS: SideEffectSettings = SideEffectSettings {
    traces: SideEffectSetting {
        variables: &["optimizer_trace"],
        expression: "@@SESSION.optimizer_trace",
        off_values: &["enabled=off"],
    },
    idleness: SideEffectSetting {
        variables: &["idle_transaction_timeout", "idle_readonly_transaction_timeout"],
        expression: "@@SESSION.idle_transaction_timeout + @@SESSION.idle_readonly_transaction_timeout",
        off_values: &["0"],
    },
    reports: SideEffectSetting {
        variables: &["session_track_transaction_info"],
        expression: "@@SESSION.session_track_transaction_info",
        off_values: &["OFF"],
    },
    joins: SideEffectSetting {
        variables: &["max_join_size", "sql_big_selects"],
        expression: "@@SESSION.sql_big_selects",
        off_values: &["1"],
    },
    // On MariaDB, a GTID that the session sets stops no statement.
    numbers: SideEffectSetting { variables: &[], expression: "0", off_values: &["0"] },
    // On the nodes of a Galera cluster, where a read may wait, nothing is served.
    waits: SideEffectSetting { variables: &[], expression: "0", off_values: &["0"] },
};

const COMMITTED: &[&str] = &["READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"];

const SESSION_QUESTIONS: SessionQuestions = SessionQuestions {
    others: &[
        "CURRENT_ROLE()",
        "@@SESSION.old_mode",
        "@@SESSION.system_versioning_asof",
        "@@SESSION.max_recursive_iterations",
    ],
    variables: &["old_mode", "system_versioning_asof", "max_recursive_iterations"],
    uncommitted: SideEffectSetting {
        variables: &["tx_isolation", "transaction_isolation"],
        expression: "@@SESSION.tx_isolation",
        off_values: COMMITTED,
    },
    // Includes temporary tables that triggers and functions create.
    temporaries: SideEffectSetting {
        variables: &[],
        expression: "(SELECT VARIABLE_VALUE FROM information_schema.SESSION_STATUS \
            WHERE VARIABLE_NAME = 'Com_create_temporary_table')",
        off_values: &["0"],
    },
};

const ERRORS: Errors = Errors {
    unknown: 1105,
    wrong_arguments: 1210,
    wrong_value_for_variable: 1231,
    wrong_type_for_variable: 1232,
    truncated_wrong_value: 1292,
    not_supported: 1235,
    interruptions: &[
        Error { code: 1205, state: b"HY000", message: "Lock wait timeout exceeded; try restarting transaction" },
        Error { code: 1317, state: b"70100", message: "Query execution was interrupted" },
        Error { code: 1969, state: b"70100", message: "Query execution was interrupted (max_statement_time exceeded)" },
    ],
    // 1231, a wrong value, is not listed: a value may be refused after another variable has been set.
    before_beginning: &[1044, 1045, 1064, 1142, 1143, 1193, 1227, 1229, 1238],
};
