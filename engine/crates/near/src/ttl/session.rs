//! One connection's part in serving by rules: what it may be served, and what is kept of its answers.
//!
//! What the server has not seen is treated as under leases: see `seat`. A read that goes to the server takes the place of one that did
//! not.

use super::flights::{Flight, Flights, UnderWay};
use super::prepared::{Identity, Prepared, Reading};
use super::question::{self, Known};
use super::rules::{Rules, Subject, Terms};
use super::shelf::{self, Found};
use super::state::State;
use crate::answer::{Answer, why_not_kept};
use crate::binlog::{Absolute, Begun, Log, Noted, Read as LogRead, Wording, tables_made};
use crate::clock;
use crate::command::{LONGEST, first_command, lone_command};
use crate::config::Config;
use crate::follow::Follower;
use crate::inquiry::Inquiry;
use crate::kept::Kept;
use crate::login::Agreed;
use crate::memory::Memory;
use crate::own::columns_of;
use crate::payloads::Payloads;
use crate::prepared::{Execution, says_found_rows};
use crate::reason::{Own, Reason};
use crate::report::{self, Asked as Inquired, Asker, Right};
use crate::result_set::ResultSet;
use crate::seat::{SEEN_EVERY_NS, Then};
use crate::store::{Looked, Place, Store};
use crate::unseen::{Held, Unseen, has_changed, may_leave_found};
use crate::uses::{Source, Uses};
use flavour::Flavour;
use insight::ShapeId;
use sql::{Aggregates, Hint, Kind, LexMode, Read, Statement, classify};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::iter;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::watch;
use wire::{Command, Expect, Header, Outcome, OutcomeKind, Query};

/// Answers on their way that may be kept.
const MOST_WAITING: usize = 8;
/// Of the answer to a question.
const LONGEST_ANSWER: usize = 64 << 10;
/// The numbers under which that is noted, and that to a further question.
const QUESTION: u64 = 0;
const TABLES_MADE: u64 = u64::MAX;

pub struct Session {
    memory: Arc<Memory>,
    kept: Arc<Kept>,
    flights: Arc<Flights>,
    store: Option<Arc<Store>>,
    /// That of the server, if it says what is outdated, and not rules.
    log: Option<(Arc<Log>, Begun)>,
    hits: u64,
    /// A further question: no rule asks it.
    tables_made: Option<&'static str>,
    config: watch::Receiver<Arc<Config>>,
    agreed: Agreed,
    /// What distinguishes it from sessions elsewhere.
    place: String,
    flavour: &'static Flavour,
    state: State,
    prepared: Prepared,
    ruled: RefCell<Option<Ruled>>,
    commands: Payloads,
    /// Of the question.
    answer: Vec<u8>,
    values: Option<Vec<Vec<u8>>>,
    waiting: VecDeque<Waiting>,
    last: u64,
    unseen: Option<Unseen>,
    /// The server's FOUND_ROWS() may not be that of the last read that the client knows of.
    is_astray: bool,
    /// A read that took the place of others for FOUND_ROWS(), unless it fails.
    replacing: Option<u64>,
    held: Option<Held>,
    inquiry: Option<Box<Inquiry>>,
    /// A read, and what it waits for.
    patient: Option<(Vec<u8>, Patient)>,
    /// When the server last got a command.
    seen_ns: u64,
    opening: Opening,
    /// The client is a near cache that keeps what it is told: it has to know how old that is, and whose writes it has seen.
    is_aside: bool,
}

/// The last moment at which the server had no transaction open, so that the snapshot of the present one is no older.
#[derive(Clone, Copy, Default)]
struct Opening {
    /// In microseconds.
    at: u64,
    /// How far the log had been read at that moment.
    noted: Option<Noted>,
}

/// What these rules said last, and of what: one command is looked at several times on its way.
struct Ruled {
    text: Box<[u8]>,
    mode: LexMode,
    /// Of the session, if it was known.
    identity: Option<Identity>,
    rules: Arc<Rules>,
    terms: Option<Terms>,
}

/// A read as it is looked for.
#[derive(Clone)]
struct Asked {
    text: Arc<[u8]>,
    key: Arc<[u8]>,
    bound: Vec<Option<i128>>,
    /// Of an execution.
    of_prepared: Option<OfPrepared>,
    /// The server would run it in a transaction that is open, or that it begins.
    is_inside: bool,
}

#[derive(Clone, Copy)]
struct OfPrepared {
    /// The command that prepared it.
    preparation: u64,
    /// The client knows that the answer has so many.
    columns: Option<u64>,
    /// The server need not see it for later ones to be understood.
    may_be_served: bool,
}

/// A read whose answer may be kept.
struct Waiting {
    number: u64,
    asked: Asked,
    generation: u64,
    sent_ns: u64,
    /// It sees all that was committed by then.
    opening: Opening,
    answer: Answer,
    /// Until the answer is here, or cannot be kept.
    _flight: Option<Flight>,
    /// In the store.
    place: Option<Place>,
}

