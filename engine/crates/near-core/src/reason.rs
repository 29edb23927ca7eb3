//! Reasons why a read was answered by the server although rules or the binary log let reads be answered from memory, and why an
//! answer was not stored. Names that the engine uses, too, have the same meaning here.

use crate::counter::Counter;

sql::reasons! {
    NoCacheHint "sql_no_cache" "the statement says SQL_NO_CACHE";
    Attributes "query_attributes" "the client sent attributes with the statement, which functions may read";
    TooLong "too_long" "the statement has more than 16 KiB, or came in pieces";
    ParameterTypes "parameter_types" "the parameters of the prepared statement have had values of other types, or not all at once for the first time, or one that may be taken for another type";
    StatementContext "statement_context" "the session's settings changed since the statement was prepared, or were not known then";
    Transaction "transaction" "the session is in a transaction or has autocommit off, and no rule or option lets such reads be served, or it has written something or its reads lock; or the client has sent something ahead";
    SessionState "session_settings" "the session's settings are not known, and cannot be asked for: it has used temporary tables, CALL or LOCK TABLES, for example";
    FirstRead "first_read" "the first read of a connection, or after a write, a SET or a USE, of which no result was kept lately: the server is asked for the session's settings with it";
    KeepAlive "keep_alive" "the server had not heard of the connection for ten seconds";
    NearCache "near_cache" "the client is a near cache itself, which keeps what it reads";
    NotFollowed "log_not_followed" "the server's log is not followed; fqc_near_obstacle says why";
    Unproved "log_late" "it is not known that no change was missed within max-staleness-ms: the log, or the server, is late";
    Awaited "write_awaited" "a write through this near cache is awaited in the server's log";
    OtherServer "other_server" "the connection leads to another server than the log";
    TableUnknown "table_unknown" "a table was seen for the first time; the server is being asked about it";
    TableName "table_name" "a table's name has letters outside ASCII, or no schema, or the tables cannot be told from the text";
    TableHidden "table_hidden" "a table is not there, or the account that reads the log may not see it: grant it SELECT";
    View "view" "a view's definition is longer than 16 KiB or not understood, or it reads no table";
    ViewFunction "view_function" "a view calls a function whose value may differ at each read or for each session, or a stored function";
    ViewSystemSchema "view_system_schema" "a view reads a schema of the server's own";
    ViewHidden "view_hidden" "the account that reads the log may not see a view's definition: grant it SHOW VIEW";
    TableEngine "table_engine" "a table's engine or type does not qualify, or it has an undetermined generated column";
    TimeColumn "time_column" "a table has a TIME column, which the server completes with today's date where it compares it with a date";
    Cascades "cascades" "a table's rows change with those of another one (ON DELETE CASCADE and the like) whose name has letters besides ASCII letters, digits and _";
    MixedEngines "mixed_engines" "a table was changed in one transaction with a table of another engine";
    NoRule "no_rule" "no rule lets it be served, or one says never";
    NoLease "no_lease" "the near cache holds no lease of the server; fqc_near_obstacle says why";
    Unreported "not_reported" "the server has not reported the session's settings since they may have changed, or does not keep the read's result: SHOW FQC REASONS on the server says why";
    Absent "absent" "there is no result: it was not read before, or gave way to others";
    Outdated "outdated" "there is a result, but a table was written since it was read, or it is older than its rule lets it be";
    TooLarge "too_large" "the result has more than 1 MiB, or than there is room for";
    Warnings "warnings" "the statement raised warnings";
    Failed "failed" "the statement failed";
    Response "response" "the response is not a single complete result outside of a transaction";
}

/// For each reason, the number of reads that were not answered from memory for it, and of answers that were not stored.
pub struct Reasons(Vec<Counter>);

impl Default for Reasons {
    fn default() -> Self {
        Reasons((0..Reason::COUNT).map(|_| Counter::default()).collect())
    }
}

impl Reasons {
    pub fn count(&self, reason: Reason) {
        self.0[reason.index()].add(1);
    }

    /// Returns the name, count and explanation of every reason that has occurred, in a fixed order.
    pub fn list(&self) -> Vec<(&'static str, usize, &'static str)> {
        let all = Reason::all().zip(&self.0);
        all.map(|((name, text), count)| (name, count.get(), text)).filter(|(_, count, _)| *count > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = include_str!("../../../../docs/reference/engine.json");
    const GUIDE: &str = include_str!("../../../../docs/reference/near.md");

    fn stated(key: &str) -> Vec<&'static str> {
        let (_, rest) = FILE.split_once(&format!("\"{key}\": [")).expect("a list of this name");
        rest.split_once(']').expect("its end").0.split('"').skip(1).step_by(2).collect()
    }

    #[test]
    fn the_reasons_are_those_that_are_stated_and_those_of_the_engine_for_a_text() {
        let reasons = Reasons::default();
        reasons.0.iter().for_each(|counter| counter.add(1));
        let names: Vec<_> = reasons.list().into_iter().map(|(name, ..)| name).collect();
        let (own, of_text) = names.split_at(CONTEXT_REASONS.len());
        assert_eq!(own, stated("reasons of near caches"));
        assert!(of_text.iter().all(|name| stated("reasons").contains(name)));
        for (name, text) in CONTEXT_REASONS {
            assert!(GUIDE.contains(&format!("| `{name}` | {text} |")), "{name}");
        }
    }
}
