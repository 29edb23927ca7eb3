//! Statements for testing that the engine distinguishes rows: with keys that are equal, adjacent or nearly so. Some tables change only by
//! statements that name their rows, and others do not.

use super::Generator;
use super::model::Table;
use crate::client::Param;
use crate::differential::action::{Account, Commands, Kind};

/// Tables with different kinds of keys: their names, and what follows them in CREATE TABLE. The last column of some is generated.
const TABLES: &[(&str, &str)] = &[
    ("d0.t0", "(id INT AUTO_INCREMENT PRIMARY KEY, a INT DEFAULT 1, c VARCHAR(30), d DECIMAL(12,3)) ENGINE=InnoDB"),
    (
        "d0.t1",
        "(a INT DEFAULT 1, id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, b BIGINT UNSIGNED UNIQUE, v INT AS (a * 2) VIRTUAL) ENGINE=InnoDB",
    ),
    (
        "d0.t2",
        "(id INT PRIMARY KEY, a INT, c VARCHAR(30), FOREIGN KEY (a) REFERENCES d0.t2 (id) ON DELETE CASCADE ON UPDATE CASCADE) ENGINE=InnoDB",
    ),
    ("d0.t3", "(id SMALLINT AUTO_INCREMENT PRIMARY KEY, a INT DEFAULT 1, c VARCHAR(30)) ENGINE=InnoDB"),
    (
        "d0.t4",
        "(id INT AUTO_INCREMENT PRIMARY KEY, a INT, FOREIGN KEY (a) REFERENCES d0.t0 (id) ON DELETE CASCADE ON UPDATE SET NULL) ENGINE=InnoDB",
    ),
    ("d0.t5", "(id DECIMAL(10,0) PRIMARY KEY, a INT DEFAULT 1) ENGINE=InnoDB"),
    ("d0.t6", "(id INT PRIMARY KEY, a INT UNIQUE) ENGINE=InnoDB"),
    (
        "d1.t0",
        "(id INT PRIMARY KEY, a INT DEFAULT 1) ENGINE=InnoDB PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (8), PARTITION p1 VALUES LESS THAN MAXVALUE)",
    ),
    ("d1.t1", "(id TINYINT NOT NULL PRIMARY KEY, a INT DEFAULT 1) ENGINE=InnoDB"),
    (
        PAIRS,
        "(id INT AUTO_INCREMENT PRIMARY KEY, a INT NOT NULL DEFAULT 1, c VARBINARY(30) NOT NULL DEFAULT 'x', d INT, UNIQUE KEY k (a, c)) ENGINE=InnoDB",
    ),
    (
        NAMES,
        "(c VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_general_ci NOT NULL UNIQUE, id SMALLINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, a INT UNIQUE, d BIGINT NOT NULL DEFAULT 3, UNIQUE KEY k (d, c(1))) ENGINE=InnoDB",
    ),
];

/// A table with a second unique key, of two columns.
const PAIRS: &str = "d0.t7";
/// A table with further unique keys, one with a text column.
const NAMES: &str = "d1.t2";
/// Values for text keys. Some of them are equal in some collations, or as numbers.
const WORDS: [&str; 10] = ["a", "A", "b", "a ", "ä", "é", "0", "00", "x", ""];

impl Generator {
    /// The statements that create the tables and a trigger.
    pub(super) fn rows_prelude(&mut self) -> Vec<String> {
        let tables = TABLES.iter().map(|(name, body)| format!("CREATE TABLE {name} {body}"));
        let mut statements: Vec<String> = tables.collect();
        statements.push(self.row_trigger());
        statements
    }

    /// Queues inserts into all tables, so that there is something to read.
    pub(super) fn rows_filling(&mut self) {
        for (name, _) in TABLES {
            let column = if *name == NAMES { "c" } else { "a" };
            let value = |key: i32| if [PAIRS, NAMES].contains(name) { key.to_string() } else { "NULL".into() };
            let rows: Vec<_> = (1..13).chain(60..70).map(|key| format!("({key}, {})", value(key))).collect();
            let text = format!("INSERT INTO {name} (id, {column}) VALUES {}", rows.join(", "));
            self.later(0, Kind::Write, Commands::Query(text));
        }
    }

    /// A value for a text key, without quotes.
    fn word_of_key(&mut self) -> String {
        if self.random.percent(20) { self.random.between(1, 12).to_string() } else { self.random.word(&WORDS).into() }
    }

