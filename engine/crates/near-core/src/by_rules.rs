//! Serves results by the operator's rules: a result may be stale, but not older than the rule for its read allows.

pub mod aged_results;
mod single_flight;

use crate::clock;
use crate::freshness::Summary;
use crate::identified::{Answered, Asked, Bound, Decision, Found, Here, Identity, Known};
use crate::memory::Memory;
use crate::published::{BY_RULES, Kept};
use crate::reason::ContextReason;
use crate::rules::{Rules, Subject, Terms};
use crate::store::{Looked, Place, Store, Wait};
use crate::uses::Source;
use sql::LexMode;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

pub use single_flight::Flights;
use single_flight::{Flight, UnderWay};

/// A function that returns a future which is ready after this time, on the host's runtime.
pub type Sleep = fn(Duration) -> Wait<()>;

/// Bounds the age of results on one connection by the operator's rules.
pub struct ByRules {
    memory: Arc<Memory>,
    /// The reads of all connections that refresh a result at the moment.
    flights: Arc<Flights>,
    /// The store that several near caches share, if there is one.
    store: Option<Arc<dyn Store>>,
    sleep: Sleep,
    /// The terms that the rules gave last, until the command is answered.
    ruled: Option<Ruled>,
    /// The number of the settings that contain the rules for the last terms.
    settings: u64,
}

/// The last terms that the rules gave. Each command is examined several times on its way, and the rules are evaluated only once.
struct Ruled {
    text: Box<[u8]>,
    mode: LexMode,
    /// The session's identity, if it was known.
    identity: Option<Identity>,
    rules: Arc<Rules>,
    /// None: no rule lets the read be served.
    terms: Option<Terms>,
}

/// The event that has ended a read's wait.
enum Over {
    /// Another client's read is over, or it has taken too long.
    Other,
    /// The shared store has answered.
    Look(Looked),
}

/// The outcome of a wait, with which the read is decided on again. Empty if the read has not waited.
#[derive(Default)]
pub struct Tried {
    over: Option<Over>,
    flight: Option<Flight>,
}

/// The rights that a read holds while the server answers it.
#[derive(Default)]
pub struct Claim {
    /// Lets other clients wait for the answer. Dropped once the answer is stored, or cannot be.
    _flight: Option<Flight>,
    /// The empty place in the shared store that the answer will fill.
    place: Option<Box<dyn Place>>,
}

impl ByRules {
    /// `flights` is common to all connections. `sleep` provides the delays of the host's runtime.
    pub fn new(memory: &Arc<Memory>, flights: &Arc<Flights>, store: Option<Arc<dyn Store>>, sleep: Sleep) -> ByRules {
        ByRules { memory: memory.clone(), flights: flights.clone(), store, sleep, ruled: None, settings: 0 }
    }

    /// Returns the terms for serving a read of this text, by the present rules. None if it may not be served. Without `known`,
    /// rules that name an account or a database are decided on as far as possible.
    fn terms(&mut self, here: &Here<'_>, text: &[u8], known: Option<&Known>) -> Option<Terms> {
        let settings = self.memory.settings();
        self.settings = settings.number;
        let rules = settings.rules.clone()?;
        let (mode, identity) = (known.map_or(here.mode, |known| known.mode), known.map(|known| known.identity));
        let same = self.ruled.as_ref().filter(|ruled| {
            Arc::ptr_eq(&ruled.rules, &rules)
                && (ruled.mode, ruled.identity) == (mode, identity)
                && *ruled.text == *text
        });
        if let Some(same) = same {
            return same.terms.clone();
        }
        let account = known.map(|known| known.account.as_str());
        let database = known.map(|known| known.database.as_str());
        let terms = rules.of(&Subject { text, mode, account, database });
        self.ruled = Some(Ruled { text: text.into(), mode, identity, rules, terms: terms.clone() });
        terms
    }

    /// Claims the right to refresh a result for other clients as well. Fails with the other client's read if that one holds the
    /// claim.
    fn claim(&self, here: &Here<'_>, key: &[u8], known: &Known) -> Result<Flight, UnderWay> {
        let hash = here.results.cache().hash(&aged_results::key(key, &known.identity));
        self.flights.claim(hash, clock::microseconds(clock::now()))
    }

    /// Looks for a result in the store that near caches share. None if there is no such store, or if its results are not for this
    /// read.
    fn look(&self, here: &Here<'_>, asked: &Asked, known: &Known, terms: &Terms) -> Option<Wait<Looked>> {
        let store = self.store.as_ref().filter(|_| here.may_stay_unseen && asked.may_be_shared())?;
        store.look([&asked.key, &known.identity], terms.ttl)
    }
}

/// Looks for a result in memory that may be served. `settings` is the number of the settings that the terms come from. `is_first`
/// is true if the lookup is to be counted.
fn find(
    here: &Here<'_>,
    asked: &Asked,
    is_first: bool,
    known: &Known,
    (terms, settings): (&Terms, u64),
) -> Option<Found> {
    let uses = Some(&here.results.uses).filter(|_| is_first);
    let key = aged_results::key(&asked.key, &known.identity);
    let publish = |entry: &cache::Entry, until| {
        let mut whose = [0; 40];
        whose[..32].copy_from_slice(&known.identity);
        let reads_tables = sql::sources(&asked.text, known.mode).is_some_and(|tables| !tables.is_empty());
        let result = Kept { entry, cells: &[], reads_tables, until };
        here.asking(asked)?.publish([BY_RULES, settings], &whose, result, here.wrote_at + 1)
    };
    let times = (here.now_ns, outdated_at(here));
    let find = || aged_results::find(here.results.cache(), uses, &key, times, terms, publish);
    let found = here.may_stay_unseen.then(find).flatten()?;
    here.is_for(asked, &found).then_some(found)
}

