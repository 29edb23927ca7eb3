//! MySQL's part of the stream: translations of MariaDB's statements, and statements that only MySQL has.

use super::Generator;
use super::model::Table;

/// Statements that every history on MySQL begins with. They create a JSON duality view, `d2.dv`, over a table that comes and goes.
pub(super) const PRELUDE: [&str; 2] = ["CREATE DATABASE d2", DUALITY_OF_KEYS];
const DUALITY: &str = "CREATE OR REPLACE JSON RELATIONAL DUALITY VIEW d2.dv AS \
    SELECT JSON_DUALITY_OBJECT(WITH(INSERT, UPDATE, DELETE) '_id': id, 'a': a) FROM d0.t1";

const DUALITY_OF_KEYS: &str = "CREATE OR REPLACE JSON RELATIONAL DUALITY VIEW d2.dv AS \
    SELECT JSON_DUALITY_OBJECT(WITH(INSERT, UPDATE, DELETE) '_id': id) FROM d0.t1";

/// Replacements, made in this order: MariaDB's words, and MySQL's for the same thing, or for something similar if MySQL lacks it.
const WORDS: &[(&str, &str)] = &[
    ("CREATE OR REPLACE TABLE", "CREATE TABLE"),
    ("CREATE OR REPLACE TEMPORARY TABLE", "CREATE TEMPORARY TABLE"),
    (") PERSISTENT", ") STORED"),
    ("ENGINE=Aria", "ENGINE=InnoDB"),
    ("ADD COLUMN IF NOT EXISTS", "ADD COLUMN"),
    (" RETURNING id", ""),
    ("tx_isolation", "transaction_isolation"),
    ("@@in_transaction", "@@autocommit"),
    // After the reset of a connection the server's status flags do not show this setting, but those of a served result do.
    ("SET GLOBAL autocommit = 0", "SET GLOBAL autocommit = 1"),
    ("TO PUBLIC", "TO u0"),
    ("SET DEFAULT ROLE r0 FOR ", "SET DEFAULT ROLE r0 TO "),
    ("CREATE SEQUENCE", "CREATE TABLE"),
    ("EXISTS d0.s0", "EXISTS d0.s0 (next_not_cached_value INT)"),
    ("CREATE TABLE d0.s0", "CREATE TABLE d0.s0 (next_not_cached_value INT)"),
    ("DROP SEQUENCE", "DROP TABLE"),
    ("NEXTVAL(d0.s0)", "UUID_SHORT() > 0"),
    ("LASTVAL(d0.s0)", "IS_UUID(UUID())"),
    ("LIMIT ROWS EXAMINED 1", "LIMIT 1"),
    ("OFFSET 1 ROW FETCH FIRST 2 ROWS ONLY", "LIMIT 2 OFFSET 1"),
    ("SQL_CACHE ", "SQL_SMALL_RESULT "),
    ("VALUES (1), (2)", "VALUES ROW(1), ROW(2)"),
    ("old_mode = 'UTF8_IS_UTF8MB3'", "default_collation_for_utf8mb4 = utf8mb4_general_ci"),
    ("old_mode = ''", "default_collation_for_utf8mb4 = utf8mb4_0900_ai_ci"),
    ("old_mode = 'ZERO_DATE_TIME_CAST'", "windowing_use_high_precision = 0"),
    ("old_mode", "default_collation_for_utf8mb4"),
    ("max_recursive_iterations", "cte_max_recursion_depth"),
    ("column_compression_threshold", "set_operations_buffer_size"),
    ("idle_transaction_timeout", "max_execution_time"),
    ("default_regex_flags = 'DOTALL'", "internal_tmp_mem_storage_engine = 'MEMORY'"),
    ("default_regex_flags", "internal_tmp_mem_storage_engine"),
    ("check_constraint_checks", "show_gipk_in_create_table_and_information_schema"),
    ("'EMPTY_STRING_IS_NULL'", "'TIME_TRUNCATE_FRACTIONAL'"),
    ("'ORACLE'", "'REAL_AS_FLOAT'"),
    ("FLUSH HOSTS", "FLUSH OPTIMIZER_COSTS"),
    ("EXECUTE q USING x", "SET @x = x; EXECUTE q USING @x"),
];

