//! The tables that statements have met: their version cells, and what the catalogue says of them.
//!
//! A verdict on a table holds until that table, or something unknown, is redefined; then it is looked up again. The same goes for
//! its key column, which is also withheld while anything is being defined: the server finishes a definition before this module
//! hears of it, and a session that comes in between must not rely on what was known before.

use crate::entries::cells::{allocate, definition_of, whole_of};
use cache::{CellId, Versions};
use footprint::KeyColumn;
use locks::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLockReadGuard};

/// What the catalogue says of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Unknown,
    /// Qualifies, and its reads come from an InnoDB snapshot.
    Snapshot,
    /// Qualifies; it has no snapshots (MyISAM, MEMORY).
    Plain,
    /// The same, but a transaction that reads it can have no savepoints (Aria): in one, the server must know.
    Joining,
    Unfit,
    /// It has a column of times, which the server completes with today's date.
    Times,
    Sequence,
}

#[derive(Debug)]
pub struct Table {
    pub db: Vec<u8>,
    pub name: Vec<u8>,
    /// Advanced by every change.
    pub any: CellId,
    /// Advanced by changes of unknown rows alone.
    pub whole: CellId,
    /// Advanced by its definitions alone.
    pub definition: CellId,
    /// Statements that read or wrote it on the server.
    pub reads: AtomicU64,
    pub writes: AtomicU64,
    /// Results that were served after a write of its other rows; each is counted once.
    pub outlived: AtomicU64,
    /// How often it has been defined anew.
    defined: AtomicU64,
    /// How many statements are defining it.
    defining: AtomicU64,
    /// The era it was given in << 3 | verdict.
    verdict: AtomicU64,
    key: RwLock<(Era, Option<Arc<KeyColumn>>)>,
}

/// What a verdict holds for: both counts only grow, so their sum changes whenever one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Era(u64);

impl Table {
    fn new(versions: &Versions, db: &[u8], name: &[u8]) -> Table {
        let [defined, defining, verdict, reads, writes, outlived] = [0; 6].map(AtomicU64::new);
        let key = RwLock::new((Era(0), None));
        let any = allocate(versions);
        let (whole, definition) = (whole_of(any), definition_of(any));
        let (db, name) = (db.to_vec(), name.to_vec());
        Table { db, name, any, whole, definition, reads, writes, outlived, defined, defining, verdict, key }
    }

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

    /// A statement will define it anew.
    pub fn begin_definition(&self) {
        self.defining.fetch_add(1, Ordering::AcqRel);
    }

    /// It has been defined anew: to be called before its cells are opened.
    pub fn redefine(&self) {
        self.defined.fetch_add(1, Ordering::AcqRel);
        self.end_definition();
    }

    /// What would have defined it has not.
    pub fn end_definition(&self) {
        // Release, here and in `redefine`: pairs with the Acquire in `is_being_defined`.
        self.defining.fetch_sub(1, Ordering::AcqRel);
    }

    pub fn is_being_defined(&self) -> bool {
        // Acquire: pairs with `end_definition`.
        self.defining.load(Ordering::Acquire) != 0
    }

    /// The column that tells its rows apart. To be asked by [`Engine::key_of`](crate::Engine::key_of) alone.
    pub fn key(&self, generation: u64) -> Option<Arc<KeyColumn>> {
        let era = self.era(generation);
        let key = self.key.read().unwrap_or_else(|e| e.into_inner());
        key.1.clone().filter(|_| key.0 == era)
    }

    /// Whether the catalogue need not be asked about this table: a read that came while the engine was asking has asked for it again.
    pub fn is_settled(&self, generation: u64) -> bool {
        match self.verdict(generation) {
            Verdict::Unknown => false,
            Verdict::Snapshot => self.key.read().unwrap_or_else(|e| e.into_inner()).0 == self.era(generation),
            _ => true,
        }
    }

    pub fn verdict(&self, generation: u64) -> Verdict {
        // Acquire: pairs with `settle`.
        let packed = self.verdict.load(Ordering::Acquire);
        if Era(packed >> 3) != self.era(generation) {
            return Verdict::Unknown;
        }
        match packed & 7 {
            1 => Verdict::Snapshot,
            2 => Verdict::Plain,
            3 => Verdict::Joining,
            4 => Verdict::Unfit,
            5 => Verdict::Times,
            6 => Verdict::Sequence,
            _ => Verdict::Unknown,
        }
    }

