//! The analyses that one session has used recently, found without a lock.
//!
//! From the second use of an analysis on, the session has a copy of its own, up to a limit. Sharing means counting references, and
//! if many sessions do that at once, it costs more than everything else here. The number of sets grows when analyses displace
//! each other.

use crate::text::analysis::Analysis;
use std::sync::Arc;

/// Number of analyses in one set. The latest is first.
const WAYS: usize = 4;
const LEAST_SETS: usize = 16;
/// Largest number of sets: enough for an application with some hundreds of statements.
const MOST_SETS: usize = 128;
const MOST_OWN: usize = 64;

/// The analyses that one session has used recently, by the shape of their texts.
#[derive(Default)]
pub struct RecentAnalyses {
    /// The shape of the text that is being parsed.
    pub(crate) shape: Vec<u8>,
    /// The positions of the numbers in the text that was parsed last, if it has a shape.
    pub(crate) numbers: sql::Numbers,
    /// The sets, one after the other. Empty before the first analysis is kept.
    kept: Vec<Option<KeptAnalysis>>,
    /// Number of kept analyses that are the session's own copies.
    own: usize,
}

struct KeptAnalysis {
    hash: usize,
    shape: Arc<[u8]>,
    analysis: Arc<Analysis>,
    /// The analysis is a copy that no other session uses.
    is_own: bool,
}

impl RecentAnalyses {
    /// Returns the kept analysis of the shape in `shape`, whose hash this is. None if it is not kept. From its second use on, an
    /// analysis is replaced by a copy for this session, up to a limit.
    pub(crate) fn find(&mut self, hash: usize) -> Option<Arc<Analysis>> {
        let set = self.set(hash);
        let mut kept = self.kept[set].iter_mut().flatten();
        let kept = kept.find(|kept| kept.hash == hash && *kept.shape == *self.shape)?;
        if !kept.is_own && self.own < MOST_OWN {
            kept.analysis = Arc::new(kept.analysis.copy());
            kept.is_own = true;
            self.own += 1;
        }
        Some(kept.analysis.clone())
    }

    /// Keeps an analysis as the latest of its set, and drops the oldest one if the set is full.
    pub(crate) fn keep(&mut self, hash: usize, shape: Arc<[u8]>, analysis: Arc<Analysis>) {
        if self.is_full(hash) {
            self.grow();
        }
        self.put(KeptAnalysis { hash, shape, analysis, is_own: false });
    }

    fn set(&self, hash: usize) -> std::ops::Range<usize> {
        let sets = self.kept.len() / WAYS;
        let first = if sets == 0 { 0 } else { hash % sets * WAYS };
        first..self.kept.len().min(first + WAYS)
    }

    fn is_full(&self, hash: usize) -> bool {
        self.kept.len() < MOST_SETS * WAYS && self.kept[self.set(hash)].iter().all(Option::is_some)
    }

    fn grow(&mut self) {
        let size = (2 * self.kept.len()).max(LEAST_SETS * WAYS);
        let old = std::mem::replace(&mut self.kept, std::iter::repeat_with(|| None).take(size).collect());
        self.own = 0;
        // The latest analyses stay first.
        old.into_iter().rev().flatten().for_each(|kept| self.put(kept));
    }

    fn put(&mut self, kept: KeptAnalysis) {
        self.own += usize::from(kept.is_own);
        let set = self.set(kept.hash);
        let set = &mut self.kept[set];
        set.rotate_right(1);
        let pushed_out = set[0].replace(kept);
        self.own -= usize::from(pushed_out.is_some_and(|kept| kept.is_own));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(recent: &mut RecentAnalyses, number: usize) {
        recent.keep(number, shape(number), Analysis::opaque());
    }

    fn shape(number: usize) -> Arc<[u8]> {
        number.to_string().into_bytes().into()
    }

    fn finds(recent: &mut RecentAnalyses, number: usize) -> Option<Arc<Analysis>> {
        recent.shape = shape(number).to_vec();
        recent.find(number)
    }

    #[test]
    fn as_many_as_there_is_room_for_are_found_again() {
        let mut recent = RecentAnalyses::default();
        assert!(finds(&mut recent, 0).is_none());
        let most = MOST_SETS * WAYS;
        (0..most).for_each(|number| keep(&mut recent, number));
        assert!((0..most).all(|number| finds(&mut recent, number).is_some()));
        keep(&mut recent, most);
        assert!(finds(&mut recent, most).is_some() && finds(&mut recent, 0).is_none());
        assert_eq!(recent.kept.len(), most);
    }

    #[test]
    fn another_shape_of_the_same_hash_is_not_it() {
        let mut recent = RecentAnalyses::default();
        recent.keep(7, shape(7), Analysis::opaque());
        recent.shape = b"8".to_vec();
        assert!(recent.find(7).is_none());
    }

    #[test]
    fn a_session_has_so_many_of_its_own_and_shares_the_rest() {
        let (mut recent, shared) = (RecentAnalyses::default(), Analysis::opaque());
        let all = 2 * MOST_OWN;
        (0..all).for_each(|number| recent.keep(number, shape(number), shared.clone()));
        let own = |recent: &mut RecentAnalyses| {
            (0..all).filter(|number| !Arc::ptr_eq(&finds(recent, *number).unwrap(), &shared)).count()
        };
        assert_eq!((own(&mut recent), own(&mut recent)), (MOST_OWN, MOST_OWN));
        // Each set gets four new analyses in the end, and the session's own copies are displaced.
        (all..all + MOST_SETS * WAYS).for_each(|number| recent.keep(number, shape(number), shared.clone()));
        assert_eq!(recent.own, 0);
    }
}