/// What becomes of a read that may be served.
enum Verdict {
    Served(Found),
    Sent(Miss),
    Waits(Patient),
}

/// A read that goes to the server, and whose answer may be kept.
struct Miss {
    /// The server has to be asked first for whom it is.
    asks: bool,
    flight: Option<Flight>,
    place: Option<Place>,
}

/// What a read waits for.
struct Patient {
    wait: Pin<Box<dyn Future<Output = Over> + Send>>,
    /// Others may wait for this one.
    flight: Option<Flight>,
}

/// What is over when a read has waited.
enum Over {
    /// Another client's read, or the time for it.
    Other,
    Look(Looked),
    /// What another near cache has put into the store, and its rows.
    Shared(Option<(Vec<u8>, u64)>),
}

/// What a read has waited for before it is decided.
#[derive(Default)]
struct Tried {
    over: Option<Over>,
    flight: Option<Flight>,
}

impl Patient {
    fn of_other(other: UnderWay, at_most: Duration) -> Patient {
        let wait = async move {
            other.wait(at_most).await;
            Over::Other
        };
        Patient { wait: Box::pin(wait), flight: None }
    }
}

impl Asked {
    fn text(text: &[u8]) -> Asked {
        let text: Arc<[u8]> = text.into();
        Asked { key: text.clone(), text, bound: Vec::new(), of_prepared: None, is_inside: false }
    }

    fn execution(execution: Execution, reading: Reading) -> Asked {
        let may_be_served = execution.is_known();
        let Execution { key, columns, prepared: preparation, bound, .. } = execution;
        let of_prepared = Some(OfPrepared { preparation, columns, may_be_served });
        Asked { text: reading.text, key: key.into(), bound, of_prepared, is_inside: false }
    }

    fn wording(&self) -> Wording<'_> {
        Wording { text: &self.text, key: &self.key, bound: &self.bound }
    }

    /// The server need not see it for later ones to be understood.
    fn may_be_served(&self) -> bool {
        self.of_prepared.is_none_or(|of| of.may_be_served)
    }
}

impl Session {
    /// Of a connection that has just logged in.
    pub fn new(
        memory: &Arc<Memory>,
        flights: &Arc<Flights>,
        store: &Option<Arc<Store>>,
        log: Option<(Arc<Log>, Begun)>,
        config: watch::Receiver<Arc<Config>>,
        agreed: Agreed,
    ) -> Session {
        let version = String::from_utf8_lossy(&agreed.version).into_owned();
        let flavour = if version.contains("MariaDB") { flavour::mariadb(&version) } else { &flavour::MYSQL };
        let tables_made = log.as_ref().and_then(|_| tables_made(flavour));
        let place = format!("{} {version}", config.borrow().server);
        let state = State::new(flavour, agreed.capabilities, agreed.collation);
        let prepared = Prepared::new(flavour, agreed.capabilities);
        Session {
            memory: memory.clone(),
            kept: memory.kept.clone(),
            flights: flights.clone(),
            store: store.clone(),
            log,
            hits: 0,
            tables_made,
            config,
            agreed,
            place,
            flavour,
            state,
            prepared,
            ruled: RefCell::default(),
            commands: Payloads::of_commands(),
            answer: Vec::new(),
            values: None,
            waiting: VecDeque::new(),
            last: QUESTION,
            unseen: None,
            is_astray: false,
            replacing: None,
            held: None,
            inquiry: None,
            patient: None,
            seen_ns: 0,
            opening: Opening::default(),
            is_aside: false,
        }
    }

    fn rules(&self) -> Option<Arc<Rules>> {
        self.config.borrow().rules.clone()
    }

    /// Bytes of the client. `is_heard`: it has got everything that came before.
    pub fn of_client(&mut self, follower: &mut Follower, bytes: &[u8], is_heard: bool) -> Then {
        self.decide(follower, bytes, is_heard, Tried::default())
    }

