//! MySQL in its newest release series.

mod catalogue;
mod functions;

use crate::capability::*;
use crate::servers;
use crate::{
    Capabilities, Charsets, Comments, Engines, Error, Errors, Flavour, Modes, Schemas, SessionQuestions,
    SideEffectSetting, SideEffectSettings, Statements, Variables,
};

/// MySQL in its newest release series. For a given server use `flavour::of`.
pub static MYSQL: Flavour = Flavour {
    product: servers::MYSQL,
    comments: Comments { executable: &["!"], hints: &["+"] },
    statements: Statements {
        has_set_statement: false,
        has_compound: false,
        has_analyze: false,
        has_backup: false,
        flushes_status_of_all: true,
        has_query_cache: true,
        query_cache_test: Some("FLUSH LOCAL OPTIMIZER_COSTS"),
        has_sql_cache: false,
        has_dollar_quotes: true,
        reports_transactions: true,
        keeps_warnings: false,
        updates_count_rows: true,
        warns_of_deprecated_words: true,
        counts_until_failure: false,
        keeps_unreadable_types: false,
        depends_on_earlier_types: true,
        admits_nears: true,
        global_scopes: &["persist", "persist_only"],
        row_keyword: "ROW",
        // The variables already have the names that users know.
        aliases: &[],
        not_in_set_statement: &[],
        alias_prefix: "",
        join_limit_override: ["", " /*+ SET_VAR(sql_big_selects = ON) */"],
        process_test: "SHOW ENGINE MyISAM STATUS",
        attach_test: "SHOW REPLICAS",
    },
    functions: functions::FUNCTIONS,
    charsets: CHARSETS,
    schemas: Schemas {
        system: &["information_schema", "mysql", "ndbinfo", "performance_schema", "sys"],
        internal_tables: INTERNAL_TABLES,
        routines: None,
        registry: None,
        grants: GRANTS,
    },
    variables: Variables { without_effect: WITHOUT_EFFECT, own_harmless_globals: HARMLESS_GLOBALS, askable: ASKABLE },
    modes: Modes { ansi: &["ANSI"], foreign: &[], flags_show_ansi_quotes: false },
    side_effect_settings: SIDE_EFFECT_SETTINGS,
    session_questions: SESSION_QUESTIONS,
    engines: Engines { snapshot: &["InnoDB"], plain: &[], without_savepoints: &[] },
    errors: ERRORS,
    capabilities: CAPABILITIES,
    catalogue: catalogue::CATALOGUE,
};

const CAPABILITIES: Capabilities = Capabilities {
    known: ORDINARY | OPTIONAL_RESULTSET_METADATA | QUERY_ATTRIBUTES | MULTI_FACTOR,
    shaping: FOUND_ROWS
        | NO_SCHEMA
        | PROTOCOL_41
        | MULTI_RESULTS
        | PS_MULTI_RESULTS
        | SESSION_TRACK
        | DEPRECATE_EOF
        | OPTIONAL_RESULTSET_METADATA,
};

/// The character sets in which the engine can read statements. Not listed are big5, sjis, swe7, gbk, cp932 and gb18030: there a trail byte
/// may equal a quote or a backslash, or ASCII itself is changed. Nor are ucs2, utf16, utf16le and utf32, which clients may not use.
#[rustfmt::skip]
const CHARSETS: Charsets = Charsets {
    utf8: &["utf8", "utf8mb3", "utf8mb4"],
    ascii_supersets: &[
        "armscii8", "ascii", "binary", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852", "cp866", "dec8",
        "eucjpms", "euckr", "gb2312", "geostd8", "greek", "hebrew", "hp8", "keybcs2", "koi8r", "koi8u", "latin1",
        "latin2", "latin5", "latin7", "macce", "macroman", "tis620", "ujis",
    ],
    utf8_collations: &[33..=33, 45..=46, 76..=76, 83..=83, 192..=215, 223..=247, 255..=323],
    ascii_superset_collations: &[
        2..=9, 11..=12, 14..=16, 18..=27, 29..=32, 34..=34, 36..=44, 47..=53, 57..=59, 63..=75, 77..=81, 85..=86,
        89..=89, 91..=94, 97..=99,
    ],
    survives_reset: false,
};

