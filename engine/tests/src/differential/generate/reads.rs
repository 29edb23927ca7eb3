//! Reads: those that a cache may store, and those that it must not.

use super::Generator;
use super::model::Table;

impl Generator {
    /// A random SELECT, from any table or view.
    pub(super) fn read(&mut self) -> String {
        let table = self.table(true);
        let name = self.reference(&table);
        if self.is_own(15) {
            let text = self.mysql_read(&table, &name);
            return self.decorated(text);
        }
        let text = match self.random.weighted(&[30, 14, 10, 8, 8, 6, 5, 4, 4, 4, 14]) {
            0 => {
                let selection = self.selection(&table);
                format!("SELECT {selection} FROM {name} WHERE {}", self.key_condition("id"))
            }
            1 => {
                let selection = self.selection(&table);
                let condition = self.condition(&table);
                let limit =
                    self.random.word(&["", " LIMIT 3", " LIMIT 1, 2", " LIMIT 5 OFFSET 2", " DESC", " DESC LIMIT 4"]);
                let counts = if self.random.percent(8) { "SQL_CALC_FOUND_ROWS " } else { "" };
                format!("SELECT {counts}{selection} FROM {name} WHERE {condition} ORDER BY id{limit}")
            }
            2 => {
                let aggregate = self.aggregate(&table);
                let condition = self.condition(&table);
                format!("SELECT {aggregate} FROM {name} WHERE {condition}")
            }
            3 => format!("SELECT {} FROM {name}", self.aggregate(&table)),
            4 => self.grouped(&table, &name),
            5 => self.joined(&table, &name),
            6 => self.nested(&table, &name),
            7 => self.united(&table, &name),
            8 => self.windowed(&table, &name),
            9 => format!("SELECT {}, {} FROM {name} ORDER BY id", self.scalar(&table), self.scalar(&table)),
            _ => self.delicate(&table, &name),
        };
        self.decorated(text)
    }

    fn grouped(&mut self, table: &Table, name: &str) -> String {
        let column = table.column(&mut self.random).to_string();
        let aggregate = self.aggregate(table);
        let rollup = self.random.word(&["", "", " HAVING COUNT(*) > 1"]);
        // Groups ignore case, and whether "a" or "A" represents a group is up to the server. So only their least binary value is
        // selected.
        format!("SELECT MIN(BINARY {column}), {aggregate} FROM {name} GROUP BY {column}{rollup} ORDER BY {column}")
    }

    fn joined(&mut self, table: &Table, name: &str) -> String {
        let other = self.table(true);
        let other_name = self.reference(&other);
        let kind = self.random.word(&["JOIN", "LEFT JOIN", "STRAIGHT_JOIN", "INNER JOIN"]);
        let column = table.column(&mut self.random).to_string();
        let condition = self.key_condition("x.id");
        format!(
            "SELECT x.{column}, y.* FROM {name} x {kind} {other_name} y ON x.id = y.id WHERE {condition} ORDER BY x.id, y.id"
        )
    }

    fn nested(&mut self, table: &Table, name: &str) -> String {
        let other = self.table(true);
        let other_name = self.reference(&other);
        let selection = self.selection(table);
        let inner = self.condition(&other);
        match self.random.below(4) {
            0 => format!(
                "SELECT {selection} FROM {name} WHERE id IN (SELECT id FROM {other_name} WHERE {inner}) ORDER BY id"
            ),
            1 => format!(
                "SELECT {selection} FROM {name} WHERE EXISTS (SELECT 1 FROM {other_name} WHERE {inner}) ORDER BY id"
            ),
            2 => format!("SELECT id, (SELECT COUNT(*) FROM {other_name} WHERE {inner}) n FROM {name} ORDER BY id"),
            _ => format!(
                "SELECT * FROM (SELECT id, COUNT(*) n FROM {other_name} WHERE {inner} GROUP BY id) q ORDER BY id"
            ),
        }
    }

