//! The tables that statements have used: their version cells, and what the catalogue says about them.
//!
//! A verdict on a table holds until that table, or something unknown, is redefined. Then the table is looked up again. The same holds for
//! its key column, which is also withheld while anything is being defined: the server finishes a definition before it reports it, and a
//! session that runs in between must not rely on the old key.

use crate::entries::cells::{allocate, definition_of, unknown_change_of};
use cache::{CellId, Versions};
use footprint::KeyColumn;
use locks::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLockReadGuard};

/// How a table may be used, according to the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The table was not looked up since it was last defined. Results from it are not stored before it is.
    Unknown,
    /// Its results may be cached, and its reads come from an InnoDB snapshot.
    Snapshot,
    /// Its results may be cached. Its engine has no snapshots (MyISAM, MEMORY).
    Plain,
    /// Its results may be cached. Its engine has no snapshots, and a transaction that reads it can have no savepoints
    /// (Aria). So a read of it inside a transaction must run on the server.
    NoSavepoints,
    /// Its results are never cached, because of its engine or type.
    Unfit,
    /// Its results are never cached: it has a TIME column, which the server completes with today's date in some comparisons.
    Times,
    /// A sequence. Its results are never cached.
    Sequence,
}

/// A table that some statement has named: its version cells, and what is known of it. A table that is dropped and created again under the
/// same name keeps its entry.
#[derive(Debug)]
pub struct Table {
    pub db: Vec<u8>,
    pub name: Vec<u8>,
    /// Version cell that every change of the table advances.
    pub any_change: CellId,
    /// Version cell that is advanced by changes of the table whose rows are not known. Results that depend on single rows depend on it too.
    pub unknown_change: CellId,
    /// Version cell that only definitions of the table (CREATE, ALTER, DROP and the like) advance.
    pub definition: CellId,
    /// Number of statements that have read the table on the server. `writes` counts those that have written it.
    pub reads: AtomicU64,
    pub writes: AtomicU64,
    /// Number of results that were served after a write to other rows of the table. Each is counted once.
    pub invalidations_avoided: AtomicU64,
    /// Number of definitions of the table so far.
    defined: AtomicU64,
    /// Number of statements that are defining the table now.
    defining: AtomicU64,
    /// The verdict in the lower three bits, and above them the era in which it was given.
    verdict: AtomicU64,
    /// The key column, if the table has one that identifies rows, and the era in which that was looked up.
    key: RwLock<(Era, Option<Arc<KeyColumn>>)>,
}

/// The period for which a verdict holds: the sum of the catalogue's generation and the number of definitions of the table. Both only
/// grow, so the sum changes whenever one of them does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Era(u64);

impl Table {
    fn new(versions: &Versions, db: &[u8], name: &[u8]) -> Table {
        let [defined, defining, verdict, reads, writes, invalidations_avoided] = [0; 6].map(AtomicU64::new);
        let key = RwLock::new((Era(0), None));
        let any_change = allocate(versions);
        let (unknown_change, definition) = (unknown_change_of(any_change), definition_of(any_change));
        let (db, name) = (db.to_vec(), name.to_vec());
        Table {
            db,
            name,
            any_change,
            unknown_change,
            definition,
            reads,
            writes,
            invalidations_avoided,
            defined,
            defining,
            verdict,
            key,
        }
    }

    /// Returns the period, from now on, in which an answer of the catalogue about this table will hold: until the
    /// table, or anything in the catalogue, is defined. To be read before the server is asked, and passed to
    /// `set_verdict` with the answer. `generation` is that of the catalogue, see `Catalogue::generation`.
    pub fn era(&self, generation: u64) -> Era {
        // Acquire: pairs with the Release in `redefine`.
        Era(generation + self.defined.load(Ordering::Acquire))
    }

