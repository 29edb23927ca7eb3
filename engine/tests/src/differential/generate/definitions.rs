//! Statements that create, change, rename, empty and drop tables.

use super::Generator;

const COLLATIONS: &[&str] = &[
    "utf8mb4_general_ci",
    "utf8mb4_bin",
    "latin1_swedish_ci",
    "utf8mb4_unicode_ci",
    "utf8mb3_general_ci",
    "latin1_german2_ci",
];

impl Generator {
    /// The name of a table that may or may not exist.
    pub(super) fn table_name(&mut self) -> String {
        let number = self.random.below(6);
        match self.random.below(6) {
            0 => format!("d1.t{}", number % 3),
            1 => format!("t{number}"),
            _ => format!("d0.t{number}"),
        }
    }

    /// A CREATE TABLE with random columns, keys and storage engine. `name` may have a database.
    pub(super) fn create_table(&mut self, name: &str) -> String {
        let others = if self.is_followed { [2, 2, 1] } else { [12, 12, 5] };
        let weights = [66, others[0], others[1], others[2]];
        let engine = ["InnoDB", "MyISAM", "Aria", "MEMORY"][self.random.weighted(&weights)];
        let has_long = engine != "MEMORY";
        let key = self.random.word(&[
            "INT AUTO_INCREMENT",
            "INT AUTO_INCREMENT",
            "INT NOT NULL",
            "BIGINT UNSIGNED AUTO_INCREMENT",
            "SMALLINT NOT NULL",
            "VARCHAR(12) NOT NULL",
        ]);
        let is_partitioned = engine != "MEMORY" && !key.starts_with("VARCHAR") && self.random.percent(18);
        let mut parts = vec![format!("id {key} PRIMARY KEY")];
        for column in ["a", "b", "c", "d", "e", "f", "g", "j"] {
            let is_long = matches!(column, "f" | "g" | "j");
            if self.random.percent(if is_long { 30 } else { 65 }) && (has_long || !is_long) {
                parts.push(self.column(column));
            }
        }
        let has = |parts: &[String], column: &str| parts.iter().any(|part| part.starts_with(&format!("{column} ")));
        if has(&parts, "a") && self.random.percent(25) && engine != "MEMORY" {
            let storage = self.random.word(&["VIRTUAL", "PERSISTENT"]);
            parts.push(format!("v INT AS (a * 2 + 1) {storage}"));
        }
        if has(&parts, "a") && self.random.percent(40) {
            parts.push("KEY ka (a)".into());
        }
        if has(&parts, "b") && self.random.percent(12) && !is_partitioned {
            parts.push("UNIQUE ub (b)".into());
        }
        if has(&parts, "c") && self.random.percent(30) {
            parts.push("KEY kc (c)".into());
        }
        if has(&parts, "a") && engine == "InnoDB" && !is_partitioned && self.random.percent(30) {
            parts.push(self.foreign_key());
        }
        let partitions = if is_partitioned { self.partitions() } else { "" };
        let collation = self.random.word(COLLATIONS);
        let create = self.random.word(&["CREATE TABLE IF NOT EXISTS", "CREATE TABLE", "CREATE OR REPLACE TABLE"]);
        format!("{create} {name} ({}) ENGINE={engine} COLLATE {collation}{partitions}", parts.join(", "))
    }

    fn column(&mut self, column: &str) -> String {
        match column {
            "a" => "a INT DEFAULT 1".into(),
            "b" => "b BIGINT UNSIGNED".into(),
            "c" => format!("c VARCHAR(30) COLLATE {} DEFAULT 'a'", self.random.word(COLLATIONS)),
            "d" => "d DECIMAL(12,3)".into(),
            "e" => self
                .random
                .word(&["e DATETIME", "e DATETIME", "e TIMESTAMP NULL", "e DATETIME DEFAULT CURRENT_TIMESTAMP"])
                .to_string(),
            "f" => "f TEXT".into(),
            "g" => "g BLOB".into(),
            _ => "j JSON".into(),
        }
    }

    fn foreign_key(&mut self) -> String {
        let parent = self.random.below(4);
        let action =
            self.random.word(&["ON DELETE CASCADE ON UPDATE CASCADE", "ON DELETE SET NULL", "ON UPDATE CASCADE", ""]);
        format!("FOREIGN KEY (a) REFERENCES d0.t{parent} (id) {action}")
    }

