//! Queries what the threads of a MySQL server are doing.

use host::{Link, Row, number};
use session::EarlierStatement;

/// Returns the statements and open transactions that are running, apart from the one that asks. A replication applier's thread shows no
/// statement while it applies rows, so its open transaction is listed instead. When it ends a prepared transaction, it has none open, but
/// shows the statement. Connections between the members of a replication group are left out: their command lasts as long as the membership.
/// The number of a statement is 0 if the performance schema is off. An error is that of a failed query.
pub fn running(link: &mut dyn Link) -> Result<Vec<EarlierStatement>, String> {
    let rows = link.query(
        "SELECT P.ID, CONVERT(COALESCE(S.EVENT_ID, 0), CHAR), P.INFO FROM information_schema.PROCESSLIST AS P \
         LEFT JOIN performance_schema.threads AS T ON T.PROCESSLIST_ID = P.ID \
         LEFT JOIN performance_schema.events_statements_current AS S \
         ON S.THREAD_ID = T.THREAD_ID AND (S.NESTING_EVENT_ID IS NULL OR S.NESTING_EVENT_TYPE = 'TRANSACTION') \
         WHERE P.ID <> CONNECTION_ID() AND (P.USER <> 'system user' \
         AND P.COMMAND NOT IN ('Sleep', 'Daemon', 'Connect', 'Binlog Dump', 'Binlog Dump GTID') \
         AND P.COMMAND NOT LIKE 'Group Replicatio%' \
         OR P.USER = 'system user' AND P.INFO LIKE 'XA %') \
         UNION ALL SELECT P.ID, CONVERT(X.trx_id, CHAR), NULL FROM information_schema.PROCESSLIST AS P \
         JOIN information_schema.INNODB_TRX AS X ON X.trx_mysql_thread_id = P.ID WHERE P.USER = 'system user'",
    )?;
    Ok(rows.iter().filter_map(older_of).collect())
}

fn older_of(row: &Row) -> Option<EarlierStatement> {
    let text = row.get(2).cloned().flatten().unwrap_or_default();
    Some(EarlierStatement { thread: number(row.first()?), number: number(row.get(1)?), text })
}
