//! Statements that set variables of the session and the server, roles, and user variables.

use super::Generator;

/// Variables, each with the values that a statement may set. The first eight matter most to results.
const SETTINGS: &[(&str, &[&str])] = &[
    (
        "sql_mode",
        &[
            "''",
            "'ANSI'",
            "'STRICT_TRANS_TABLES'",
            "'NO_BACKSLASH_ESCAPES'",
            "'PIPES_AS_CONCAT'",
            "'ANSI_QUOTES'",
            "'PAD_CHAR_TO_FULL_LENGTH'",
            "'ONLY_FULL_GROUP_BY'",
            "'HIGH_NOT_PRECEDENCE'",
            "'NO_UNSIGNED_SUBTRACTION'",
            "'EMPTY_STRING_IS_NULL'",
            "'ORACLE'",
            "0",
            "4",
            "CONCAT(@@sql_mode, ',ANSI_QUOTES')",
            "'IGNORE_SPACE'",
            "'NO_ZERO_DATE,TRADITIONAL'",
            "'NO_AUTO_VALUE_ON_ZERO'",
        ],
    ),
    ("time_zone", &["'+05:30'", "'-08:00'", "'+00:00'", "'SYSTEM'", "CONCAT('+0', 1 + 1, ':00')"]),
    ("sql_select_limit", &["2", "1", "0"]),
    ("group_concat_max_len", &["8", "20"]),
    ("div_precision_increment", &["0", "2", "9"]),
    ("lc_time_names", &["'de_DE'", "'ja_JP'", "'fr_FR'", "1"]),
    ("max_sort_length", &["8", "64"]),
    ("default_week_format", &["1", "6", "3"]),
    ("character_set_results", &["NULL", "latin1", "utf8mb4", "'binary'", "utf32"]),
    ("character_set_client", &["latin1", "utf8mb4"]),
    ("character_set_connection", &["latin1", "utf8mb4", "utf16", "utf8"]),
    ("collation_connection", &["utf8mb4_bin", "latin1_german2_ci", "utf8mb4_unicode_ci"]),
    ("sql_auto_is_null", &["1", "0"]),
    ("optimizer_switch", &["'index_merge=off'", "'derived_merge=off,materialization=off'"]),
    ("max_error_count", &["0", "1"]),
    ("sql_notes", &["0"]),
    ("sql_warnings", &["1"]),
    ("sql_safe_updates", &["1"]),
    ("foreign_key_checks", &["0"]),
    ("unique_checks", &["0"]),
    ("last_insert_id", &["77"]),
    ("insert_id", &["33"]),
    ("timestamp", &["1710000000", "1725000000.5"]),
    ("old_mode", &["''", "'ZERO_DATE_TIME_CAST'", "'UTF8_IS_UTF8MB3'"]),
    ("sql_quote_show_create", &["0"]),
    ("big_tables", &["1"]),
    ("auto_increment_increment", &["3"]),
    ("block_encryption_mode", &["'aes-256-cbc'"]),
    ("max_recursive_iterations", &["3"]),
    ("column_compression_threshold", &["50"]),
    ("eq_range_index_dive_limit", &["1"]),
    ("completion_type", &["1", "'NO_CHAIN'", "2"]),
    ("profiling", &["0"]),
    ("session_track_schema", &["0"]),
    ("explicit_defaults_for_timestamp", &["0"]),
    ("updatable_views_with_limit", &["'NO'"]),
    ("collation_server", &["utf8mb4_bin"]),
    ("query_prealloc_size", &["65536"]),
    ("sql_big_selects", &["1"]),
    ("optimizer_trace", &["'enabled=on'", "'enabled=off'", "CONCAT('enabled=', 'off')"]),
    ("idle_transaction_timeout", &["3600", "0"]),
    ("default_regex_flags", &["'DOTALL'"]),
    ("check_constraint_checks", &["0"]),
    ("no_such_variable", &["1"]),
];

impl Generator {
    /// The text `name = value` of a setting, mostly of one that matters to a result.
    pub(super) fn setting(&mut self) -> String {
        let few = if self.random.percent(60) { 8 } else { SETTINGS.len() };
        let (name, values) = SETTINGS[self.random.below(few)];
        let value = if self.random.percent(30) { "DEFAULT" } else { self.random.word(values) };
        // The clock must not run, or the servers drift apart.
        let value = if name == "timestamp" && value == "DEFAULT" { "1700000000" } else { value };
        format!("{name} = {value}")
    }

