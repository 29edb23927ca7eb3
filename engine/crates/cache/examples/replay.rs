//! Compares the cache's eviction with others on traces, as a table in Markdown:
//! `cargo run --release -p fqc-cache --example replay -- [file of numbers]...`
//!
//! Each row is a trace and a size, each column the hit ratio if a miss is always stored. The simulators hold as many entries as fit into
//! the budget if only keys and values counted, so they look better than they are by the bookkeeping. Without files the traces are
//! generated; a file holds recorded requests, a key in each 4 bytes.

use std::collections::HashMap;

use cache::{Cache, Key, Meta, Stamp, pin};

#[path = "replay/tiny_lfu.rs"]
mod tiny_lfu;
use tiny_lfu::TinyLfu;

const KEYS: u64 = 100_000;
const REQUESTS: u64 = 2_000_000;
const VALUE: [u8; 250] = [1; 250];
const TEXT: &[u8] = b"SELECT c FROM sbtest1 WHERE id=?";
const ENTRY_BYTES: u64 = (8 + TEXT.len() + 8 + VALUE.len()) as u64;

fn main() {
    println!("| Trace | Memory | the cache (S3-FIFO) | SIEVE | W-TinyLFU | LRU |");
    println!("|---|---|---|---|---|---|");
    let files: Vec<_> = std::env::args().skip(1).map(|path| (name_of(&path), read(&path))).collect();
    let generated = || traces().map(|(name, trace)| (name.to_owned(), trace)).into();
    for (name, trace) in if files.is_empty() { generated() } else { files } {
        let keys = trace.iter().collect::<std::collections::HashSet<_>>().len() as u64;
        for percent in [1, 5, 10, 25, 50] {
            let entries = keys.min(KEYS) * percent / 100;
            let shares = [
                replay(&trace, &mut Stored(Cache::new(entries * ENTRY_BYTES))),
                replay(&trace, &mut Sieve::new(entries as usize)),
                replay(&trace, &mut TinyLfu::new(entries as usize)),
                replay(&trace, &mut Lru::new(entries as usize)),
            ];
            let shares = shares.map(|share| format!("{:.1} %", 100.0 * share)).join(" | ");
            println!("| {name} | {percent} % | {shares} |");
        }
    }
}

fn name_of(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// Reads the first requests of a recorded trace, a file with a key of 4 bytes for each request. Panics if it cannot be read.
fn read(path: &str) -> Vec<u64> {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("cannot read the trace {path}: {error}"));
    let numbers = bytes.as_chunks().0.iter().map(|bytes| u64::from(u32::from_be_bytes(*bytes)));
    numbers.take(REQUESTS as usize).collect()
}

/// A simulated or real cache that evicts by some policy. `request` asks for a key, returns true for a hit, and stores the result of a miss.
trait Policy {
    fn request(&mut self, number: u64) -> bool;
}

fn replay(trace: &[u64], policy: &mut dyn Policy) -> f64 {
    let (warm_up, measured) = trace.split_at(trace.len() / 4);
    warm_up.iter().for_each(|&number| _ = policy.request(number));
    let hits = measured.iter().filter(|&&number| policy.request(number)).count();
    hits as f64 / measured.len() as f64
}

fn traces() -> [(&'static str, Vec<u64>); 6] {
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut trace = |pick: &dyn Fn(u64, f64, f64) -> u64| -> Vec<u64> {
        (0..REQUESTS).map(|n| pick(n, random(), random())).collect()
    };
    let among = |count: u64, u: f64| (u * count as f64) as u64;
    // The inverse of the distribution function of a continuous Zipf law with exponent 0.9, close enough to the real one.
    let zipf = move |u: f64| ((u * ((KEYS as f64).powf(0.1) - 1.0) + 1.0).powf(10.0)) as u64;
    // Uniform traces stand for the published workloads in which all requests hit, or all miss except by chance. Read/write adds ranges of
    // a hundred rows; the sweep of sizes is uniform over keys that exceed the memory; the last two stand for use by people.
    [
        ("point reads, uniform", trace(&|_, u, _| among(KEYS, u))),
        ("point reads, a fifth hot", trace(&|_, u, v| among(if v < 0.8 { KEYS / 5 } else { KEYS }, u))),
        (
            "read only: 10 points, 4 ranges",
            trace(&|n, u, _| among(KEYS, u) + if n % 14 < 10 { 0 } else { KEYS * (n % 14) }),
        ),
        ("zipf 0.9", trace(&|_, u, _| zipf(u))),
        ("zipf 0.9, half of it reads that never return", trace(&|n, u, v| if v < 0.5 { zipf(u) } else { KEYS + n })),
        ("a fifth hot, which moves", trace(&|n, u, _| (among(KEYS / 5, u) + n / 20) % KEYS)),
    ]
}

struct Stored(Cache);

impl Policy for Stored {
    fn request(&mut self, number: u64) -> bool {
        let parameter = number.to_le_bytes();
        let key = Key { context: 0, parts: [TEXT, &parameter] };
        let hash = self.0.hash(&key);
        let is_hit = self.0.get(hash, &key, &pin()).is_some();
        if !is_hit {
            let meta = Meta { stamp: Stamp(0), rows: 1, cost_ns: 0, flags: 0, owner: 0 };
            let _ = self.0.insert(hash, &key, meta, &[], &VALUE);
        }
        is_hit
    }
}

/// A simulated cache that evicts the least recently used entry.
struct Lru {
    entries: usize,
    now: u64,
    used: HashMap<u64, u64>,
    order: std::collections::BTreeMap<u64, u64>,
}

impl Lru {
    fn new(entries: usize) -> Self {
        Lru { entries, now: 0, used: HashMap::new(), order: Default::default() }
    }
}

impl Policy for Lru {
    fn request(&mut self, number: u64) -> bool {
        self.now += 1;
        let last = self.used.insert(number, self.now);
        last.map(|last| self.order.remove(&last));
        self.order.insert(self.now, number);
        if self.used.len() > self.entries {
            let (_, oldest) = self.order.pop_first().expect("not empty");
            self.used.remove(&oldest);
        }
        last.is_some()
    }
}

/// A simulated cache that evicts by SIEVE: a hand moves from old to new through a queue, spares visited entries, and stays where it
/// evicted.
struct Sieve {
    entries: usize,
    now: u64,
    queue: std::collections::BTreeMap<u64, u64>,
    known: HashMap<u64, (u64, bool)>,
    hand: u64,
}

impl Sieve {
    fn new(entries: usize) -> Self {
        Sieve { entries, now: 0, queue: Default::default(), known: HashMap::new(), hand: 0 }
    }

    fn evict(&mut self) {
        loop {
            let next = self.queue.range(self.hand..).next().or_else(|| self.queue.first_key_value());
            let (&at, &number) = next.expect("not empty");
            self.hand = at + 1;
            let visited = &mut self.known.get_mut(&number).expect("queued").1;
            if !std::mem::take(visited) {
                self.queue.remove(&at);
                self.known.remove(&number);
                return;
            }
        }
    }
}

impl Policy for Sieve {
    fn request(&mut self, number: u64) -> bool {
        if let Some((_, visited)) = self.known.get_mut(&number) {
            *visited = true;
            return true;
        }
        if self.known.len() == self.entries {
            self.evict();
        }
        self.now += 1;
        self.queue.insert(self.now, number);
        self.known.insert(number, (self.now, false));
        false
    }
}