    /// A condition that names one row of this table by a unique key, or one that only looks like it.
    fn unique_condition(&mut self, name: &str) -> String {
        let of_pairs = [
            "a = {k} AND c = '{w}'",
            "a = {k} AND c = '{w}'",
            "(c = '{w}' AND (a = {k}))",
            "a = {k} AND c = '{w}' AND d > 1",
            "a = '{k}' AND c = '{w}'",
            "a = {k} AND c = {k}",
            "a = {k}",
            "c = '{w}'",
            "a = {k} AND c IN ('{w}', 'b')",
            "a = {k} AND c >= '{w}'",
            "a = {k} AND c = '{w}' OR d = {k}",
        ];
        let of_names = [
            "c = '{w}'",
            "c = '{w}'",
            "(c = '{w}')",
            "c = {k}",
            "c = '{w}' COLLATE latin1_bin",
            "c = _utf8mb4'{w}' COLLATE utf8mb4_bin",
            "c = BINARY '{w}'",
            "c LIKE '{w}'",
            "a = {k}",
            "a IS NULL",
            "d = {k} AND c = '{w}'",
            "d = 3e0 AND c = '{w}'",
        ];
        let pattern = if name == NAMES { self.random.word(&of_names) } else { self.random.word(&of_pairs) };
        let key = self.random.between(1, 4);
        let pattern = pattern.replace("{w}", &self.word_of_key());
        if !pattern.contains(" {k}") {
            return pattern.replace("{k}", &key.to_string());
        }
        let bound = self.bind(Param::Int(key), key.to_string());
        pattern.replacen(" {k}", &format!(" {bound}"), 1).replace("{k}", &key.to_string())
    }

    fn unique_read(&mut self) -> String {
        let name = self.random.word(&[PAIRS, PAIRS, NAMES]);
        let what = self.random.word(&[
            "*",
            "id, a, c, d",
            "a, c, d, id AS n",
            "d, x.id",
            "a AS id, d",
            "d + 1 AS id, x.*",
            "DISTINCT *, id",
            "DISTINCT id, d",
        ]);
        let tail = self.random.word(&["", " ORDER BY id", " ORDER BY id DESC LIMIT 1", " ORDER BY x.id LIMIT 1"]);
        format!("SELECT {what} FROM {name} AS x WHERE {}{tail}", self.unique_condition(name))
    }

    fn unique_write(&mut self) -> String {
        let name = self.random.word(&[PAIRS, PAIRS, NAMES]);
        let pattern = self.random.word(&[
            "UPDATE {t} SET d = d + 1 WHERE id = {i}",
            "UPDATE {t} SET d = {k} WHERE id = {i}",
            "UPDATE {t} SET c = '{w}' WHERE id = {i}",
            "UPDATE {t} SET a = {k} WHERE id = {i}",
            "UPDATE {t} SET a = {k}, c = '{w}' WHERE id IN ({i}, 3)",
            "UPDATE {t} SET d = {k} WHERE {u}",
            "UPDATE {t} SET id = id + 60 WHERE id = {i}",
            "DELETE FROM {t} WHERE id = {i}",
            "DELETE FROM {t} WHERE {u}",
            "INSERT INTO {t} (a, c, d) VALUES ({k}, '{w}', {i})",
            "INSERT IGNORE INTO {t} (a, c, d) VALUES ({k}, '{w}', {i})",
            "INSERT INTO {t} (id, a, c) VALUES ({i}, {k}, '{w}')",
            "REPLACE INTO {t} (a, c, d) VALUES ({k}, '{w}', {i})",
            "REPLACE INTO {t} (id, a, c) VALUES ({i}, {k}, '{w}')",
            "INSERT INTO {t} (a, c) VALUES ({k}, '{w}') ON DUPLICATE KEY UPDATE d = d + 1",
            "INSERT INTO {t} (id, a, c) VALUES ({i}, {k}, '{w}') ON DUPLICATE KEY UPDATE c = 'b'",
            "INSERT INTO {t} (a, c) VALUES ({k}, '{w}') ON DUPLICATE KEY UPDATE id = id + 60",
        ]);
        let condition = if pattern.contains("{u}") { self.unique_condition(name) } else { String::new() };
        let row = self.random.between(1, 12).to_string();
        pattern
            .replace("{t}", name)
            .replace("{u}", &condition)
            .replace("{i}", &row)
            .replace("{k}", &self.random.between(1, 4).to_string())
            .replace("{w}", &self.word_of_key())
    }

