//! The question to the server about a session, which precedes storing any of the session's results, and the evaluation of its
//! answer.

use crate::digest;
use flavour::{Flavour, SideEffectSetting};
use sql::{Charset, LexMode, Value};
use std::sync::LazyLock;

/// The server's description of a session, from its answer to the near cache's question.
pub struct KnownSession {
    /// The account as CURRENT_USER() shows it, for example `app@%`.
    pub account: String,
    /// The current database, or `-` if there is none.
    pub database: String,
    /// Identifies the server among others that may stand behind the same address: id, host name, port and data directory.
    pub server: Vec<u8>,
    /// The mode in which the server parses the session's texts.
    pub mode: LexMode,
    /// True if the session's isolation level is SERIALIZABLE, so that its reads in transactions lock rows.
    pub is_serializable: bool,
    /// A hash of everything that can change a result. Sessions with the same identity get the same results at the same time.
    pub identity: [u8; 32],
    /// A hash of the same values without the client's address. Only results of USER(), for example through a view,
    /// depend on the address.
    pub common: [u8; 32],
}

const ACCOUNT: &str = "CURRENT_USER()";
const DATABASE: &str = "DATABASE()";
const SQL_MODE: &str = "@@SESSION.sql_mode";
const CHARSET: &str = "@@SESSION.character_set_client";
const USER: &str = "USER()";
/// The index of the value of USER() among the values in the answer to the query for the session context.
const USER_AT: usize = 5;
const SERVER: &str = "CONCAT_WS('/', @@GLOBAL.server_id, @@GLOBAL.hostname, @@GLOBAL.port, @@GLOBAL.datadir)";
/// The setting `sql_auto_is_null`: with it on, a read with `id IS NULL` may return the row that the session inserted
/// last.
const MEANS_LAST: SideEffectSetting = SideEffectSetting {
    variables: &["sql_auto_is_null"],
    expression: "@@SESSION.sql_auto_is_null",
    off_values: &["0", "OFF"],
};

/// Returns the behaviours of a session for which nothing may be stored or served in it, each with the setting that enables it.
fn unwanted(flavour: &Flavour) -> [SideEffectSetting; 6] {
    let Flavour { session_questions, side_effect_settings, .. } = flavour;
    [
        session_questions.temporaries,
        session_questions.uncommitted,
        side_effect_settings.traces,
        side_effect_settings.reports,
        side_effect_settings.numbers,
        MEANS_LAST,
    ]
}

/// The index in [`unwanted`] of the setting for uncommitted reads, whose expression returns the isolation level.
const UNCOMMITTED_AT: usize = 1;
const SERIALIZABLE: &[u8] = b"SERIALIZABLE";

/// Returns true if this text is the question about a session that a near cache of this version asks.
pub fn is_question(text: &[u8]) -> bool {
    static BEGINS: LazyLock<String> =
        LazyLock::new(|| format!("SELECT IFNULL({ACCOUNT}, '-'), IFNULL({DATABASE}, '-'),"));
    text.starts_with(BEGINS.as_bytes())
}

/// Returns the query for the value of [`KnownSession::server`] alone.
pub fn server() -> String {
    format!("SELECT {SERVER}")
}

/// Returns the expressions of the question. Those of [`unwanted`] come last.
fn parts(flavour: &Flavour) -> Vec<String> {
    let first =
        [ACCOUNT, DATABASE, SQL_MODE, CHARSET, SERVER, USER, "@@GLOBAL.init_connect", "@@SESSION.sql_big_selects"];
    let settings = flavour.variables.askable.iter().map(|name| format!("@@SESSION.{name}"));
    let others = flavour.session_questions.others.iter().copied();
    let unwanted = unwanted(flavour);
    first
        .into_iter()
        .chain(others)
        .map(str::to_owned)
        .chain(settings)
        .chain(unwanted.iter().map(|setting| setting.expression.to_owned()))
        .collect()
}

/// Returns the query that asks a server of this flavour about the session. Its answer is one row, for [`known`].
pub fn question(flavour: &Flavour) -> String {
    let parts: Vec<_> = parts(flavour).iter().map(|part| format!("IFNULL({part}, '-')")).collect();
    format!("SELECT {}", parts.join(", "))
}

/// Returns true if the answer to [`question`] shows whether a session has changed the variable with this name, which is
/// in lower case.
pub fn covers_variable(flavour: &Flavour, name: &[u8]) -> bool {
    flavour.variables.is_askable(name)
        || flavour.session_questions.variables.iter().any(|known| known.as_bytes() == name)
        || unwanted(flavour).iter().any(|setting| setting.depends_on(name))
}

/// Evaluates the values in the answer to [`question`]. The last argument contains further values that distinguish the session,
/// such as the server's address. Returns none if nothing may be stored or served in this session.
pub fn known(flavour: &'static Flavour, values: &[Vec<u8>], extra: &[&[u8]]) -> Option<KnownSession> {
    let [account, database, sql_mode, charset, server, ..] = values else { return None };
    let settings = unwanted(flavour);
    let of_settings = values.len().checked_sub(settings.len())?;
    if !settings.iter().zip(&values[of_settings..]).all(|(setting, value)| setting.is_off(value)) {
        return None;
    }
    let is_serializable = values[of_settings + UNCOMMITTED_AT] == SERIALIZABLE;
    let charset = Charset::of_name(charset, &flavour.charsets);
    let mode = LexMode { charset, ..LexMode::new(flavour) }.with_sql_mode(&Value::Text(sql_mode.clone()))?;
    let is_readable = charset != Charset::Unreadable && !mode.is_foreign && !flavour.schemas.is_system(database);
    let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
    let extra = extra.iter().copied();
    let others = values.iter().enumerate().filter(|(at, _)| *at != USER_AT).map(|(_, value)| value.as_slice());
    is_readable.then(|| KnownSession {
        account: text(account),
        database: text(database),
        server: server.clone(),
        mode,
        is_serializable,
        identity: digest::of(values.iter().map(Vec::as_slice).chain(extra.clone())),
        common: digest::of(others.chain(extra)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_known_as_one() {
        for flavour in [&flavour::MARIADB, &flavour::MYSQL] {
            assert!(is_question(question(flavour).as_bytes()));
        }
        assert!(!is_question(b"SELECT IFNULL(CURRENT_USER(), '-')"));
    }

    #[test]
    fn sessions_have_something_in_common_if_only_their_addresses_differ() {
        for flavour in [&flavour::MARIADB, &flavour::MYSQL] {
            let settings = unwanted(flavour);
            let of = |user: &str, account: &str| {
                let value = |part: &String| match part.as_str() {
                    USER => user.into(),
                    ACCOUNT => account.into(),
                    CHARSET => "utf8mb4".into(),
                    SQL_MODE => String::new(),
                    part => settings
                        .iter()
                        .find(|setting| setting.expression == part)
                        .map_or("d", |setting| setting.off_values[0])
                        .into(),
                };
                let values: Vec<_> = parts(flavour).iter().map(|part| value(part).into_bytes()).collect();
                let known = known(flavour, &values, &[b"beside"]).expect("it may be kept");
                (known.identity, known.common)
            };
            let (one, other, stranger) = (of("a@h1", "a@%"), of("a@h2", "a@%"), of("a@h1", "a@h1"));
            assert!(one.0 != other.0 && one.1 == other.1);
            assert!(one.1 != stranger.1 && other.1 != stranger.1);
        }
    }
}
