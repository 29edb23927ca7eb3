//! Searches all interleavings of the real [`ServerEnd`] and [`NearEnd`], driven by simulated writers, readers and clocks.
//!
//! A state consists of a server with one table, whose value counts its commits; near caches that hold results of the table; and
//! the frames and messages in transit. Steps are tried in every order, each up to a limited number of times. They include frames
//! that are lost or repeated, feeds that end for one side first, processes that are stopped for a while, and clocks that are
//! slower than the server's.
//!
//! Property: at no time may a near cache serve a value that is older than one that any client has seen, nor, in a transaction, a
//! value other than the one in the transaction's snapshot.
//!
//! Each flaw below must make the search find a violation. That shows that the search can find one.

use feed::{
    CommandReport, Frame, FromNear, LeaseTerms, NearEnd, NearEvent, NearId, NearOwner, PendingAcks, ReportDependencies,
    ServerEnd, ToNear, VERSION,
};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

const TABLE: u32 = 1;
const LEASE: u64 = 1;
/// The number of the connection that is outside of transactions.
const OUTSIDE: u32 = 0;
/// The number of the connection that is in a transaction.
const INSIDE: u32 = 1;

/// A fault that is built into the model on purpose. The search must then find a state in which a near cache serves a wrong value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Flaw {
    None,
    /// Writers do not wait for near caches after closing a cell.
    WriterDoesNotWait,
    /// Writers wait only before they answer their client, when their change is visible already.
    WriterWaitsTooLate,
    /// The near cache counts its lease from the server's answer instead of from its request.
    LeaseFromTheAnswer,
    /// The server adds no margin to the lease, although clocks differ.
    NoMargin,
    /// The server forgets a near cache as soon as its feed has ended.
    LeaseEndsWithItsFeed,
    /// The server checks whether a result is current before it marks the result's dependencies as held.
    HeldTooLate,
    /// The near cache does not notice lost frames.
    FramesAreNotNumbered,
    /// The near cache acknowledges a frame that it has not applied yet.
    AcknowledgedTooEarly,
    /// In a transaction, the near cache serves any current result.
    SnapshotIsNotHeeded,
    /// The stamp of a snapshot is read after the snapshot was opened.
    SnapshotStampedTooLate,
}