    pub(super) fn row_trigger(&mut self) -> String {
        let number = self.random.below(4);
        let (event, body) = *self.random.pick(&[
            ("BEFORE INSERT ON d0.t3", "SET NEW.id = NEW.id + 1"),
            ("BEFORE UPDATE ON d0.t3", "SET NEW.id = OLD.id + 1"),
            ("AFTER DELETE ON d0.t3", "UPDATE d0.t0 SET a = a + 1 WHERE id = OLD.id"),
            ("AFTER UPDATE ON d0.t1", "UPDATE d0.t0 SET a = a + 1 WHERE id = NEW.id + 1"),
            ("AFTER INSERT ON d1.t0", "DELETE FROM d0.t0 WHERE id = NEW.id + 60"),
        ]);
        let database = &event[event.len() - 5..event.len() - 3];
        format!("CREATE OR REPLACE TRIGGER {database}.g{number} {event} FOR EACH ROW {body}")
    }

    /// One of a few keys, mostly around the bounds of blocks: the engine versions neighbouring keys in blocks of 64.
    fn near(&mut self) -> i64 {
        match self.random.below(20) {
            0..=11 => self.random.between(1, 12),
            12..=15 => self.random.between(60, 70),
            16 | 17 => self.random.between(122, 131),
            18 => self.random.between(-3, 0),
            _ => *self.random.pick(&[127, 128, 32767, 32768, -128, 2147483647, 2147483648, -2147483649, i64::MAX]),
        }
    }

    fn bound_key(&mut self) -> String {
        let key = self.near();
        self.bind(Param::Int(key), key.to_string())
    }

    /// The bounds of a range of keys, mostly the lower one first.
    fn pair(&mut self) -> [String; 2] {
        let low = self.near();
        let high = low.saturating_add(self.random.between(-1, 70));
        [low, high].map(|key| self.bind(Param::Int(key), key.to_string()))
    }

    /// A condition that names rows by the key column `id`, or one that only looks like it.
    fn rows_condition(&mut self, id: &str) -> String {
        match self.random.below(30) {
            0..=9 => format!("{id} = {}", self.bound_key()),
            10..=12 => {
                let keys: Vec<_> = (0..1 + self.random.below(4)).map(|_| self.bound_key()).collect();
                format!("{id} IN ({})", keys.join(", "))
            }
            13..=16 => {
                let [low, high] = self.pair();
                format!("{id} BETWEEN {low} AND {high}")
            }
            17 => {
                let [low, high] = self.pair();
                format!("{id} >= {low} AND {id} < {high}")
            }
            18 => {
                let [low, high] = self.pair();
                format!("{id} > {low} AND {id} <= {high}")
            }
            19 => format!("{id} = {} AND a > {}", self.bound_key(), self.small()),
            20 => format!("a > {} AND {id} = {}", self.small(), self.bound_key()),
            21 => format!("{id} > {}", self.bound_key()),
            22 => format!("{id} = {} OR {id} = {}", self.bound_key(), self.bound_key()),
            _ => {
                let pattern = self.random.word(&[
                    "{i} = '{k}'",
                    "{i} = {k}.0",
                    "{i} = {k} + 0",
                    "{i} = 0x0{k}",
                    "NOT {i} = {k}",
                    "{i} = {k} = 0",
                    "a BETWEEN 0 AND {i} = {k}",
                    "CASE WHEN a = 1 AND {i} = {k} AND 1 THEN 0 ELSE 1 END",
                    "{i} IN ('{k}', 7)",
                    "{i} <> {k}",
                    "{i} <=> {k}",
                    "{i} = {k} XOR a = 1",
                    "({i} = {k})",
                    "{i} = {k} AND 1",
                    "{i} = 18446744073709551615",
                    "{i} = 99999999999999999999",
                    "{i} = -{k}",
                    "{i} = 1e0",
                    "{i} = TRUE",
                    "{i} = a",
                    "{i} IS NOT NULL",
                    "{i} BETWEEN -5 AND {k}",
                    "{i} NOT BETWEEN 3 AND {k}",
                ]);
                pattern.replace("{i}", id).replace("{k}", &self.random.between(1, 9).to_string())
            }
        }
    }

