//! The state that all connections share.

use crate::broken_handshakes::BrokenHandshakes;
use crate::config::Config;
use crate::metrics::{
    ConnectionCounts, push_applications, push_log, push_memory, push_observed, push_reasons, push_rules, push_store,
};
use crate::store::Store;
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

/// The state that all connections share: the configuration, the memory with the results, and the counts. There is one in a process.
pub struct Shared {
    /// The configuration in force. Subscribers are notified of each reload. To replace it, call [`change_config`](Self::change_config).
    pub config: watch::Sender<Arc<Config>>,
    /// Becomes true when the process has been asked to end, and stays so: then each connection ends as soon as it is idle.
    pub draining: watch::Sender<bool>,
    /// The counters of connections for `/metrics`.
    pub counts: ConnectionCounts,
    /// Logs why single clients were refused.
    pub refusal_log: RefusalLog,
    /// Counts the handshakes that clients have broken off before they had logged in.
    pub broken_handshakes: BrokenHandshakes,
    /// The results that are answered from memory, with the settings and the state of serving them.
    pub memory: Arc<Memory>,
    /// The reads that are on their way to the server, so that other clients with the same read can wait for the answer instead of asking,
    /// too. Used with rules only.
    pub flights: Arc<Flights>,
    /// The memcached or Valkey servers in which several near caches share results, if configured.
    pub store: Option<Arc<Store>>,
    /// The state of following the server's binary log; none if the process was started without `binlog-user`.
    pub log: Option<Arc<Log>>,
    /// The number of open connections that were admitted. It changes with [`admit`](Self::admit) and the drop of a [`OpenConnection`].
    pub open: AtomicUsize,
    /// Is notified whenever a connection has ended.
    has_closed: Notify,
}

impl Shared {
    /// Makes the state for a process that starts. If a store is configured, this starts tasks, and so must be called in a tokio runtime.
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
            counts: ConnectionCounts::default(),
            refusal_log: RefusalLog::new(),
            broken_handshakes: BrokenHandshakes::default(),
            open: AtomicUsize::new(0),
            has_closed: Notify::new(),
        }
    }

    /// Replaces the configuration after a reload. Only new connections use it, but its rules and the other settings of the memory apply to
    /// all connections at once. Its `fixed` options have no effect on what is started already.
    pub fn change_config(&self, config: Config) {
        self.memory.change_settings(config.settings());
        self.config.send_replace(Arc::new(config));
    }

    /// Returns the store of several near caches behind the interface of `near-core`. None if no store is configured.
    pub fn shared_store(&self) -> Option<Arc<dyn near_core::store::Store>> {
        self.store.clone().map(|store| store as Arc<dyn near_core::store::Store>)
    }

    /// Returns the configuration in force now. A later reload does not change the returned value.
    pub fn config(&self) -> Arc<Config> {
        self.config.borrow().clone()
    }

    /// Returns a receiver that is notified when the process begins to end; its value is then true.
    pub fn draining(&self) -> watch::Receiver<bool> {
        self.draining.subscribe()
    }

    /// Returns true if the process has been asked to end, and only waits for its open connections.
    pub fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    /// Returns the body of `/metrics`, in Prometheus's text format.
    pub fn metrics(&self) -> String {
        let open = self.open.load(Ordering::Relaxed);
        let mut out = self.counts.metrics(open, self.config().max_connections);
        let results = &self.memory.results;
        let rules = self.config().rules.clone();
        let progress = self.log.as_ref().map(|log| log.progress(clock::now()));
        let is_proved = progress.as_ref().is_some_and(|progress| progress.staleness.is_some());
        let observed = &results.uses.observed;
        let is_leased = results.has_lease(clock::now()) && self.memory.obstacle.get().is_empty();
        let may_answer = rules.is_some() || is_proved || is_leased;
        let may_serve = may_answer && !observed.is_on();
        push_memory(&mut out, &results.counted(), may_serve, &self.obstacle(progress.as_ref()));
        if results.published.is_some() {
            push_applications(&mut out, results.hits_in_applications.load(Ordering::Relaxed));
        }
        if observed.is_on() {
            push_observed(&mut out, observed);
        }
        push_reasons(&mut out, &self.memory.reasons);
        if let Some(progress) = progress {
            push_log(&mut out, &progress);
        }
        if let Some(rules) = rules {
            push_rules(&mut out, &rules);
        }
        if let Some(store) = &self.store {
            push_store(&mut out, store);
        }
        out
    }

    /// Returns the reason why nothing is answered from memory; empty if reads are answered, or the reason is unknown. `progress`: how far
    /// the server's binary log has been received; none if the log is not followed.
    pub fn obstacle(&self, progress: Option<&Progress>) -> String {
        let obstacle = self.memory.obstacle.get();
        match progress.and_then(|progress| progress.obstacle) {
            Some(late) if obstacle.is_empty() => late.into(),
            _ => obstacle,
        }
    }

    /// Counts one more open connection, until the returned [`OpenConnection`] is dropped. Returns none if `max-connections` are open
    /// already; then the client must be refused, and nothing remains counted.
    pub fn admit(self: &Arc<Self>) -> Option<OpenConnection> {
        let before = self.open.fetch_add(1, Ordering::Relaxed);
        let open_connection = OpenConnection(self.clone());
        (before < self.config.borrow().max_connections).then_some(open_connection)
    }

    /// Waits until no connection is open.
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

/// Makes the memory for results with the configured size and settings. `published`: the part that other processes read, if they may.
fn memory(config: &Config, published: Option<Arc<Published>>) -> Arc<Memory> {
    let memory = Memory::with_results(Results::with_published(config.fixed.size, published));
    memory.change_settings(config.settings());
    Arc::new(memory)
}

/// One open connection in the count of open connections. Dropping it removes the connection from the count.
pub struct OpenConnection(pub Arc<Shared>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
        self.0.has_closed.notify_waiters();
    }
}

/// Logs problems of single connections, at most one line a second, since any client can cause them.
pub struct RefusalLog {
    begun: Instant,
    next_ms: AtomicU64,
}

impl RefusalLog {
    fn new() -> RefusalLog {
        RefusalLog { begun: Instant::now(), next_ms: AtomicU64::new(0) }
    }

    /// Logs why a client was refused, unless another such line was logged less than a second ago.
    pub fn log(&self, message: &str) {
        let now = self.begun.elapsed().as_millis() as u64;
        let next = self.next_ms.load(Ordering::Relaxed);
        let is_free = now >= next
            && self.next_ms.compare_exchange(next, now + 1000, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_free {
            say!("a client was refused: {message}");
        }
    }
}
