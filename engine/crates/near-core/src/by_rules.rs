//! Serves results by the operator's rules: a result may be stale, but not older than the rule for its read allows.

pub mod aged_results;
mod single_flight;

use crate::clock;
use crate::freshness::Summary;
use crate::identified::{
    AnsweredRead, ClientRead, Decision, FoundResult, Identity, KnownSession, ReadConditions, StalenessBound,
};
use crate::memo::Memo;
use crate::memory::Memory;
use crate::published::{BY_RULES, PublishableResult};
use crate::reason::ContextReason;
use crate::rules::{Rules, Subject, Terms};
use crate::store::{BoxFuture, ReservedEntry, Store, StoreLookup};
use crate::uses::ResultSource;
use sql::LexMode;
use std::cell::RefCell;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

pub use single_flight::Flights;
use single_flight::{Flight, PendingFlight};

/// A function that returns a future which is ready after this time, on the host's runtime.
pub type Sleep = fn(Duration) -> BoxFuture<()>;

/// Bounds the age of results on one connection by the operator's rules.
pub struct ByRules {
    memory: Arc<Memory>,
    /// The reads of all connections that refresh a result at the moment.
    flights: Arc<Flights>,
    /// The store that several near caches share, if there is one.
    store: Option<Arc<dyn Store>>,
    sleep: Sleep,
    /// The number of the settings that contain the rules for the last terms.
    settings: u64,
}

thread_local! {
    /// The terms (time to live and other settings of a rule) that reads on connections of this thread have been given recently.
    static CACHED_TERMS: RefCell<Memo<CachedTerms>> = RefCell::default();
}

/// The terms (time to live and other settings of a rule) that a read was given, kept so that the rules are not evaluated again
/// when its text comes again.
struct CachedTerms {
    text: Arc<[u8]>,
    mode: LexMode,
    /// The session's identity, if it was known.
    identity: Option<Identity>,
    rules: Arc<Rules>,
    /// None: no rule lets the read be served.
    terms: Option<Terms>,
}

/// The event that has ended a read's wait.
enum WaitEnd {
    /// Another client's read is over, or it has taken too long.
    Other,
    /// The shared store has answered.
    Look(StoreLookup),
}

/// The outcome of a wait, with which the read is decided on again. Empty if the read has not waited.
#[derive(Default)]
pub struct WaitOutcome {
    ended_by: Option<WaitEnd>,
    flight: Option<Flight>,
}

/// The rights of one read while the server answers it: its entry among the pending reads that other clients wait for, and the
/// entry in the shared store that its answer will fill. Both are given up when this value is dropped.
#[derive(Default)]
pub struct Claim {
    /// Lets other clients wait for the answer. Dropped once the answer is stored, or cannot be.
    _flight: Option<Flight>,
    /// The empty entry in the shared store that the answer will fill.
    reserved: Option<Box<dyn ReservedEntry>>,
}

impl ByRules {
    /// Creates the state of one connection. `memory` and `flights` are common to all connections. `store` is none if near
    /// caches share no store. `sleep` provides the delays of the host's runtime.
    pub fn new(memory: &Arc<Memory>, flights: &Arc<Flights>, store: Option<Arc<dyn Store>>, sleep: Sleep) -> ByRules {
        ByRules { memory: memory.clone(), flights: flights.clone(), store, sleep, settings: 0 }
    }

    /// Returns the terms (time to live and other settings of a rule) for serving a read of this text, by the present rules. None
    /// if it may not be served. Without `known`, rules that name an account or a database are decided on as far as possible: None
    /// then means that the read may not be served in any session.
    fn terms(
        &mut self,
        conditions: &ReadConditions<'_>,
        text: &Arc<[u8]>,
        known: Option<&KnownSession>,
    ) -> Option<Terms> {
        let settings = self.memory.settings();
        self.settings = settings.number;
        let rules = settings.rules.clone()?;
        let (mode, identity) = (known.map_or(conditions.mode, |known| known.mode), known.map(|known| known.identity));
        let is_same = |cached: &CachedTerms| {
            Arc::ptr_eq(&cached.rules, &rules)
                && (cached.mode, cached.identity) == (mode, identity)
                && *cached.text == **text
        };
        let context = identity.as_ref().map_or(&b""[..], |identity| identity);
        let same =
            |cached: &RefCell<Memo<CachedTerms>>| Some(cached.borrow().find(text, context, is_same)?.terms.clone());
        if let Some(terms) = CACHED_TERMS.with(same) {
            return terms;
        }
        let account = known.map(|known| known.account.as_str());
        let database = known.map(|known| known.database.as_str());
        let terms = rules.of(&Subject { text, mode, account, database });
        let cached = CachedTerms { text: text.clone(), mode, identity, rules, terms: terms.clone() };
        CACHED_TERMS.with_borrow_mut(|memo| memo.put(text, context, cached));
        terms
    }