    /// A statement that makes a setting, in one of many forms.
    pub(super) fn set(&mut self) -> String {
        if self.is_own(10) {
            return self.mysql_set();
        }
        let setting = self.setting();
        let other = self.setting();
        match self.random.below(24) {
            0..=8 => format!("SET {setting}"),
            9 => format!("SET SESSION {setting}"),
            10 => format!("SET @@session.{setting}"),
            11 => format!("SET {setting}, {other}"),
            12 => format!("SET LOCAL {}", setting.replacen(" = ", " := ", 1)),
            13 => format!("set @@{}", setting.to_uppercase().replace("@@SQL_MODE", "@@sql_mode")),
            14 => self
                .random
                .word(&[
                    "SET NAMES latin1",
                    "SET NAMES utf8mb4",
                    "SET NAMES utf8mb4 COLLATE utf8mb4_bin",
                    "SET NAMES DEFAULT",
                    "SET NAMES 'utf8'",
                    "SET NAMES binary",
                    "SET collation_connection = latin1_bin, character_set_connection = utf8mb4",
                    "SET character_set_connection = utf8mb4, collation_connection = latin1_bin",
                    "SET old_mode = ''",
                    "SET old_mode = 'UTF8_IS_UTF8MB3'",
                ])
                .to_string(),
            15 => self
                .random
                .word(&[
                    "SET CHARACTER SET latin1",
                    "SET CHARACTER SET utf8mb4",
                    "SET CHARSET DEFAULT",
                    "SET CHARACTER SET 'utf8'",
                ])
                .to_string(),
            16 => self.random.word(&["SET ROLE r0", "SET ROLE NONE", "SET DEFAULT ROLE r0", "SET ROLE r1"]).to_string(),
            17 => format!("EXECUTE IMMEDIATE 'SET {}'", setting.replace('\'', "''")),
            18 => format!("SET @old = @@sql_mode, {setting}"),
            19 => "SET sql_mode = COALESCE(@old, '')".into(),
            20 => format!(
                "SET {} = (SELECT COUNT(*) FROM d0.t1)",
                self.random.word(&["sql_select_limit", "div_precision_increment"])
            ),
            21 => format!("SET STATEMENT {setting}, {other} FOR SELECT * FROM d0.t1 ORDER BY id"),
            22 => self
                .random
                .word(&[
                    "SET GLOBAL div_precision_increment = 6",
                    "SET GLOBAL div_precision_increment = DEFAULT",
                    "SET GLOBAL lc_time_names = 'de_DE'",
                    "SET GLOBAL group_concat_max_len = 9",
                    "SET GLOBAL sql_mode = 'ANSI_QUOTES'",
                    "SET GLOBAL sql_mode = DEFAULT",
                    "SET GLOBAL time_zone = '+01:00'",
                    "SET GLOBAL collation_connection = utf8mb4_bin",
                    "SET GLOBAL sql_select_limit = 3",
                    "SET GLOBAL autocommit = 0",
                    "SET GLOBAL autocommit = 1",
                    "SET GLOBAL tx_isolation = 'READ-COMMITTED'",
                    "SET GLOBAL tx_isolation = DEFAULT",
                    "SET GLOBAL sql_mode = 'ORACLE'",
                    "SET GLOBAL sql_mode = 'NO_BACKSLASH_ESCAPES'",
                    "SET GLOBAL init_connect = 'SET autocommit = 0, sql_mode = PIPES_AS_CONCAT'",
                    "SET GLOBAL init_connect = ''",
                    "SET GLOBAL sql_select_limit = DEFAULT",
                ])
                .to_string(),
            _ => format!("SET /* note */ {setting} -- tail"),
        }
    }

    /// A statement that sets or reads a user variable.
    pub(super) fn variable(&mut self) -> String {
        let value = self.small();
        self.random
            .word(&[
                "SET @u = {}",
                "SET @u = (SELECT COUNT(*) FROM d0.t1)",
                "SELECT @u, @old",
                "SELECT {} INTO @u",
                "SET @u := 'text'",
                "DO @u := {}",
                "SELECT @u := @u + 1",
            ])
            .replace("{}", &value)
    }
}
