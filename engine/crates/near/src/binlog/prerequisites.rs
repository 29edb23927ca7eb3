//! What a server must be, so that its log tells of every change; and what mends it if it is not.

use super::asker::Asker;
use crate::account::Account;
use std::collections::HashMap;
use std::io;

const ASKED: &str = "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'log_bin', 'binlog_format', 'log_slave_updates', \
    'binlog_checksum', 'binlog_optimize_thread_scheduling', 'query_cache_type', 'wsrep_on')";
const FILTERS: &str = "SHOW MASTER STATUS";
/// Foreign keys that change other rows are told to whom has PROCESS alone.
const PROCESS: &str = "SELECT 1 FROM information_schema.INNODB_SYS_FOREIGN LIMIT 1";
const ACCESS_DENIED: &str = "error 1227";

pub struct Checked {
    /// Its log has checksums.
    pub has_checksums: bool,
    pub version: String,
    pub file: String,
}

pub async fn check(asker: &mut Asker) -> io::Result<Checked> {
    let rows = asker.ask(ASKED).await?;
    let text = |value: &Option<Vec<u8>>| String::from_utf8_lossy(value.as_deref().unwrap_or_default()).into_owned();
    let values: HashMap<_, _> = rows.iter().map(|row| (text(&row[0]).to_ascii_lowercase(), text(&row[1]))).collect();
    let value = |name: &str| values.get(name).map_or("", String::as_str);
    if let Some(missing) = missing(value) {
        return Err(io::Error::other(missing));
    }
    asker.ask(PROCESS).await?;
    let status = asker.ask(FILTERS).await?;
    let status = status.first().ok_or_else(|| io::Error::other("the server does not tell where its log is"))?;
    if status[2..4].iter().flatten().any(|filter| !filter.is_empty()) {
        let what = "the server leaves databases out of its log; remove binlog_do_db and binlog_ignore_db from its configuration, and \
            restart it";
        return Err(io::Error::other(what));
    }
    let has_checksums = !value("binlog_checksum").eq_ignore_ascii_case("none");
    Ok(Checked { has_checksums, version: value("version").into(), file: text(&status[0]) })
}

/// The first thing that is not as it must be, and what mends it.
fn missing<'a>(value: impl Fn(&str) -> &'a str) -> Option<&'static str> {
    let is_on = |name: &str| ["on", "1"].iter().any(|on| value(name).eq_ignore_ascii_case(on));
    if !value("version").contains("MariaDB") {
        return Some("only the log of MariaDB is followed; use rules here");
    }
    if is_on("wsrep_on") {
        return Some("the server is a node of a Galera cluster; use rules here");
    }
    if !is_on("log_bin") {
        return Some("the server has no binary log; add `log_bin` to its configuration, and restart it");
    }
    if !value("binlog_format").eq_ignore_ascii_case("row") {
        return Some(
            "the server logs statements; run SET GLOBAL binlog_format = 'ROW', add `binlog_format = ROW` to its configuration, and \
             let clients connect anew",
        );
    }
    if !is_on("log_slave_updates") {
        return Some(
            "the server would not log what it replicates; add `log_slave_updates = ON` to its configuration, and restart it",
        );
    }
    if !is_on("binlog_optimize_thread_scheduling") {
        return Some(
            "the server's log does not tell when a transaction can be seen; remove `binlog_optimize_thread_scheduling` from its \
             configuration, and restart it",
        );
    }
    if !["", "off"].iter().any(|off| value("query_cache_type").eq_ignore_ascii_case(off)) {
        return Some(
            "the server has a cache of its own, which may lag behind its log; run SET GLOBAL query_cache_type = OFF, remove \
             `query_cache_type` from its configuration, and let clients connect anew",
        );
    }
    None
}

/// An error with what mends it, if that is a privilege.
pub fn with_grant(error: io::Error, account: &Account) -> io::Error {
    if !error.to_string().starts_with(ACCESS_DENIED) {
        return error;
    }
    let grant = "GRANT REPLICATION SLAVE, BINLOG MONITOR, PROCESS ON *.* TO";
    io::Error::other(format!("{error}; run {grant} {}@'<this machine>'", account.user))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_with_what_mends_it() {
        let good = [
            ("version", "10.11.6-MariaDB-log"),
            ("log_bin", "ON"),
            ("binlog_format", "ROW"),
            ("log_slave_updates", "ON"),
            ("binlog_optimize_thread_scheduling", "ON"),
            ("query_cache_type", "OFF"),
            ("wsrep_on", "OFF"),
        ];
        let with = |name: &str, other: &'static str| {
            missing(|asked| {
                let (of, value) = good.iter().find(|(of, _)| *of == asked).expect(asked);
                if *of == name { other } else { *value }
            })
        };
        assert_eq!(with("", ""), None);
        for (name, value, told) in [
            ("version", "8.0.36", "use rules"),
            ("wsrep_on", "ON", "Galera"),
            ("log_bin", "OFF", "add `log_bin`"),
            ("binlog_format", "MIXED", "SET GLOBAL binlog_format = 'ROW'"),
            ("log_slave_updates", "OFF", "`log_slave_updates = ON`"),
            ("binlog_optimize_thread_scheduling", "OFF", "remove `binlog_optimize_thread_scheduling`"),
            ("query_cache_type", "DEMAND", "SET GLOBAL query_cache_type = OFF"),
        ] {
            assert!(with(name, value).is_some_and(|missing| missing.contains(told)), "{name}");
        }
    }
}
