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

const ENOUGH: usize = 5;

pub struct Stage {
    endpoints: Vec<Endpoint>,
    pub plan: Plan,
    pub product: Product,
    begun: Instant,
    is_over: AtomicBool,
    /// Whether near caches still have to answer more reads to prove something.
    is_patient: AtomicBool,
    violations: Mutex<Vec<String>>,
    counts: Mutex<BTreeMap<&'static str, u64>>,
    /// Server threads that chaos may kill.
    pub victims: Mutex<Vec<u32>>,
    next: AtomicUsize,
    /// The number of times that the server was killed.
    life: AtomicU64,
}

impl Stage {
    pub fn new(endpoints: Vec<Endpoint>, plan: Plan, product: Product) -> Self {
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

    pub fn goes_on(&self) -> bool {
        let patience = if self.is_patient.load(Ordering::Relaxed) { self.plan.patience } else { Duration::ZERO };
        !self.is_over.load(Ordering::Relaxed) && self.begun.elapsed() < self.plan.time + patience
    }

    /// Pauses a writing session, if this process answers reads itself, because it only does so between writes.
    pub fn pause(&self, random: &mut Random) {
        const LONGEST_MS: usize = 400;
        if self.plan.share.is_some() {
            thread::sleep(Duration::from_millis(random.below(LONGEST_MS) as u64));
        }
    }

    /// Delays a read in this process. Such reads are so fast that they would otherwise rarely coincide with a near cache's faults.
    pub fn linger(&self, random: &mut Random) {
        if self.plan.share.is_some() && random.percent(20) {
            thread::sleep(Duration::from_millis(random.below(10) as u64));
        }
    }

    /// Lets the run end with its time: near caches have answered enough reads, or will answer no more.
    pub fn end_patience(&self) {
        self.is_patient.store(false, Ordering::Relaxed);
    }

    /// Sessions take turns over all ways to the server.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoints[self.next.fetch_add(1, Ordering::Relaxed) % self.endpoints.len()]
    }

    pub fn life(&self) -> u64 {
        self.life.load(Ordering::SeqCst)
    }

    /// Notes that the server was killed, before it is started again.
    pub fn begin_life(&self) {
        self.victims.lock().unwrap().clear();
        self.life.fetch_add(1, Ordering::SeqCst);
    }

    pub fn violation(&self, words: String) {
        let mut violations = self.violations.lock().unwrap();
        eprintln!("VIOLATION {words}");
        violations.push(words);
        if violations.len() >= ENOUGH {
            self.is_over.store(true, Ordering::Relaxed);
        }
    }

    pub fn count(&self, what: &'static str) {
        *self.counts.lock().unwrap().entry(what).or_default() += 1;
    }

    pub fn has_counted(&self, what: &str) -> bool {
        self.counts.lock().unwrap().contains_key(what)
    }

    pub fn into_outcome(self) -> (Vec<String>, BTreeMap<&'static str, u64>) {
        (self.violations.into_inner().unwrap(), self.counts.into_inner().unwrap())
    }
}