    fn decide(&mut self, follower: &mut Follower, bytes: &[u8], is_heard: bool, tried: Tried) -> Then {
        if follower.is_at_rest() {
            self.state.rest();
        }
        let alone = follower.is_between().then(|| lone_command(bytes)).flatten();
        let short = alone.filter(|payload| payload.len() <= LONGEST);
        let query = short.filter(|payload| payload[0] == Command::Query as u8);
        let query = query.and_then(|payload| Query::parse(&payload[1..], self.agreed.capabilities));
        let statement = query.map(|query| self.state.classify(query.text, self.state.mode));
        let read = query.filter(|query| !query.has_attributes).zip(statement.as_deref());
        let read = read.filter(|(_, statement)| may_serve(statement)).map(|(query, _)| Asked::text(query.text));
        let execution = short.and_then(|payload| self.execution(payload));
        let reading = alone.and_then(|payload| self.prepared.reading(payload)).cloned();
        let replaces = statement.as_deref().is_some_and(replaces_what_reads_leave)
            || reading.as_ref().is_some_and(|reading| reading.replaces);
        let read = read.or_else(|| execution.map(|(execution, reading)| Asked::execution(execution, reading)));
        let read = read.map(|read| Asked { is_inside: !follower.is_autonomous(), ..read });
        let candidate = read.as_ref().filter(|read| is_heard && self.may_be_answered(read, follower));
        let miss = match candidate.and_then(|read| self.serve(read, tried)) {
            Some(Verdict::Served(Found { mut answer, rows, places, used, .. })) => {
                self.hits += 1;
                let is_inside = read.as_ref().is_some_and(|read| read.is_inside);
                self.kept.hits_inside.fetch_add(u64::from(is_inside), Ordering::Relaxed);
                places.iter().filter(|_| is_inside).for_each(|places| places.give(&mut answer, follower.flags()));
                self.kept.uses.served(used);
                let is_after_unseen = self.is_astray || self.unseen.as_ref().is_some_and(|one| one.is_another(bytes));
                let is_doubtful =
                    is_after_unseen && read.as_ref().is_none_or(|read| self.may_leave_found(read, &answer, rows));
                let rows = (!is_doubtful).then_some(rows);
                self.unseen = Some(Unseen::by_rule(bytes.to_vec(), rows));
                return Then::Answer(answer);
            }
            Some(Verdict::Waits(patient)) => {
                self.patient = Some((bytes.to_vec(), patient));
                return Then::Hold(Vec::new());
            }
            Some(Verdict::Sent(miss)) => Some(miss),
            None => None,
        };
        if let Some(why) =
            alone.and_then(|payload| self.why(payload, statement.as_deref(), read.as_ref(), candidate.is_some()))
        {
            self.memory.reasons.count(why);
        }
        if let Some(asked) =
            query.filter(|_| is_heard && follower.is_quiet()).and_then(|query| report::asked_by(query.text, true))
        {
            return if asked.is_open() { self.report(follower, &asked) } else { self.inquire(follower, asked) };
        }
        let has_unseen = self.is_astray || self.unseen.is_some();
        let asks_for_rows =
            has_unseen && alone.is_some_and(|payload| self.asks_for_rows(payload, statement.as_deref()));
        if asks_for_rows && self.unseen.is_none() && is_heard && follower.is_quiet() {
            return Then::Answer(has_changed());
        }
        let stays = |unseen: &Unseen| alone.is_some_and(|payload| unseen.may_follow(payload, follower));
        let unseen = self.unseen.take_if(|unseen| !stays(unseen));
        let asks = miss.as_ref().is_some_and(|miss| miss.asks);
        let may_lead_astray = replaces && (self.is_astray || unseen.is_some() || asks);
        if replaces {
            let text = query.map(|query| query.text).or(reading.as_ref().map(|reading| &*reading.text));
            self.is_astray = may_lead_astray && text.is_none_or(|text| Aggregates::of(text) != Aggregates::No);
        }
        if follower.is_at_rest() {
            let noted = self.log.as_ref().and_then(|(log, begun)| log.note(begun));
            self.opening = Opening { at: shelf::microseconds(clock::now()), noted };
        }
        if let Some(unseen) = unseen.filter(|_| !replaces) {
            follower.expect_hidden(unseen.expect());
            self.is_astray = unseen.rows.is_none();
            if asks_for_rows {
                self.held = Some(Held::new(bytes.to_vec(), &unseen));
                return Then::Hold(unseen.packet);
            }
            self.forward(follower, bytes);
            return Then::Instead([&unseen.packet, bytes].concat());
        }
        let question = asks.then(|| self.ask(follower));
        self.forward(follower, bytes);
        if may_lead_astray {
            follower.note_last(self.last);
            self.replacing = Some(self.last);
        }
        if let (Some(asked), Some(miss)) = (read, miss) {
            self.note(follower, asked, miss);
        }
        question.map_or(Then::Pass, |question| Then::Instead([&question, bytes].concat()))
    }

    /// Nothing in the way in which it came speaks against answering it from memory.
    fn may_be_answered(&mut self, asked: &Asked, follower: &Follower) -> bool {
        if !asked.is_inside {
            return !self.state.take_special();
        }
        let is_allowed = self.log.is_none() || self.config.borrow().in_transactions;
        is_allowed && follower.is_quiet() && self.state.may_serve_inside()
    }

