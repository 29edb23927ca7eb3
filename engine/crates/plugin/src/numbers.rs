//! The counters behind the status variables.

use std::ffi::CStr;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use locks::Mutex;

macro_rules! numbers {
    ($($field:ident $name:literal)*; $($within:ident $within_name:literal)*) => {
        /// One counter per status variable. `refresh` copies most of them from the engine; connections and contained errors are counted
        /// here directly.
        pub struct Numbers { $(pub $field: AtomicU64,)* $(pub $within: AtomicU64,)* }
        pub static NUMBERS: Numbers = Numbers { $($field: AtomicU64::new(0),)* $($within: AtomicU64::new(0),)* };
        pub const ROWS: &[(&CStr, &AtomicU64)] =
            &[$(($name, &NUMBERS.$field),)* $(($within_name, &NUMBERS.$within),)*];
        /// Statements that were answered within each of `session::BOUNDS_US` microseconds, and the number of all answered statements as the
        /// last one.
        static ANSWERED: [&AtomicU64; session::BOUNDS_US.len() + 1] = [$(&NUMBERS.$within),*];
    };
}

numbers! {
    awake c"Fqc_awake"
    bypassed c"Fqc_connections_bypassed"
    bytes_live c"Fqc_bytes_live"
    bytes_used c"Fqc_bytes_used"
    connections c"Fqc_connections_tracked"
    served c"Fqc_connections_served"
    contained c"Fqc_contained_errors"
    differences c"Fqc_differences"
    dozing c"Fqc_dozing"
    evictions c"Fqc_evictions"
    hits c"Fqc_hits"
    inserts c"Fqc_inserts"
    invalidations c"Fqc_invalidations"
    invalidations_avoided c"Fqc_invalidations_avoided"
    misses c"Fqc_misses"
    near_caches c"Fqc_near_caches"
    near_detached c"Fqc_near_detached"
    near_hits c"Fqc_near_hits"
    near_misses c"Fqc_near_misses"
    near_waited_us c"Fqc_near_waited_us"
    near_waits c"Fqc_near_waits"
    not_cached c"Fqc_not_cached"
    observed_hits c"Fqc_observed_hits"
    observed_requests c"Fqc_observed_requests"
    observed_saved_us c"Fqc_observed_time_saved_us"
    queries c"Fqc_queries_in_cache"
    saved_bytes c"Fqc_bytes_saved"
    saved_us c"Fqc_time_saved_us"
    stale_hits c"Fqc_stale_hits"
    verified c"Fqc_verified";
    within_100us c"Fqc_answered_in_100us"
    within_200us c"Fqc_answered_in_200us"
    within_500us c"Fqc_answered_in_500us"
    within_1ms c"Fqc_answered_in_1ms"
    within_2ms c"Fqc_answered_in_2ms"
    within_5ms c"Fqc_answered_in_5ms"
    within_10ms c"Fqc_answered_in_10ms"
    within_20ms c"Fqc_answered_in_20ms"
    within_50ms c"Fqc_answered_in_50ms"
    within_100ms c"Fqc_answered_in_100ms"
    within_200ms c"Fqc_answered_in_200ms"
    within_500ms c"Fqc_answered_in_500ms"
    within_1s c"Fqc_answered_in_1s"
    within_2s c"Fqc_answered_in_2s"
    within_5s c"Fqc_answered_in_5s"
    within_10s c"Fqc_answered_in_10s"
    answered c"Fqc_answered"
}

/// Bytes of the cache's memory that are not in use (`Qcache_free_memory`).
pub static FREE_MEMORY: AtomicU64 = AtomicU64::new(0);
/// 1 if any of the cache's memory is not in use, otherwise 0 (`Qcache_free_blocks`).
pub static FREE_BLOCKS: AtomicU64 = AtomicU64::new(0);
/// Number of segments that the cache's memory in use consists of (`Qcache_total_blocks`).
pub static TOTAL_BLOCKS: AtomicU64 = AtomicU64::new(0);

