//! Serves results by the server's binary log, which shows what has changed; see [`binlog`](super).

use super::{Absolute, Begun, Log, Noted, Progress, Read, tables_made};
use crate::clock;
use crate::freshness::Summary;
use crate::identified::{Answered, Asked, Bound, Decision, Here, Known};
use crate::memory::Memory;
use crate::reason::ContextReason;
use crate::report::row;
use crate::store::{Store, Stored};
use crate::uses::Source;
use flavour::Flavour;
use insight::report::Row;
use std::sync::Arc;

/// Bounds the age of results on one connection by the server's binary log.
pub struct ByLog {
    pub log: Arc<Log>,
    /// The state of the privileges when the session began.
    pub begun: Begun,
    /// The store that several near caches share, if there is one.
    pub store: Option<Arc<dyn Store>>,
    pub memory: Arc<Memory>,
}

/// The outcome of a lookup in the shared store: none before the store has been asked. It then contains the result of another near
/// cache with its number of rows, if there is one.
type Looked = Option<Option<Stored>>;

impl ByLog {
    /// Stores a result from the shared store in memory, where `decide` looks for it. Returns false if the result may not be
    /// served.
    fn take(&self, here: &Here<'_>, asked: &Asked, known: &Known, (bytes, rows): &Stored) -> bool {
        let source = Source::of_store(here.shape(asked, known));
        let result = Absolute::read(bytes)
            .and_then(|(at, answer)| Some((at, here.result(asked, answer, *rows, self.store.as_deref())?)));
        self.log.may_take(&asked.wording(), known, &self.begun, here.now_ns)
            && result
                .is_some_and(|(at, result)| self.log.take(here.results, &asked.wording(), known, at, result, source))
    }
}

impl Bound for ByLog {
    /// The state of the log when the session last had no open transaction. None if the log was not followed then.
    type Moment = Option<Noted>;
    type Tried = Looked;
    type Claim = ();

    fn further_question(&self, flavour: &'static Flavour) -> Option<&'static str> {
        tables_made(flavour)
    }

    fn summary(&self, memory: &Memory) -> Summary {
        let (progress, counted) = (self.log.progress(clock::now()), memory.results.counted());
        let of_store = self.store.iter().flat_map(|store| store.rows(counted.hits, counted.misses));
        let rows = of_log(&progress).into_iter().chain(of_store).collect();
        Summary { cache: verdict(&memory.obstacle.get(), &progress), rows, ..Summary::default() }
    }

    fn serves_inside(&self) -> bool {
        self.memory.settings().in_transactions
    }

    fn moment(&self, _: u64) -> Option<Noted> {
        self.log.note(&self.begun)
    }

    fn decide(
        &mut self,
        here: &Here<'_>,
        asked: &Asked,
        known: Option<&Known>,
        looked: Looked,
    ) -> Option<Decision<ByLog>> {
        let (log, begun, now) = (&self.log, &self.begun, here.now_ns);
        let known_here = known.filter(|_| here.may_stay_unseen && asked.may_be_served());
        let shared = looked.as_ref().and_then(Option::as_ref).zip(known_here);
        let is_of_store = shared.is_some_and(|(shared, known)| self.take(here, asked, known, shared));
        let uses = Some(&here.results.uses).filter(|_| looked.is_none());
        let found = known_here.and_then(|known| {
            log.find(here.results.cache(), uses, &asked.key, known, begun, (now, here.asking(asked)))
        });
        if let Some(found) = found.filter(|found| here.is_for(asked, found)) {
            self.store.iter().filter(|_| is_of_store).for_each(|store| store.count_hit());
            return Some(Decision::Serve(found));
        }
        known.is_none_or(|known| log.may_keep(&asked.text, known)).then_some(())?;
        let may_look = known_here
            .filter(|_| asked.may_be_shared())
            .filter(|known| looked.is_none() && log.may_take(&asked.wording(), known, begun, now));
        if let Some(wait) = may_look.and_then(|known| self.store.as_ref()?.find([&asked.key, &known.common])) {
            return Some(Decision::Wait(Box::pin(async move { Some(wait.await) })));
        }
        Some(Decision::Forward(()))
    }

    fn why(&mut self, here: &Here<'_>, asked: &Asked, known: &Known) -> ContextReason {
        self.log.why(here.results.cache(), &asked.wording(), known, &self.begun, here.now_ns)
    }

    fn wrote(&self, now_ns: u64) {
        self.log.wrote(now_ns);
    }

    fn keep(&mut self, here: &Here<'_>, answered: Answered<'_, ByLog>) {
        let Answered { asked, answer, known, source, moment, .. } = answered;
        let Some(noted) = moment else { return };
        let read = Read { wording: asked.wording(), result: answer.result_set(), noted, source };
        let shared = self.log.keep(here.results, &read, known);
        if let Some((bytes, store)) = shared.zip(self.store.as_ref().filter(|_| asked.may_be_shared())) {
            store.put([&asked.key, &known.common], &bytes, answer.rows);
        }
    }
}

/// Returns the value of the row `Cache` in reports.
fn verdict(obstacle: &str, progress: &Progress) -> String {
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
        row("Bound in microseconds", progress.bound.as_micros()),
        vec![Some("Answers may be old by microseconds".into()), staleness],
        row("Log heard in file", progress.heard.file),
        row("Log heard to byte", progress.heard.at),
        row("Log late by microseconds", progress.waits.as_micros()),
    ]
}
