//! The tables that statements have met: their version cell, and whether results read from them may be stored.
//!
//! A verdict on a table holds until something defines that table anew, or anything at all; then it is asked for again.

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

#[derive(Debug)]
pub struct Table {
    pub db: Vec<u8>,
    pub name: Vec<u8>,
    pub cell: CellId,
    /// Statements that read or wrote it on the server.
    pub reads: AtomicU64,
    pub writes: AtomicU64,
    /// How often it has been defined anew.
    defined: AtomicU64,
    /// The era it was given in << 2 | verdict.
    verdict: AtomicU64,
}

/// What a verdict holds for: both counts only grow, so their sum changes whenever one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Era(u64);

impl Table {
    /// To be asked before the catalogue is read; `generation` is the catalogue's.
    pub fn era(&self, generation: u64) -> Era {
        // Acquire: pairs with `redefine`.
        Era(generation + self.defined.load(Ordering::Acquire))
    }

    /// A statement has locked it.
    pub fn count(&self, is_read_only: bool) {
        let count = if is_read_only { &self.reads } else { &self.writes };
        // Relaxed: a count orders nothing.
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// It is being defined anew, or has been: to be called before its cell is opened.
    pub fn redefine(&self) {
        self.defined.fetch_add(1, Ordering::AcqRel);
    }

    pub fn verdict(&self, generation: u64) -> Verdict {
        // Acquire: pairs with `settle`.
        let packed = self.verdict.load(Ordering::Acquire);
        if Era(packed >> 2) != self.era(generation) {
            return Verdict::Unknown;
        }
        match packed & 3 {
            1 => Verdict::Snapshot,
            2 => Verdict::Plain,
            3 => Verdict::Unfit,
            _ => Verdict::Unknown,
        }
    }

    pub fn settle(&self, era: Era, verdict: Verdict) {
        // Release: pairs with `verdict`.
        self.verdict.store(era.0 << 2 | verdict as u64, Ordering::Release);
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
                let (defined, verdict) = (AtomicU64::new(0), AtomicU64::new(0));
                let (reads, writes) = (AtomicU64::new(0), AtomicU64::new(0));
                Arc::new(Table { db, name, cell: versions.allocate(), reads, writes, defined, verdict })
            })
            .clone()
    }

    pub fn list(&self) -> Vec<Arc<Table>> {
        self.by_name.read().unwrap_or_else(|e| e.into_inner()).values().cloned().collect()
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