    /// The rows found by the read before may be what this command asks for: by its text, or by that of what it runs.
    fn asks_for_rows(&self, payload: &[u8], statement: Option<&Statement>) -> bool {
        let may_run_it = match Command::from_byte(payload[0]) {
            Some(Command::Query) => {
                self.state.asks_by_text()
                    && statement.is_none_or(|statement| may_run_prepared(&statement.kind, payload))
            }
            Some(Command::StmtExecute) => {
                self.prepared.asks_for_found_rows(payload).unwrap_or(self.state.asks_by_command())
            }
            Some(Command::StmtBulkExecute | Command::Multi) => self.state.asks_by_command(),
            _ => false,
        };
        says_found_rows(payload) || may_run_it
    }

    /// Why this command is not answered from memory; none if it reads nothing. `is_candidate`: nothing in the way in which it came
    /// speaks against that.
    fn why(
        &self,
        payload: &[u8],
        statement: Option<&Statement>,
        asked: Option<&Asked>,
        is_candidate: bool,
    ) -> Option<Reason> {
        if let Some(asked) = asked {
            return Some(if is_candidate { self.why_now(asked) } else { Own::Transaction }.into());
        }
        match (Command::from_byte(payload[0])?, statement.map(|statement| &statement.kind)) {
            (Command::Query, Some(Kind::Read(Read { refusal: Some(refusal), .. }))) => Some(Reason::Text(*refusal)),
            (Command::Query, Some(Kind::Read(Read { hint: Hint::SqlNoCache, .. }))) => Some(Own::NoCacheHint.into()),
            (Command::Query, Some(Kind::Read(_))) => Some(Own::Attributes.into()),
            (Command::Query, None) => begins_a_read(&payload[1..]).then_some(Own::TooLong.into()),
            (Command::StmtExecute, _) => self.prepared.runs_read(payload).then_some(Own::ParameterTypes.into()),
            _ => None,
        }
    }

    fn why_now(&self, asked: &Asked) -> Own {
        let now = clock::now();
        let known = match self.state.standing() {
            _ if self.is_aside => return Own::NearCache,
            None => return Own::SessionState,
            Some(None) => return Own::FirstRead,
            Some(Some(known)) => known,
        };
        let why = match &self.log {
            _ if !self.is_seen(now) => Own::KeepAlive,
            _ if asked.is_inside && known.locks_what_it_reads => Own::Transaction,
            _ if !self.means_the_same(asked, &known) => Own::StatementContext,
            Some((log, _)) => log.why(&asked.text, &known, now),
            None => match self.terms(&asked.text, Some(&known)) {
                None => Own::NoRule,
                Some(terms) if asked.is_inside && !terms.in_transactions => Own::Transaction,
                Some(_) => Own::Absent,
            },
        };
        if why == Own::Absent && !asked.may_be_served() { Own::ParameterTypes } else { why }
    }

    /// What this command runs of what is prepared.
    fn execution(&self, payload: &[u8]) -> Option<(Execution, Reading)> {
        let runs = payload[0] == Command::StmtExecute as u8;
        runs.then(|| self.prepared.execution(payload)).flatten()
    }

    /// None if nothing lets this read be served.
    fn serve(&self, asked: &Asked, tried: Tried) -> Option<Verdict> {
        let standing = self.state.standing().filter(|_| !self.is_aside)?;
        let known = standing.as_deref();
        let is_out = |known: &Known| !self.means_the_same(asked, known) || asked.is_inside && known.locks_what_it_reads;
        if known.is_some_and(is_out) {
            return None;
        }
        match &self.log {
            Some(log) => self.serve_by_log(log, asked, known, tried),
            None => self.serve_by_rules(asked, known, tried),
        }
    }

    /// What is asked of the cache is asked of this one.
    fn report(&self, follower: &Follower, asked: &Inquired) -> Then {
        let right = match &self.log {
            Some((log, _)) => Right::Log(log, self.store.as_deref()),
            None => Right::Rules(self.store.as_deref()),
        };
        Then::Answer(report::answer(&self.memory, &right, asked, &Asker::of(follower, self.hits)))
    }

    /// The number of rows found may be that of the read before this answer.
    fn may_leave_found(&self, asked: &Asked, answer: &[u8], rows: u64) -> bool {
        let is_binary = asked.of_prepared.is_some();
        rows <= 1 && may_leave_found(Aggregates::of(&asked.text), answer, self.agreed.capabilities, is_binary)
    }

    /// First the server says whether this account may see that.
    fn inquire(&mut self, follower: &mut Follower, asked: Inquired) -> Then {
        let unseen = self.unseen.take();
        self.inquiry = Some(Box::new(Inquiry::new(asked, unseen.iter().map(Unseen::count).sum())));
        unseen.iter().for_each(|unseen| follower.expect_hidden(unseen.expect()));
        follower.expect_hidden(Expect::Query);
        self.seen_ns = clock::now();
        let packet = Inquiry::packet(self.flavour, self.agreed.capabilities);
        Then::Hold([unseen.map(|unseen| unseen.packet).unwrap_or_default(), packet].concat())
    }

