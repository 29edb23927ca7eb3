//! Reasons why a statement was not served or its result not stored. Each reason is counted; `SHOW FQC REASONS` explains
//! them.

use crate::flushable_counter::FlushableCounter;

sql::reasons! {
    Demand "demand" "query_cache_type is DEMAND and the statement does not say SQL_CACHE";
    NoCacheHint "sql_no_cache" "the statement, or a view that it reads, says SQL_NO_CACHE";
    NoTable "no_table_read" "the statement read no table";
    TableUnknown "table_unknown" "a table was seen for the first time; its engine is being looked up";
    TableEngine "table_engine" "a table's engine or type does not qualify, or it has an undetermined generated column";
    TimeColumn "time_column" "a table has a TIME column, which the server completes with today's date where it compares it with a date";
    Sequence "sequence" "a sequence was read: its values are handed out from memory, which no table tells of";
    SystemTable "system_table" "a table of a system schema was read, or the statement's database is one";
    View "view" "the statement reads a view whose definition forbids caching or is too long, or it has a name that may be that of any view";
    ViewUnknown "view_unknown" "a view was read for the first time; its definition is being looked up";
    ViewFunction "view_function" "a view that the statement reads calls a function whose result may not be cached, such as NOW(), CURRENT_USER() or a stored function";
    ViewSystemSchema "view_system_schema" "a view that the statement reads is of a schema that the server maintains itself";
    WroteTable "wrote_table" "the statement locked a table for writing";
    OwnWrites "own_writes" "the transaction itself has written a table of the statement";
    Snapshot "snapshot" "the moment of the transaction's snapshot is not known";
    Isolation "isolation" "reads of this isolation level are never cached";
    Branch "xa_transaction" "the session is in an XA transaction";
    TemporaryTables "temporary_tables" "the session may have temporary tables";
    LockedTables "locked_tables" "the session is under LOCK TABLES";
    SessionState "session_settings" "the session's settings are not known";
    Changed "changed" "a table changed, or was being changed, while the statement ran";
    TooLarge "too_large" "the result is larger than query_cache_limit or than its share of the cache";
    NoMemory "no_memory" "query_cache_size is too small to store anything";
    Warnings "warnings" "the statement raised warnings";
    Failed "failed" "the statement failed";
    Response "response" "the response is not a single complete result";
    Cursor "cursor" "a cursor was asked for, or parameters were sent in pieces";
    StatementContext "statement_context" "the session's settings changed since the statement was prepared";
    ParameterTypes "parameter_types" "the parameters of the prepared statement have had values of other types, or not all at once for the first time, or one that may be taken for another type: MySQL goes by that";
    Attributes "query_attributes" "the client sent attributes with the statement, which functions may read";
    MetadataCached "metadata_cached" "the client keeps column metadata of prepared statements itself";
    NotReused "not_reused" "results of this statement are removed before they are read again; only a few are stored, to notice when that changes";
    Rule "rule" "a rule of fqc_rules says never";
    Fragmented "fragmented" "the command arrived in pieces";
    Compressed "compressed" "a connection was compressed: none of its statements is looked at";
    UnknownCapability "unknown_capability" "a connection agreed with the server on a capability that the engine does not know: none of its statements is looked at";
}

/// Reasons that are temporary or concern one session. They say nothing about whether the results of a statement are
/// worth storing, so the statistics do not count them against the statement.
pub(crate) const PASSING: [ContextReason; 12] = [
    ContextReason::TableUnknown,
    ContextReason::ViewUnknown,
    ContextReason::OwnWrites,
    ContextReason::Snapshot,
    ContextReason::Isolation,
    ContextReason::Branch,
    ContextReason::TemporaryTables,
    ContextReason::LockedTables,
    ContextReason::SessionState,
    ContextReason::ParameterTypes,
    ContextReason::Changed,
    ContextReason::NoMemory,
];

const _: () = assert!(Reason::COUNT <= insight::REASONS);

/// The name of a reason, as in SHOW FQC REASONS. `index` is from [`Reason::index`]; panics if there is no such reason.
pub fn name(index: usize) -> &'static str {
    match index.checked_sub(CONTEXT_REASONS.len()) {
        None => CONTEXT_REASONS[index].0,
        Some(index) => sql::Refusal::ALL[index].name(),
    }
}

/// Counts for each reason since the engine was loaded, or since FLUSH STATUS.
pub struct Reasons(Vec<Occurrences>);

#[derive(Default)]
struct Occurrences {
    count: FlushableCounter,
    /// Total time that the server took for these statements in nanoseconds, where it was measured.
    ns: FlushableCounter,
}

/// A reason that has occurred at least once since the counts were last reset.
pub struct ReasonCount {
    /// The reason's number, see [`Reason::index`].
    pub index: usize,
    pub name: &'static str,
    pub count: u64,
    /// Total time in nanoseconds that the server took for these statements, where it was measured.
    pub ns: u64,
    /// A sentence for users about what the reason means.
    pub meaning: &'static str,
}

impl Default for Reasons {
    fn default() -> Self {
        Reasons((0..Reason::COUNT).map(|_| Occurrences::default()).collect())
    }
}

impl Reasons {
    /// Counts a statement that was not cached for this reason. `ns` is the time in nanoseconds that the server took for
    /// it; 0 if unknown.
    pub fn count(&self, reason: Reason, ns: u64) {
        let Occurrences { count, ns: total } = &self.0[reason.index()];
        count.add(1);
        total.add(ns);
    }

    /// The reasons that have occurred, in the order of their numbers.
    pub fn list(&self) -> Vec<ReasonCount> {
        let all = Reason::all().zip(&self.0).enumerate();
        let all = all.map(|(index, ((name, meaning), Occurrences { count, ns }))| ReasonCount {
            index,
            name,
            count: count.sum(),
            ns: ns.sum(),
            meaning,
        });
        all.filter(|reason| reason.count > 0).collect()
    }

    pub fn flush(&self) {
        self.0.iter().flat_map(|Occurrences { count, ns }| [count, ns]).for_each(FlushableCounter::flush);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stated::stated;

    #[test]
    fn the_reasons_are_those_that_are_stated() {
        let reasons = Reasons::default();
        reasons.0.iter().for_each(|reason| reason.count.add(1));
        let names: Vec<_> = reasons.list().into_iter().map(|reason| reason.name).collect();
        assert_eq!(names, stated("reasons"));
        reasons.flush();
        assert!(reasons.list().is_empty());
    }
}