    /// A read that mostly names its rows.
    pub(super) fn row_read(&mut self) -> String {
        if self.random.percent(15) {
            return self.read();
        }
        if self.random.percent(35) {
            return self.unique_read();
        }
        let table = self.table(false);
        let name = self.reference(&table);
        let (from, id) = match self.random.below(9) {
            0 => (format!("{name} AS x"), "x.id"),
            1 => (format!("{name} x"), "x.id"),
            2 => (name, "ID"),
            3 => (name, "`id`"),
            4 => (name, "_rowid"),
            _ => (name, "id"),
        };
        let what = match self.random.below(4) {
            0 => "*".into(),
            1 => "id, a".into(),
            2 => self.aggregate(&table),
            _ => "COUNT(*), SUM(a)".to_owned(),
        };
        let condition = self.rows_condition(id);
        let is_list = matches!(what.as_str(), "*" | "id, a");
        let tail = if is_list { self.random.word(&["", "", " ORDER BY id", " ORDER BY id DESC LIMIT 2"]) } else { "" };
        let lock = if self.random.percent(5) { " FOR UPDATE" } else { "" };
        format!("SELECT {what} FROM {from} WHERE {condition}{tail}{lock}")
    }

    /// A write that mostly names its rows.
    pub(super) fn row_write(&mut self) -> String {
        if self.random.percent(20) {
            return self.write();
        }
        if self.random.percent(35) {
            return self.unique_write();
        }
        let table = self.table(false);
        let name = self.reference(&table);
        match self.random.below(20) {
            0..=6 => self.row_update(&name),
            7..=9 => format!("DELETE FROM {name} WHERE {}", self.rows_condition("id")),
            10 => format!("DELETE FROM {name} WHERE {} ORDER BY id LIMIT 1", self.rows_condition("id")),
            11 => format!("UPDATE {name} SET a = 5 WHERE {} ORDER BY id LIMIT 2", self.rows_condition("id")),
            12 => {
                let id = self.random.word(&["id", "_rowid"]);
                format!("UPDATE {name} SET {id} = {id} + 60 WHERE {}", self.rows_condition("id"))
            }
            13 => {
                let id = self.random.word(&["id", "_rowid"]);
                format!("UPDATE {name} SET a = 6, {id} = {} WHERE id = {}", self.bound_key(), self.bound_key())
            }
            _ => self.row_insert(&table, &name),
        }
    }

    /// Queues reads of rows, so that they are cached, a write to rows that may be among them, and the reads again. Returns the step to run
    /// before those.
    pub(super) fn row_watch(&mut self, session: usize) -> (Kind, Commands) {
        if self.random.percent(50) {
            return self.unique_watch(session);
        }
        let table = self.table(false);
        let name = format!("{}.{}", table.database, table.name);
        let look = |key: i64| Commands::Query(format!("SELECT * FROM {name} WHERE id = {key}"));
        for key in (2..13).chain(1..13) {
            self.later(session, Kind::Read, look(key));
        }
        let write = self.row_insert(&table, &name);
        self.later(session, Kind::Write, Commands::Query(write));
        for key in 1..13 {
            self.later(session, Kind::Read, look(key));
        }
        (Kind::Read, look(1))
    }

    /// Queues reads that find a row by a unique key other than the primary one, so that they are cached, a write to rows that may be among
    /// them, and the reads again. Returns the step to run before those.
    fn unique_watch(&mut self, session: usize) -> (Kind, Commands) {
        let name = self.random.word(&[PAIRS, NAMES]);
        let what = self.random.word(&["*", "d, id", "id, a", "d, a AS id", "a AS id, id AS n"]);
        let look = |key: i64| {
            let condition = if name == NAMES { format!("c = '{key}'") } else { format!("a = {key} AND c = 'x'") };
            Commands::Query(format!("SELECT {what} FROM {name} WHERE {condition} ORDER BY id LIMIT 1"))
        };
        for key in (2..6).chain(1..6) {
            self.later(session, Kind::Read, look(key));
        }
        let pattern = self.random.word(&[
            "UPDATE {t} SET d = {d} WHERE id = {i}",
            "UPDATE {t} SET d = {d} WHERE id IN ({i}, {k})",
            "UPDATE {t} SET c = 'gone{d}' WHERE id = {i}",
            "UPDATE {t} SET a = a + 100 WHERE id = {i}",
            "DELETE FROM {t} WHERE id = {i}",
            "INSERT INTO {t} (id, a, c) VALUES ({i}, {i}, 'x')",
            "INSERT IGNORE INTO {t} (id, a, c) VALUES ({i}, {i}, '{i}')",
        ]);
        let [row, other] = [0; 2].map(|_| self.random.between(1, 5).to_string());
        let value = self.random.between(1, 1000).to_string();
        let write = pattern.replace("{t}", name).replace("{i}", &row).replace("{k}", &other).replace("{d}", &value);
        self.later(session, Kind::Write, Commands::Query(write));
        for key in 1..6 {
            self.later(session, Kind::Read, look(key));
        }
        (Kind::Read, look(1))
    }