/// MySQL's statements for one of MariaDB's, in their order. There is at least one.
pub(super) fn translated(text: &str) -> Vec<String> {
    let mut text = WORDS.iter().fold(text.to_owned(), |text, (theirs, own)| text.replace(theirs, own));
    text =
        around(&text, "PREPARE q FROM CONCAT(", ");", |parts| format!("SET @p = CONCAT({parts}); PREPARE q FROM @p;"));
    text = around(&text, "MD5(", ")", |column| format!("SHA2({column}, 256)"));
    text = around(&text, "(BINARY ", ")", |column| format!("(CAST({column} AS BINARY))"));
    text = around(&text, "BY BINARY ", " ", |column| format!("BY CAST({column} AS BINARY) "));
    if text == "SET DEFAULT ROLE r0" {
        return vec!["SET DEFAULT ROLE r0 TO u0".into()];
    }
    if text.starts_with("BEGIN NOT ATOMIC") {
        return vec!["SELECT FOUND_ROWS(), ROW_COUNT()".into()];
    }
    if let Some(literal) = text.strip_prefix("EXECUTE IMMEDIATE ") {
        return vec![format!("PREPARE q FROM {literal}"), "EXECUTE q".into()];
    }
    if let Some((settings, read)) = text.strip_prefix("SET STATEMENT ").and_then(|rest| rest.split_once(" FOR ")) {
        return vec![hinted(settings, read)];
    }
    for kind in ["DATABASE", "TRIGGER", "FUNCTION", "PROCEDURE"] {
        if let Some(rest) = text.strip_prefix(&format!("CREATE OR REPLACE {kind} ")) {
            let name = rest.split([' ', '(']).next().unwrap_or_default();
            return vec![format!("DROP {kind} IF EXISTS {name}"), format!("CREATE {kind} {rest}")];
        }
    }
    vec![text]
}

/// The read with a hint that makes the first of these settings for it. The read alone if a hint cannot make that setting.
fn hinted(settings: &str, read: &str) -> String {
    let first = settings.split(", ").next().unwrap_or_default();
    let may_stand = !first.contains(['\'', '@', '(']) && !first.ends_with("DEFAULT");
    if may_stand { read.replacen("SELECT", &format!("SELECT /*+ SET_VAR({first}) */"), 1) } else { read.to_owned() }
}

/// Replaces each part from `open` to the next `close`, both included, by what `write` makes of the text between them.
fn around(text: &str, open: &str, close: &str, write: impl Fn(&str) -> String) -> String {
    let mut parts = text.split(open);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(close) {
            Some((inner, rest)) => out = out + &write(inner) + rest,
            None => out = out + open + part,
        }
    }
    out
}

impl Generator {
    pub(super) fn mysql_read(&mut self, table: &Table, name: &str) -> String {
        let condition = self.condition(table);
        let pattern = self.random.word(&[
            "TABLE {t} ORDER BY id LIMIT 3",
            "TABLE {t} ORDER BY id LIMIT 2 OFFSET 1",
            "SELECT id FROM {t} WHERE {c} EXCEPT SELECT id FROM {t} WHERE id > 10 ORDER BY id",
            "SELECT id FROM {t} WHERE {c} INTERSECT ALL SELECT id FROM d0.t1 ORDER BY id",
            "(TABLE {t} ORDER BY id LIMIT 2) UNION ALL (TABLE {t} ORDER BY id LIMIT 1)",
            "SELECT x.id, n FROM {t} x, LATERAL (SELECT COUNT(*) n FROM d0.t1 y WHERE y.id <= x.id) l ORDER BY x.id",
            "SELECT x.id, k FROM {t} x, JSON_TABLE(JSON_ARRAY(1, x.id), '$[*]' COLUMNS (k INT PATH '$')) q ORDER BY x.id, k",
            "SELECT id, SUM(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) s FROM {t} WHERE {c} ORDER BY id",
            "SELECT id, NTILE(3) OVER w, LAG(id) OVER w FROM {t} WHERE {c} WINDOW w AS (ORDER BY id) ORDER BY id",
            "WITH RECURSIVE q (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM q WHERE n < 5) \
                SELECT n, (SELECT COUNT(*) FROM {t} WHERE id <= n) k FROM q ORDER BY 1",
            "SELECT id % 3 k, COUNT(*) FROM {t} WHERE {c} GROUP BY k WITH ROLLUP",
            "SELECT id FROM {t} WHERE {c} ORDER BY id FOR SHARE SKIP LOCKED",
            "SELECT id FROM {t} WHERE {c} ORDER BY id FOR UPDATE NOWAIT",
            "SELECT /*+ MAX_EXECUTION_TIME(100000) */ id FROM {t} WHERE {c} ORDER BY id",
            "SELECT id, 2 MEMBER OF ('[1, 2, 3]') FROM {t} WHERE {c} ORDER BY id",
            "SELECT id, column_1 FROM (VALUES ROW(1, 'a'), ROW(2, 'b')) AS v JOIN {t} ON id = column_0 ORDER BY id",
            "SELECT id FROM {t} WHERE id + 1 = 8 ORDER BY id",
            "SELECT id, JSON_VALUE(JSON_OBJECT('k', id), '$.k' RETURNING UNSIGNED) FROM {t} WHERE {c} ORDER BY id",
            "SELECT STRING_TO_VECTOR('[1, 2]'), COUNT(*) FROM {t} WHERE {c}",
            "SELECT data FROM d2.dv",
            "SELECT data->'$.a' FROM d2.dv WHERE data->'$._id' = 3",
        ]);
        pattern.replace("{t}", name).replacen("{c}", &condition, 1)
    }