/// Returns a time in microseconds. Results that were read earlier are not served, because the session has written since or
/// accounts have changed.
fn outdated_at(here: &Here<'_>) -> u64 {
    here.wrote_at.max(here.results.accounts_changed.load(Ordering::Acquire))
}

/// Returns true if the result of another client's pending read could be served here if it arrived now.
fn is_of_use(here: &Here<'_>, other: &UnderWay, terms: &Terms) -> bool {
    here.may_stay_unseen
        && other.begun > outdated_at(here)
        && aged_results::is_younger(other.begun, here.now_ns, terms.ttl)
}

/// Waits until the other client's read is over, or until `too_long` is ready.
async fn wait_for(other: UnderWay, mut too_long: Wait<()>) -> Tried {
    poll_fn(|context| match other.poll_over(context) {
        Poll::Pending => too_long.as_mut().poll(context),
        over => over,
    })
    .await;
    Tried { over: Some(Over::Other), flight: None }
}

impl Bound for ByRules {
    /// A time in microseconds, by [`clock::microseconds`].
    type Moment = u64;
    type Tried = Tried;
    type Claim = Claim;

    fn summary(&self, memory: &Memory) -> Summary {
        let counted = memory.results.counted();
        let rows = self.store.as_ref().map(|store| store.rows(counted.hits, counted.misses));
        let cache = "ON, beside the application, by rules".into();
        Summary { cache, rows: rows.unwrap_or_default(), ..Summary::default() }
    }

    fn serves_inside(&self) -> bool {
        true
    }

    fn moment(&self, now_ns: u64) -> u64 {
        clock::microseconds(now_ns)
    }

    fn decide(
        &mut self,
        here: &Here<'_>,
        asked: &Asked,
        known: Option<&Known>,
        tried: Tried,
    ) -> Option<Decision<ByRules>> {
        let terms = self.terms(here, &asked.text, known).filter(|terms| terms.in_transactions || !asked.is_inside)?;
        let may_be_served = asked.may_be_served();
        let known_here = known.filter(|_| may_be_served);
        let Tried { over, flight } = tried;
        let may_wait = over.is_none();
        let looked = if let Some(Over::Look(looked)) = over { Some(looked) } else { None };
        if let (Some(Looked::Found(found)), Some(known)) = (&looked, known_here)
            && let Some(result) = here.result(asked, &found.answer, found.rows, self.store.as_deref())
        {
            let key = aged_results::key(&asked.key, &known.identity);
            let source = Source::of_store(here.shape(asked, known));
            aged_results::store(here.results, &key, result, source, found.read_at);
        }
        let found = known_here.and_then(|known| find(here, asked, may_wait, known, (&terms, self.settings)));
        let is_here = found.is_some();
        // A result that is read in a transaction may be older than what waiting clients, or users of the store, expect.
        let may_claim = !asked.is_inside
            && flight.is_none()
            && found.as_ref().map_or(!terms.coalesce.is_zero(), |found| found.is_due);
        let claimed = known.filter(|_| may_claim).map(|known| self.claim(here, &asked.key, known));
        let flight = match (found, claimed) {
            (Some(found), None | Some(Err(_))) => {
                terms.counts.hits.add(1);
                let is_of_store = matches!(looked, Some(Looked::Found(_)));
                self.store.iter().filter(|_| is_of_store).for_each(|store| store.count_hit());
                return Some(Decision::Serve(found));
            }
            (None, Some(Err(other))) if may_wait && may_be_served && is_of_use(here, &other, &terms) => {
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
        if let Some(look) = may_look.and_then(|known| self.look(here, asked, known, &terms)) {
            return Some(Decision::Wait(Box::pin(async move { Tried { over: Some(Over::Look(look.await)), flight } })));
        }
        terms.counts.misses.add(1);
        let place = if let Some(Looked::Vacant(place)) = looked { Some(place) } else { None };
        let place = place.filter(|_| !asked.is_inside);
        Some(Decision::Forward(Claim { _flight: flight, place }))
    }

    fn why(&mut self, here: &Here<'_>, asked: &Asked, known: &Known) -> ContextReason {
        match self.terms(here, &asked.text, Some(known)) {
            None => ContextReason::NoRule,
            Some(terms) if asked.is_inside && !terms.in_transactions => ContextReason::Transaction,
            Some(_) => match aged_results::has(here.results.cache(), &aged_results::key(&asked.key, &known.identity)) {
                true => ContextReason::Outdated,
                false => ContextReason::Absent,
            },
        }
    }

    fn answered(&mut self) {
        self.ruled = None;
    }

    fn keep(&mut self, here: &Here<'_>, answered: Answered<'_, ByRules>) {
        let Answered { asked, answer, known, source, moment: read_at, claim } = answered;
        if self.terms(here, &asked.text, Some(known)).is_none() {
            return;
        }
        let key = aged_results::key(&asked.key, &known.identity);
        let is_kept = aged_results::store(here.results, &key, answer.result_set(), source, read_at);
        here.results.uses.missed(source, answer.bytes.len(), is_kept);
        if let Some(place) = claim.place {
            place.fill(&answer.bytes, answer.rows);
        }
    }
}