    pub fn settle_key(&self, era: Era, key: Option<KeyColumn>) {
        *self.key.write().unwrap_or_else(|e| e.into_inner()) = (era, key.map(Arc::new));
    }

    pub fn settle(&self, era: Era, verdict: Verdict) {
        // Release: pairs with `verdict`.
        self.verdict.store(era.0 << 3 | verdict as u64, Ordering::Release);
    }

    /// Nothing is known of it any more.
    pub fn doubt(&self) {
        self.verdict.store(Verdict::Unknown as u64, Ordering::Release);
    }
}

/// So many are told apart: what is known of a name is kept for good, and anybody may drop tables of any name that there never
/// were. All further ones are one, which qualifies for nothing.
const MOST: usize = 1 << 18;
const OTHERS: &[u8] = b"(other tables)";

#[derive(Default)]
struct Known {
    by_name: HashMap<Vec<u8>, Arc<Table>>,
    by_whole: HashMap<CellId, Arc<Table>>,
}

#[derive(Default)]
pub struct Tables {
    known: RwLock<Known>,
    /// Those whose verdict is asked for.
    asked: Mutex<Vec<Asked>>,
}

/// A table whose verdict is asked for by a read.
pub struct Asked {
    pub table: Arc<Table>,
    /// What `Settings::inherited` said before that read.
    pub inherited: u64,
}

impl Tables {
    /// The table of this name; made known if it is new. Names are compared as the server spells them in its events.
    pub fn find(&self, versions: &Versions, db: &[u8], name: &[u8]) -> Arc<Table> {
        let key = [db, b"\0", name].concat();
        if let Some(table) = self.known().by_name.get(&key) {
            return table.clone();
        }
        let mut known = self.known.write().unwrap_or_else(|e| e.into_inner());
        if let Some(table) = known.by_name.get(&key) {
            return table.clone();
        }
        let (key, db, name) = if known.by_name.len() < MOST { (key, db, name) } else { (Vec::new(), &b""[..], OTHERS) };
        if let Some(table) = known.by_name.get(&key) {
            return table.clone();
        }
        let table = Arc::new(Table::new(versions, db, name));
        known.by_name.insert(key, table.clone());
        known.by_whole.insert(table.whole, table.clone());
        table
    }

    pub fn list(&self) -> Vec<Arc<Table>> {
        self.known().by_name.values().cloned().collect()
    }

    /// The table with this cell of unknown changes; none also while tables are being made known, since hits never wait.
    pub fn try_find(&self, whole: CellId) -> Option<Arc<Table>> {
        self.known.try_read().ok()?.by_whole.get(&whole).cloned()
    }

    fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(|e| e.into_inner())
    }

    pub fn ask(&self, table: &Arc<Table>, inherited: u64) {
        let mut asked = self.asked.lock().unwrap_or_else(|e| e.into_inner());
        match asked.iter_mut().find(|other| Arc::ptr_eq(&other.table, table)) {
            Some(other) => other.inherited = other.inherited.max(inherited),
            None => asked.push(Asked { table: table.clone(), inherited }),
        }
    }

    pub fn take_asked(&self) -> Vec<Asked> {
        std::mem::take(&mut self.asked.lock().unwrap_or_else(|e| e.into_inner()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_end_are_one_table() {
        let (tables, versions) = (Tables::default(), Versions::new());
        let find = |number: usize| tables.find(&versions, b"d", number.to_string().as_bytes());
        let [first, last] = [0, MOST - 1].map(find);
        (1..MOST - 1).for_each(|number| _ = find(number));
        let others = find(MOST);
        assert_eq!((others.db.as_slice(), others.name.as_slice()), (&b""[..], OTHERS));
        assert!(Arc::ptr_eq(&others, &find(MOST + 1)) && others.whole != last.whole);
        assert!(Arc::ptr_eq(&first, &find(0)) && Arc::ptr_eq(&last, &find(MOST - 1)));
        assert_eq!(tables.list().len(), MOST + 1);
    }
}