    pub(super) fn mysql_write(&mut self, table: &Table, name: &str) -> String {
        let (key, other) = (self.key(), self.key());
        let column = if table.has("a") { "a" } else { "id" };
        self.random
            .word(&[
                "INSERT INTO {t} (id, {a}) VALUES ({k}, {k}) AS new ON DUPLICATE KEY UPDATE {a} = new.{a}",
                "INSERT INTO {t} (id) VALUES ({k}) AS new (k) ON DUPLICATE KEY UPDATE id = new.k",
                "INSERT IGNORE INTO {t} (id) VALUES ROW({k}), ROW({o})",
                "INSERT IGNORE INTO {t} SET id = {k}",
                "INSERT IGNORE INTO {t} (id) SELECT * FROM (VALUES ROW(41), ROW(42)) AS v",
                "WITH q AS (SELECT id FROM d0.t1 WHERE id = {k}) UPDATE {t} SET {a} = {o} WHERE id IN (SELECT id FROM q)",
                "WITH q AS (SELECT {k} AS k) DELETE FROM {t} WHERE id IN (SELECT k FROM q)",
                "DELETE FROM {t} AS x WHERE x.id = {k}",
                "INSERT INTO d2.dv VALUES ('{\"_id\": 7, \"a\": 1}')",
                "UPDATE d2.dv SET data = JSON_SET(data, '$.a', 9) WHERE data->'$._id' = 3",
                "DELETE FROM d2.dv WHERE data->'$._id' = 4",
            ])
            .replace("{t}", name)
            .replace("{a}", column)
            .replace("{k}", &key)
            .replace("{o}", &other)
    }

    pub(super) fn mysql_definition(&mut self, name: &str) -> String {
        self.random
            .word(&[
                "ALTER TABLE {t} ADD COLUMN a INT DEFAULT 3, ALGORITHM=INSTANT",
                "ALTER TABLE {t} DROP COLUMN d, ALGORITHM=INSTANT",
                "CREATE INDEX kf ON {t} ((id + 1))",
                "CREATE UNIQUE INDEX uf ON {t} ((id * 2))",
                "DROP INDEX kf ON {t}",
                "ALTER TABLE {t} ALTER INDEX ka INVISIBLE",
                "ALTER TABLE {t} ALTER INDEX ka VISIBLE",
                "ALTER TABLE {t} ALTER COLUMN a SET INVISIBLE",
                "ALTER TABLE {t} ALTER COLUMN a SET VISIBLE",
                "ANALYZE TABLE {t} UPDATE HISTOGRAM ON id WITH 4 BUCKETS",
                DUALITY,
                DUALITY_OF_KEYS,
                "DROP VIEW IF EXISTS d2.dv",
            ])
            .replace("{t}", name)
    }

    pub(super) fn mysql_set(&mut self) -> String {
        self.random
            .word(&[
                "SET PERSIST div_precision_increment = 6",
                "SET @@PERSIST.group_concat_max_len = 30",
                "SET PERSIST_ONLY back_log = 80",
                "RESET PERSIST",
                "SET ROLE ALL",
                "SET ROLE ALL EXCEPT r0",
                "SET ROLE DEFAULT",
                "SET default_collation_for_utf8mb4 = utf8mb4_general_ci",
                "SET default_collation_for_utf8mb4 = DEFAULT",
                "SET NAMES utf8mb4",
            ])
            .to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::translated;

    #[test]
    fn statements_of_mariadb_become_mysqls() {
        for (text, expected) in [
            ("SELECT a FROM t", &["SELECT a FROM t"][..]),
            ("SELECT MD5(c), MIN(BINARY a) FROM t", &["SELECT SHA2(c, 256), MIN(CAST(a AS BINARY)) FROM t"]),
            ("EXECUTE IMMEDIATE 'SET a = 1'", &["PREPARE q FROM 'SET a = 1'", "EXECUTE q"]),
            (
                "CREATE OR REPLACE FUNCTION d0.fn0(x INT) RETURNS INT RETURN 1",
                &["DROP FUNCTION IF EXISTS d0.fn0", "CREATE FUNCTION d0.fn0(x INT) RETURNS INT RETURN 1"],
            ),
            (
                "SET STATEMENT sql_select_limit = 2, sql_mode = '' FOR SELECT 1",
                &["SELECT /*+ SET_VAR(sql_select_limit = 2) */ 1"],
            ),
            ("SET STATEMENT sql_mode = 'ANSI' FOR SELECT 1", &["SELECT 1"]),
        ] {
            assert_eq!(translated(text), expected, "{text}");
        }
    }
}
