//! Statements that create, replace and drop views, triggers, functions and procedures, and calls of procedures.

use super::Generator;

/// Names of views. One is not ASCII, and two differ only in their database.
const VIEWS: &[&str] = &["d0.v0", "d0.v1", "d0.`vä`", "d0.v3", "d1.v0"];

impl Generator {
    pub(super) fn routine(&mut self) -> String {
        match self.random.weighted(&[30, 6, 22, 6, 18, 4, 16, 4]) {
            0 => self.view(),
            1 => format!("DROP VIEW {}", self.random.word(VIEWS)),
            2 => self.trigger(),
            3 => format!("DROP TRIGGER d0.g{}", self.random.below(4)),
            4 => self.function(),
            5 => format!("DROP FUNCTION d0.fn{}", self.random.below(2)),
            6 => self.procedure(),
            _ => format!("DROP PROCEDURE {}", self.procedure_name()),
        }
    }

    pub(super) fn view(&mut self) -> String {
        let (table, other) = (self.table(true), self.table(true));
        let [name, other] = [&table, &other].map(|table| format!("{}.{}", table.database, table.name));
        let columns: Vec<_> = ["a", "c", "d"].into_iter().filter(|one| table.has(one)).collect();
        let columns = [&["id"], &columns[..]].concat().join(", ");
        let below = self.random.between(5, 40);
        let body = match self.random.below(17) {
            0..=2 => format!("SELECT {columns} FROM {name}"),
            3 => format!("SELECT {columns} FROM {name} WHERE id < {below}"),
            4 => format!("SELECT id, COUNT(*) a FROM {name} GROUP BY id"),
            5 => format!("SELECT id, d0.fn0(id) a FROM {name}"),
            6 => format!("SELECT {columns}, NOW() e, CURRENT_USER() c2 FROM {name}"),
            7 => format!("SELECT id, CONNECTION_ID() = @@pseudo_thread_id a FROM {name}"),
            8 => format!("SELECT {columns} FROM {name} WHERE id < {below} WITH CHECK OPTION"),
            9 => format!("SELECT id, (SELECT COUNT(*) FROM {other} o WHERE o.id <= x.id) a FROM {name} x"),
            10 => format!("SELECT x.id, y.id a FROM {name} x LEFT JOIN {other} y ON x.id = y.id AND y.id < {below}"),
            11 => format!("SELECT id, 7 a FROM {name} UNION SELECT id, 7 FROM {other}"),
            12 => format!("SELECT {columns} FROM {name} ORDER BY id LIMIT 3"),
            13 => format!(
                "WITH RECURSIVE q AS (SELECT MIN(id) id FROM {name} UNION SELECT id + 1 FROM q WHERE id < 9) \
                 SELECT id, id a FROM q"
            ),
            14 => format!("SELECT id, COUNT(*) OVER () a FROM {name} WHERE id IN (SELECT id FROM {other})"),
            15 => format!("SELECT id, FROM_UNIXTIME(0) e, COLLATION('x') c, @@time_zone f FROM {name}"),
            _ => format!("SELECT id, FROM_UNIXTIME(id) e, CONCAT('ä', DATABASE(), COLLATION('x')) c FROM {name}"),
        };
        let verb = self.random.word(&["CREATE OR REPLACE", "CREATE OR REPLACE", "ALTER"]);
        let algorithm = self.random.word(&["", " ALGORITHM=MERGE", " ALGORITHM=TEMPTABLE", " SQL SECURITY INVOKER"]);
        let definer = self.random.word(&["", "", "", " DEFINER=u1@'%'", " DEFINER=r0"]);
        let definer = if algorithm.contains("INVOKER") { "" } else { definer };
        let (algorithm, security) = if algorithm.contains("SECURITY") { ("", algorithm) } else { (algorithm, "") };
        format!("{verb}{algorithm}{definer}{security} VIEW {} AS {body}", self.random.word(VIEWS))
    }

    /// A statement that removes or changes the definition of a view, or a user's right to read it.
    pub(super) fn view_change(&mut self) -> String {
        match self.random.below(10) {
            0..=5 => self.view(),
            6 => format!("DROP VIEW {}", self.random.word(VIEWS)),
            7 => self
                .random
                .word(&["RENAME TABLE d0.v0 TO d0.v9, d0.v1 TO d0.v0, d0.v9 TO d0.v1", "RENAME TABLE d0.v3 TO d0.v1"])
                .into(),
            8 => self
                .random
                .word(&["REVOKE SELECT ON d0.* FROM u1", "GRANT SELECT ON d0.* TO u1", "GRANT SELECT ON d0.v0 TO u2"])
                .into(),
            _ => format!("ALTER TABLE d0.t{} COMMENT = 'behind views'", self.random.below(4)),
        }
    }