    /// Counts a statement that has locked the table, for reading or for writing.
    pub fn count(&self, is_read_only: bool) {
        let count = if is_read_only { &self.reads } else { &self.writes };
        // Relaxed: a count orders nothing.
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Called before a statement that defines the table runs. Its key column is withheld until the matching call of `redefine` or
    /// `end_definition`.
    pub fn begin_definition(&self) {
        self.defining.fetch_add(1, Ordering::AcqRel);
    }

    /// Ends `begin_definition` after the table was defined: from here on it is not known whether its results may be
    /// stored, and what its key column is. Must be called before results of the table may be stored again.
    pub fn redefine(&self) {
        self.defined.fetch_add(1, Ordering::AcqRel);
        self.end_definition();
    }

    /// Ends `begin_definition` if the statement has not defined the table after all: what is known of the table still holds.
    pub fn end_definition(&self) {
        // Release, here and in `redefine`: pairs with the Acquire in `is_being_defined`.
        self.defining.fetch_sub(1, Ordering::AcqRel);
    }

    /// True while a statement that defines the table is running.
    pub fn is_being_defined(&self) -> bool {
        // Acquire: pairs with the Release in `end_definition`.
        self.defining.load(Ordering::Acquire) != 0
    }

    /// The column that identifies the table's rows. None if it has none, or if that was not looked up since the
    /// catalogue's `generation` began, which ends with the next changed definition. Only
    /// [`Engine::key_of`](crate::Engine::key_of) may call this.
    pub fn key(&self, generation: u64) -> Option<Arc<KeyColumn>> {
        let era = self.era(generation);
        let key = self.key.read().unwrap_or_else(|e| e.into_inner());
        key.1.clone().filter(|_| key.0 == era)
    }

    /// True if the table need not be looked up again before the catalogue's `generation` ends with the next changed
    /// definition: it is known whether its results may be stored and, for an InnoDB table, whether it has a key column.
    /// The list of tables to look up may still have such a table, if a read has asked for it during the look-up.
    pub fn is_looked_up(&self, generation: u64) -> bool {
        match self.verdict(generation) {
            Verdict::Unknown => false,
            Verdict::Snapshot => self.key.read().unwrap_or_else(|e| e.into_inner()).0 == self.era(generation),
            _ => true,
        }
    }

    /// Whether and how results of the table may be stored. `Unknown` if the table was not looked up since the
    /// catalogue's `generation` began, or was defined since.
    pub fn verdict(&self, generation: u64) -> Verdict {
        // Acquire: pairs with the Release in `set_verdict`.
        let packed = self.verdict.load(Ordering::Acquire);
        if Era(packed >> 3) != self.era(generation) {
            return Verdict::Unknown;
        }
        match packed & 7 {
            1 => Verdict::Snapshot,
            2 => Verdict::Plain,
            3 => Verdict::NoSavepoints,
            4 => Verdict::Unfit,
            5 => Verdict::Times,
            6 => Verdict::Sequence,
            _ => Verdict::Unknown,
        }
    }

    /// Notes the key column that was looked up; None if the table has none. `era` was read before the look-up: the answer has no effect if
    /// the table was defined since.
    pub fn set_key(&self, era: Era, key: Option<KeyColumn>) {
        *self.key.write().unwrap_or_else(|e| e.into_inner()) = (era, key.map(Arc::new));
    }

    /// Notes whether and how results of the table may be stored, as it was looked up. `era` was read before the
    /// look-up: the answer has no effect if the table was defined since.
    pub fn set_verdict(&self, era: Era, verdict: Verdict) {
        // Release: pairs with the Acquire in `verdict`.
        self.verdict.store(era.0 << 3 | verdict as u64, Ordering::Release);
    }

    /// Forgets whether results of the table may be stored, so that the next read of it asks for a look-up.
    pub fn forget_verdict(&self) {
        self.verdict.store(Verdict::Unknown as u64, Ordering::Release);
    }
}

/// Largest number of tables that are distinguished. An entry is never removed, and a client may drop tables of any name, also of
/// names that never existed. All further tables share one entry, whose results are never cached.
const MOST: usize = 1 << 18;
const OTHERS: &[u8] = b"(other tables)";

#[derive(Default)]
struct KnownTables {
    by_name: HashMap<Vec<u8>, Arc<Table>>,
    by_unknown_change: HashMap<CellId, Arc<Table>>,
}

/// All tables that statements have named, and those among them that the host is to look up.
#[derive(Default)]
pub struct Tables {
    known: RwLock<KnownTables>,
    /// Tables that the host has yet to look up, because a read found no verdict on them.
    look_up_requests: Mutex<Vec<LookUpRequest>>,
}

/// A table that the host must look up in the server's catalogue, because a read can be stored only once it is known whether results of
/// this table may be cached.
pub struct LookUpRequest {
    pub table: Arc<Table>,
    /// The value of `Settings::inherited` from before that read. Once it has changed, the look-up is not allowed any more.
    pub inherited: u64,
}

impl Tables {
    /// Returns the table of this name, and adds it if it is new. Names are compared as the server spells them in its reports. When too many
    /// tables are known, all further names are one table, whose results are never cached.
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
        known.by_unknown_change.insert(table.unknown_change, table.clone());
        table
    }

    pub fn list(&self) -> Vec<Arc<Table>> {
        self.known().by_name.values().cloned().collect()
    }

    /// The table whose cell of unknown changes (`Table::unknown_change`) this is. None if there is none, and also while a table is being
    /// added, because a hit must never wait.
    pub fn try_find(&self, unknown_change: CellId) -> Option<Arc<Table>> {
        self.known.try_read().ok()?.by_unknown_change.get(&unknown_change).cloned()
    }

    fn known(&self) -> RwLockReadGuard<'_, KnownTables> {
        self.known.read().unwrap_or_else(|e| e.into_inner())
    }

    /// Asks the host to look up this table. `inherited` is the value of `Settings::inherited` from before the read that needs it.
    pub fn request_look_up(&self, table: &Arc<Table>, inherited: u64) {
        let mut requests = self.look_up_requests.lock().unwrap_or_else(|e| e.into_inner());
        match requests.iter_mut().find(|other| Arc::ptr_eq(&other.table, table)) {
            Some(other) => other.inherited = other.inherited.max(inherited),
            None => requests.push(LookUpRequest { table: table.clone(), inherited }),
        }
    }

    /// Returns the tables that the host is to look up, and removes them from the list.
    pub fn take_look_up_requests(&self) -> Vec<LookUpRequest> {
        std::mem::take(&mut self.look_up_requests.lock().unwrap_or_else(|e| e.into_inner()))
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
        assert!(Arc::ptr_eq(&others, &find(MOST + 1)) && others.unknown_change != last.unknown_change);
        assert!(Arc::ptr_eq(&first, &find(0)) && Arc::ptr_eq(&last, &find(MOST - 1)));
        assert_eq!(tables.list().len(), MOST + 1);
    }
}
