//! Analyses, which are what the text of a statement shows. They are made once for each shape of text and shared by all
//! sessions.

use crate::text::analysis::Analysis;
use crate::text::recent_analyses::RecentAnalyses;
use foldhash::quality::RandomState;
use locks::RwLock;
use sql::LexMode;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Arc;

/// Largest number of shapes in one shard. A full shard is cleared, since the shapes in use come back at once.
const KEPT: usize = 1024;
const SHARDS: usize = 16;

type ByShape = HashMap<Arc<[u8]>, Arc<Analysis>, RandomState>;

/// The analyses that all sessions share, by the shape of the text (the text with its literals replaced).
pub struct SharedAnalyses {
    seed: RandomState,
    shards: [RwLock<ByShape>; SHARDS],
}

impl Default for SharedAnalyses {
    fn default() -> Self {
        SharedAnalyses { seed: RandomState::default(), shards: std::array::from_fn(|_| RwLock::default()) }
    }
}

impl SharedAnalyses {
    /// Returns the analysis of a text. `recent` are those of the session; afterwards it also holds the
    /// shape of this text and the positions of its numbers.
    pub fn analyse(&self, text: &[u8], mode: LexMode, recent: &mut RecentAnalyses) -> Arc<Analysis> {
        recent.shape.clear();
        if !sql::shape_and_numbers(text, mode, &mut recent.shape, &mut recent.numbers) {
            return Arc::new(Analysis::new(text, mode));
        }
        let hash = self.seed.hash_one(&recent.shape) as usize;
        if let Some(analysis) = recent.find(hash) {
            return analysis;
        }
        let shard = &self.shards[hash % SHARDS];
        let known = find(shard, &recent.shape);
        let (shape, analysis) = known.unwrap_or_else(|| make_known(shard, &recent.shape, text, mode));
        if analysis.holds_for_shape() {
            recent.keep(hash, shape, analysis.clone());
        }
        analysis
    }

    /// Returns the analysis of a statement that is being prepared. It is not shared, and its literals are part of its
    /// shape.
    pub fn read_prepared(&self, text: &[u8], mode: LexMode) -> Arc<Analysis> {
        Arc::new(Analysis::new(text, mode).counted(text))
    }
}

fn find(shard: &RwLock<ByShape>, shape: &[u8]) -> Option<(Arc<[u8]>, Arc<Analysis>)> {
    let shard = shard.read().unwrap_or_else(|e| e.into_inner());
    shard.get_key_value(shape).map(|(shape, analysis)| (shape.clone(), analysis.clone()))
}

/// Makes the analysis of a new shape, and adds it to the shard if it holds for every text of the shape.
fn make_known(shard: &RwLock<ByShape>, shape: &[u8], text: &[u8], mode: LexMode) -> (Arc<[u8]>, Arc<Analysis>) {
    let shape: Arc<[u8]> = Arc::from(shape);
    let analysis = Arc::new(Analysis::new(text, mode).counted(&shape[1..]).of_shape(&shape));
    if analysis.holds_for_shape() {
        let mut shard = shard.write().unwrap_or_else(|e| e.into_inner());
        if shard.len() >= KEPT {
            shard.clear();
        }
        shard.insert(Arc::clone(&shape), analysis.clone());
    }
    (shape, analysis)
}
