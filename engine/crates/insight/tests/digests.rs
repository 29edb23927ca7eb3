//! Tests the counters per shape, and the decision whether a shape's results are stored.

use cache::{Cache, CellId, Key, Meta, Versions, pin};
use insight::{Digest, Digests, NOBODY, Outcome, ShapeId, policy};

const STORED: Outcome = Outcome::Stored { bytes: 100 };

fn id(n: u64) -> u128 {
    let mixed = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    u128::from(mixed) << 64 | u128::from(mixed.rotate_left(32))
}

fn text(n: u64) -> Vec<u8> {
    format!("SELECT {n} FROM t WHERE id = ?").into_bytes()
}

#[test]
fn what_happens_to_a_shape_is_listed_under_its_text() {
    let digests = Digests::default();
    let shape = digests.find(id(1), || text(1));
    assert_eq!(digests.find(id(1), || unreachable!("it is known")), shape);
    digests.missed(shape, STORED);
    digests.missed(shape, Outcome::Refused { reason: 7 });
    digests.missed(shape, Outcome::Refused { reason: 7 });
    digests.hit(shape, 250, 1000);
    digests.outdated(shape);
    digests.reads(shape, 1..9);
    digests.reads(shape, [3, 9].into_iter());
    digests.hit(digests.find(id(2), || text(2)), 900, 10);
    digests.find(id(3), || text(3));
    let list = digests.list();
    assert_eq!(list.iter().map(|d| d.text.clone()).collect::<Vec<_>>(), [text(2), text(1)], "time saved first");
    let digest = &list[1];
    assert_eq!((digest.id, digest.executions(), digest.hits, digest.misses), (id(1), 4, 1, 3));
    assert_eq!((digest.saved_us, digest.saved_bytes), (250, 1000));
    assert_eq!((digest.stored, digest.stored_bytes, digest.outdated, digest.wasted()), (1, 100, 1, 0));
    assert_eq!((&digest.reasons[..], &digest.tables[..]), (&[(7, 2)][..], &[3, 9][..]));
    digests.flush();
    assert_eq!(digests.list(), []);
    assert_eq!(digests.find(id(1), || unreachable!("it is known")), shape);
}

/// Observes reads of shape `n`: their number, how many of them have a known outcome, and how many of those would have been hits.
fn observed(digests: &Digests, n: u64, [requests, followed, hits]: [u64; 3]) -> ShapeId {
    let shape = digests.find(id(n), || text(n));
    let would_hit = |request: u64| (request < followed).then_some(request < hits);
    (0..requests).for_each(|request| digests.observed(shape, 10, would_hit(request)));
    shape
}

#[test]
fn what_would_be_hits_is_told_apart_from_hits() {
    let digests = Digests::default();
    digests.follows(16);
    digests.hit(digests.find(id(9), || text(9)), 500, 1);
    observed(&digests, 1, [100, 100, 80]);
    observed(&digests, 2, [1600, 100, 75]);
    observed(&digests, 3, [1000, 0, 0]);
    observed(&digests, 4, [15, 0, 0]);
    let told = |digest: &Digest| (digest.text.clone(), digest.observed.hits, digest.observed.saved_us);
    let list = digests.list();
    let expected = [(2, 1200, 12_000), (3, 984, 9840), (1, 80, 800), (9, 0, 0), (4, 0, 0)];
    let expected = expected.map(|(n, hits, saved_us)| (text(n), hits, saved_us));
    assert_eq!(list.iter().map(told).collect::<Vec<_>>(), expected, "in the order of the time saved");
    let digest = &list[2];
    assert_eq!((digest.executions(), digest.observed.requests), (100, 100));
    assert_eq!((digest.hits, digest.misses, digest.stored, digest.wasted(), digest.passed_over()), (0, 0, 0, 0, 0));
    digests.flush();
    assert_eq!(digests.list(), []);
}

/// Otherwise the cache would store none of them when it is switched on.
#[test]
fn what_is_only_observed_is_not_held_against_its_shape() {
    let digests = Digests::default();
    digests.judge(&[], |_| 0);
    let shape = observed(&digests, 1, [4096, 4096, 4000]);
    digests.judge(&[], |_| 0);
    assert!(digests.admits_all(shape));
}

