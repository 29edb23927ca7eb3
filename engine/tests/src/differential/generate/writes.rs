//! INSERT, UPDATE, DELETE and REPLACE in all their forms.

use super::Generator;
use super::model::Table;
use crate::differential::action::Commands;

impl Generator {
    /// A random statement that changes rows of any table or view.
    pub(super) fn write(&mut self) -> String {
        let table = self.table(true);
        let name = self.reference(&table);
        if self.is_own(15) {
            return self.mysql_write(&table, &name);
        }
        match self.random.weighted(&[26, 24, 14, 6, 6, 4, 3, 3, 3, 2, 3]) {
            0 => self.insert("INSERT", &table, &name),
            1 => self.update(&table, &name),
            2 => self.delete(&table, &name),
            3 => self.insert("REPLACE", &table, &name),
            4 => self.upsert(&table, &name),
            5 => self.insert_select(&table, &name),
            6 => self.update_several(&table, &name),
            7 => self.delete_several(&table, &name),
            8 => self.insert("INSERT IGNORE", &table, &name),
            9 => format!("{} RETURNING id", self.insert("INSERT", &table, &name)),
            _ => {
                let text = self.update(&table, &name);
                text.replacen("UPDATE", "UPDATE IGNORE", 1)
            }
        }
    }

    fn insert(&mut self, verb: &str, table: &Table, name: &str) -> String {
        let mut columns: Vec<_> = table.columns.iter().filter(|one| *one != "v").cloned().collect();
        if self.random.percent(40) {
            columns.retain(|one| one != "id");
        }
        if self.random.percent(15) {
            columns.truncate(2);
        }
        let count = if self.random.percent(70) { 1 } else { 1 + self.random.below(4) };
        let rows: Vec<_> = (0..count).map(|_| self.row(&columns)).collect();
        format!("{verb} INTO {name} ({}) VALUES {}", columns.join(", "), rows.join(", "))
    }

    fn row(&mut self, columns: &[String]) -> String {
        let values: Vec<_> = columns.iter().map(|column| self.new_value(column)).collect();
        format!("({})", values.join(", "))
    }

    fn new_value(&mut self, column: &str) -> String {
        match self.random.below(25) {
            0 => "DEFAULT".into(),
            1 if column == "id" => "NULL".into(),
            2 if column == "id" => "0".into(),
            3 if column == "id" => format!("{} + 1", self.key()),
            4 if column == "id" => format!("'{}'", self.random.between(1, 40)),
            5 if column == "a" => "(SELECT COUNT(*) FROM d0.t1)".into(),
            6 if column == "e" => "NOW()".into(),
            7 if column == "a" => "LAST_INSERT_ID()".into(),
            _ => self.value_of(column),
        }
    }

    fn assignment(&mut self, table: &Table) -> String {
        let column = table.settable(&mut self.random).to_string();
        match self.random.below(8) {
            0 if column != "id" => format!("{column} = DEFAULT"),
            1 if table.has("a") => "a = a + 1".into(),
            2 if table.has("a") => "a = LAST_INSERT_ID(a + 5)".into(),
            3 if column == "id" && self.random.percent(70) => "id = id + 100".into(),
            _ => {
                let value = self.value_of(&column);
                format!("{column} = {value}")
            }
        }
    }

    fn update(&mut self, table: &Table, name: &str) -> String {
        let first = self.assignment(table);
        let second = if self.random.percent(25) { format!(", {}", self.assignment(table)) } else { String::new() };
        // If several rows get the same key, the order of the scan decides which one succeeds, and a table without transactions keeps that
        // result. So one row at a time is given a new key.
        let moves = format!("{first}{second}").split(", ").any(|assignment| assignment.starts_with("id = "));
        let condition = if moves { format!(" WHERE id = {}", self.key()) } else { self.write_condition(table) };
        format!("UPDATE {name} SET {first}{second}{condition}")
    }

