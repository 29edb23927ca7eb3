//! `SHOW FQC TABLES`: what is stored for each table, and how often it was read and written.

use super::rows::Rows;
use crate::engine::Engine;
use crate::engine::tables::Table;
use crate::entries::basis::Basis;
use crate::entries::cells::table_cells;
use cache::CellId;
use std::collections::HashMap;
use std::sync::atomic::Ordering;

pub const COLUMNS: [&str; 8] = [
    "Table_schema",
    "Table_name",
    "Entries",
    "Bytes",
    "Reads_cached",
    "Reads_server",
    "Writes",
    "Invalidations_avoided",
];

/// Number and size of the stored results of a table that may still be served, and the number of hits on its results.
#[derive(Default)]
struct StoredResults {
    entries: u64,
    bytes: u64,
    hits: u64,
}

pub fn rows(engine: &Engine) -> Rows {
    let held = held(engine);
    let mut tables: Vec<_> = engine.tables().list().into_iter().map(|table| (count(&table), table)).collect();
    tables.retain(|((reads, writes), table)| reads + writes > 0 || held.contains_key(&table.any_change));
    tables.sort_by(|(_, a), (_, b)| (&a.db, &a.name).cmp(&(&b.db, &b.name)));
    let row = |((reads, writes), table): &((u64, u64), std::sync::Arc<Table>)| {
        let nothing = StoredResults::default();
        let held = held.get(&table.any_change).unwrap_or(&nothing);
        let text = |name: &[u8]| Some(String::from_utf8_lossy(name).into_owned());
        let invalidations_avoided = table.invalidations_avoided.load(Ordering::Relaxed);
        let numbers = [held.entries, held.bytes, held.hits, *reads, *writes, invalidations_avoided];
        [text(&table.db), text(&table.name)].into_iter().chain(numbers.map(|number| Some(number.to_string()))).collect()
    };
    tables.iter().map(row).collect()
}

/// How often the table was read and how often it was written by statements that ran on the server, in this order.
fn count(table: &Table) -> (u64, u64) {
    // Relaxed: counts order nothing.
    (table.reads.load(Ordering::Relaxed), table.writes.load(Ordering::Relaxed))
}

/// The stored results that may still be served, summed up for each table. The key is the version cell that advances
/// with any change of the table.
fn held(engine: &Engine) -> HashMap<CellId, StoredResults> {
    let mut held: HashMap<CellId, StoredResults> = HashMap::new();
    engine.cache().visit(&cache::pin(), |entry| {
        let basis = Basis::of(&entry);
        if engine.is_alive(basis) {
            for cell in table_cells(basis.cells, basis.layout.is_by_rows()) {
                let held = held.entry(cell).or_default();
                held.entries += 1;
                held.bytes += entry.size() as u64;
            }
        }
    });
    for digest in engine.insight().digests.list() {
        digest.tables.iter().for_each(|cell| held.entry(CellId(*cell)).or_default().hits += digest.hits);
    }
    held
}
