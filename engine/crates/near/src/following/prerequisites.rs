//! Checks whether a server's log has every change. If not, the error says how to fix it.

use super::query_connection::{QueryConnection, Row, value};
use crate::account::Account;
use near_core::binlog::product::BinlogProduct;
use std::collections::HashMap;
use std::io;

const FILTERED: &str = "the server leaves databases out of its log; remove binlog_do_db and binlog_ignore_db from its configuration, \
    and restart it";
/// The beginning of an error about a missing privilege.
const ACCESS_DENIED: &str = "error 1227";

/// The facts about the server's log that its check has found.
pub struct LogFacts {
    /// True if the events of the log end with checksums.
    pub has_checksums: bool,
    /// The name of the file that the server writes its log to now.
    pub file: String,
}

/// Asks the server for its version. Returns its product, and the version as the server reports it. An error if the log of this product or
/// version cannot be followed.
pub async fn product(connection: &mut QueryConnection) -> io::Result<(BinlogProduct, String)> {
    let rows = connection.query("SELECT VERSION()").await?;
    let version = rows.first().map(|row| text(row, 0)).unwrap_or_default();
    let product = BinlogProduct::of(&version)
        .ok_or_else(|| io::Error::other(format!("the log of a server {version} is not followed; use rules here")))?;
    Ok((product, version))
}

/// Checks that the server's settings put every change into its log, and that the account may read what is needed. The error says how to fix
/// it.
pub async fn check(connection: &mut QueryConnection, product: &BinlogProduct) -> io::Result<LogFacts> {
    const CHECKSUM: &str = "binlog_checksum";
    let names: Vec<_> = product.settings.iter().flat_map(|setting| setting.names).chain(&[CHECKSUM]).collect();
    let names = names.into_iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    let rows = connection.query(&format!("SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})")).await?;
    let values: HashMap<_, _> = rows.iter().map(|row| (text(row, 0).to_ascii_lowercase(), text(row, 1))).collect();
    if let Some(missing) = product.first_problem(|name| values.get(name).map(String::as_str)) {
        return Err(io::Error::other(missing));
    }
    if let Some(probe) = product.probe {
        connection.query(probe).await?;
    }
    let status = connection.query(product.status).await?;
    let Some([Some(file), _, only, without, ..]) = status.first().map(Vec::as_slice) else {
        return Err(io::Error::other("the server does not tell where its log is"));
    };
    if [only, without].into_iter().flatten().any(|filter| !filter.is_empty()) {
        return Err(io::Error::other(FILTERED));
    }
    let has_checksums = !values.get(CHECKSUM).is_none_or(|kind| kind.eq_ignore_ascii_case("none"));
    Ok(LogFacts { has_checksums, file: String::from_utf8_lossy(file).into_owned() })
}

/// Returns a column's value as text; empty if it is NULL or missing.
fn text(row: &Row, column: usize) -> String {
    String::from_utf8_lossy(value(row, column).unwrap_or_default()).into_owned()
}

/// Adds the GRANT statement that an account needs to an error about a missing privilege. Returns other errors unchanged.
pub fn with_grant(error: io::Error, product: &BinlogProduct, account: &Account) -> io::Error {
    if !error.to_string().starts_with(ACCESS_DENIED) {
        return error;
    }
    let grant = format!("GRANT {} ON *.* TO {}@'<this machine>'", product.privileges, account.user);
    io::Error::other(format!("{error}; run {grant}"))
}