    /// Queues steps of three sessions: one has a snapshot, while another writes and a third reads the newer rows, so that a near cache
    /// stores them.
    pub(super) fn row_snapshot(&mut self, session: usize) -> (Kind, Commands) {
        let table = self.table(false);
        let name = format!("{}.{}", table.database, table.name);
        let look = |key: u64| Commands::Query(format!("SELECT id, a FROM {name} WHERE id = {key}"));
        let (key, other) = (1 + self.random.below(6) as u64, 7 + self.random.below(6) as u64);
        let [writer, reader] = [1, 2].map(|others| (session + others) % self.assumptions.len());
        for one in [reader, session] {
            // From here on these sessions share results.
            self.later(one, Kind::Connection, Commands::Reconnect(Account::root().in_database("d0"), false));
            self.settle(one);
        }
        let begin = self.random.word(&["BEGIN", "SET autocommit = 0", "START TRANSACTION READ ONLY"]);
        self.later(session, Kind::Transaction, Commands::Query(begin.into()));
        for _ in 0..3 {
            self.later(session, Kind::Read, look(key));
        }
        let write = Commands::Query(format!("UPDATE {name} SET a = a + 1 WHERE id = {key}"));
        self.later(writer, Kind::Write, write);
        self.later(writer, Kind::Transaction, Commands::Query("COMMIT".into()));
        for _ in 0..3 {
            self.later(reader, Kind::Read, look(key));
        }
        for _ in 0..2 {
            self.later(session, Kind::Read, look(key));
            self.later(session, Kind::Read, look(other));
        }
        self.later(session, Kind::Transaction, Commands::Query("SET autocommit = 1".into()));
        (Kind::Read, look(key))
    }

    fn row_update(&mut self, name: &str) -> String {
        match self.random.below(4) {
            0 => format!("UPDATE {name} AS x SET x.a = {} WHERE {}", self.small(), self.rows_condition("x.id")),
            1 => format!("UPDATE {name} SET a = a + 1 WHERE {}", self.rows_condition("id")),
            2 => format!("UPDATE {name} SET a = (id = 3) WHERE {}", self.rows_condition("id")),
            _ => format!("UPDATE {name} SET a = {} WHERE {}", self.small(), self.rows_condition("id")),
        }
    }

    fn row_insert(&mut self, table: &Table, name: &str) -> String {
        let verb = self.random.word(&[
            "INSERT INTO",
            "INSERT INTO",
            "INSERT INTO",
            "INSERT",
            "REPLACE INTO",
            "REPLACE INTO",
            "REPLACE",
            "INSERT IGNORE INTO",
            "INSERT IGNORE INTO",
            "INSERT IGNORE",
        ]);
        let tail = if verb.starts_with("INSERT") && self.random.percent(35) {
            self.random.word(&[
                " ON DUPLICATE KEY UPDATE a = 9",
                " ON DUPLICATE KEY UPDATE a = a + 1",
                " ON DUPLICATE KEY UPDATE a = VALUES(a) + 1",
                " ON DUPLICATE KEY UPDATE a = 3 + VALUES(id)",
                " ON DUPLICATE KEY UPDATE id = id + 60",
                " ON DUPLICATE KEY UPDATE _rowid = _rowid + 60",
                " ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), a = 2",
                " RETURNING id",
            ])
        } else {
            ""
        };
        let [many, more] = [self.random.percent(25), self.random.percent(10)];
        let count = 1 + if many { self.random.below(4) } else { 0 } + if more { 70 } else { 0 };
        if self.random.percent(20) {
            return format!("{verb} {name} (a) VALUES ({}){tail}", self.small());
        }
        if self.random.percent(15) && table.columns.len() == 2 {
            return format!("{verb} {name} VALUES ({}, {}){tail}", self.bound_key(), self.small());
        }
        let rows: Vec<_> = (0..count).map(|_| format!("({}, {})", self.inserted_key(), self.small())).collect();
        let id = if self.random.percent(4) { "_rowid" } else { "id" };
        format!("{verb} {name} ({id}, a) VALUES {}{tail}", rows.join(", "))
    }