    /// Claims the right to refresh a result for other clients as well. Fails with the other client's read if that one holds the
    /// claim.
    fn claim(
        &self,
        conditions: &ReadConditions<'_>,
        key: &[u8],
        known: &KnownSession,
    ) -> Result<Flight, PendingFlight> {
        let hash = conditions.results.cache().hash(&aged_results::key(key, &known.identity));
        self.flights.claim(hash, clock::microseconds(clock::now()))
    }

    /// Requests a result from the store that near caches share, and, if the store has none, reserves the entry for the
    /// answer to this read. None if there is no such store, no server of it can be asked, or the store is not for this
    /// read.
    fn get_or_reserve(
        &self,
        conditions: &ReadConditions<'_>,
        read: &ClientRead,
        known: &KnownSession,
        terms: &Terms,
    ) -> Option<BoxFuture<StoreLookup>> {
        let store = self.store.as_ref().filter(|_| conditions.may_stay_pending && read.may_be_shared())?;
        store.get_or_reserve([&read.key, &known.identity], terms.ttl)
    }
}

/// Looks for a result in memory that may be served by these terms; none if there is no such result. `settings` is the number of
/// the settings that the terms come from. `is_first` is true if the lookup is to be counted.
fn find(
    conditions: &ReadConditions<'_>,
    read: &ClientRead,
    is_first: bool,
    known: &KnownSession,
    (terms, settings): (&Terms, u64),
) -> Option<FoundResult> {
    let uses = Some(&conditions.results.uses).filter(|_| is_first);
    let key = aged_results::key(&read.key, &known.identity);
    let publish = |entry: &cache::Entry, until| {
        let mut group = [0; 40];
        group[..32].copy_from_slice(&known.identity);
        let publishable = conditions.publishable(read)?;
        let reads_tables = sql::sources(&read.text, known.mode).is_some_and(|tables| !tables.is_empty());
        let result = PublishableResult { entry, cells: &[], reads_tables, until };
        publishable.publish([BY_RULES, settings], &group, result, conditions.wrote_at + 1)
    };
    let times = (conditions.now_ns, invalid_before(conditions));
    let find = || aged_results::find(conditions.results.cache(), uses, &key, times, terms, publish);
    let found = conditions.may_stay_pending.then(find).flatten()?;
    conditions.is_suitable(read, &found).then_some(found)
}

/// Returns a time in microseconds. Results that were read earlier are not served, because the session has written since or
/// accounts have changed.
fn invalid_before(conditions: &ReadConditions<'_>) -> u64 {
    conditions.wrote_at.max(conditions.results.accounts_changed.load(Ordering::Acquire))
}

/// Returns true if the result of another client's pending read could be served here if it arrived now.
fn is_of_use(conditions: &ReadConditions<'_>, other: &PendingFlight, terms: &Terms) -> bool {
    conditions.may_stay_pending
        && other.begun > invalid_before(conditions)
        && aged_results::is_younger(other.begun, conditions.now_ns, terms.ttl)
}

/// Waits until the other client's read is over, or until `too_long` is ready.
async fn wait_for(other: PendingFlight, mut too_long: BoxFuture<()>) -> WaitOutcome {
    poll_fn(|context| match other.poll_ended(context) {
        Poll::Pending => too_long.as_mut().poll(context),
        over => over,
    })
    .await;
    WaitOutcome { ended_by: Some(WaitEnd::Other), flight: None }
}

impl StalenessBound for ByRules {
    /// A time in microseconds since the start of the machine, as [`clock::microseconds`] returns it.
    type Moment = u64;
    type WaitOutcome = WaitOutcome;
    type Claim = Claim;

    fn summary(&self, memory: &Memory) -> Summary {
        let counted = memory.results.counted();
        let rows = self.store.as_ref().map(|store| store.rows(counted.hits, counted.misses));
        let cache = "ON, beside the application, by rules".into();
        Summary { cache, rows: rows.unwrap_or_default(), ..Summary::default() }
    }