    fn serve_by_log(
        &self,
        (log, begun): &(Arc<Log>, Begun),
        asked: &Asked,
        known: Option<&Known>,
        tried: Tried,
    ) -> Option<Verdict> {
        let now = clock::now();
        let wording = asked.wording();
        let known_here = known.filter(|_| self.is_seen(now) && asked.may_be_served());
        let looked = if let Some(Over::Shared(looked)) = tried.over { Some(looked) } else { None };
        let shared = looked.as_ref().and_then(Option::as_ref).zip(known_here);
        let is_of_store = shared.is_some_and(|((bytes, rows), known)| {
            let source = Source::of_store(self.shape(asked, known));
            let result = Absolute::read(bytes).and_then(|(at, answer)| Some((at, self.result(asked, answer, *rows)?)));
            log.may_take(&wording, known, begun, now)
                && result.is_some_and(|(at, result)| log.take(&self.kept, &wording, known, at, result, source))
        });
        let uses = Some(&self.kept.uses).filter(|_| looked.is_none());
        let found = known_here.and_then(|known| log.find(self.kept.cache(), uses, &asked.key, known, begun, now));
        if let Some(found) = found.filter(|found| self.is_for(asked, found)) {
            self.kept.hits.fetch_add(1, Ordering::Relaxed);
            self.store.iter().for_each(|store| store.hits.add(usize::from(is_of_store)));
            return Some(Verdict::Served(found));
        }
        known.is_none_or(|known| log.may_keep(&asked.text, known)).then_some(())?;
        let may_look = known_here.filter(|known| looked.is_none() && log.may_take(&wording, known, begun, now));
        if let Some(wait) = may_look.and_then(|known| self.store.as_ref()?.find([&asked.key, &known.common])) {
            let wait = Box::pin(async move { Over::Shared(wait.await) });
            return Some(Verdict::Waits(Patient { wait, flight: None }));
        }
        self.kept.misses.fetch_add(1, Ordering::Relaxed);
        Some(Verdict::Sent(Miss { asks: known.is_none(), flight: None, place: None }))
    }

    fn serve_by_rules(&self, asked: &Asked, known: Option<&Known>, tried: Tried) -> Option<Verdict> {
        let terms = self.terms(&asked.text, known).filter(|terms| terms.in_transactions || !asked.is_inside)?;
        let may_be_served = asked.may_be_served();
        let known_here = known.filter(|_| may_be_served);
        let Tried { over, flight } = tried;
        let may_wait = over.is_none();
        let looked = if let Some(Over::Look(looked)) = over { Some(looked) } else { None };
        if let (Some(Looked::Found(found)), Some(known)) = (&looked, known_here)
            && let Some(result) = self.result(asked, &found.answer, found.rows)
        {
            let key = shelf::key(&asked.key, &known.identity);
            let source = Source::of_store(self.shape(asked, known));
            shelf::store(&self.kept, &key, result, source, found.read_at);
        }
        let uses = Some(&self.kept.uses).filter(|_| may_wait);
        let found = known_here.and_then(|known| self.find(asked, uses, known, &terms));
        let is_here = found.is_some();
        // A result that is read in a transaction may be older than clients expect that wait for it, or find it in the store.
        let may_claim = !asked.is_inside
            && flight.is_none()
            && found.as_ref().map_or(!terms.coalesce.is_zero(), |found| found.is_due);
        let claimed = known.filter(|_| may_claim).map(|known| self.claim(&asked.key, known));
        let flight = match (found, claimed) {
            (Some(found), None | Some(Err(_))) => {
                terms.counts.hits.add(1);
                self.kept.hits.fetch_add(1, Ordering::Relaxed);
                let is_of_store = matches!(looked, Some(Looked::Found(_)));
                self.store.iter().for_each(|store| store.hits.add(usize::from(is_of_store)));
                return Some(Verdict::Served(found));
            }
            (None, Some(Err(other))) if may_wait && may_be_served && self.is_of_use(&other, &terms) => {
                terms.counts.waits.add(1);
                return Some(Verdict::Waits(Patient::of_other(other, terms.coalesce)));
            }
            (Some(_), Some(Ok(flight))) => {
                terms.counts.refreshes.add(1);
                Some(flight)
            }
            (None, claimed) => claimed.and_then(Result::ok).or(flight),
        };
        let look = known_here.filter(|_| !is_here && looked.is_none());
        if let Some(wait) = look.and_then(|known| self.look(asked, known, &terms)) {
            return Some(Verdict::Waits(Patient { wait, flight }));
        }
        terms.counts.misses.add(1);
        self.kept.misses.fetch_add(1, Ordering::Relaxed);
        let place = if let Some(Looked::Vacant(place)) = looked { Some(place) } else { None };
        let place = place.filter(|_| !asked.is_inside);
        Some(Verdict::Sent(Miss { asks: known.is_none(), flight, place }))
    }