    /// A value for the key in an INSERT, not always a plain number.
    fn inserted_key(&mut self) -> String {
        match self.random.below(24) {
            0 => "NULL".into(),
            1 => "0".into(),
            2 => "DEFAULT".into(),
            3 => format!("'{}'", self.near()),
            4 => format!("{}.4", self.random.between(1, 12)),
            5 => format!("{} + 1", self.random.between(1, 12)),
            _ => self.bound_key(),
        }
    }

    /// A statement that begins or ends a transaction in which reads are served.
    pub(super) fn row_transaction(&mut self, session: usize) -> String {
        let choices: &[&str] = match self.assumptions[session].in_transaction {
            true => &[
                "COMMIT",
                "COMMIT",
                "COMMIT",
                "ROLLBACK",
                "SAVEPOINT s",
                "ROLLBACK TO s",
                "COMMIT AND CHAIN",
                "SET autocommit = 1",
            ],
            false => &[
                "BEGIN",
                "BEGIN",
                "START TRANSACTION",
                "START TRANSACTION READ ONLY",
                "START TRANSACTION WITH CONSISTENT SNAPSHOT",
                "SET autocommit = 0",
                "SET autocommit = 1",
            ],
        };
        if self.random.percent(8) {
            let level = self.random.word(&["READ COMMITTED", "REPEATABLE READ"]);
            return format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}");
        }
        self.random.pick(choices).to_string()
    }

    pub(super) fn row_setting(&mut self) -> String {
        self.random
            .word(&[
                "SET auto_increment_increment = 5, auto_increment_offset = 3",
                "SET auto_increment_increment = 1, auto_increment_offset = 1",
                "SET insert_id = 66",
                "SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'",
                "SET sql_mode = ''",
                "SET sql_mode = DEFAULT",
                "SET foreign_key_checks = 0",
                "SET foreign_key_checks = 1",
                "SET unique_checks = 0",
            ])
            .to_owned()
    }

    pub(super) fn row_definition(&mut self) -> String {
        match self.random.below(8) {
            0..=2 => self.row_trigger(),
            3 => format!("DROP TRIGGER IF EXISTS d0.g{}", self.random.below(4)),
            _ => self
                .random
                .word(&[
                    "ALTER TABLE d0.t0 DROP PRIMARY KEY, ADD UNIQUE (id)",
                    "ALTER TABLE d0.t0 DROP INDEX id, ADD PRIMARY KEY (id)",
                    "ALTER TABLE d0.t0 MODIFY id BIGINT AUTO_INCREMENT",
                    "ALTER TABLE d0.t0 MODIFY id INT UNSIGNED AUTO_INCREMENT",
                    "ALTER IGNORE TABLE d0.t0 ADD UNIQUE INDEX IF NOT EXISTS u (a)",
                    "ALTER TABLE d0.t0 DROP INDEX IF EXISTS u",
                    "ALTER IGNORE TABLE d1.t1 ADD UNIQUE INDEX IF NOT EXISTS u (a)",
                    "DROP INDEX IF EXISTS u ON d1.t1",
                    "ALTER TABLE d1.t1 MODIFY id INT",
                    "ALTER TABLE d1.t1 MODIFY a INT FIRST",
                    "ALTER TABLE d1.t0 ADD FOREIGN KEY (a) REFERENCES d1.t0 (id) ON DELETE CASCADE",
                    "ALTER TABLE d0.t3 ADD FOREIGN KEY (a) REFERENCES d0.t1 (a) ON UPDATE CASCADE",
                    "ALTER TABLE d0.t1 ADD COLUMN w INT INVISIBLE FIRST",
                    "ALTER TABLE d0.t7 DROP INDEX k",
                    "ALTER IGNORE TABLE d0.t7 ADD UNIQUE INDEX IF NOT EXISTS k (a, c)",
                    "ALTER IGNORE TABLE d0.t7 ADD UNIQUE INDEX IF NOT EXISTS k (c(1), a)",
                    "ALTER TABLE d1.t2 MODIFY c VARBINARY(20) NOT NULL",
                    "ALTER TABLE d1.t2 MODIFY c VARCHAR(20) CHARACTER SET utf8mb4 NOT NULL",
                    "TRUNCATE TABLE d1.t0",
                    "ALTER TABLE d1.t0 EXCHANGE PARTITION p0 WITH TABLE d1.t1",
                    "ALTER TABLE d0.t3 ENGINE=MyISAM",
                    "ALTER TABLE d0.t3 ENGINE=InnoDB",
                ])
                .to_owned(),
        }
    }
}