#[test]
fn long_texts_are_cut() {
    let digests = Digests::default();
    digests.missed(digests.find(id(1), || vec![b'x'; 5000]), STORED);
    assert_eq!(digests.list()[0].text.len(), 1024);
}

#[test]
fn what_is_asked_for_keeps_its_place_among_any_number_of_shapes() {
    let digests = Digests::default();
    let useful = digests.find(id(0), || text(0));
    let mut strangers = 0;
    for n in 1..50_000 {
        digests.hit(digests.find(id(0), || text(0)), 1, 1);
        let shape = digests.find(id(n), || text(n));
        strangers += u64::from(shape == NOBODY);
        digests.missed(shape, STORED);
        if n % 64 == 0 {
            digests.judge(&[], |_| 0);
        }
    }
    let list = digests.list();
    assert!(list.len() <= 2048 && list.len() > 1500, "{}", list.len());
    assert_eq!((list[0].shape, list[0].hits), (useful, 49_999));
    let others = list.iter().find(|digest| digest.shape == NOBODY).map_or(0, |digest| digest.misses);
    assert_eq!(others, strangers);
    assert!(strangers < 1000, "room is made in time: {strangers}");
}

#[test]
fn without_judgement_new_shapes_are_counted_together() {
    let digests = Digests::default();
    for n in 0..3000 {
        digests.missed(digests.find(id(n), || text(n)), STORED);
    }
    let list = digests.list();
    assert_eq!(list.iter().map(|digest| digest.misses).sum::<u64>(), 3000);
    assert!(list[0].shape == NOBODY && list[0].misses > 900, "{:?}", list[0]);
}

#[test]
fn all_threads_are_counted() {
    let digests = Digests::default();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for n in 0..5000 {
                    digests.hit(digests.find(id(n % 10), || text(n % 10)), 2, 3);
                }
            });
        }
    });
    let list = digests.list();
    assert_eq!(list.iter().map(|digest| digest.hits).sum::<u64>(), 20_000);
    assert_eq!(list.iter().map(|digest| digest.saved_us).sum::<u64>(), 40_000);
}

/// The number of a temporary reason, which does not count against a shape.
const PASSING: usize = 5;

/// A shape of statement whose requests go to a real cache, and are stored as [`Digests`] decides. Its statements are numbered.
struct Shape {
    cache: Cache,
    versions: Versions,
    cell: CellId,
    digests: Digests,
    shape: ShapeId,
    executions: u64,
    stored: u64,
}

impl Shape {
    fn new() -> Shape {
        let (versions, digests) = (Versions::new(), Digests::default());
        let (cell, shape) = (versions.allocate(), digests.find(id(1), || text(1)));
        Shape { cache: Cache::new(1 << 20), versions, cell, digests, shape, executions: 0, stored: 0 }
    }

    fn execute(&mut self, number: u64) -> bool {
        self.executions += 1;
        if self.executions.is_multiple_of(500) {
            self.cache.sweep(|entry| entry.is_fresh(&self.versions), usize::MAX);
            self.digests.judge(&[PASSING], |shape| {
                let fate = self.cache.ended_entries(shape.0);
                fate.used.wrapping_add(fate.unused)
            });
        }
        let parameter = number.to_le_bytes();
        let key = Key { context: 0, parts: [b"SELECT ?", &parameter] };
        let hash = self.cache.hash(&key);
        let is_fresh = |entry: cache::Entry| self.versions.is_fresh(entry.cells(), entry.stamp());
        if self.cache.get(hash, &key, &pin()).is_some_and(is_fresh) {
            self.digests.hit(self.shape, 100, 200);
            return true;
        }
        if !self.digests.admits(self.shape, hash) {
            self.digests.missed(self.shape, Outcome::PassedOver);
            return false;
        }
        let meta = Meta { stamp: self.versions.now(), rows: 1, cost_ns: 0, flags: 0, owner: self.shape.0 };
        // Readers of other tests may hold memory back for a moment.
        while self.cache.insert(hash, &key, meta, &[self.cell], &[1; 200]).is_err() {
            std::thread::yield_now();
        }
        self.stored += 1;
        self.digests.missed(self.shape, STORED);
        false
    }

    fn stored_share(&mut self, executions: u64, mut number: impl FnMut(u64) -> u64) -> f64 {
        let before = self.stored;
        (0..executions).for_each(|n| _ = self.execute(number(n)));
        (self.stored - before) as f64 / executions as f64
    }
}

