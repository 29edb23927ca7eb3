use std::collections::HashMap;
use std::sync::Mutex;

use crate::{CellId, Entry, Key, Meta, Pin, Refusal, Stats, Versions, entry::Block};

pub struct Cache {
    budget: Mutex<u64>,
    map: Mutex<HashMap<Vec<u8>, *const Block>>,
    hasher: foldhash::quality::RandomState,
}

// SAFETY: blocks are immutable and freed through the epoch.
unsafe impl Send for Cache {}
// SAFETY: as above.
unsafe impl Sync for Cache {}

fn bytes(key: &Key) -> Vec<u8> {
    let mut bytes = key.context.to_le_bytes().to_vec();
    bytes.extend(key.parts[0].len().to_le_bytes());
    bytes.extend(key.parts[0]);
    bytes.extend(key.parts[1]);
    bytes
}

impl Cache {
    pub fn new(budget_bytes: u64) -> Self {
        Cache {
            budget: Mutex::new(budget_bytes),
            map: Mutex::default(),
            hasher: Default::default(),
        }
    }
    pub fn resize(&self, budget_bytes: u64) {
        *self.budget.lock().unwrap() = budget_bytes;
        self.clear();
    }
    pub fn budget(&self) -> u64 {
        *self.budget.lock().unwrap()
    }
    pub fn hash(&self, key: &Key) -> u64 {
        use std::hash::BuildHasher;
        self.hasher.hash_one(bytes(key))
    }
    pub fn get<'g>(&self, _hash: u64, key: &Key, _pin: &'g Pin) -> Option<Entry<'g>> {
        let map = self.map.lock().unwrap();
        map.get(&bytes(key)).map(|block| Entry {
            // SAFETY: unlinked blocks outlive the pin.
            block: unsafe { &**block },
        })
    }
    pub fn insert(
        &self,
        hash: u64,
        key: &Key,
        meta: Meta,
        cells: &[CellId],
        value: &[u8],
    ) -> Result<(), Refusal> {
        let budget = self.budget();
        if budget == 0 {
            return Err(Refusal::NoBudget);
        }
        if value.len() as u64 > budget / 4 {
            return Err(Refusal::TooLarge);
        }
        self.remove(hash, key);
        let mut map = self.map.lock().unwrap();
        let block = Block {
            meta,
            cells: cells.into(),
            value: value.into(),
        };
        map.insert(bytes(key), Box::into_raw(Box::new(block)));
        Ok(())
    }
    pub fn remove(&self, _hash: u64, key: &Key) -> bool {
        let old = self.map.lock().unwrap().remove(&bytes(key));
        let Some(old) = old else { return false };
        let old = old as usize;
        // SAFETY: unlinked, freed once.
        unsafe {
            crossbeam_epoch::pin().defer_unchecked(move || drop(Box::from_raw(old as *mut Block)))
        };
        true
    }
    pub fn clear(&self) {
        let all: Vec<_> = self
            .map
            .lock()
            .unwrap()
            .drain()
            .map(|(_, block)| block as usize)
            .collect();
        for old in all {
            // SAFETY: unlinked, freed once.
            unsafe {
                crossbeam_epoch::pin()
                    .defer_unchecked(move || drop(Box::from_raw(old as *mut Block)))
            };
        }
    }
    pub fn sweep(&self, _versions: &Versions, _max_segments: usize) -> usize {
        0
    }
    pub fn stats(&self) -> Stats {
        Stats {
            entries: self.map.lock().unwrap().len() as u64,
            ..Stats::default()
        }
    }
}
