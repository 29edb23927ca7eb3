//! A table's identity: database and name, in the one form under which the server itself tells tables apart.

use std::fmt;

/// Whether the server tells `Orders` from `orders`: its `lower_case_table_names`, which is fixed while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameCase {
    /// `lower_case_table_names = 0`: names differ by case.
    Distinct,
    /// `lower_case_table_names` of 1 or 2: names are compared in lower case.
    Folded,
}

/// The normalised name of a table. Two values are equal exactly if the server means the same table.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableName {
    db: Box<str>,
    table: Box<str>,
}

impl TableName {
    /// Normalises `db` and `table`, given without quotes.
    pub fn new(db: &str, table: &str, case: NameCase) -> Self {
        let normalise = |name: &str| match case {
            NameCase::Distinct => name.into(),
            NameCase::Folded => name.to_lowercase().into(),
        };
        TableName { db: normalise(db), table: normalise(table) }
    }

    pub fn db(&self) -> &str {
        &self.db
    }

    pub fn table(&self) -> &str {
        &self.table
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quote = |name: &str| name.replace('`', "``");
        write!(f, "`{}`.`{}`", quote(&self.db), quote(&self.table))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_decides_identity_as_on_the_server() {
        let name = |table, case| TableName::new("Shop", table, case);
        assert_ne!(name("Orders", NameCase::Distinct), name("orders", NameCase::Distinct));
        assert_eq!(name("Orders", NameCase::Folded), name("ORDERS", NameCase::Folded));
        assert_eq!(name("Orders", NameCase::Folded).db(), "shop");
        assert_eq!(name("Orders", NameCase::Distinct).table(), "Orders");
    }

    #[test]
    fn the_boundary_between_database_and_table_is_part_of_the_name() {
        let case = NameCase::Distinct;
        assert_ne!(TableName::new("a.b", "c", case), TableName::new("a", "b.c", case));
        assert_eq!(TableName::new("a`b", "c", case).to_string(), "`a``b`.`c`");
    }
}