#[test]
fn a_shape_is_not_judged_by_what_could_not_be_stored_yet() {
    let mut shape = Shape::new();
    for n in 0..5000 {
        shape.digests.missed(shape.shape, Outcome::Refused { reason: PASSING });
        if n % 500 == 0 {
            shape.digests.judge(&[PASSING], |_| 0);
        }
    }
    assert_eq!(shape.stored_share(500, |n| n), 1.0);
}

#[test]
fn what_is_passed_over_is_what_is_neither_stored_nor_refused() {
    let (digests, shape) = (Digests::default(), NOBODY);
    [STORED, Outcome::PassedOver, Outcome::Refused { reason: 7 }, Outcome::PassedOver]
        .into_iter()
        .for_each(|outcome| digests.missed(shape, outcome));
    let list = digests.list();
    assert_eq!((list[0].misses, list[0].stored, list[0].passed_over()), (4, 1, 2));
}

#[test]
fn a_shape_that_is_never_asked_for_again_is_hardly_stored() {
    let mut shape = Shape::new();
    shape.stored_share(50_000, |n| n);
    let share = shape.stored_share(50_000, |n| 50_000 + n);
    assert!(share < 0.02, "{share}");
}

#[test]
fn a_shape_whose_results_are_outdated_before_they_are_used_is_hardly_stored_and_found_again() {
    let mut shape = Shape::new();
    for n in 0..50_000 {
        shape.execute(n % 100);
        if n % 10 == 0 {
            shape.versions.advance(shape.cell);
        }
    }
    let before = shape.stored;
    for n in 0..20_000 {
        shape.execute(n % 100);
        if n % 10 == 0 {
            shape.versions.advance(shape.cell);
        }
    }
    assert!(shape.stored - before < 1000, "{}", shape.stored - before);
    // Without further writes, results are stored and hit again.
    shape.stored_share(5000, |n| n % 100);
    let hits = (0..1000).filter(|n| shape.execute(n % 100)).count();
    assert!(hits > 950, "{hits}");
}

#[test]
fn a_shape_with_much_reuse_is_always_stored() {
    let mut shape = Shape::new();
    for round in 0..200 {
        for n in 0..100 {
            shape.execute(n);
            shape.execute(n);
        }
        if round % 2 == 0 {
            shape.versions.advance(shape.cell);
        }
    }
    assert_eq!(shape.stored, 101 * 100, "at first, and after each of 100 changes");
}

#[test]
fn little_is_held_against_a_shape_while_its_results_live() {
    let mut shape = Shape::new();
    assert_eq!(shape.stored_share(500, |n| n), 1.0);
    assert!((0..500).all(|n| shape.execute(n)));
}

#[test]
fn a_shape_that_is_never_asked_for_again_does_not_fill_the_memory_first() {
    let mut shape = Shape { cache: Cache::new(1 << 27), ..Shape::new() };
    shape.stored_share(50_000, |n| n);
    let share = shape.stored_share(50_000, |n| 50_000 + n);
    assert!(share < 0.02, "{share}");
}

#[test]
fn a_shape_that_is_asked_for_a_second_time_is_stored_the_third_time_at_the_latest() {
    let mut shape = Shape { cache: Cache::new(1 << 27), ..Shape::new() };
    for _ in 0..3 {
        shape.stored_share(20_000, |n| n);
    }
    let hits = (0..20_000).filter(|n| shape.execute(*n)).count();
    assert!(hits > 19_000, "{hits}");
}

#[test]
fn reuse_that_takes_long_is_found() {
    let mut shape = Shape { cache: Cache::new(1 << 27), ..Shape::new() };
    let mut random = 1u64;
    let mut uniform = |_| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) % 40_000
    };
    // If every result were stored, three in four requests would be hits after that.
    shape.stored_share(60_000, &mut uniform);
    let hits = (0..10_000).filter(|n| shape.execute(uniform(*n))).count();
    assert!(hits > 5_000, "{hits}");
}

#[test]
fn one_hit_in_ten_is_worth_storing() {
    let mut shape = Shape::new();
    let mut random = 1u64;
    let mut uniform = |_| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) % 30_000
    };
    shape.stored_share(100_000, &mut uniform);
    let hits = (0..100_000).filter(|n| shape.execute(uniform(*n))).count();
    assert!(hits > 7000, "{hits}");
}