/// The limits of one search: how many near caches and writers there are, and how often each other step is tried at most. `misses`,
/// `renewals` and `attachments` count for each near cache.
#[derive(Clone, Copy)]
struct Bounds {
    caches: usize,
    writers: usize,
    ticks: u64,
    misses: u8,
    renewals: u8,
    attachments: u8,
    /// The number of frames that are lost.
    lost: u8,
    repeated: u8,
    /// True if near caches' clocks may be slower than the server's, and feeds may end.
    is_rough: bool,
    /// True if a connection of each near cache opens a snapshot, by reading a table that never changes.
    opens_snapshots: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Writer {
    Idle,
    Waiting(PendingAcks),
    Visible(PendingAcks),
    Done,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Miss {
    None,
    Stamped(u64),
    /// The stamp, the value that was read, and whether the value was current at that time.
    Read(u64, u64, bool),
}

/// The progress of opening a transaction's snapshot on the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Opening {
    Due,
    Stamped(u64),
    /// The stamp, and the value in the snapshot.
    Open(u64, u64),
    Done,
}

/// The near cache's knowledge of a transaction's snapshot, from the server's report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Snapshot {
    stamp: u64,
    value: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Held {
    attachment: [u64; 2],
    stamp: u64,
    value: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Cache {
    near: NearEnd,
    /// How far this near cache's clock is behind the server's, in ticks.
    lag: u64,
    feed: Option<NearId>,
    down: Vec<Frame>,
    up: Vec<FromNear>,
    held: Vec<Held>,
    opening: Opening,
    snapshot: Option<Snapshot>,
    miss: Miss,
    misses: u8,
    renewals: u8,
    attachments: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct System {
    now: u64,
    sequence: u64,
    version: u64,
    in_flight: u64,
    value: u64,
    /// The newest value that any client has seen.
    seen: u64,
    nears: ServerEnd,
    writers: Vec<Writer>,
    caches: Vec<Cache>,
    lost: u8,
    repeated: u8,
}

struct Search {
    flaw: Flaw,
    bounds: Bounds,
    visited: HashSet<u64>,
    /// True if some state served a result from memory. Otherwise the search would have proved nothing.
    has_served: bool,
    /// True if some state served a result from memory in a transaction.
    has_served_inside: bool,
}

/// Searches all states within the bounds. Returns their number, or the first state in which a near cache serves a wrong value.
fn search(flaw: Flaw, bounds: Bounds) -> Result<usize, Box<System>> {
    let mut search = Search { flaw, bounds, visited: HashSet::new(), has_served: false, has_served_inside: false };
    let mut open = vec![System::new(flaw, bounds)];
    while let Some(system) = open.pop() {
        let mut hasher = DefaultHasher::new();
        system.hash(&mut hasher);
        if !search.visited.insert(hasher.finish()) {
            continue;
        }
        if system.is_hopeless() {
            continue;
        }
        if search.is_violated(&system) {
            return Err(Box::new(system));
        }
        search.steps(&system, &mut open);
    }
    assert!(search.has_served && search.has_served_inside == bounds.opens_snapshots);
    Ok(search.visited.len())
}

impl System {
    fn new(flaw: Flaw, bounds: Bounds) -> System {
        let margin_ns = u64::from(flaw != Flaw::NoMargin);
        let cache = Cache {
            near: NearEnd::default(),
            lag: 0,
            feed: None,
            down: Vec::new(),
            up: Vec::new(),
            held: Vec::new(),
            opening: if bounds.opens_snapshots { Opening::Due } else { Opening::Done },
            snapshot: None,
            miss: Miss::None,
            misses: bounds.misses,
            renewals: bounds.renewals,
            attachments: bounds.attachments - 1,
        };
        let mut system = System {
            now: 0,
            sequence: 0,
            version: 0,
            in_flight: 0,
            value: 0,
            seen: 0,
            nears: ServerEnd::new(LeaseTerms { lease_ns: LEASE, margin_ns }, 9),
            writers: vec![Writer::Idle; bounds.writers],
            caches: vec![cache; bounds.caches],
            lost: bounds.lost,
            repeated: bounds.repeated,
        };
        for cache in &mut system.caches {
            cache.feed = Some(system.nears.attach("", NearOwner::default(), VERSION, system.now));
        }
        system.send();
        system
    }

    /// Takes the next frame for each near cache from the server's end and puts it in transit. The search decides when it arrives.
    fn send(&mut self) {
        for cache in &mut self.caches {
            let frames = cache.feed.and_then(|id| self.nears.take(id));
            cache.down.extend(frames);
        }
    }

    fn version_if_open(&self) -> impl Fn(u32) -> Option<u64> + use<> {
        let word = (self.in_flight == 0).then_some(self.version);
        move |cell| if cell == TABLE { word } else { Some(0) }
    }

    /// Returns true if no near cache holds a result or can still get one, so that nothing can be served any more and the search need not
    /// go on from this state.
    fn is_hopeless(&self) -> bool {
        let holds_nothing = |cache: &Cache| {
            let may_be_told = cache.down.iter().flat_map(|frame| &frame.messages);
            cache.held.is_empty()
                && cache.misses == 0
                && cache.miss == Miss::None
                && !may_be_told.into_iter().any(|message| matches!(message, ToNear::Report(_)))
        };
        self.caches.iter().all(holds_nothing)
    }

    fn is_fresh(&self, stamp: u64) -> bool {
        self.in_flight == 0 && self.version <= stamp
    }

    /// Returns the time by the clock of the near cache with this index. It is one ahead of the server's minus the lag, so that it never
    /// goes below zero.
    fn clock(&self, cache: usize) -> u64 {
        self.now + 1 - self.caches[cache].lag
    }
}

impl Search {
    fn is_violated(&mut self, system: &System) -> bool {
        (0..system.caches.len()).any(|index| {
            let cache = &system.caches[index];
            let is_served = |held: &&Held| {
                cache.near.may_serve(held.attachment, [TABLE].into_iter(), held.stamp, system.clock(index))
            };
            let is_outdated = cache.held.iter().filter(is_served).any(|held| {
                self.has_served = true;
                held.value < system.seen
            });
            is_outdated || cache.snapshot.is_some_and(|snapshot| self.is_torn(cache, snapshot, system.clock(index)))
        })
    }

    /// Returns true if the near cache could serve a result in the transaction that differs from the transaction's snapshot.
    fn is_torn(&mut self, cache: &Cache, snapshot: Snapshot, clock: u64) -> bool {
        let newest = if self.flaw == Flaw::SnapshotIsNotHeeded { u64::MAX } else { snapshot.stamp };
        let is_served =
            |held: &&Held| cache.near.may_serve(held.attachment, [TABLE].into_iter(), held.stamp.min(newest), clock);
        cache.held.iter().filter(is_served).any(|held| {
            self.has_served_inside = true;
            held.value != snapshot.value
        })
    }

    fn steps(&self, system: &System, open: &mut Vec<System>) {
        let mut step = |change: &dyn Fn(&mut System) -> Option<()>| {
            let mut next = system.clone();
            if change(&mut next).is_some() {
                next.send();
                next.nears.take_missed();
                open.push(next);
            }
        };
        if system.now < self.bounds.ticks {
            step(&|next| self.tick(next, None));
            for index in (0..system.caches.len()).filter(|_| self.bounds.is_rough) {
                step(&|next| self.tick(next, Some(index)));
            }
        }
        step(&|next| (next.seen != next.value).then(|| next.seen = next.value));
        for writer in 0..system.writers.len() {
            step(&|next| self.write(next, writer));
        }
        for index in 0..system.caches.len() {
            step(&|next| self.read(next, index));
            step(&|next| self.open(next, index));
            step(&|next| self.receive(next, index));
            step(&|next| self.hear_again(next, index));
            step(&|next| self.lose_frame(next, index));
            step(&|next| self.tell_server(next, index));
            step(&|next| self.renew(next, index));
            step(&|next| self.attach(next, index));
            if self.bounds.is_rough {
                step(&|next| self.server_loses(next, index));
                step(&|next| self.near_loses(next, index));
            }
        }
    }

    fn tick(&self, system: &mut System, slow: Option<usize>) -> Option<()> {
        system.now += 1;
        let cache = slow.map(|index| &mut system.caches[index]);
        if let Some(cache) = cache {
            // Within a lease, clocks differ by at most this much.
            (cache.lag == 0).then_some(())?;
            cache.lag = 1;
        }
        Some(())
    }

    fn write(&self, system: &mut System, writer: usize) -> Option<()> {
        let now = system.now;
        let may_go = |flaw: &[Flaw], nears: &mut ServerEnd, wait: &mut PendingAcks| {
            nears.is_over(wait, now) || flaw.contains(&self.flaw) || self.flaw == Flaw::WriterDoesNotWait
        };
        system.writers[writer] = match system.writers[writer].clone() {
            Writer::Idle => {
                system.in_flight += 1;
                Writer::Waiting(system.nears.close(&[TABLE], now))
            }
            Writer::Waiting(mut wait) => {
                may_go(&[Flaw::WriterWaitsTooLate], &mut system.nears, &mut wait).then_some(())?;
                system.value += 1;
                Writer::Visible(wait)
            }
            Writer::Visible(mut wait) => {
                may_go(&[], &mut system.nears, &mut wait).then_some(())?;
                system.sequence += 1;
                system.version = system.sequence;
                system.in_flight -= 1;
                let version_if_open = system.version_if_open();
                system.nears.open(&[TABLE], &[(TABLE, TABLE)], version_if_open);
                system.seen = system.value;
                Writer::Done
            }
            Writer::Done => return None,
        };
        Some(())
    }

    fn read(&self, system: &mut System, index: usize) -> Option<()> {
        let cache = &system.caches[index];
        let id = cache.feed?;
        system.caches[index].miss = match cache.miss.clone() {
            Miss::None if cache.misses > 0 => {
                system.caches[index].misses -= 1;
                Miss::Stamped(system.sequence)
            }
            Miss::None => return None,
            Miss::Stamped(stamp) => {
                system.seen = system.value;
                Miss::Read(stamp, system.value, system.is_fresh(stamp))
            }
            Miss::Read(stamp, value, was_fresh) => {
                let told = CommandReport { connection: OUTSIDE, check: value, stamp, ..CommandReport::default() };
                let basis = ReportDependencies { tables: &[TABLE], cells: &[TABLE] };
                let version_if_open = system.version_if_open();
                match self.flaw {
                    Flaw::HeldTooLate => {
                        let then = |_| was_fresh.then_some(0);
                        system.nears.queue_report(id, basis, told, then);
                    }
                    _ => _ = system.nears.queue_report(id, basis, told, version_if_open),
                }
                Miss::None
            }
        };
        Some(())
    }

    fn open(&self, system: &mut System, index: usize) -> Option<()> {
        let id = system.caches[index].feed?;
        system.caches[index].opening = match system.caches[index].opening.clone() {
            Opening::Due => Opening::Stamped(system.sequence),
            Opening::Stamped(stamp) => {
                system.seen = system.value;
                Opening::Open(stamp, system.value)
            }
            Opening::Open(stamp, value) => {
                let snapshot = if self.flaw == Flaw::SnapshotStampedTooLate { system.sequence } else { stamp };
                let told = CommandReport {
                    connection: INSIDE,
                    check: value,
                    stamp,
                    snapshot: Some(snapshot),
                    ..CommandReport::default()
                };
                let version_if_open = system.version_if_open();
                system.nears.queue_report(id, ReportDependencies { tables: &[], cells: &[] }, told, version_if_open);
                Opening::Done
            }
            Opening::Done => return None,
        };
        Some(())
    }

    fn receive(&self, system: &mut System, index: usize) -> Option<()> {
        (!system.caches[index].down.is_empty()).then_some(())?;
        let mut frame = system.caches[index].down.remove(0);
        let now = system.clock(index);
        let cache = &mut system.caches[index];
        if self.flaw == Flaw::AcknowledgedTooEarly {
            cache.up.retain(|message| !matches!(message, FromNear::Acknowledge { .. }));
        }
        if self.flaw == Flaw::LeaseFromTheAnswer {
            for message in &mut frame.messages {
                if let ToNear::Granted { sent } = message {
                    *sent = now;
                }
            }
        }
        let Ok(heard) = cache.near.receive(frame) else {
            cache.lose();
            return Some(());
        };
        for heard in heard {
            match heard {
                NearEvent::Report(CommandReport { connection: INSIDE, snapshot, check: value, .. }) => {
                    cache.snapshot = snapshot.map(|stamp| Snapshot { stamp, value });
                }
                NearEvent::Report(CommandReport { stamp, check: value, .. }) => {
                    cache.held.push(Held { attachment: cache.near.attachment()?, stamp, value });
                }
                NearEvent::Attached(_) | NearEvent::Obstacle(_) => {}
            }
        }
        cache.up.push(cache.near.acknowledgement());
        Some(())
    }

    fn hear_again(&self, system: &mut System, index: usize) -> Option<()> {
        system.repeated = system.repeated.checked_sub(1)?;
        let cache = &mut system.caches[index];
        let frame = cache.down.first()?.clone();
        cache.down.insert(0, frame);
        Some(())
    }

    fn lose_frame(&self, system: &mut System, index: usize) -> Option<()> {
        let cache = &mut system.caches[index];
        if self.flaw == Flaw::AcknowledgedTooEarly {
            let number = cache.down.first()?.number;
            let early = FromNear::Acknowledge { number };
            (!cache.up.contains(&early)).then_some(())?;
            cache.up.push(early);
            return Some(());
        }
        system.lost = system.lost.checked_sub(1)?;
        (!cache.down.is_empty()).then_some(())?;
        let lost = cache.down.remove(0);
        if self.flaw == Flaw::FramesAreNotNumbered {
            cache.down.insert(0, Frame { number: lost.number, messages: Vec::new() });
        }
        Some(())
    }

    fn tell_server(&self, system: &mut System, index: usize) -> Option<()> {
        let cache = &mut system.caches[index];
        (!cache.up.is_empty()).then_some(())?;
        let message = cache.up.remove(0);
        if let Some(id) = cache.feed {
            system.nears.receive(id, &message, system.now);
        }
        Some(())
    }

    fn renew(&self, system: &mut System, index: usize) -> Option<()> {
        let now = system.clock(index);
        let cache = &mut system.caches[index];
        cache.near.attachment()?;
        cache.renewals = cache.renewals.checked_sub(1)?;
        cache.up.push(cache.near.renew(now));
        Some(())
    }

    fn attach(&self, system: &mut System, index: usize) -> Option<()> {
        let cache = &mut system.caches[index];
        cache.feed.is_none().then_some(())?;
        cache.attachments = cache.attachments.checked_sub(1)?;
        cache.feed = Some(system.nears.attach("", NearOwner::default(), VERSION, system.now));
        Some(())
    }

    /// Step: the feed of this near cache ends for the server. The near cache may notice that much later, and still receives what was
    /// sent before. None if the feed has ended already.
    fn server_loses(&self, system: &mut System, index: usize) -> Option<()> {
        let id = system.caches[index].feed.filter(|id| system.nears.is_attached(*id))?;
        system.nears.detach(id, system.now);
        if self.flaw == Flaw::LeaseEndsWithItsFeed {
            system.nears.forget_gone(u64::MAX);
        }
        Some(())
    }

    /// Step: the feed ends for this near cache. The server may notice at once, or later because no acknowledgement arrives. None if there
    /// is no feed.
    fn near_loses(&self, system: &mut System, index: usize) -> Option<()> {
        let cache = &mut system.caches[index];
        // Without another attachment left, this near cache would do nothing any more.
        (cache.feed.is_some() && cache.attachments > 0).then(|| cache.lose())
    }
}

impl Cache {
    fn lose(&mut self) {
        self.near.lose();
        self.snapshot = None;
        self.feed = None;
        self.down.clear();
        self.up.clear();
    }
}

/// Bounds for a search about a lease that is renewed.
const LEASES: Bounds = Bounds {
    caches: 1,
    writers: 1,
    ticks: 4,
    misses: 1,
    renewals: 2,
    attachments: 1,
    lost: 0,
    repeated: 0,
    is_rough: true,
    opens_snapshots: false,
};
/// Bounds for a search with two concurrent writers.
const WRITERS: Bounds = Bounds {
    caches: 1,
    writers: 2,
    ticks: 2,
    misses: 1,
    renewals: 1,
    attachments: 1,
    lost: 0,
    repeated: 0,
    is_rough: true,
    opens_snapshots: false,
};
/// Bounds for a search about frames that are lost or repeated, and a feed that starts again.
const FAULTS: Bounds = Bounds {
    caches: 1,
    writers: 1,
    ticks: 1,
    misses: 1,
    renewals: 1,
    attachments: 2,
    lost: 1,
    repeated: 1,
    is_rough: true,
    opens_snapshots: false,
};
/// Bounds for a search with two near caches.
const TWO: Bounds = Bounds {
    caches: 2,
    writers: 1,
    ticks: 1,
    misses: 1,
    renewals: 1,
    attachments: 1,
    lost: 0,
    repeated: 0,
    is_rough: false,
    opens_snapshots: false,
};
/// Bounds for a search with one transaction, in addition to the misses that fill the cache.
const TRANSACTIONS: Bounds = Bounds {
    caches: 1,
    writers: 1,
    ticks: 1,
    misses: 2,
    renewals: 1,
    attachments: 1,
    lost: 0,
    repeated: 0,
    is_rough: true,
    opens_snapshots: true,
};

#[test]
#[cfg_attr(debug_assertions, ignore = "millions of states: `make test-engine-models`")]
fn no_near_cache_serves_what_is_outdated() {
    for bounds in [LEASES, WRITERS, FAULTS, TWO, TRANSACTIONS] {
        let began = std::time::Instant::now();
        let states = search(Flaw::None, bounds).unwrap_or_else(|system| panic!("{system:#?}"));
        println!("{states} states, {:?}", began.elapsed());
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "millions of states: `make test-engine-models`")]
fn each_flaw_is_found() {
    for (flaw, bounds) in [
        (Flaw::WriterDoesNotWait, LEASES),
        (Flaw::WriterWaitsTooLate, LEASES),
        (Flaw::LeaseFromTheAnswer, LEASES),
        (Flaw::NoMargin, LEASES),
        (Flaw::LeaseEndsWithItsFeed, LEASES),
        (Flaw::HeldTooLate, LEASES),
        (Flaw::FramesAreNotNumbered, FAULTS),
        (Flaw::AcknowledgedTooEarly, LEASES),
        (Flaw::SnapshotIsNotHeeded, TRANSACTIONS),
        (Flaw::SnapshotStampedTooLate, TRANSACTIONS),
    ] {
        assert!(search(flaw, bounds).is_err(), "{flaw:?} is not found");
        println!("{flaw:?} is found");
    }
}
