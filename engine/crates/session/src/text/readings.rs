//! Readings, which are what the text of a statement shows. They are made once for each shape of text and shared by all
//! sessions.

use crate::text::reading::Reading;
use crate::text::recent::Recent;
use foldhash::quality::RandomState;
use locks::RwLock;
use sql::LexMode;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Arc;

/// Largest number of shapes in one shard. A full shard is cleared, since the shapes in use come back at once.
const KEPT: usize = 1024;
const SHARDS: usize = 16;

type ByShape = HashMap<Arc<[u8]>, Arc<Reading>, RandomState>;

/// The readings that all sessions share, by the shape of the text (the text with its literals replaced).
pub struct Readings {
    seed: RandomState,
    shards: [RwLock<ByShape>; SHARDS],
}

impl Default for Readings {
    fn default() -> Self {
        Readings { seed: RandomState::default(), shards: std::array::from_fn(|_| RwLock::default()) }
    }
}

impl Readings {
    /// Returns the reading of a text. `recent` are the recent readings of the session; afterwards it also holds the
    /// shape of this text and the positions of its numbers.
    pub fn read(&self, text: &[u8], mode: LexMode, recent: &mut Recent) -> Arc<Reading> {
        recent.shape.clear();
        if !sql::shape_and_numbers(text, mode, &mut recent.shape, &mut recent.numbers) {
            return Arc::new(Reading::new(text, mode));
        }
        let hash = self.seed.hash_one(&recent.shape) as usize;
        if let Some(reading) = recent.find(hash) {
            return reading;
        }
        let shard = &self.shards[hash % SHARDS];
        let known = find(shard, &recent.shape);
        let (shape, reading) = known.unwrap_or_else(|| make_known(shard, &recent.shape, text, mode));
        if reading.holds_for_shape() {
            recent.keep(hash, shape, reading.clone());
        }
        reading
    }

    /// Returns the reading of a statement that is being prepared. It is not shared, and its literals are part of its
    /// shape.
    pub fn read_prepared(&self, text: &[u8], mode: LexMode) -> Arc<Reading> {
        Arc::new(Reading::new(text, mode).counted(text))
    }
}

fn find(shard: &RwLock<ByShape>, shape: &[u8]) -> Option<(Arc<[u8]>, Arc<Reading>)> {
    let shard = shard.read().unwrap_or_else(|e| e.into_inner());
    shard.get_key_value(shape).map(|(shape, reading)| (shape.clone(), reading.clone()))
}

/// Makes the reading of a new shape, and adds it to the shard if it holds for every text of the shape.
fn make_known(shard: &RwLock<ByShape>, shape: &[u8], text: &[u8], mode: LexMode) -> (Arc<[u8]>, Arc<Reading>) {
    let shape: Arc<[u8]> = Arc::from(shape);
    let reading = Arc::new(Reading::new(text, mode).counted(&shape[1..]).of_shape(&shape));
    if reading.holds_for_shape() {
        let mut shard = shard.write().unwrap_or_else(|e| e.into_inner());
        if shard.len() >= KEPT {
            shard.clear();
        }
        shard.insert(Arc::clone(&shape), reading.clone());
    }
    (shape, reading)
}
