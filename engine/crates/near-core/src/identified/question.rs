//! What the server is asked about a session before an answer to it is kept, and what is made of what it says.

use crate::digest;
use flavour::{Flavour, Habit};
use sql::{Charset, LexMode, Value};
use std::sync::LazyLock;

/// What is known of a session.
pub struct Known {
    /// As the server calls it.
    pub account: String,
    pub database: String,
    /// What distinguishes the server from others behind the same address.
    pub server: Vec<u8>,
    pub mode: LexMode,
    /// In transactions its reads lock the rows that they read.
    pub locks_what_it_reads: bool,
    /// Two sessions with the same one get the same results at the same time.
    pub identity: [u8; 32],
    /// The same for those that have come from other addresses. Only what calls `USER()`, a view for example, hangs on that.
    pub common: [u8; 32],
}

const ACCOUNT: &str = "CURRENT_USER()";
const DATABASE: &str = "DATABASE()";
const SQL_MODE: &str = "@@SESSION.sql_mode";
const CHARSET: &str = "@@SESSION.character_set_client";
const USER: &str = "USER()";
/// Among what is asked.
const USER_AT: usize = 5;
const SERVER: &str = "CONCAT_WS('/', @@GLOBAL.server_id, @@GLOBAL.hostname, @@GLOBAL.port, @@GLOBAL.datadir)";
/// With it a read may mean the row that was inserted last.
const MEANS_LAST: Habit =
    Habit { variables: &["sql_auto_is_null"], question: "@@SESSION.sql_auto_is_null", none: &["0", "OFF"] };

/// No session is served that has one of these habits.
fn unwanted(flavour: &Flavour) -> [Habit; 6] {
    let Flavour { asked, habits, .. } = flavour;
    [asked.temporaries, asked.uncommitted, habits.traces, habits.reports, habits.numbers, MEANS_LAST]
}

/// Among these. Its question is the isolation level.
const UNCOMMITTED_AT: usize = 1;
const SERIALIZABLE: &[u8] = b"SERIALIZABLE";

/// As each near cache of this version asks it.
pub fn is_question(text: &[u8]) -> bool {
    static BEGINS: LazyLock<String> =
        LazyLock::new(|| format!("SELECT IFNULL({ACCOUNT}, '-'), IFNULL({DATABASE}, '-'),"));
    text.starts_with(BEGINS.as_bytes())
}

/// What tells [`Known::server`], by itself.
pub fn server() -> String {
    format!("SELECT {SERVER}")
}

/// Each part of the question, those of [`unwanted`] last.
fn parts(flavour: &Flavour) -> Vec<String> {
    let first =
        [ACCOUNT, DATABASE, SQL_MODE, CHARSET, SERVER, USER, "@@GLOBAL.init_connect", "@@SESSION.sql_big_selects"];
    let settings = flavour.variables.askable.iter().map(|name| format!("@@SESSION.{name}"));
    let others = flavour.asked.others.iter().copied();
    let unwanted = unwanted(flavour);
    first
        .into_iter()
        .chain(others)
        .map(str::to_owned)
        .chain(settings)
        .chain(unwanted.iter().map(|habit| habit.question.to_owned()))
        .collect()
}

pub fn question(flavour: &Flavour) -> String {
    let parts: Vec<_> = parts(flavour).iter().map(|part| format!("IFNULL({part}, '-')")).collect();
    format!("SELECT {}", parts.join(", "))
}

/// Its value is asked for.
pub fn asks_for(flavour: &Flavour, name: &[u8]) -> bool {
    flavour.variables.is_askable(name)
        || flavour.asked.variables.iter().any(|known| known.as_bytes() == name)
        || unwanted(flavour).iter().any(|habit| habit.hangs_on(name))
}

/// None if nothing may be kept or served. `beside`: what else distinguishes the session.
pub fn known(flavour: &'static Flavour, values: &[Vec<u8>], beside: &[&[u8]]) -> Option<Known> {
    let [account, database, sql_mode, charset, server, ..] = values else { return None };
    let habits = unwanted(flavour);
    let of_habits = values.len().checked_sub(habits.len())?;
    if !habits.iter().zip(&values[of_habits..]).all(|(habit, value)| habit.is_none(value)) {
        return None;
    }
    let locks_what_it_reads = values[of_habits + UNCOMMITTED_AT] == SERIALIZABLE;
    let charset = Charset::of_name(charset, &flavour.charsets);
    let mode = LexMode { charset, ..LexMode::new(flavour) }.with_sql_mode(&Value::Text(sql_mode.clone()))?;
    let is_readable = charset != Charset::Unreadable && !mode.is_foreign && !flavour.schemas.is_system(database);
    let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
    let beside = beside.iter().copied();
    let others = values.iter().enumerate().filter(|(at, _)| *at != USER_AT).map(|(_, value)| value.as_slice());
    is_readable.then(|| Known {
        account: text(account),
        database: text(database),
        server: server.clone(),
        mode,
        locks_what_it_reads,
        identity: digest::of(values.iter().map(Vec::as_slice).chain(beside.clone())),
        common: digest::of(others.chain(beside)),
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
            let habits = unwanted(flavour);
            let of = |user: &str, account: &str| {
                let value = |part: &String| match part.as_str() {
                    USER => user.into(),
                    ACCOUNT => account.into(),
                    CHARSET => "utf8mb4".into(),
                    SQL_MODE => String::new(),
                    part => {
                        habits.iter().find(|habit| habit.question == part).map_or("d", |habit| habit.none[0]).into()
                    }
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