/// Held during a refresh, which the worker and every SHOW do. Otherwise a thread that is delayed between reading and writing would restore
/// old values.
static TURN: Mutex<()> = Mutex::new(());

/// Updates the counters behind the status variables from the engine. Waits while another thread does so.
pub fn refresh(engine: &session::Engine) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let stats = engine.cache().stats();
    let counts = engine.counts();
    let set = |number: &AtomicU64, value: u64| number.store(value, Ordering::Relaxed);
    set(&NUMBERS.awake, u64::from(engine.mode().is_awake()));
    set(&NUMBERS.served, engine.mode().interested_sessions());
    set(&NUMBERS.dozing, u64::from(engine.mode().is_in_light_mode()));
    set(&NUMBERS.bytes_live, stats.live_bytes);
    set(&NUMBERS.bytes_used, stats.used_bytes);
    set(&NUMBERS.evictions, stats.evictions);
    set(&NUMBERS.queries, stats.entries);
    set(&NUMBERS.hits, counts.hits.sum());
    set(&NUMBERS.misses, counts.misses.sum());
    set(&NUMBERS.inserts, counts.inserts.sum());
    set(&NUMBERS.not_cached, counts.not_cached.sum());
    set(&NUMBERS.invalidations, counts.invalidations.sum());
    set(&NUMBERS.invalidations_avoided, counts.invalidations_avoided.sum());
    set(&NUMBERS.stale_hits, counts.stale_hits.sum());
    let answered = counts.durations.within(counts.hits.sum());
    ANSWERED.iter().zip(answered).for_each(|(number, count)| set(number, count));
    set(&NUMBERS.saved_bytes, counts.saved_bytes.sum());
    set(&NUMBERS.saved_us, counts.saved_ns.sum() / 1000);
    let trial = engine.insight().curve.trial();
    set(&NUMBERS.observed_requests, trial.requests);
    set(&NUMBERS.observed_hits, trial.hits);
    set(&NUMBERS.observed_saved_us, trial.saved_us);
    set(&NUMBERS.verified, engine.insight().verified.sum());
    set(&NUMBERS.differences, engine.insight().differences.sum());
    let near = engine.near_totals();
    set(&NUMBERS.near_caches, near.attached);
    set(&NUMBERS.near_detached, near.detached);
    set(&NUMBERS.near_hits, near.hits);
    set(&NUMBERS.near_misses, near.misses);
    set(&NUMBERS.near_waits, near.waits);
    set(&NUMBERS.near_waited_us, near.waited_ns / 1000);
    set(&FREE_MEMORY, engine.cache().budget().saturating_sub(stats.used_bytes));
    set(&FREE_BLOCKS, u64::from(engine.cache().budget() > stats.used_bytes));
    set(&TOTAL_BLOCKS, stats.segments);
}

#[cfg(test)]
mod tests {
    use std::thread;

    use cache::{Key, Meta, Stamp};

    use super::*;

    #[test]
    fn numbers_never_go_back_while_several_threads_refresh_them() {
        let engine = session::Engine::new(&flavour::MARIADB, || 0);
        let cache = engine.cache();
        cache.resize(256 << 20);
        let back = thread::scope(|scope| {
            let refreshers = [(); 3].map(|()| scope.spawn(|| (0..20_000).for_each(|_| refresh(&engine))));
            let (mut last, mut stored) = (0, 0_u64);
            while !refreshers.iter().all(|one| one.is_finished()) {
                if stored < 500_000 {
                    let key = Key { context: 0, parts: [&stored.to_le_bytes(), &[]] };
                    let meta = Meta { stamp: Stamp(0), rows: 1, cost_ns: 1, flags: 0, owner: 0 };
                    cache.insert(cache.hash(&key), &key, meta, &[], b"result").expect("there is room");
                    stored += 1;
                }
                let shown = NUMBERS.queries.load(Ordering::Relaxed);
                if shown < last {
                    return Some((last, shown));
                }
                last = shown;
            }
            None
        });
        assert_eq!(back, None);
    }
}
