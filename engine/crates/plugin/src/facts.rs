//! What the engine has to know of the server's tables, views and settings, asked for by SQL.

use crate::keys;
use crate::mariadb::local::{self, Local};
use session::{Beginnings, Engine, Habits, Table, Verdict, ViewNames};
use sql::{Assignment, Kind, LexMode, Target, Value};
use std::collections::HashSet;

/// How the texts of new sessions are read, and whether all of them are.
pub fn look_up_beginnings(engine: &Engine, link: &mut Local) -> Result<(), String> {
    let inherited = engine.settings().inherited();
    let of_habits = Habits::QUESTIONS.map(|question| question.replace("@@SESSION.", "@@GLOBAL.")).join(", ");
    let rows = link.query(&format!("SELECT @@GLOBAL.sql_mode, @@GLOBAL.init_connect, {of_habits}"))?;
    if let Some([Some(mode), Some(first), Some(trace), Some(idle), Some(transactions), Some(big_selects)]) =
        rows.first().map(|row| row.as_slice())
    {
        engine.contexts().note_several_hosts(users_with_several_hosts(link));
        engine.settings().note_hosts(inherited);
        let as_usual = is_usual(mode) && is_plain(first) && !may_passwords_expire(link);
        let (with_first, habits) = (!first.is_empty(), Habits::told([trace, idle, transactions, big_selects]));
        engine.settings().note_beginnings(inherited, Beginnings { as_usual, with_first, habits });
    }
    Ok(())
}

/// Of the nameless user, whose grants all others have, those who are not granted the same for every host. All users, where that
/// cannot be told.
fn users_with_several_hosts(link: &mut Local) -> HashSet<Vec<u8>> {
    let granted = ["db", "tables_priv", "columns_priv"].map(|table| format!("SELECT User, Host FROM mysql.{table}"));
    let several = format!(
        "SELECT User FROM (SELECT User, Host FROM mysql.global_priv WHERE User <> '' UNION {}) AS hosts \
         WHERE Host <> IF(User = '', '%', '') GROUP BY User HAVING User = '' OR COUNT(*) > 1",
        granted.join(" UNION ")
    );
    link.query(&several).map_or_else(|_| HashSet::from([Vec::new()]), |rows| first_column(rows).collect())
}

/// With time alone: the server then refuses what a session asks, which nothing else tells than its answer.
fn may_passwords_expire(link: &mut Local) -> bool {
    let lasting = "SELECT @@GLOBAL.default_password_lifetime = 0 AND NOT EXISTS \
                   (SELECT 1 FROM mysql.global_priv WHERE JSON_VALUE(Priv, '$.password_lifetime') > 0)";
    let answer = link.query(lasting).ok().and_then(|rows| rows.into_iter().next()?.into_iter().next()?);
    answer.as_deref() != Some(b"1")
}

fn is_usual(mode: &[u8]) -> bool {
    let usual = LexMode::default();
    usual.with_sql_mode(&Value::Text(mode.to_vec())) == Some(usual)
}

/// Whether what sessions run at their beginning leaves `sql_mode` and their habits alone.
fn is_plain(text: &[u8]) -> bool {
    let counts = |assignment: &Assignment| matches!(&assignment.target, Target::Session(name) if name == b"sql_mode" || Habits::hang_on(name));
    match sql::classify(text, LexMode::default()).kind {
        Kind::Empty => true,
        Kind::Set(assignments) => !assignments.iter().any(counts),
        _ => false,
    }
}

pub fn publish_facts(engine: &Engine, link: &mut Local) -> Result<(), String> {
    let generation = engine.catalogue().generation();
    let mut names = HashSet::new();
    // A text that names a view of theirs names its schema, too, or is not kept for where it is read.
    let schemas = first_column(link.query("SHOW DATABASES")?).filter(|schema| !session::is_system_schema(schema));
    for schema in schemas {
        // Unlike the tables of information_schema, this only looks at the beginning of each definition.
        let name = String::from_utf8_lossy(&schema).replace('`', "``");
        match link.query(&format!("SHOW FULL TABLES FROM `{name}` WHERE Table_type LIKE '%VIEW'")) {
            Ok(rows) => names.extend(first_column(rows).map(|name| name.to_ascii_lowercase())),
            Err(error) if has_no_views(&error) => {}
            Err(error) => return Err(error),
        }
    }
    engine.catalogue().publish(ViewNames { generation, names, folds_case: !engine.settings().tells_case() });
    Ok(())
}