    /// In what near caches share.
    fn look(&self, asked: &Asked, known: &Known, terms: &Terms) -> Option<Pin<Box<dyn Future<Output = Over> + Send>>> {
        let store = self.store.as_ref().filter(|_| self.is_seen(clock::now()))?;
        let look = store.look([&asked.key, &known.identity], terms.ttl)?;
        Some(Box::pin(async move { Over::Look(look.await) }))
    }

    /// It means for the session what it meant when it was prepared.
    fn means_the_same(&self, asked: &Asked, known: &Known) -> bool {
        asked.of_prepared.is_none_or(|of| self.prepared.identity(of.preparation) == Some(known.identity))
    }

    /// What another client is reading could be served here if it came now.
    fn is_of_use(&self, other: &UnderWay, terms: &Terms) -> bool {
        let now = clock::now();
        self.is_seen(now) && other.begun > self.outdated_at() && shelf::is_younger(other.begun, now, terms.ttl)
    }

    /// Results that were read before this moment, in microseconds, are not served: the session has written since, or accounts have changed.
    fn outdated_at(&self) -> u64 {
        self.state.wrote_at().max(self.kept.accounts_changed.load(Ordering::Acquire))
    }

    fn terms(&self, text: &[u8], known: Option<&Known>) -> Option<Terms> {
        let rules = self.rules()?;
        let (mode, identity) = (known.map_or(self.state.mode, |known| known.mode), known.map(|known| known.identity));
        let mut ruled = self.ruled.borrow_mut();
        let same = ruled.as_ref().filter(|ruled| {
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
        *ruled = Some(Ruled { text: text.into(), mode, identity, rules, terms: terms.clone() });
        terms
    }

    /// Where it is counted.
    fn shape(&self, asked: &Asked, known: &Known) -> ShapeId {
        match asked.of_prepared {
            Some(_) => self.kept.uses.of_prepared(&asked.text),
            None => self.kept.uses.of_query(&asked.text, known.mode),
        }
    }

    fn find(&self, asked: &Asked, uses: Option<&Uses>, known: &Known, terms: &Terms) -> Option<Found> {
        let (after, now) = (self.outdated_at(), clock::now());
        let key = shelf::key(&asked.key, &known.identity);
        let found =
            self.is_seen(now).then(|| shelf::find(self.kept.cache(), uses, &key, now, after, terms)).flatten()?;
        self.is_for(asked, &found).then_some(found)
    }

    /// None unless an answer from the shared store is one whole result. This is checked once, when it is taken into memory.
    fn result<'a>(&self, asked: &Asked, answer: &'a [u8], rows: u64) -> Option<ResultSet<'a>> {
        let expect = if asked.of_prepared.is_some() { Expect::Execute } else { Expect::Query };
        let result = ResultSet::read(answer, rows, expect, self.agreed.capabilities);
        self.store.iter().for_each(|store| store.malformed.add(usize::from(result.is_none())));
        result
    }

    /// It can be given the flags of a transaction, if it has to be, and it has as many columns as the client of an execution knows of.
    fn is_for(&self, asked: &Asked, found: &Found) -> bool {
        let has_as_many = |columns| columns_of(&found.answer, self.agreed.capabilities) == columns;
        let can_be_inside = !asked.is_inside || found.places.is_some();
        can_be_inside && asked.of_prepared.is_none_or(|prepared| has_as_many(prepared.columns))
    }

    /// The server has heard of the connection of late.
    fn is_seen(&self, now: u64) -> bool {
        now.saturating_sub(self.seen_ns) < SEEN_EVERY_NS
    }

    /// The right to read for others; it fails if another client does.
    fn claim(&self, key: &[u8], known: &Known) -> Result<Flight, UnderWay> {
        let hash = self.kept.cache().hash(&shelf::key(key, &known.identity));
        self.flights.claim(hash, shelf::microseconds(clock::now()))
    }

    fn ask(&mut self, follower: &mut Follower) -> Vec<u8> {
        self.state.ask();
        self.answer.clear();
        let mut packets = Vec::new();
        let question = question::question(self.flavour);
        let further = self.tables_made.map(|question| (TABLES_MADE, question));
        for (number, question) in iter::once((QUESTION, question.as_str())).chain(further) {
            follower.expect_hidden(Expect::Query);
            follower.note_last(number);
            packets.extend(Query::packet(question.as_bytes(), self.agreed.capabilities));
        }
        packets
    }

    fn forward(&mut self, follower: &mut Follower, bytes: &[u8]) {
        self.seen_ns = clock::now();
        let mut rest = bytes;
        while let Some(payload) = follower.is_between().then(|| first_command(rest)).flatten() {
            let (command, others) = rest.split_at(Header::SIZE + payload.len());
            self.forward_piece(follower, command, true);
            rest = others;
        }
        if !rest.is_empty() {
            self.forward_piece(follower, rest, false);
        }
    }

