//! Queries on MariaDB's catalogue.

use crate::{Catalogue, Programs};

/// Returns schema and name of each parent in a cascading foreign key of the table, in the encoding of file names. Unlike
/// REFERENTIAL_CONSTRAINTS, this table opens no other table: an opened table would be found open after a FLUSH TABLES, and its statistics
/// would be read too early. Names are compared without regard to case, because the server may have changed it; the lower bits of TYPE are
/// CASCADE and SET NULL.
const PARENTS: &str = "SELECT SUBSTRING_INDEX(REF_NAME, '/', 1), SUBSTRING_INDEX(REF_NAME, '/', -1) \
    FROM information_schema.INNODB_SYS_FOREIGN WHERE TYPE & 15 AND FOR_NAME = CONVERT(CONCAT(\
    CAST(CONVERT({schema} USING filename) AS BINARY), '/', CAST(CONVERT({table} USING filename) AS BINARY)) USING utf8mb3) \
    COLLATE utf8mb3_general_ci";
const TABLE: &str = "SELECT ENGINE, TABLE_TYPE FROM information_schema.TABLES \
    WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {table}";

pub(super) const CATALOGUE: Catalogue = Catalogue {
    utf8: "_utf8mb3",
    users_with_several_hosts: "SELECT User FROM (\
         SELECT User, Host FROM mysql.global_priv WHERE User <> '' \
         UNION SELECT User, Host FROM mysql.db \
         UNION SELECT User, Host FROM mysql.tables_priv \
         UNION SELECT User, Host FROM mysql.columns_priv) AS hosts \
         WHERE Host <> IF(User = '', '%', '') GROUP BY User HAVING User = '' OR COUNT(*) > 1",
    no_password_expires: "SELECT @@GLOBAL.default_password_lifetime = 0 AND NOT EXISTS \
         (SELECT 1 FROM mysql.global_priv WHERE JSON_VALUE(Priv, '$.password_lifetime') > 0)",
    schemas: "SHOW DATABASES",
    // Unlike the tables of information_schema, this only reads the beginning of each definition.
    views: "SHOW FULL TABLES FROM {schema} WHERE Table_type LIKE '%VIEW'",
    // These columns come from the definition alone: nothing behind the view is opened.
    view: "SELECT TABLE_SCHEMA, TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS \
         WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {table}",
    table: TABLE,
    any_table: TABLE,
    columns: "SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, COLUMN_KEY, EXTRA, GENERATION_EXPRESSION FROM information_schema.COLUMNS \
         WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {table} ORDER BY ORDINAL_POSITION",
    parents: PARENTS,
    unnamed_changes: &[
        "SELECT 1 FROM information_schema.TRIGGERS \
         WHERE EVENT_OBJECT_SCHEMA = {schema} AND EVENT_OBJECT_TABLE = {table} LIMIT 1",
        PARENTS,
        "SELECT 1 FROM information_schema.TABLES \
         WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {table} AND TABLE_TYPE <> 'BASE TABLE'",
    ],
    unique_keys: "SELECT INDEX_NAME, COLUMN_NAME, SUB_PART IS NULL AND NULLABLE <> 'YES' \
         FROM information_schema.STATISTICS \
         WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {table} AND NON_UNIQUE = 0 AND INDEX_NAME <> 'PRIMARY' \
         ORDER BY INDEX_NAME, SEQ_IN_INDEX",
    warnings: "SHOW WARNINGS",
    own_plugin: "SELECT PLUGIN_STATUS FROM information_schema.PLUGINS WHERE PLUGIN_NAME = 'fqc'",
    other_listeners: "SELECT 1 FROM information_schema.PLUGINS \
         WHERE PLUGIN_TYPE = 'AUDIT' AND PLUGIN_NAME <> 'fqc' AND PLUGIN_STATUS <> 'DISABLED' LIMIT 1",
    newest_thread: "SELECT MAX(ID) FROM information_schema.PROCESSLIST",
    triggers: None,
    programs: Some(Programs {
        existing: &[
            // Procedures are left out, because only CALL statements run them.
            "SELECT 1 FROM mysql.proc WHERE type <> 'PROCEDURE' AND db <> 'sys' LIMIT 1",
            "SELECT 1 FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA <> 'sys' LIMIT 1",
        ],
        excluded_schema: "sys",
        // An ALTER VIEW counts as the creation of a view. A FLUSH STATUS resets the counters.
        creation_counts: "SELECT SUM(IF(VARIABLE_NAME LIKE 'COM%', VARIABLE_VALUE, 0)), COUNT(*), \
             SUM(CASE VARIABLE_NAME WHEN 'UPTIME' THEN VARIABLE_VALUE \
             WHEN 'UPTIME_SINCE_FLUSH_STATUS' THEN -CAST(VARIABLE_VALUE AS SIGNED) ELSE 0 END) \
             FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME IN ('UPTIME', 'UPTIME_SINCE_FLUSH_STATUS', \
             'COM_CREATE_FUNCTION', 'COM_CREATE_PACKAGE', 'COM_CREATE_PACKAGE_BODY', 'COM_CREATE_TRIGGER', 'COM_CREATE_VIEW')",
    }),
};