/// Of a schema that was dropped in between, which has begun another generation, and of a directory that the server may not
/// read, such as the `lost+found` of a file system that is its data directory.
fn has_no_views(error: &str) -> bool {
    error.contains("Unknown database") || error.contains("(errno: 13 ")
}

fn first_column(rows: Vec<local::Row>) -> impl Iterator<Item = Vec<u8>> {
    rows.into_iter().filter_map(|row| row.into_iter().next().flatten())
}

pub fn settle(engine: &Engine, link: &mut Local, table: &Table) -> Result<(), String> {
    let era = table.era(engine.catalogue().generation());
    let verdict = judge(link, &table.db, &table.name)?;
    table.settle(era, verdict);
    Ok(())
}

pub fn settle_key(engine: &Engine, link: &mut Local, table: &Table) -> Result<(), String> {
    let generation = engine.catalogue().generation();
    let era = table.era(generation);
    if table.verdict(generation) == Verdict::Snapshot {
        let key = keys::key_column(link, &literal(&table.db), &literal(&table.name))?;
        table.settle_key(era, key);
    }
    Ok(())
}

fn judge(link: &mut Local, db: &[u8], name: &[u8]) -> Result<Verdict, String> {
    let which = format!("TABLE_SCHEMA = {} AND TABLE_NAME = {}", literal(db), literal(name));
    let rows = link.query(&format!("SELECT ENGINE, TABLE_TYPE FROM information_schema.TABLES WHERE {which}"))?;
    let Some([Some(engine), Some(kind)]) = rows.first().map(|row| row.as_slice()) else { return Ok(Verdict::Unfit) };
    let verdict = match engine.as_slice() {
        b"InnoDB" => Verdict::Snapshot,
        b"MyISAM" | b"MEMORY" => Verdict::Plain,
        b"Aria" => Verdict::Joining,
        _ => Verdict::Unfit,
    };
    if !matches!(kind.as_slice(), b"BASE TABLE" | b"SYSTEM VERSIONED") {
        return Ok(Verdict::Unfit);
    }
    // The server completes a TIME with today's date where it is compared with a date.
    let times =
        link.query(&format!("SELECT 1 FROM information_schema.COLUMNS WHERE {which} AND DATA_TYPE = 'time' LIMIT 1"))?;
    if !times.is_empty() {
        return Ok(Verdict::Unfit);
    }
    let expressions = link.query(&format!(
        "SELECT GENERATION_EXPRESSION FROM information_schema.COLUMNS WHERE {which} AND EXTRA LIKE '%VIRTUAL%'"
    ))?;
    let is_fixed = expressions.iter().all(|row| row.first().is_some_and(|value| is_deterministic(value.as_deref())));
    Ok(if is_fixed { verdict } else { Verdict::Unfit })
}

/// Whether a generated column has the same value at every read.
fn is_deterministic(expression: Option<&[u8]>) -> bool {
    let text = [b"SELECT ", expression.unwrap_or_default(), b" FROM t"].concat();
    matches!(sql::classify(&text, LexMode::default()).kind, Kind::Read(read) if read.refusal.is_none())
}

/// A name as a literal that no setting can change the meaning of.
fn literal(name: &[u8]) -> String {
    let digits: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("_utf8mb3 x'{digits}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_the_server_may_not_read_has_no_views() {
        assert!(has_no_views("Can't read dir of './lost+found/' (errno: 13 \"Permission denied\")"));
        assert!(has_no_views("Unknown database 'gone'"));
        assert!(!has_no_views("Can't read dir of './shop/' (errno: 24 \"Too many open files\")"));
    }
}