/// The tables that the server itself uses. Most of these are tables of the data dictionary, which clients cannot name.
#[rustfmt::skip]
const INTERNAL_TABLES: &[&str] = &[
    "catalogs", "character_sets", "check_constraints", "collations", "column_statistics", "column_type_elements",
    "columns", "dd_properties", "engine_cost", "events", "foreign_key_column_usage", "foreign_keys", "general_log",
    "gtid_executed", "index_column_usage", "index_partitions", "index_stats", "indexes", "innodb_ddl_log",
    "innodb_dynamic_metadata", "innodb_index_stats", "innodb_table_stats", "libraries", "parameter_type_elements",
    "parameters", "resource_groups", "routine_library_usage", "routines", "schemata", "server_cost",
    "slave_master_info", "slave_relay_log_info", "slave_worker_info", "slow_log", "st_spatial_reference_systems",
    "table_partition_values", "table_partitions", "table_stats", "tables", "tablespace_files", "tablespaces",
    "triggers", "view_routine_usage", "view_table_usage",
];

#[rustfmt::skip]
const GRANTS: &[&str] = &[
    "columns_priv", "db", "default_roles", "global_grants", "procs_priv", "proxies_priv", "role_edges", "tables_priv",
    "user",
];

/// Session variables that change no result. The session trackers are among them: they only add to the response of a statement that has
/// changed something, which is never stored.
#[rustfmt::skip]
const WITHOUT_EFFECT: &[&str] = &[
    "autocommit", "foreign_key_checks", "innodb_lock_wait_timeout", "interactive_timeout", "lock_wait_timeout",
    "long_query_time", "net_read_timeout", "net_write_timeout", "profiling", "query_cache_limit",
    "query_cache_min_res_unit", "query_cache_size", "query_cache_strip_comments", "query_cache_type",
    "query_cache_wlock_invalidate", "session_track_schema", "session_track_state_change",
    "session_track_system_variables", "sql_log_bin", "sql_safe_updates", "transaction_isolation",
    "transaction_read_only", "unique_checks", "wait_timeout",
];

#[rustfmt::skip]
const HARMLESS_GLOBALS: &[&str] = &[
    "innodb_idle_flush_pct", "innodb_log_writer_threads", "innodb_redo_log_capacity", "log_error_verbosity",
    "log_slow_extra", "log_slow_replica_statements", "log_throttle_queries_not_using_indexes",
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
        off_values: &["enabled=off", "enabled=off,one_line=off", "enabled=off,one_line=on"],
    },
    idleness: SideEffectSetting { variables: &[], expression: "0", off_values: &["0"] },
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
    // `gtid_next` has no global value. Without a scope, the query returns the value of the session that asks, which is also what new
    // sessions start with.
    numbers: SideEffectSetting { variables: &["gtid_next"], expression: "@@gtid_next", off_values: &["AUTOMATIC"] },
    // With any other level, a read waits for other members of the group, or is refused while this member is not ONLINE. A level that later
    // servers may add counts as one of these. Servers before 8.0.14 do not have the variable.
    waits: SideEffectSetting {
        variables: &["group_replication_consistency"],
        expression: "CONCAT(/*!80014 @@SESSION.group_replication_consistency, */ '')",
        off_values: &["", "EVENTUAL", "BEFORE_ON_PRIMARY_FAILOVER"],
    },
};

/// What `fqc-near` asks about a session. MySQL 5.7 has no roles, and skips the version comment. Temporary tables cannot be counted: only
/// SHOW STATUS has a counter of created tables, which includes others.
const SESSION_QUESTIONS: SessionQuestions = SessionQuestions {
    others: &["CONCAT(/*!80000 CURRENT_ROLE(), */ '')"],
    variables: &[],
    uncommitted: SideEffectSetting {
        variables: &["transaction_isolation"],
        expression: "@@SESSION.transaction_isolation",
        off_values: &["READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"],
    },
    temporaries: SideEffectSetting { variables: &[], expression: "0", off_values: &["0"] },
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
        Error {
            code: 3024,
            state: b"HY000",
            message: "Query execution was interrupted, maximum statement execution time exceeded",
        },
    ],
    // 1231, a wrong value, is not listed: a value may be refused after another variable has been set.
    before_beginning: &[1044, 1045, 1064, 1142, 1143, 1193, 1227, 1229, 1238],
};
