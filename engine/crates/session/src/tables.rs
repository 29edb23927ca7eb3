//! The tables that statements have met: their version cell, and whether results read from them may be stored.
//!
//! A verdict on a table holds for one generation of the catalogue; after DDL it is asked for again.

use cache::{CellId, Versions};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

/// What the catalogue says of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Unknown,
    /// Qualifies, and its reads come from an InnoDB snapshot.
    Snapshot,
    /// Qualifies; it has no snapshots (MyISAM, Aria, MEMORY).
    Plain,
    Unfit,
}

pub struct Table {
    pub db: Vec<u8>,
    pub name: Vec<u8>,
    pub cell: CellId,
    /// Catalogue generation << 2 | verdict.
    verdict: AtomicU64,
}

impl Table {
    pub fn verdict(&self, generation: u64) -> Verdict {
        // Acquire: pairs with `settle`.
        let packed = self.verdict.load(Ordering::Acquire);
        if packed >> 2 != generation {
            return Verdict::Unknown;
        }
        match packed & 3 {
            1 => Verdict::Snapshot,
            2 => Verdict::Plain,
            3 => Verdict::Unfit,
            _ => Verdict::Unknown,
        }
    }

    pub fn settle(&self, generation: u64, verdict: Verdict) {
        // Release: pairs with `verdict`.
        self.verdict.store(generation << 2 | verdict as u64, Ordering::Release);
    }
}

type ByName = HashMap<Vec<u8>, Arc<Table>>;

#[derive(Default)]
pub struct Tables {
    by_name: RwLock<ByName>,
    /// Tables whose verdict is asked for.
    asked: Mutex<Vec<Arc<Table>>>,
}

impl Tables {
    /// The table of this name; made known if it is new. Names are compared as the server spells them in its events.
    pub fn find(&self, versions: &Versions, db: &[u8], name: &[u8]) -> Arc<Table> {
        let key = [db, b"\0", name].concat();
        if let Some(table) = self.by_name.read().unwrap_or_else(|e| e.into_inner()).get(&key) {
            return table.clone();
        }
        let mut by_name = self.by_name.write().unwrap_or_else(|e| e.into_inner());
        by_name
            .entry(key)
            .or_insert_with(|| {
                let (db, name) = (db.to_vec(), name.to_vec());
                Arc::new(Table { db, name, cell: versions.allocate(), verdict: AtomicU64::new(0) })
            })
            .clone()
    }

    pub fn ask(&self, table: &Arc<Table>) {
        let mut asked = self.asked.lock().unwrap_or_else(|e| e.into_inner());
        if !asked.iter().any(|other| Arc::ptr_eq(other, table)) {
            asked.push(table.clone());
        }
    }

    pub fn take_asked(&self) -> Vec<Arc<Table>> {
        std::mem::take(&mut self.asked.lock().unwrap_or_else(|e| e.into_inner()))
    }
}