    fn serves_in_transactions(&self) -> bool {
        true
    }

    fn moment(&self, now_ns: u64) -> u64 {
        clock::microseconds(now_ns)
    }

    fn decide(
        &mut self,
        conditions: &ReadConditions<'_>,
        read: &ClientRead,
        known: Option<&KnownSession>,
        tried: WaitOutcome,
    ) -> Option<Decision<ByRules>> {
        let terms = self
            .terms(conditions, &read.text, known)
            .filter(|terms| terms.in_transactions || !read.is_in_transaction)?;
        let may_be_served = read.may_be_served();
        let known_here = known.filter(|_| may_be_served);
        let WaitOutcome { ended_by, flight } = tried;
        let may_wait = ended_by.is_none();
        let looked = if let Some(WaitEnd::Look(looked)) = ended_by { Some(looked) } else { None };
        if let (Some(StoreLookup::Found(found)), Some(known)) = (&looked, known_here)
            && let Some(result) = conditions.result(read, &found.answer, found.rows, self.store.as_deref())
        {
            let key = aged_results::key(&read.key, &known.identity);
            let source = ResultSource::of_store(conditions.shape(read, known));
            aged_results::store(conditions.results, &key, result, source, found.read_at);
        }
        let found = known_here.and_then(|known| find(conditions, read, may_wait, known, (&terms, self.settings)));
        let is_here = found.is_some();
        // A result that is read in a transaction may be older than what waiting clients, or users of the store, expect.
        let may_claim = !read.is_in_transaction
            && flight.is_none()
            && found.as_ref().map_or(!terms.coalesce.is_zero(), |found| found.is_due);
        let claimed = known.filter(|_| may_claim).map(|known| self.claim(conditions, &read.key, known));
        let flight = match (found, claimed) {
            (Some(found), None | Some(Err(_))) => {
                terms.counts.hits.add(1);
                let is_of_store = matches!(looked, Some(StoreLookup::Found(_)));
                self.store.iter().filter(|_| is_of_store).for_each(|store| store.count_hit());
                return Some(Decision::Serve(found));
            }
            (None, Some(Err(other))) if may_wait && may_be_served && is_of_use(conditions, &other, &terms) => {
                terms.counts.waits.add(1);
                return Some(Decision::Wait(Box::pin(wait_for(other, (self.sleep)(terms.coalesce)))));
            }
            (Some(_), Some(Ok(flight))) => {
                terms.counts.refreshes.add(1);
                Some(flight)
            }
            (None, claimed) => claimed.and_then(Result::ok).or(flight),
        };
        let may_look = known_here.filter(|_| !is_here && looked.is_none());
        if let Some(look) = may_look.and_then(|known| self.get_or_reserve(conditions, read, known, &terms)) {
            return Some(Decision::Wait(Box::pin(async move {
                WaitOutcome { ended_by: Some(WaitEnd::Look(look.await)), flight }
            })));
        }
        terms.counts.misses.add(1);
        let reserved = if let Some(StoreLookup::Vacant(reserved)) = looked { Some(reserved) } else { None };
        let reserved = reserved.filter(|_| !read.is_in_transaction);
        Some(Decision::Forward(Claim { _flight: flight, reserved }))
    }

    fn why(&mut self, conditions: &ReadConditions<'_>, read: &ClientRead, known: &KnownSession) -> ContextReason {
        match self.terms(conditions, &read.text, Some(known)) {
            None => ContextReason::NoRule,
            Some(terms) if read.is_in_transaction && !terms.in_transactions => ContextReason::Transaction,
            Some(_) => {
                match aged_results::has(conditions.results.cache(), &aged_results::key(&read.key, &known.identity)) {
                    true => ContextReason::Outdated,
                    false => ContextReason::Absent,
                }
            }
        }
    }

    fn keep(&mut self, conditions: &ReadConditions<'_>, answered: AnsweredRead<'_, ByRules>) {
        let AnsweredRead { read, answer, known, source, moment: read_at, claim } = answered;
        if self.terms(conditions, &read.text, Some(known)).is_none() {
            return;
        }
        let key = aged_results::key(&read.key, &known.identity);
        let is_kept = aged_results::store(conditions.results, &key, answer.result_set(), source, read_at);
        conditions.results.uses.count_miss(source, answer.bytes.len(), is_kept);
        if let Some(reserved) = claim.reserved {
            reserved.fill(&answer.bytes, answer.rows);
        }
    }
}