    fn partitions(&mut self) -> &'static str {
        self.random.word(&[
            " PARTITION BY HASH (id) PARTITIONS 3",
            " PARTITION BY KEY (id) PARTITIONS 2",
            " PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20), PARTITION p2 VALUES LESS THAN MAXVALUE)",
        ])
    }

    pub(super) fn definition(&mut self) -> String {
        let table = self.table(false);
        let name = self.reference(&table);
        let fresh = self.table_name();
        if self.is_own(25) {
            return self.mysql_definition(&name);
        }
        match self.random.weighted(&[20, 26, 8, 8, 8, 6, 5, 4, 3]) {
            0 => self.create_table(&fresh),
            1 => format!("ALTER TABLE {name} {}", self.alteration()),
            2 => format!("TRUNCATE TABLE {name}"),
            3 => format!("DROP TABLE {name}"),
            4 => self.renaming(&name, &fresh),
            5 => {
                let verb = self.random.word(&["CREATE TABLE", "CREATE OR REPLACE TABLE"]);
                let (source, condition) = (self.table(true), self.key());
                let source = self.reference(&source);
                format!("{verb} {fresh} (PRIMARY KEY (id)) SELECT * FROM {source} WHERE id <= {condition}")
            }
            6 => format!("CREATE TABLE {fresh} LIKE {name}"),
            7 => self
                .random
                .word(&["CREATE INDEX kx ON {} (id, a)", "DROP INDEX ka ON {}", "CREATE UNIQUE INDEX ux ON {} (c)"])
                .replace("{}", &name),
            _ => self
                .random
                .word(&[
                    "DROP DATABASE d1",
                    "CREATE DATABASE IF NOT EXISTS d1",
                    "CREATE DATABASE d1",
                    "ALTER DATABASE d0 COLLATE utf8mb4_bin",
                    "CREATE SEQUENCE IF NOT EXISTS d0.s0",
                    "DROP SEQUENCE d0.s0",
                ])
                .to_string(),
        }
    }

    fn alteration(&mut self) -> String {
        let collation = self.random.word(COLLATIONS);
        let choice = self.random.word(&[
            "ADD COLUMN a INT DEFAULT 7",
            "ADD COLUMN IF NOT EXISTS d DECIMAL(12,3) DEFAULT 1.5",
            "DROP COLUMN d",
            "DROP COLUMN c",
            "ADD COLUMN c VARCHAR(30) DEFAULT 'new' FIRST",
            "MODIFY a BIGINT",
            "MODIFY a SMALLINT DEFAULT 2",
            "MODIFY c VARCHAR(60)",
            "MODIFY b INT UNSIGNED",
            "ENGINE=InnoDB",
            "ENGINE=MyISAM",
            "ENGINE=Aria",
            "ADD INDEX ki (a)",
            "DROP INDEX ka",
            "COMMENT='x'",
            "CONVERT TO CHARACTER SET latin1",
            "CONVERT TO CHARACTER SET utf8mb4 COLLATE {}",
            "AUTO_INCREMENT=30",
            "ORDER BY id",
            "CHANGE a a INT UNSIGNED",
            "RENAME COLUMN d TO b",
            "ADD COLUMN v INT AS (id + 1)",
            "DROP COLUMN v",
            "FORCE",
            "DROP PARTITION p1",
            "TRUNCATE PARTITION p0",
            "REMOVE PARTITIONING",
            "PARTITION BY HASH (id) PARTITIONS 2",
            "REORGANIZE PARTITION p2 INTO (PARTITION p2 VALUES LESS THAN (30), PARTITION p3 VALUES LESS THAN MAXVALUE)",
            "COALESCE PARTITION 1",
            "EXCHANGE PARTITION p0 WITH TABLE d0.t1",
            "EXCHANGE PARTITION p0 WITH TABLE d0.t4 WITHOUT VALIDATION",
            "ADD CONSTRAINT ck CHECK (a < 100)",
            "DROP CONSTRAINT ck",
            "DROP PRIMARY KEY, ADD PRIMARY KEY (id)",
            "MODIFY id BIGINT NOT NULL",
            "ALTER a SET DEFAULT 5",
            "ALTER COLUMN a DROP DEFAULT",
            "MODIFY c VARCHAR(30) COLLATE {}",
            "DISABLE KEYS",
            "ENABLE KEYS",
            "RENAME TO d0.t5",
            "ADD COLUMN a INT DEFAULT 9, ALGORITHM=INSTANT",
            "ADD COLUMN j JSON",
            "DROP COLUMN j",
        ]);
        choice.replace("{}", collation)
    }

    fn renaming(&mut self, name: &str, fresh: &str) -> String {
        match self.random.below(3) {
            0 => format!("RENAME TABLE {name} TO {fresh}"),
            1 => format!("RENAME TABLE {name} TO d0.scratch, {fresh} TO {name}, d0.scratch TO {fresh}"),
            _ => format!("ALTER TABLE {name} RENAME TO {fresh}"),
        }
    }

    /// A statement that creates, changes or drops a temporary table, which may hide another table.
    pub(super) fn temporary(&mut self) -> String {
        let name = format!("t{}", self.random.below(6));
        let other = self.table(true);
        let other_name = self.reference(&other);
        match self.random.below(7) {
            0 => {
                let text = self.create_table(&name).replacen(" TABLE", " TEMPORARY TABLE", 1);
                text.split(", FOREIGN KEY").next().map_or(text.clone(), |head| match head.len() == text.len() {
                    true => text.clone(),
                    false => format!("{head})"),
                })
            }
            1 => format!("CREATE TEMPORARY TABLE {name} (PRIMARY KEY (id)) SELECT * FROM {other_name}"),
            2 => format!("CREATE TEMPORARY TABLE {name} LIKE {other_name}"),
            3 => format!("ALTER TABLE {name} COMMENT = 'maybe temporary'"),
            _ => format!("DROP TEMPORARY TABLE IF EXISTS {name}"),
        }
    }
}