    fn united(&mut self, table: &Table, name: &str) -> String {
        let other = self.table(true);
        let other_name = self.reference(&other);
        let (left, right) = (self.condition(table), self.condition(&other));
        match self.random.below(3) {
            0 => format!(
                "SELECT id FROM {name} WHERE {left} UNION SELECT id FROM {other_name} WHERE {right} ORDER BY id"
            ),
            1 => format!(
                "(SELECT id FROM {name} WHERE {left}) UNION ALL (SELECT id FROM {other_name} WHERE {right}) ORDER BY id"
            ),
            _ => format!(
                "WITH q AS (SELECT id FROM {name} WHERE {left}) SELECT COUNT(*) FROM q, (SELECT 1 FROM {other_name} WHERE {right}) r"
            ),
        }
    }

    fn windowed(&mut self, table: &Table, name: &str) -> String {
        let column = table.column(&mut self.random).to_string();
        format!(
            "SELECT id, ROW_NUMBER() OVER (ORDER BY id), COUNT(*) OVER (PARTITION BY {column}) FROM {name} ORDER BY id"
        )
    }

    /// Reads that a cache must not answer, or only with care: a cache that serves them blindly gives a wrong answer to some of them.
    fn delicate(&mut self, table: &Table, name: &str) -> String {
        let condition = self.condition(table);
        let pattern = self.random.word(&[
            "SELECT id, @u FROM {t} WHERE {c} ORDER BY id",
            "SELECT @u := COUNT(*) FROM {t} WHERE {c}",
            "SELECT COUNT(*), LAST_INSERT_ID() FROM {t} WHERE {c}",
            "SELECT COUNT(*), FOUND_ROWS() FROM {t} WHERE {c}",
            "SELECT SQL_CALC_FOUND_ROWS id FROM {t} WHERE {c} ORDER BY id LIMIT 2",
            "SELECT id FROM {t} WHERE {c} ORDER BY id FOR UPDATE",
            "SELECT id FROM {t} WHERE {c} ORDER BY id LOCK IN SHARE MODE",
            "SELECT COUNT(*), NOW(), CURRENT_DATE, UNIX_TIMESTAMP() FROM {t} WHERE {c}",
            "SELECT COUNT(*), SYSDATE() > '2001-01-01' FROM {t} WHERE {c}",
            "SELECT COUNT(*), CURRENT_USER(), DATABASE(), SCHEMA() FROM {t} WHERE {c}",
            "SELECT COUNT(*), CONNECTION_ID() = @@pseudo_thread_id FROM {t} WHERE {c}",
            "SELECT COUNT(*), @@sql_mode, @@time_zone, @@autocommit, @@last_insert_id FROM {t} WHERE {c}",
            "SELECT COUNT(*), @@warning_count, @@error_count FROM {t} WHERE {c}",
            "SELECT COUNT(*), @@in_transaction, @@rand_seed1 IS NULL, @@timestamp FROM {t} WHERE {c}",
            "SELECT COUNT(*), RAND(5) FROM {t} WHERE {c}",
            "SELECT COUNT(*), UUID() = UUID(), SLEEP(0) FROM {t} WHERE {c}",
            "SELECT COUNT(*), GET_LOCK('l', 0), IS_USED_LOCK('l') = CONNECTION_ID(), RELEASE_LOCK('l') FROM {t} WHERE {c}",
            "SELECT COUNT(*) INTO @u FROM {t} WHERE {c}",
            "SELECT id FROM {t} WHERE {c} ORDER BY id LIMIT 1 INTO @u",
            "SELECT fn0(id), id FROM {t} WHERE {c} ORDER BY id",
            "SELECT COUNT(*), fn1(3) FROM {t} WHERE {c}",
            "SELECT NEXTVAL(d0.s0), COUNT(*) FROM {t} WHERE {c}",
            "SELECT LASTVAL(d0.s0), COUNT(*) FROM {t} WHERE {c}",
            "SELECT COUNT(*) FROM {t}, d0.s0 WHERE next_not_cached_value > 0",
            "SELECT BENCHMARK(1, 1), COUNT(*) FROM {t} WHERE {c}",
            "SELECT 1 / 0, COUNT(*) FROM {t} WHERE {c}",
            "SELECT CAST('12x' AS SIGNED), COUNT(*) FROM {t} WHERE {c}",
            "SELECT CAST('12 ' AS SIGNED), COUNT(*) FROM {t} WHERE {c}",
            "SELECT COLLATION('x'), 'a' = 'A', COUNT(*) FROM {t} WHERE {c}",
            "SELECT HOUR(ADDTIME('10:00:00', '01:00:00')), COUNT(*) FROM {t} WHERE {c}",
            "SELECT SQL_NO_CACHE COUNT(*) FROM {t} WHERE {c}",
            "SELECT SQL_CACHE COUNT(*) FROM {t} WHERE {c}",
            "SELECT nothing FROM {t} WHERE {c}",
            "SELECT (SELECT id FROM {t} t2), COUNT(*) FROM {t}",
            "SELECT table_name, table_comment FROM information_schema.tables WHERE table_schema = 'd0' ORDER BY table_name",
            "SELECT user, host FROM mysql.user ORDER BY user, host",
            "SHOW TABLES FROM d0",
            "SHOW CREATE TABLE {t}",
            "SHOW COLUMNS FROM {t}",
            "DESCRIBE {t}",
            "SELECT 1",
            "SELECT 1 FROM DUAL",
            "SELECT 'constant', COUNT(*) FROM {t}",
            "TABLE {t}",
            "VALUES (1), (2)",
            "SELECT x.id FROM {t} x WHERE id IS NULL",
            "SELECT * FROM {t} PARTITION (p0) ORDER BY id",
            "SELECT id FROM {t} USE INDEX () WHERE {c} ORDER BY id",
            "SELECT * FROM {t} WHERE id = (SELECT MAX(id) FROM {t})",
            "SELECT DISTINCT id % 3 FROM {t} WHERE {c} ORDER BY 1",
            "SELECT id FROM {t} WHERE c = 'a' AND id IN (SELECT id FROM {t} WHERE {c}) ORDER BY id",
            "SELECT * FROM {t} NATURAL JOIN {t} y ORDER BY id",
            "SELECT id AS 'ünï', 'ß' FROM {t} WHERE {c} ORDER BY id",
            "SELECT _latin1'x' = 'X', COUNT(*) FROM {t} WHERE {c}",
            "SELECT * FROM {t} WHERE MATCH (c) AGAINST ('a')",
            "SELECT id FROM {t} WHERE {c} ORDER BY id LIMIT 0",
            "SELECT id FROM {t} WHERE {c} ORDER BY id LIMIT ROWS EXAMINED 1",
            "SELECT id FROM {t} WHERE {c} ORDER BY id OFFSET 1 ROW FETCH FIRST 2 ROWS ONLY",
            "SELECT id FROM {t} WHERE {c} ORDER BY id LIMIT 2 INTO OUTFILE '/nonexistent/x'",
        ]);
        // A second occurrence of the condition would need its parameters twice.
        pattern.replace("{t}", name).replacen("{c}", &condition, 1)
    }

