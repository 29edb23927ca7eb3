//! The tables that a session has used recently, so that it rarely needs the shared registry of tables.

use crate::engine::Engine;
use crate::engine::tables::Table;
use foldhash::fast::FixedState;
use std::hash::BuildHasher;
use std::sync::Arc;

const MOST: usize = 64;

#[derive(Default)]
pub struct RecentTables(Vec<RecentTable>);

/// A table that was used recently. The names are compared only if the hashes are equal.
struct RecentTable {
    hash: u64,
    table: Arc<Table>,
}

impl RecentTables {
    /// Returns the table of this name, and keeps it as used recently. One that is not among the recent ones is taken
    /// from the registry, or added there.
    pub fn use_table(&mut self, engine: &Engine, db: &[u8], name: &[u8]) -> &Arc<Table> {
        let hash = FixedState::default().hash_one((db, name));
        let is_it = |one: &RecentTable| one.hash == hash && one.table.name == name && one.table.db == db;
        let at = self.0.iter().position(is_it).unwrap_or_else(|| {
            if self.0.len() == MOST {
                self.0.remove(0);
            }
            self.0.push(RecentTable { hash, table: engine.tables().find(engine.versions(), db, name) });
            self.0.len() - 1
        });
        &self.0[at].table
    }
}
