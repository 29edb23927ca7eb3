//! Serves results by the server's binary log, which shows what has changed; see [`binlog`](super).

use super::{AbsolutePosition, Log, LogState, Progress, SessionPrivileges, StorableRead, created_tables_query};
use crate::clock;
use crate::freshness::Summary;
use crate::identified::{AnsweredRead, ClientRead, Decision, KnownSession, ReadConditions, StalenessBound};
use crate::memory::Memory;
use crate::reason::ContextReason;
use crate::report::row;
use crate::store::{Store, StoredBytes};
use crate::uses::ResultSource;
use flavour::Flavour;
use insight::report::Row;
use std::sync::Arc;

/// Bounds the age of results on one connection by the server's binary log.
pub struct ByLog {
    pub log: Arc<Log>,
    /// The state of the privileges when the session began.
    pub session: SessionPrivileges,
    /// The store that several near caches share, if there is one.
    pub store: Option<Arc<dyn Store>>,
    pub memory: Arc<Memory>,
}

/// The outcome of a lookup in the shared store. None: the store has not been asked. `Some(None)`: it has no such result, or did
/// not answer in time. Otherwise the result of another near cache, with its number of rows.
type SharedLookup = Option<Option<StoredBytes>>;

impl ByLog {
    /// Stores a result from the shared store in memory, where `decide` looks for it. Returns false if the result may not be
    /// served.
    fn store_shared(
        &self,
        conditions: &ReadConditions<'_>,
        read: &ClientRead,
        known: &KnownSession,
        (bytes, rows): &StoredBytes,
    ) -> bool {
        let source = ResultSource::of_store(conditions.shape(read, known));
        let result = AbsolutePosition::read(bytes)
            .and_then(|(at, answer)| Some((at, conditions.result(read, answer, *rows, self.store.as_deref())?)));
        self.log.may_store_shared(&read.read_text(), known, &self.session, conditions.now_ns)
            && result.is_some_and(|(at, result)| {
                let encoding = conditions.row_encoding(read);
                let storable = StorableRead { read_text: read.read_text(), result, encoding, source };
                self.log.store_shared(conditions.results, &storable, known, at)
            })
    }
}

impl StalenessBound for ByLog {
    /// The state of the log at the last time when the session had no open transaction; it decides which results its
    /// reads may see. None if the log was not followed at that time: nothing is stored then.
    type Moment = Option<LogState>;
    type WaitOutcome = SharedLookup;
    type Claim = ();

    fn further_question(&self, flavour: &'static Flavour) -> Option<&'static str> {
        created_tables_query(flavour)
    }

    fn summary(&self, memory: &Memory) -> Summary {
        let (progress, counted) = (self.log.progress(clock::now()), memory.results.counted());
        let of_store = self.store.iter().flat_map(|store| store.rows(counted.hits, counted.misses));
        let rows = of_log(&progress).into_iter().chain(of_store).collect();
        Summary { cache: cache_row(&memory.obstacle.get(), &progress), rows, ..Summary::default() }
    }

    fn serves_in_transactions(&self) -> bool {
        self.memory.settings().in_transactions
    }

    fn moment(&self, _: u64) -> Option<LogState> {
        self.log.current_state(&self.session)
    }

    fn decide(
        &mut self,
        conditions: &ReadConditions<'_>,
        read: &ClientRead,
        known: Option<&KnownSession>,
        looked: SharedLookup,
    ) -> Option<Decision<ByLog>> {
        let (log, session, now) = (&self.log, &self.session, conditions.now_ns);
        let known_here = known.filter(|_| conditions.may_stay_pending && read.may_be_served());
        let shared = looked.as_ref().and_then(Option::as_ref).zip(known_here);
        let is_of_store = shared.is_some_and(|(shared, known)| self.store_shared(conditions, read, known, shared));
        let uses = Some(&conditions.results.uses).filter(|_| looked.is_none());
        let found = known_here.and_then(|known| {
            log.find(conditions.results.cache(), uses, &read.key, known, session, (now, conditions.publishable(read)))
        });
        if let Some(found) = found.filter(|found| conditions.is_suitable(read, found)) {
            self.store.iter().filter(|_| is_of_store).for_each(|store| store.count_hit());
            return Some(Decision::Serve(found));
        }
        known.is_none_or(|known| log.may_keep(&read.text, known)).then_some(())?;
        // Whether the result may be taken is asked last, and only with a store, because it takes several times as long as all else.
        let may_look = self.store.as_ref().zip(known_here).filter(|_| looked.is_none() && read.may_be_shared());
        let may_take = |known: &KnownSession| log.may_store_shared(&read.read_text(), known, session, now);
        let wait = may_look
            .filter(|(_, known)| may_take(known))
            .and_then(|(store, known)| store.get([&read.key, &known.common]));
        if let Some(wait) = wait {
            return Some(Decision::Wait(Box::pin(async move { Some(wait.await) })));
        }
        Some(Decision::Forward(()))
    }

    fn why(&mut self, conditions: &ReadConditions<'_>, read: &ClientRead, known: &KnownSession) -> ContextReason {
        self.log.why(conditions.results.cache(), &read.read_text(), known, &self.session, conditions.now_ns)
    }

    fn note_write(&self, now_ns: u64) {
        self.log.note_write(now_ns);
    }

    fn keep(&mut self, conditions: &ReadConditions<'_>, answered: AnsweredRead<'_, ByLog>) {
        let AnsweredRead { read, answer, known, source, moment, .. } = answered;
        let Some(state) = moment else { return };
        let encoding = conditions.row_encoding(read);
        let storable = StorableRead { read_text: read.read_text(), result: answer.result_set(), encoding, source };
        let shared = self.log.keep(conditions.results, &storable, known, state);
        if let Some((bytes, store)) = shared.zip(self.store.as_ref().filter(|_| read.may_be_shared())) {
            store.put([&read.key, &known.common], &bytes, answer.rows);
        }
    }
}

/// Returns the value of the row `Cache` in reports: that reads are answered by the binary log, or `OFF` and the reason.
/// `obstacle` is the reason for which nothing is served at all, and empty if there is none.
fn cache_row(obstacle: &str, progress: &Progress) -> String {
    match (progress.staleness, obstacle, progress.obstacle) {
        (Some(_), ..) => "ON, beside the application, by the server's binary log".into(),
        (None, "", Some(late)) => format!("OFF: {late}"),
        (None, obstacle, _) => format!("OFF: {obstacle}"),
    }
}

/// Returns the rows about the log in `SHOW FQC STATUS`.
fn of_log(progress: &Progress) -> [Row; 5] {
    let staleness = progress.staleness.map(|staleness| staleness.as_micros().to_string());
    [
        row("Bound in microseconds", progress.max_staleness.as_micros()),
        vec![Some("Answers may be old by microseconds".into()), staleness],
        row("Log heard in file", progress.received.file),
        row("Log heard to byte", progress.received.at),
        row("Log late by microseconds", progress.lag.as_micros()),
    ]
}
