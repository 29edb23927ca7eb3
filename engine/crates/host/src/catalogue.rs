//! Queries the server by SQL for what the engine needs to know of its tables, views and settings.
//!
//! A slow or failing query does no harm: results are stored only while these facts are current.

mod initial_state;
mod keys;
mod tables;
mod views;

pub use views::any_definition_contains as any_view_definition_contains;

use crate::link::{Link, Row};
use session::{Engine, LookUpRequest};

/// Looks up what new sessions start with, the names of all views and whether there are triggers, each only if the engine does not have it
/// yet, and gives the answers to the engine. An error is that of a failed query; the caller tries again in its next round.
pub fn look_up_wanted(engine: &Engine, link: &mut dyn Link) -> Result<(), String> {
    let knows_initial_state = engine.settings().knows_initial_state() && engine.settings().known_hosts().is_some();
    if engine.mode().is_awake() && !knows_initial_state {
        initial_state::look_up(engine, link)?;
    }
    if engine.catalogue().views().is_none() {
        views::publish(engine, link)?;
    }
    Ok(())
}

/// Looks up the views and tables that sessions have asked for, and stores the results that were waiting for them. Facts needed to store a
/// result come first; a table's key column comes last, and until it is known, a write to the table invalidates all of its results. An error
/// is that of a failed query: sessions ask again for what it was about.
pub fn look_up_requested(engine: &Engine, link: &mut dyn Link) -> Result<(), String> {
    let guarded = &mut GuardedLink { link: &mut *link, engine, inherited: engine.settings().inherited() };
    let settled = views::look_up_requested_definitions(engine, guarded);
    guarded.default_if_refused(settled)?;
    // Results that start waiting from here on are stored in the next round, because their tables are not in this list.
    let waiting = engine.late_result_count();
    let settled = settle(engine, link, &engine.tables().take_look_up_requests());
    engine.store_late_results(waiting);
    settled
}

/// Looks up the verdicts on these tables, that is, whether their results may be stored, and then their key columns. A table whose key
/// column could not be looked up is asked for again.
fn settle(engine: &Engine, link: &mut dyn Link, requests: &[LookUpRequest]) -> Result<(), String> {
    let mut with_columns = Vec::new();
    for one in requests.iter().filter(|one| !one.table.is_looked_up(engine.catalogue().generation())) {
        let guarded = &mut GuardedLink { link: &mut *link, engine, inherited: one.inherited };
        let settled = tables::look_up_verdict(engine, guarded, &one.table);
        with_columns.extend(guarded.default_if_refused(settled)?.map(|columns| (one, columns)));
    }
    let mut settled = Ok(());
    for (LookUpRequest { table, inherited }, columns) in &with_columns {
        let guarded = &mut GuardedLink { link: &mut *link, engine, inherited: *inherited };
        let key = if settled.is_ok() { tables::look_up_key(engine, guarded, table, columns) } else { settled.clone() };
        match key {
            Ok(()) => {}
            Err(_) if guarded.is_refused() => table.forget_verdict(),
            Err(error) => {
                engine.tables().request_look_up(table, *inherited);
                settled = Err(error);
            }
        }
    }
    settled
}

/// A link that refuses further queries once the engine is suspended, or tables may have been flushed or a global setting has changed.
struct GuardedLink<'a> {
    link: &'a mut dyn Link,
    engine: &'a Engine,
    /// The value of `Settings::inherited` when the read ran for which the look-up is made.
    inherited: u64,
}

impl GuardedLink<'_> {
    /// True if further queries are refused, so that a look-up must be given up.
    fn is_refused(&self) -> bool {
        !self.engine.may_look_up(self.inherited)
    }

    /// Returns `settled`, or the default value if further queries are refused: then the next session that uses one of these tables or views
    /// asks again.
    fn default_if_refused<T: Default>(&self, settled: Result<T, String>) -> Result<T, String> {
        if self.is_refused() { Ok(T::default()) } else { settled }
    }
}

impl Link for GuardedLink<'_> {
    fn query(&mut self, text: &str) -> Result<Vec<Row>, String> {
        let look_up = self.engine.begin_look_up(self.inherited);
        let _look_up = look_up.ok_or("what was asked about may have been flushed")?;
        self.link.query(text)
    }
}
