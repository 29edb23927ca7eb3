//! Compares predictions with the real cache, run at the seven sizes on the same requests.

use cache::{Cache, Key, Meta, Stamp, pin};
use insight::{Curve, FACTORS, Moment, Sample};

const REQUESTS: u64 = 100_000;
const KEYS: u64 = 20_000;
const TEXT: &[u8] = b"SELECT c FROM sbtest1 WHERE id=?";
/// The bytes that an entry takes in the cache beyond its result: header, index, key and padding.
const OVERHEAD: usize = 44 + 16 + TEXT.len() + 8;
const ERROR: f64 = 0.03;

#[derive(Clone, Copy)]
struct Request {
    number: u64,
    value_bytes: usize,
}

struct Random(u64);

impl Random {
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, count: u64) -> u64 {
        (self.share() * count as f64) as u64
    }

    /// Returns a number below `count` by a continuous Zipf law with exponent 0.9: small numbers are the most frequent.
    fn zipf(&mut self, count: u64) -> u64 {
        ((self.share() * ((count as f64).powf(0.1) - 1.0) + 1.0).powf(10.0)) as u64
    }
}

/// Returns the hash of a request for the curve. It is fixed, because the cache's own hash differs from run to run.
fn hash(number: u64) -> u64 {
    (number ^ number >> 31).wrapping_mul(0xd6e8_feb8_6659_fd93).rotate_left(32).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// Makes a request to the real cache. Returns true if it was a hit; stores the result of a miss.
fn request(cache: &Cache, request: Request) -> bool {
    let parameter = request.number.to_le_bytes();
    let key = Key { context: 0, parts: [TEXT, &parameter] };
    let hash = cache.hash(&key);
    let is_hit = cache.get(hash, &key, &pin()).is_some();
    if !is_hit {
        let meta = Meta { stamp: Stamp(0), rows: 1, cost_ns: 0, flags: 0, owner: 0 };
        // Readers of other tests may hold memory back for a moment.
        while cache.insert(hash, &key, meta, &[], &vec![1; request.value_bytes]).is_err() {
            std::thread::yield_now();
        }
    }
    is_hit
}

/// Returns the hit ratio of a real cache of this size for the last three quarters of the requests, after the first quarter has filled it.
fn measured(trace: &[Request], size_bytes: u64) -> f64 {
    let cache = Cache::new(size_bytes);
    let (warm_up, counted) = trace.split_at(trace.len() / 4);
    warm_up.iter().for_each(|r| _ = request(&cache, *r));
    let hits = counted.iter().filter(|r| request(&cache, **r)).count();
    hits as f64 / counted.len() as f64
}

fn moment(requests: u64, size_bytes: u64) -> Moment {
    Moment { requests, observed: requests, size_bytes, is_trial: true, now_ns: requests * 100_000 }
}

fn predicted(trace: &[Request], size_bytes: u64) -> Vec<f64> {
    let curve = Curve::default();
    curve.tick(moment(0, size_bytes));
    for (n, r) in trace.iter().enumerate() {
        let hash = hash(r.number);
        if curve.wants(hash) && !curve.requested(hash, |_: &()| true) {
            let bytes = (r.value_bytes + OVERHEAD) as u32;
            curve.stored(hash, Sample { bytes, cost_us: 10, validity: () });
        }
        if n % 1000 == 0 {
            curve.tick(moment(n as u64, size_bytes));
        }
        if n == trace.len() / 4 {
            // Changing the size, even by one byte, resets what was counted while the caches were being filled.
            curve.tick(moment(n as u64, size_bytes + 1));
            curve.tick(moment(n as u64, size_bytes));
        }
    }
    curve.tick(moment(trace.len() as u64, size_bytes));
    curve.points().iter().map(|point| point.hit_ratio).collect()
}

fn compare(name: &str, size_bytes: u64, trace: &[Request]) {
    let predicted = predicted(trace, size_bytes);
    let measured: Vec<_> = FACTORS.iter().map(|factor| measured(trace, size_bytes / 8 * factor)).collect();
    assert_eq!(predicted.len(), FACTORS.len(), "{name}");
    println!("{name}\n  predicted {predicted:.3?}\n  measured  {measured:.3?}");
    for (predicted, measured) in predicted.iter().zip(measured) {
        assert!((predicted - measured).abs() <= ERROR, "{name}: {predicted:.3} for {measured:.3}");
    }
}

fn trace(mut pick: impl FnMut(&mut Random, u64) -> u64, value_bytes: impl Fn(u64) -> usize) -> Vec<Request> {
    let mut random = Random(7);
    (0..REQUESTS)
        .map(|n| {
            let number = pick(&mut random, n);
            Request { number, value_bytes: value_bytes(number) }
        })
        .collect()
}

#[test]
fn uniform() {
    compare("uniform", 2 << 20, &trace(|random, _| random.below(KEYS), |_| 250));
}

#[test]
fn zipf() {
    compare("zipf", 2 << 20, &trace(|random, _| random.zipf(KEYS), |_| 250));
}

#[test]
fn a_fifth_of_the_keys_hot() {
    let pick = |random: &mut Random, _| if random.share() < 0.8 { random.below(KEYS / 5) } else { random.below(KEYS) };
    compare("hot fifth", 2 << 20, &trace(pick, |_| 250));
}

#[test]
fn scans_between_hot_keys() {
    let pick = |random: &mut Random, n| if random.share() < 0.5 { random.zipf(KEYS) } else { KEYS + n };
    compare("scans", 2 << 20, &trace(pick, |_| 250));
}

#[test]
fn results_of_many_sizes() {
    let bytes = |number: u64| 100 + (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize;
    compare("mixed sizes", 4 << 20, &trace(|random, _| random.zipf(KEYS), bytes));
}

#[test]
fn a_trial_tells_the_hits_of_the_present_size() {
    let curve = Curve::default();
    curve.tick(moment(0, 1 << 20));
    for n in 0..5000 {
        let hash = hash(n % 50);
        if curve.wants(hash) && !curve.requested(hash, |_: &()| true) {
            curve.stored(hash, Sample { bytes: 300, cost_us: 10, validity: () });
        }
    }
    curve.tick(moment(5000, 1 << 20));
    let trial = curve.trial();
    assert_eq!((trial.requests, trial.hits, trial.saved_us), (5000, 4950, 49_500));
    // Further requests that are not observed do not change the trial.
    (0..1000).for_each(|n| _ = curve.requested(hash(n % 50), |_| true));
    curve.tick(Moment { observed: 5000, ..moment(6000, 1 << 20) });
    assert_eq!(curve.trial(), trial);
    curve.forget_trial();
    assert_eq!(curve.trial().requests, 0);
}

#[test]
fn fewer_keys_are_followed_under_load_and_all_again_afterwards() {
    let curve: Curve<()> = Curve::default();
    let followed = |curve: &Curve<()>| (0..1000).filter(|n| curve.wants(hash(*n))).count();
    let busy = |n: u64| Moment { now_ns: n * 100_000_000, ..moment(0, 1 << 20) };
    curve.tick(busy(0));
    for n in 1..=3 {
        (0..5000).for_each(|_| curve.missed());
        curve.tick(busy(n));
    }
    assert!((80..180).contains(&followed(&curve)), "an eighth: {}", followed(&curve));
    (4..400).for_each(|n| curve.tick(busy(n)));
    assert_eq!(followed(&curve), 1000);
}

/// As while the cache is only observed: the server answers each request.
#[test]
fn each_request_that_is_followed_is_told_to_be_a_hit_or_not() {
    const SIZE: u64 = 2 << 20;
    let trace = trace(|random, _| random.below(KEYS), |_| 250);
    let curve = Curve::default();
    curve.tick(moment(0, SIZE));
    let mut told = Vec::new();
    for (n, r) in trace.iter().enumerate() {
        let hash = hash(r.number);
        let sample = Sample { bytes: (r.value_bytes + OVERHEAD) as u32, cost_us: 10, validity: () };
        if curve.wants(hash) {
            curve.requested(hash, |_| true);
            told.extend(curve.stored(hash, sample).filter(|_| n >= trace.len() / 4));
        }
        if n % 1000 == 0 {
            curve.tick(moment(n as u64, SIZE));
        }
    }
    assert!(curve.one_in() > 1, "not all of them are followed");
    let share = told.iter().filter(|would_hit| **would_hit).count() as f64 / told.len() as f64;
    let measured = measured(&trace, SIZE);
    assert!((share - measured).abs() <= ERROR, "{share:.3} for {measured:.3}");
}

#[test]
fn the_first_request_and_one_after_a_write_would_be_no_hits() {
    let curve = Curve::default();
    let sample = || Sample { bytes: 300, cost_us: 10, validity: () };
    assert_eq!(curve.stored(1, sample()), None, "it has no size yet");
    curve.tick(moment(0, 1 << 20));
    let ask = |is_fresh: bool| {
        curve.requested(1, |_| is_fresh);
        curve.stored(1, sample())
    };
    assert_eq!([true, true, false, true].map(ask), [false, true, false, true].map(Some));
}
