//! Queries on MySQL's catalogue.

use crate::Catalogue;

/// Returns schema and name of each parent in a cascading foreign key of the table.
const PARENTS: &str = "SELECT UNIQUE_CONSTRAINT_SCHEMA, REFERENCED_TABLE_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS \
    WHERE CONSTRAINT_SCHEMA = {schema} AND TABLE_NAME = {table} \
    AND NOT (UPDATE_RULE IN ('RESTRICT', 'NO ACTION') AND DELETE_RULE IN ('RESTRICT', 'NO ACTION'))";

pub(super) const CATALOGUE: Catalogue = Catalogue {
    utf8: "_utf8mb4",
    users_with_several_hosts: "SELECT User FROM (\
         SELECT User, Host FROM mysql.user WHERE User <> '' \
         UNION SELECT User, Host FROM mysql.db \
         UNION SELECT User, Host FROM mysql.tables_priv \
         UNION SELECT User, Host FROM mysql.columns_priv) AS hosts \
         WHERE Host <> IF(User = '', '%', '') GROUP BY User HAVING User = '' OR COUNT(*) > 1",
    no_password_expires: "SELECT @@GLOBAL.default_password_lifetime = 0 AND NOT EXISTS \
         (SELECT 1 FROM mysql.user WHERE password_lifetime > 0)",
    schemas: "SHOW DATABASES",
    views: "SHOW FULL TABLES FROM {schema} WHERE Table_type LIKE '%VIEW'",
    view: "SELECT TABLE_SCHEMA, TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS \
         WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {table}",
    // Left out are tables that another engine may read instead of InnoDB, and those that InnoDB itself changes along with their parents,
    // unreported. Before 9.6 it always does that, and the variable does not exist.
    table: "SELECT ENGINE, TABLE_TYPE FROM information_schema.TABLES \
         WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {table} AND CREATE_OPTIONS NOT LIKE '%SECONDARY_ENGINE%' \
         AND NOT (/*!90600 @@GLOBAL.innodb_native_foreign_keys AND */ EXISTS (\
         SELECT 1 FROM information_schema.REFERENTIAL_CONSTRAINTS AS r \
         WHERE r.CONSTRAINT_SCHEMA = {schema} AND r.TABLE_NAME = {table} \
         AND NOT (r.UPDATE_RULE IN ('RESTRICT', 'NO ACTION') AND r.DELETE_RULE IN ('RESTRICT', 'NO ACTION'))))",
    any_table: "SELECT ENGINE, TABLE_TYPE FROM information_schema.TABLES \
         WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {table} AND CREATE_OPTIONS NOT LIKE '%SECONDARY_ENGINE%'",
    // MySQL puts a backslash before each quote in an expression.
    columns: "SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, COLUMN_KEY, EXTRA, \
         REPLACE(GENERATION_EXPRESSION, CONCAT(CHAR(92), CHAR(39)), CHAR(39)) FROM information_schema.COLUMNS \
         WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {table} ORDER BY ORDINAL_POSITION",
    parents: PARENTS,
    unnamed_changes: &[
        "SELECT 1 FROM information_schema.TRIGGERS \
         WHERE EVENT_OBJECT_SCHEMA = {schema} AND EVENT_OBJECT_TABLE = {table} LIMIT 1",
        PARENTS,
    ],
    unique_keys: "SELECT INDEX_NAME, COLUMN_NAME, SUB_PART IS NULL AND NULLABLE <> 'YES' \
         FROM information_schema.STATISTICS \
         WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {table} AND NON_UNIQUE = 0 AND INDEX_NAME <> 'PRIMARY' \
         ORDER BY INDEX_NAME, SEQ_IN_INDEX",
    warnings: "SHOW WARNINGS",
    own_plugin: "SELECT PLUGIN_STATUS FROM information_schema.PLUGINS WHERE PLUGIN_NAME = 'fqc'",
    // The plugin of the X protocol only receives logins.
    other_listeners: "SELECT 1 FROM information_schema.PLUGINS WHERE PLUGIN_TYPE = 'AUDIT' \
         AND PLUGIN_NAME NOT IN ('fqc_events', 'mysqlx_cache_cleaner') AND PLUGIN_STATUS <> 'DISABLED' LIMIT 1",
    newest_thread: "SELECT MAX(ID) FROM information_schema.PROCESSLIST",
    triggers: Some("SELECT 1 FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA <> 'sys' LIMIT 1"),
    programs: None,
};
