//! The state that all workers share: the end of the run, the violations found, and the counts of checks.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::Plan;
use crate::client::Endpoint;
use crate::random::Random;
use crate::server::Product;

/// The number of violations after which a run ends.
const ENOUGH: usize = 5;

/// The state of one run. All methods may be called by all workers at once.
pub struct Stage {
    endpoints: Vec<Vec<Endpoint>>,
    pub plan: Plan,
    pub product: Product,
    begun: Instant,
    is_over: AtomicBool,
    /// Near caches still have to answer more reads to prove something, so the run may go on after its time.
    is_patient: AtomicBool,
    violations: Mutex<Vec<String>>,
    counts: Mutex<BTreeMap<&'static str, u64>>,
    /// The sessions that chaos may kill: those that are connected now, each with its member and its thread id.
    pub victims: Mutex<Vec<(usize, u32)>>,
    /// The number of endpoints handed out so far.
    next: AtomicUsize,
    /// The number of times that the server has been killed in this run. It numbers the server's lives from 0.
    life: AtomicU64,
}

impl Stage {
    /// Starts the state of a run of this plan. `endpoints`: the ways to connect, which sessions take in turns, for each member of a group.
    /// Outside of groups there is one member.
    pub fn new(endpoints: Vec<Vec<Endpoint>>, plan: Plan, product: Product) -> Self {
        Self {
            endpoints,
            product,
            begun: Instant::now(),
            is_patient: AtomicBool::new(plan.beside.is_some()),
            plan,
            is_over: AtomicBool::new(false),
            violations: Mutex::default(),
            counts: Mutex::default(),
            victims: Mutex::default(),
            next: AtomicUsize::new(0),
            life: AtomicU64::new(0),
        }
    }

    /// False once the run is to end, so that workers end: the plan's time is over, or enough violations were found. Until
    /// [`Self::end_patience`] is called, the time is extended by the plan's patience.
    pub fn goes_on(&self) -> bool {
        let patience = if self.is_patient.load(Ordering::Relaxed) { self.plan.patience } else { Duration::ZERO };
        !self.is_over.load(Ordering::Relaxed) && self.begun.elapsed() < self.plan.time + patience
    }

    /// Delays a session that writes by a random time, so that reads between two writes can be hits. Only in runs in which this process
    /// answers reads itself (`Plan::share`), and in those of a replication group, where each member needs hits. Otherwise returns at once.
    pub fn pause(&self, random: &mut Random) {
        const LONGEST_MS: usize = 400;
        if self.plan.share.is_some() || self.plan.group.is_some() {
            thread::sleep(Duration::from_millis(random.below(LONGEST_MS) as u64));
        }
    }

    /// Delays some reads that this process answers itself (`Plan::share`). They are so fast that they would otherwise rarely coincide with
    /// a near cache's faults.
    pub fn linger(&self, random: &mut Random) {
        if self.plan.share.is_some() && random.percent(20) {
            thread::sleep(Duration::from_millis(random.below(10) as u64));
        }
    }

    /// Lets the run end as soon as the plan's time is over. Before this call it goes on for up to `Plan::patience` longer, until near
    /// caches have answered enough reads. Call this when they have, or when they will answer no more.
    pub fn end_patience(&self) {
        self.is_patient.store(false, Ordering::Relaxed);
    }

    /// The endpoint for the next connection to this member. Calls return the member's endpoints in turns.
    pub fn endpoint(&self, member: usize) -> &Endpoint {
        let endpoints = &self.endpoints[member];
        &endpoints[self.next.fetch_add(1, Ordering::Relaxed) % endpoints.len()]
    }

    /// The number of times that the server has been killed, which numbers its lives from 0. A value that changes in between means that the
    /// server was killed.
    pub fn life(&self) -> u64 {
        self.life.load(Ordering::SeqCst)
    }

    /// Notes that the server was killed. To be called before it is started again.
    pub fn begin_life(&self) {
        self.victims.lock().unwrap().clear();
        self.life.fetch_add(1, Ordering::SeqCst);
    }

    /// Notes and prints a violation. After the fifth one the run ends.
    pub fn violation(&self, words: String) {
        let mut violations = self.violations.lock().unwrap();
        eprintln!("VIOLATION {words}");
        violations.push(words);
        if violations.len() >= ENOUGH {
            self.is_over.store(true, Ordering::Relaxed);
        }
    }

    /// Adds 1 to the count of this name.
    pub fn count(&self, what: &'static str) {
        *self.counts.lock().unwrap().entry(what).or_default() += 1;
    }

    /// True if the count of this name is above 0.
    pub fn has_counted(&self, what: &str) -> bool {
        self.counts.lock().unwrap().contains_key(what)
    }

    /// Returns the violations and the counts.
    pub fn into_outcome(self) -> (Vec<String>, BTreeMap<&'static str, u64>) {
        (self.violations.into_inner().unwrap(), self.counts.into_inner().unwrap())
    }
}
