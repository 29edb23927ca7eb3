//! The generator's knowledge of the schema. It is read back from the plain server after each change, never guessed.

use crate::client::Row;
use crate::random::Random;

/// The statement that lists the columns of the generator's tables and views, for `Generator::learn`.
pub const LISTING: &str = "SELECT table_schema, table_name, column_name, IFNULL(engine, '') = 'MEMORY' \
    FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name) \
    WHERE table_schema IN ('d0', 'd1') AND table_name <> 's0' ORDER BY 1, 2, ordinal_position";

/// The type of a column. In every table the column's name determines it: see [`type_of`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Int,
    Unsigned,
    Text,
    Decimal,
    DateTime,
    LongText,
    Blob,
    Json,
}

pub fn type_of(column: &str) -> Type {
    match column {
        "b" => Type::Unsigned,
        "c" => Type::Text,
        "d" => Type::Decimal,
        "e" => Type::DateTime,
        "f" => Type::LongText,
        "g" => Type::Blob,
        "j" => Type::Json,
        _ => Type::Int,
    }
}

/// A table or view that exists on the servers.
#[derive(Clone, Debug)]
pub struct Table {
    pub database: String,
    pub name: String,
    pub columns: Vec<String>,
    /// True if its storage engine is MEMORY.
    pub is_in_memory: bool,
}

impl Table {
    pub fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|one| one == column)
    }

    /// True for a view, which its name shows.
    pub fn is_view(&self) -> bool {
        self.name.starts_with('v')
    }

    /// The name of a random column.
    pub fn column(&self, random: &mut Random) -> &str {
        &self.columns[random.below(self.columns.len())]
    }

    /// The name of a random column that can be assigned, which excludes the generated one.
    pub fn settable(&self, random: &mut Random) -> &str {
        let choices: Vec<_> = self.columns.iter().filter(|one| *one != "v").collect();
        if choices.is_empty() { "id" } else { choices[random.below(choices.len())] }
    }
}

#[derive(Debug, Default)]
pub struct Model {
    pub tables: Vec<Table>,
}

impl Model {
    /// Replaces the known tables by those of [`LISTING`]'s result.
    pub fn learn(&mut self, rows: Vec<Row>) {
        self.tables.clear();
        for row in rows {
            let mut words = row.into_iter().map(|word| String::from_utf8_lossy(&word.unwrap_or_default()).into_owned());
            let mut word = || words.next().unwrap_or_default();
            let (database, name, column, is_in_memory) = (word(), word(), word(), word() == "1");
            match self.tables.last_mut() {
                Some(last) if last.database == database && last.name == name => last.columns.push(column),
                _ => self.tables.push(Table { database, name, columns: vec![column], is_in_memory }),
            }
        }
    }

    /// True if the table may have rows of a MEMORY table. A DELETE that finds rows of such a table by a join deletes them in the order of
    /// their addresses, which differs between servers, and new rows reuse the addresses of deleted ones.
    pub fn may_lie_anywhere(&self, table: &Table) -> bool {
        table.is_in_memory || table.is_view() && self.tables.iter().any(|table| table.is_in_memory)
    }

    /// A random table, mostly of this database, or any if that has none. If no table is known, one that may not exist.
    pub fn pick(&self, random: &mut Random, database: &str, with_views: bool) -> Table {
        let fits = |table: &&Table| with_views || !table.is_view();
        let near: Vec<_> = self.tables.iter().filter(fits).filter(|table| table.database == database).collect();
        let all: Vec<_> = self.tables.iter().filter(fits).collect();
        let choices = if near.is_empty() || random.percent(10) { all } else { near };
        if choices.is_empty() {
            let columns = vec!["id".into()];
            return Table { database: "d0".into(), name: "t0".into(), columns, is_in_memory: false };
        }
        (*random.pick(&choices)).clone()
    }
}