#[test]
fn what_was_found_out_about_a_shape_is_forgotten_while_it_is_seldom_missed() {
    const AGE_NS: u64 = 10_000_000_000;
    for (seldom, has_room, is_stored) in [(199, true, true), (200, true, false), (199, false, false)] {
        let mut shape = Shape::new();
        shape.digests.tick(0, 0, has_room);
        shape.digests.age(AGE_NS);
        (0..4000).for_each(|number| _ = shape.execute(number));
        assert!(!shape.digests.admits_all(shape.shape));
        // An import that continues is no reason to lower the level.
        shape.digests.age(2 * AGE_NS);
        assert!(!shape.digests.admits_all(shape.shape));
        (4000..4000 + seldom).for_each(|number| _ = shape.execute(number));
        shape.digests.age(3 * AGE_NS - 1);
        assert!(!shape.digests.admits_all(shape.shape));
        shape.digests.age(3 * AGE_NS);
        assert_eq!(shape.digests.admits_all(shape.shape), is_stored, "{seldom} misses, room: {has_room}");
    }
}

#[test]
fn levels_admit_few_but_what_comes_back() {
    let admitted = |level, returns| (0..6400).filter(|n| policy::admits(level, *n, returns)).count();
    assert_eq!((admitted(0, false), admitted(0, true)), (6400, 6400));
    for level in 1..=policy::HIGHEST {
        assert_eq!((admitted(level, false), admitted(level, true)), (100, 6400 >> (level - 1)));
    }
}

#[test]
fn few_results_that_are_all_stored_need_no_more_misses_to_be_found_useful() {
    let evidence = policy::Evidence { hits: 100, has_room: true, ..Default::default() };
    assert_eq!(policy::judge(3, evidence), Some(0));
    assert_eq!(policy::judge(5, policy::Evidence { hits: 10, ..evidence }), None);
}

/// A shape with one repeated statement in ten requests: if all results were stored, nine in ten would evict others.
#[test]
fn where_the_memory_is_full_only_what_comes_back_is_stored() {
    let evidence = policy::Evidence { hits: 1000, misses: 9000, stored: 8, ..Default::default() };
    assert_eq!(policy::judge(1, evidence), Some(1));
    assert_eq!(policy::judge(1, policy::Evidence { has_room: true, ..evidence }), Some(0));
    assert_eq!(policy::judge(1, policy::Evidence { returns: 4000, ..evidence }), Some(0));
}

#[test]
fn of_large_results_a_few_in_vain_are_enough() {
    let large =
        |n: u32| policy::Evidence { misses: n, stored: n, stored_bytes: u64::from(n) << 14, ..Default::default() };
    assert_eq!(policy::judge(0, large(15)), None);
    assert_eq!(policy::judge(0, large(16)), Some(1));
    assert_eq!(policy::judge(0, policy::Evidence { hits: 1, ..large(16) }), None);
    assert_eq!(policy::judge(0, policy::Evidence { stored_bytes: 16_000, ..large(16) }), None);
    assert_eq!(policy::judge(1, large(16)), None);
}

#[test]
fn large_results_are_soon_stored_for_statements_that_come_back_alone() {
    let digests = Digests::default();
    let shape = digests.find(id(1), || text(1));
    digests.judge(&[], |_| 0);
    for _ in 0..20 {
        assert!(digests.admits(shape, 0));
        digests.missed(shape, Outcome::Stored { bytes: 20_000 });
    }
    digests.judge(&[], |_| 0);
    let admitted = || (0..64).filter(|n| digests.admits(shape, id(*n) as u64)).count();
    assert_eq!((admitted(), admitted()), (1, 64));
}

#[test]
fn where_few_are_looked_up_a_hit_stands_for_several() {
    let evidence = policy::Evidence { hits: 10, ..Default::default() };
    assert_eq!(policy::judge(policy::HIGHEST, evidence), Some(policy::HIGHEST - 3));
    let looked_up = |level, step| (0..6400).step_by(step).filter(|n| policy::looks_up(level, *n)).count();
    assert_eq!(looked_up(policy::HIGHEST - 1, 1), 6400);
    for step in [1, 2, 4, 5, 8, 10] {
        assert!((1500..1700).contains(&(looked_up(policy::HIGHEST, step) * step)), "every {step}th");
    }
}