    /// `is_command`: it is all of one.
    fn forward_piece(&mut self, follower: &mut Follower, bytes: &[u8], is_command: bool) {
        let (is_at_rest, is_in_file) = (follower.is_at_rest(), follower.is_in_file());
        follower.from_client(bytes);
        let mut commands = std::mem::replace(&mut self.commands, Payloads::of_commands());
        commands.feed(bytes, |payload, is_whole| {
            if !is_in_file && self.hear(payload, is_whole, is_at_rest) && is_command {
                follower.note_last(self.last);
            }
        });
        self.commands = commands;
    }

    /// The server gets this command. True: its answer has to be looked at.
    fn hear(&mut self, payload: &[u8], is_whole: bool, is_at_rest: bool) -> bool {
        self.last += 1;
        self.is_aside |= payload.strip_prefix(&[Command::Query as u8]).is_some_and(question::is_question);
        let is_noted = self.prepared.forward(self.last, payload, is_whole);
        if !self.prepared.runs_read(payload) {
            self.state.hear(payload, is_whole, is_at_rest);
            self.note_accounts();
        }
        if let Some(text) = payload.strip_prefix(&[Command::StmtPrepare as u8]).filter(|_| is_whole) {
            self.hear_prepared(text);
        }
        if [Command::ResetConnection as u8, Command::ChangeUser as u8].contains(&payload[0]) {
            self.prepared.forget();
        }
        is_noted
    }

    /// Both before and after the server runs what may make an old name another account's: a session that reads in between may be either.
    fn note_accounts(&self) {
        if self.state.may_change_accounts() {
            self.kept.accounts_changed.fetch_max(shelf::microseconds(clock::now()), Ordering::AcqRel);
        }
    }

    fn hear_prepared(&mut self, text: &[u8]) {
        let statement = classify(text, self.state.mode);
        if may_serve(&statement) {
            let generation = self.state.generation();
            let identity = self.state.told_in(generation).map(|known| known.identity);
            let replaces = replaces_what_reads_leave(&statement);
            self.prepared.note(self.last, Reading { text: text.into(), replaces, identity, generation });
        }
    }

    /// The answer to the read that was just sent may be kept.
    fn note(&mut self, follower: &mut Follower, asked: Asked, miss: Miss) {
        let Some(answer) = Answer::to(&self.kept, asked.key.len()) else { return };
        let answer = if asked.is_inside { answer.inside_or_outside() } else { answer };
        if self.waiting.len() == MOST_WAITING {
            self.waiting.pop_front();
        }
        let (generation, sent_ns) = (self.state.generation(), self.seen_ns);
        let Miss { flight: _flight, place, .. } = miss;
        let waiting =
            Waiting { number: self.last, asked, generation, sent_ns, opening: self.opening, answer, _flight, place };
        self.waiting.push_back(waiting);
        follower.note_last(self.last);
    }

    /// A command waits, and nothing else of the client may be read.
    pub fn is_holding(&self) -> bool {
        self.held.is_some() || self.inquiry.is_some() || self.patient.is_some()
    }

    /// What becomes of the command that waited, once the server has run what it had not seen, or what it waited for is over.
    pub fn take_held(&mut self, context: &mut Context<'_>, follower: &mut Follower) -> Option<Then> {
        if let Some((_, patient)) = &mut self.patient
            && let Poll::Ready(over) = patient.wait.as_mut().poll(context)
            && let Some((packet, Patient { flight, .. })) = self.patient.take()
        {
            return Some(match self.decide(follower, &packet, true, Tried { over: Some(over), flight }) {
                Then::Pass => Then::Instead(packet),
                then => then,
            });
        }
        if let Some(inquiry) = self.inquiry.take_if(|inquiry| inquiry.is_over()) {
            return Some(match inquiry.ended() {
                Ok(asked) => self.report(follower, &asked),
                Err(error) => Then::Answer(error),
            });
        }
        match self.held.take_if(|held| held.is_counted())?.released() {
            Ok(command) => {
                self.forward(follower, &command);
                Some(Then::Instead(command))
            }
            Err(error) => {
                // Whoever reads again gets what there is now.
                self.is_astray = true;
                let now = clock::now();
                self.state.outdate(shelf::microseconds(now));
                self.log.iter().for_each(|(log, _)| log.wrote(now));
                Some(Then::Answer(error))
            }
        }
    }

    /// The server has answered what the client does not know of.
    pub fn of_hidden(&mut self, outcome: &Outcome) {
        self.held.iter_mut().for_each(|held| held.count(outcome));
        self.inquiry.iter_mut().for_each(|inquiry| inquiry.hear(outcome));
    }

    /// The server has answered what the client has sent.
    pub fn of_answer(&mut self, outcome: &Outcome) {
        let now = clock::now();
        self.state.answered(outcome, shelf::microseconds(now));
        self.note_accounts();
        self.ruled.take();
        if let Some((log, _)) = self.log.as_ref().filter(|_| self.state.is_writing()) {
            log.wrote(now);
        }
    }