    fn trigger(&mut self) -> String {
        let (table, number) = (self.table(false), self.random.below(4));
        let name = format!("{}.{}", table.database, table.name);
        let event =
            self.random.word(&["AFTER INSERT", "AFTER UPDATE", "AFTER DELETE", "BEFORE INSERT", "BEFORE UPDATE"]);
        let target = self.random.below(6);
        let body = match self.random.below(5) {
            0 => format!("UPDATE d0.t{target} SET a = a + 1 WHERE id = 5"),
            1 => format!("INSERT IGNORE INTO d0.t{target} (a) VALUES (77)"),
            2 => format!("DELETE FROM d0.t{target} WHERE id = 9"),
            // The value is no sum with the variable itself: `SET @u = COALESCE(@u, 0) + 1` sometimes crashes MySQL 9.7.4 in
            // `user_var_entry::store`.
            3 => "SET @u = IF(@u IS NULL, 1, 2)".into(),
            _ => format!("UPDATE d0.t{target} SET a = 3 WHERE id BETWEEN 2 AND 4"),
        };
        format!("CREATE OR REPLACE TRIGGER d0.g{number} {event} ON {name} FOR EACH ROW {body}")
    }

    pub(super) fn function(&mut self) -> String {
        let (number, table) = (self.random.below(2), self.table(true));
        let name = format!("{}.{}", table.database, table.name);
        let nature = self.random.word(&["DETERMINISTIC", "NOT DETERMINISTIC", "READS SQL DATA", "MODIFIES SQL DATA"]);
        let body = match self.random.below(6) {
            0 => "RETURN x * 2".into(),
            1 => "RETURN x + 10".into(),
            2 => format!("RETURN (SELECT COUNT(*) FROM {name})"),
            3 => format!("RETURN (SELECT MAX(id) FROM {name} WHERE id <= x)"),
            4 => "RETURN COALESCE(@u, -1)".into(),
            _ => format!("BEGIN UPDATE {name} SET id = id WHERE id = x; RETURN ROW_COUNT(); END"),
        };
        format!("CREATE OR REPLACE FUNCTION d0.fn{number}(x INT) RETURNS INT {nature} {body}")
    }

    pub(super) fn procedure(&mut self) -> String {
        let table = self.table(true);
        let name = format!("{}.{}", table.database, table.name);
        let body = match self.random.below(14) {
            0 => format!("SELECT * FROM {name} WHERE id = x ORDER BY id"),
            1 => format!("UPDATE {name} SET a = x WHERE id = x"),
            2 => format!("BEGIN INSERT IGNORE INTO {name} (id) VALUES (x); SELECT COUNT(*) FROM {name}; END"),
            3 => "SET SESSION div_precision_increment = x".into(),
            4 => "SET @u = x".into(),
            5 => format!("BEGIN START TRANSACTION; DELETE FROM {name} WHERE id = x; COMMIT; END"),
            6 => format!("CREATE TEMPORARY TABLE t{} (id INT PRIMARY KEY, a INT DEFAULT 42)", self.random.below(6)),
            7 => "SET SESSION time_zone = '+03:00', lc_time_names = 'fr_FR'".into(),
            8 => format!("BEGIN START TRANSACTION; UPDATE {name} SET a = x WHERE id = x; END"),
            9 => format!("BEGIN PREPARE q FROM 'SELECT COUNT(*) FROM {name}'; EXECUTE q; DEALLOCATE PREPARE q; END"),
            10 => format!("ALTER TABLE {name} COMMENT = 'by procedure'"),
            // The binary log does not contain the statement that a routine prepares.
            11 => {
                let made = format!("RARY TABLE IF NOT EXISTS t{} (id INT PRIMARY KEY, a INT)", self.random.below(6));
                format!("BEGIN PREPARE q FROM CONCAT('CREATE TEMPO', '{made}'); EXECUTE q; END")
            }
            12 => format!("BEGIN PREPARE q FROM 'UPDATE {name} SET a = 8 WHERE id = ?'; EXECUTE q USING x; END"),
            _ => "BEGIN END".into(),
        };
        format!("CREATE OR REPLACE PROCEDURE {}(x INT) {body}", self.procedure_name())
    }

    pub(super) fn call(&mut self) -> String {
        let name = self.procedure_name();
        format!("CALL {name}({})", self.small())
    }

    /// The name of a procedure that may or may not exist. It is rarely in another database than that of most sessions. For such a call the
    /// server changes the database and comes back.
    fn procedure_name(&mut self) -> String {
        let database = self.random.word(&["d0", "d0", "d1"]);
        format!("{database}.p{}", self.random.below(5))
    }
}