    fn delete(&mut self, table: &Table, name: &str) -> String {
        let condition = self.write_condition(table);
        format!("DELETE FROM {name}{condition}")
    }

    /// The condition of an UPDATE or DELETE, mostly for a single row, so that tables are not emptied and few rows are locked. An order
    /// ascends and has a lower bound. Without either, MariaDB changes no row of a partitioned table if the last read of it could not match
    /// a row in any partition (`id = NULL`), and a read from the cache does not count as such a read.
    fn write_condition(&mut self, table: &Table) -> String {
        match self.random.below(20) {
            0..=11 => format!(" WHERE id = {}", self.key()),
            12..=15 => format!(" WHERE {}", self.key_condition("id")),
            16 | 17 => format!(" WHERE {}", self.condition(table)),
            18 => format!(" WHERE id > {} AND ({}) ORDER BY id LIMIT 2", self.key(), self.condition(table)),
            _ => format!(" WHERE id > {} ORDER BY id LIMIT 1", self.key()),
        }
    }

    fn upsert(&mut self, table: &Table, name: &str) -> String {
        let insert = self.insert("INSERT", table, name);
        let assignment = match self.random.below(3) {
            0 if table.has("a") => "a = VALUES(a)".into(),
            1 if table.has("a") => "a = a + 1".into(),
            _ => self.assignment(table),
        };
        format!("{insert} ON DUPLICATE KEY UPDATE {assignment}")
    }

    fn insert_select(&mut self, table: &Table, name: &str) -> String {
        let other = self.table(true);
        let other_name = self.reference(&other);
        let verb = self.random.word(&["INSERT INTO", "REPLACE INTO", "INSERT IGNORE INTO"]);
        let shared: Vec<_> = table.columns.iter().filter(|one| *one != "v" && other.has(one)).cloned().collect();
        let columns = shared.join(", ");
        let condition = self.condition(&other);
        format!("{verb} {name} ({columns}) SELECT {columns} FROM {other_name} WHERE {condition} ORDER BY id LIMIT 5")
    }

    fn update_several(&mut self, table: &Table, name: &str) -> String {
        let other = self.table(true);
        let other_name = self.reference(&other);
        let (column, condition) = match table.has("a") {
            true => ("a", self.key_condition("x.id")),
            false => ("id", format!("x.id = {}", self.key())),
        };
        let value = self.small();
        let more = if other.has("a") { ", y.a = 4" } else { "" };
        format!("UPDATE {name} x JOIN {other_name} y ON x.id = y.id SET x.{column} = {value}{more} WHERE {condition}")
    }

    fn delete_several(&mut self, table: &Table, name: &str) -> String {
        let other = self.table(true);
        let other_name = self.reference(&other);
        if self.model.may_lie_anywhere(table) || self.model.may_lie_anywhere(&other) {
            return self.delete(table, name);
        }
        let condition = self.key_condition("x.id");
        // A plain server crashes when it executes the second form over a view for the second time.
        let forms = if table.is_view() || other.is_view() { 1 } else { 2 };
        match self.random.below(forms) {
            0 => format!("DELETE x, y FROM {name} x JOIN {other_name} y ON x.id = y.id WHERE {condition}"),
            _ => format!("DELETE FROM x USING {name} x LEFT JOIN {other_name} y ON x.id = y.id WHERE {condition}"),
        }
    }

    /// A LOAD DATA LOCAL of three rows.
    pub(super) fn load(&mut self) -> Commands {
        let table = self.table(false);
        let name = self.reference(&table);
        let duplicates = self.random.word(&["REPLACE ", "IGNORE ", ""]);
        let lines: Vec<_> =
            (0..3).map(|_| format!("{}\t{}", self.random.between(1, 60), self.random.below(9))).collect();
        let column = if table.has("a") { "a" } else { "@skipped" };
        let text = format!("LOAD DATA LOCAL INFILE 'f' {duplicates}INTO TABLE {name} (id, {column})");
        Commands::Load(text, lines.join("\n") + "\n")
    }
}
