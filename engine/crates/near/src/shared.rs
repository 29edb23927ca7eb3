//! The state that all connections share.

use crate::config::Config;
use crate::metrics::{
    Counts, tell_applications, tell_log, tell_memory, tell_observed, tell_reasons, tell_rules, tell_store,
};
use crate::store::Store;
use crate::unfinished::Unfinished;
use near_core::binlog::{Log, Progress};
use near_core::by_rules::Flights;
use near_core::clock;
use near_core::memory::Memory;
use near_core::published::Published;
use near_core::results::Results;
use near_core::say;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;
use tokio::sync::{Notify, watch};

/// The state that all connections share: the configuration, the memory with the results, and the counts.
pub struct Shared {
    pub config: watch::Sender<Arc<Config>>,
    pub draining: watch::Sender<bool>,
    pub counts: Counts,
    pub complaints: Complaints,
    pub unfinished: Unfinished,
    pub memory: Arc<Memory>,
    pub flights: Arc<Flights>,
    /// The store that several near caches share, if there is one.
    pub store: Option<Arc<Store>>,
    /// The server's binary log, if it is followed.
    pub log: Option<Arc<Log>>,
    pub open: AtomicUsize,
    has_closed: Notify,
}

impl Shared {
    /// `published`: the memory for results that other processes may read; none if they may not.
    pub fn new(config: Config, published: Option<Published>) -> Shared {
        let published = published.map(Arc::new);
        let of_log = published.clone();
        Shared {
            memory: memory(&config, published),
            flights: Arc::default(),
            store: config.fixed.store.clone().map(|options| Arc::new(Store::new(options))),
            log: config.fixed.follows.as_ref().map(|follows| Arc::new(Log::new(follows.max_staleness, of_log))),
            config: watch::channel(Arc::new(config)).0,
            draining: watch::channel(false).0,
            counts: Counts::default(),
            complaints: Complaints::new(),
            unfinished: Unfinished::default(),
            open: AtomicUsize::new(0),
            has_closed: Notify::new(),
        }
    }

    /// Replaces the configuration. Only new connections use it, but its rules and the other settings of the memory apply to all connections
    /// at once.
    pub fn change_config(&self, config: Config) {
        self.memory.change_settings(config.settings());
        self.config.send_replace(Arc::new(config));
    }

    /// Returns the store behind the interface of `near-core`.
    pub fn shared_store(&self) -> Option<Arc<dyn near_core::store::Store>> {
        self.store.clone().map(|store| store as Arc<dyn near_core::store::Store>)
    }

    pub fn config(&self) -> Arc<Config> {
        self.config.borrow().clone()
    }

    pub fn draining(&self) -> watch::Receiver<bool> {
        self.draining.subscribe()
    }

    pub fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    pub fn metrics(&self) -> String {
        let open = self.open.load(Ordering::Relaxed);
        let mut out = self.counts.metrics(open, self.config().max_connections);
        let results = &self.memory.results;
        let rules = self.config().rules.clone();
        let progress = self.log.as_ref().map(|log| log.progress(clock::now()));
        let is_proved = progress.as_ref().is_some_and(|progress| progress.staleness.is_some());
        let observed = &results.uses.observed;
        let may_answer = rules.is_some() || is_proved || results.has_lease(clock::now());
        let may_serve = may_answer && !observed.is_on();
        tell_memory(&mut out, &results.counted(), may_serve, &self.obstacle(progress.as_ref()));
        if results.published.is_some() {
            tell_applications(&mut out, results.hits_elsewhere.load(Ordering::Relaxed));
        }
        if observed.is_on() {
            tell_observed(&mut out, observed);
        }
        tell_reasons(&mut out, &self.memory.reasons);
        if let Some(progress) = progress {
            tell_log(&mut out, &progress);
        }
        if let Some(rules) = rules {
            tell_rules(&mut out, &rules);
        }
        if let Some(store) = &self.store {
            tell_store(&mut out, store);
        }
        out
    }

    /// Returns the reason why nothing is answered from memory; empty if reads are answered, or the reason is unknown. `progress`: that of
    /// the server's binary log, if it is followed.
    pub fn obstacle(&self, progress: Option<&Progress>) -> String {
        let obstacle = self.memory.obstacle.get();
        match progress.and_then(|progress| progress.obstacle) {
            Some(late) if obstacle.is_empty() => late.into(),
            _ => obstacle,
        }
    }

    /// Counts one more connection, until the returned place is dropped. Returns none if `max-connections` are open already.
    pub fn admit(self: &Arc<Self>) -> Option<Place> {
        let before = self.open.fetch_add(1, Ordering::Relaxed);
        let place = Place(self.clone());
        (before < self.config.borrow().max_connections).then_some(place)
    }

    pub async fn all_closed(&self) {
        loop {
            let closed = self.has_closed.notified();
            if self.open.load(Ordering::Relaxed) == 0 {
                return;
            }
            closed.await;
        }
    }
}

fn memory(config: &Config, published: Option<Arc<Published>>) -> Arc<Memory> {
    let memory = Memory::of(Results::published(config.fixed.size, published));
    memory.change_settings(config.settings());
    Arc::new(memory)
}

/// An open connection's place in the count of open connections. Dropping it frees the place.
pub struct Place(pub Arc<Shared>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
        self.0.has_closed.notify_waiters();
    }
}

/// Logs problems of single connections, at most one line a second, since any client can cause them.
pub struct Complaints {
    begun: Instant,
    next_ms: AtomicU64,
}

impl Complaints {
    fn new() -> Complaints {
        Complaints { begun: Instant::now(), next_ms: AtomicU64::new(0) }
    }

    pub fn tell(&self, message: &str) {
        let now = self.begun.elapsed().as_millis() as u64;
        let next = self.next_ms.load(Ordering::Relaxed);
        let is_free = now >= next
            && self.next_ms.compare_exchange(next, now + 1000, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_free {
            say!("a client was refused: {message}");
        }
    }
}