    /// Bytes of an answer that is noted under this number.
    pub fn of_server(&mut self, number: u64, bytes: &[u8], outcome: Option<&Outcome>) {
        if number == QUESTION || number == TABLES_MADE {
            return self.of_question(number, bytes, outcome.is_some());
        }
        if let Some(outcome) = outcome {
            self.prepared.answered(number, outcome);
            let has_replaced = self.replacing.take_if(|replacing| *replacing == number).is_some();
            // One that fails on its way has counted, too.
            self.is_astray |= has_replaced && matches!(outcome.kind, OutcomeKind::Err { .. }) && !outcome.has_columns;
        }
        let Some(at) = self.waiting.iter().position(|waiting| waiting.number == number) else { return };
        if !self.waiting[at].answer.take(bytes, outcome) {
            self.memory.reasons.count(why_not_kept(outcome).into());
            self.waiting.remove(at);
        } else if outcome.is_some()
            && let Some(waiting) = self.waiting.remove(at)
        {
            let Waiting { asked, answer, .. } = &waiting;
            self.is_astray =
                self.is_astray && (number != self.last || self.may_leave_found(asked, &answer.bytes, answer.rows));
            self.store(waiting);
        }
    }

    fn of_question(&mut self, number: u64, bytes: &[u8], is_complete: bool) {
        if self.answer.len() + bytes.len() <= LONGEST_ANSWER {
            self.answer.extend_from_slice(bytes);
        }
        if !is_complete {
            return;
        }
        let row = wire::only_row(&std::mem::take(&mut self.answer), self.agreed.capabilities);
        if number == QUESTION {
            self.values = row;
        } else if row.is_none_or(|row| row.get(1).is_none_or(|count| count != b"0")) {
            self.values = None;
        }
        if number == TABLES_MADE || self.tables_made.is_none() {
            let capabilities = self.agreed.capabilities.to_le_bytes();
            let values = self.values.take();
            self.state.learn(values.as_deref(), &[self.place.as_bytes(), &capabilities]);
            let generation = self.state.generation();
            if let Some(known) = self.state.told_in(generation) {
                self.prepared.learn(generation, known.identity);
            }
        }
    }

    /// Only now it is certain how the text is read, and for whom.
    fn store(&mut self, waiting: Waiting) {
        let Some(known) = self.state.told_in(waiting.generation) else { return };
        let Waiting { asked, answer, sent_ns, opening, place, .. } = waiting;
        if !self.means_the_same(&asked, &known) || !may_serve(&self.state.classify(&asked.text, known.mode)) {
            return;
        }
        let shape = self.shape(&asked, &known);
        let source = Source { shape, cost_ns: clock::now().saturating_sub(sent_ns) };
        let result = answer.result_set();
        if let Some((log, _)) = &self.log {
            if let Some(noted) = opening.noted {
                let read = LogRead { wording: asked.wording(), result, noted, source };
                let shared = log.keep(&self.kept, &read, &known);
                if let Some((bytes, store)) = shared.zip(self.store.as_ref()) {
                    store.put([&asked.key, &known.common], &bytes, answer.rows);
                }
            }
        } else if self.terms(&asked.text, Some(&known)).is_some() {
            let key = shelf::key(&asked.key, &known.identity);
            let is_kept = shelf::store(&self.kept, &key, result, source, opening.at);
            self.kept.uses.missed(shape, answer.bytes.len(), is_kept);
            if let Some(place) = place {
                place.fill(&answer.bytes, answer.rows);
            }
        }
    }
}

/// Nothing in it speaks against keeping its result for a while.
fn may_serve(statement: &Statement) -> bool {
    matches!(statement.kind, Kind::Read(Read { refusal: None, hint, .. }) if hint != Hint::SqlNoCache)
}

/// An EXECUTE, or what has one or calls what does.
fn may_run_prepared(kind: &Kind, text: &[u8]) -> bool {
    match kind {
        Kind::Execute(_) | Kind::Executed(_) | Kind::Call => true,
        Kind::Compound | Kind::SetStatement(_) | Kind::Multiple | Kind::Opaque => {
            sql::says(text, b"execute") || sql::says(text, b"call")
        }
        _ => false,
    }
}

/// Of a text that is too long to be looked at.
fn begins_a_read(text: &[u8]) -> bool {
    const SELECT: &[u8] = b"select";
    text.trim_ascii_start().get(..SELECT.len()).is_some_and(|word| word.eq_ignore_ascii_case(SELECT))
}

/// After it, nobody can ask for the rows or warnings of the read before, unless it aggregates over nothing.
fn replaces_what_reads_leave(statement: &Statement) -> bool {
    matches!(statement.kind, Kind::Read(Read { leaves_found_rows: false, .. })) && !statement.reads_diagnostics
}