    /// The statement with other bytes, for example with a comment, or with a setting for it alone.
    fn decorated(&mut self, text: String) -> String {
        match self.random.below(60) {
            0 => format!("/* note */ {text}"),
            1 => format!("{text} -- tail"),
            2 => format!("  {text}  "),
            3 => format!("{text};"),
            4 => text.replacen("SELECT", "select", 1),
            5 => text.replacen("SELECT", "SELECT /*! SQL_NO_CACHE */", 1),
            6 => text.replacen("SELECT", "SELECT /*!50000 ALL */", 1),
            7 => text.replacen("SELECT", "SELECT\n\t", 1),
            8 => format!("# note\n{text}"),
            9 => text.replacen(" FROM ", " /* FROM */ FROM ", 1),
            10 => format!("SET STATEMENT {} FOR {text}", self.setting()),
            11 => format!("({text})"),
            12 => text.replacen("SELECT", "SELECT /*M!100000 SQL_BUFFER_RESULT */", 1),
            13 => format!("SELECT * FROM ({}) wrapped ORDER BY 1", text.trim_end_matches(';')),
            _ => text,
        }
    }

    /// A read whose result is larger than a network packet, and rarely larger than a packet of the protocol.
    pub(super) fn big(&mut self) -> String {
        let table = self.table(false);
        let name = self.reference(&table);
        let length = match self.random.below(40) {
            0 => 17_000_000,
            1..=4 => 1_500_000,
            5..=12 => 300_000,
            _ => 9_000,
        };
        let rows = if length > 1_000_000 { 1 } else { 12 };
        format!("SELECT id, REPEAT('x', {length}) FROM {name} ORDER BY id LIMIT {rows}")
    }
}
