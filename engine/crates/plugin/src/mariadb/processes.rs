//! Queries what the threads of a MariaDB server are doing.

use host::{Link, Row, number};
use session::EarlierStatement;

/// Returns the statements and open transactions that are running, apart from the one that asks. Threads without a client show no statement,
/// so their transactions are listed instead, with an empty text.
pub fn running(link: &mut dyn Link) -> Result<Vec<EarlierStatement>, String> {
    let rows = link.query(
        "SELECT ID, QUERY_ID, INFO FROM information_schema.PROCESSLIST \
         WHERE ID <> CONNECTION_ID() AND COMMAND NOT IN ('Sleep', 'Daemon', 'Connect', 'Binlog Dump') \
         AND COMMAND NOT LIKE 'Slave%' AND NOT (COMMAND = 'Delayed insert' AND STATE = 'Waiting for INSERT') \
         UNION ALL SELECT P.ID, T.trx_id, NULL FROM information_schema.PROCESSLIST AS P \
         JOIN information_schema.INNODB_TRX AS T ON T.trx_mysql_thread_id = P.ID WHERE P.COMMAND LIKE 'Slave%'",
    )?;
    Ok(rows.iter().filter_map(older_of).collect())
}

/// Returns the threads without a client that write: replication appliers and those of delayed inserts. They keep the list of plugins that
/// they started with.
pub fn lasting_threads(link: &mut dyn Link) -> Result<Vec<EarlierStatement>, String> {
    let rows = link.query(
        "SELECT ID, 0, NULL FROM information_schema.PROCESSLIST \
         WHERE COMMAND IN ('Slave_SQL', 'Slave_worker', 'Delayed insert')",
    )?;
    Ok(rows.iter().filter_map(older_of).collect())
}

fn older_of(row: &Row) -> Option<EarlierStatement> {
    let text = row.get(2).cloned().flatten().unwrap_or_default();
    Some(EarlierStatement { thread: number(row.first()?), number: number(row.get(1)?), text })
}
