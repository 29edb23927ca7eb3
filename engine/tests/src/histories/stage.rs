//! What all workers share: the end of the run, the violations found, the counts of what was checked.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use super::Plan;
use crate::client::Endpoint;
use crate::server::Product;

const ENOUGH: usize = 5;

pub struct Stage {
    endpoints: Vec<Endpoint>,
    pub plan: Plan,
    pub product: Product,
    deadline: Instant,
    is_over: AtomicBool,
    violations: Mutex<Vec<String>>,
    counts: Mutex<BTreeMap<&'static str, u64>>,
    /// Server threads that chaos may kill.
    pub victims: Mutex<Vec<u32>>,
    next: AtomicUsize,
    /// How often the server has been killed.
    life: AtomicU64,
}

impl Stage {
    pub fn new(endpoints: Vec<Endpoint>, plan: Plan, product: Product) -> Self {
        Self {
            endpoints,
            product,
            deadline: Instant::now() + plan.time,
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
        !self.is_over.load(Ordering::Relaxed) && Instant::now() < self.deadline
    }

    /// Sessions take turns over all ways to the server.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoints[self.next.fetch_add(1, Ordering::Relaxed) % self.endpoints.len()]
    }

    pub fn life(&self) -> u64 {
        self.life.load(Ordering::SeqCst)
    }

    /// The server has been killed, and was not started again yet.
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

    pub fn into_outcome(self) -> (Vec<String>, BTreeMap<&'static str, u64>) {
        (self.violations.into_inner().unwrap(), self.counts.into_inner().unwrap())
    }
}
