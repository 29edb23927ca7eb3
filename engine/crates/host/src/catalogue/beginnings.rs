//! How new sessions begin: how their texts are read, and to whom something is granted for several hosts.

use crate::link::{Link, first_column};
use flavour::Flavour;
use session::{Beginnings, Engine, Habits};
use sql::{Assignment, Kind, LexMode, Target, Value};
use std::collections::HashSet;

/// How the texts of new sessions are read, and whether all of them are.
pub fn look_up(engine: &Engine, link: &mut dyn Link) -> Result<(), String> {
    let flavour = engine.flavour();
    let inherited = engine.settings().inherited();
    let of_habits = flavour.habits.all().map(|habit| habit.question.replace("@@SESSION.", "@@GLOBAL.")).join(", ");
    let rows = link.query(&format!("SELECT @@GLOBAL.sql_mode, @@GLOBAL.init_connect, {of_habits}"))?;
    if let Some([Some(mode), Some(first), Some(traces), Some(idleness), Some(reports), Some(joins), Some(numbers)]) =
        rows.first().map(|row| row.as_slice())
    {
        // As long as no privilege changes, that is known: it is not asked again for each SET GLOBAL.
        if engine.settings().known_hosts().is_none() {
            engine.contexts().note_several_hosts(users_with_several_hosts(flavour, link));
            engine.settings().note_hosts(inherited);
        }
        let as_usual = is_usual(flavour, mode) && is_plain(flavour, first) && !may_passwords_expire(flavour, link);
        let (with_first, habits) =
            (!first.is_empty(), Habits::told(flavour, [traces, idleness, reports, joins, numbers]));
        engine.settings().note_beginnings(inherited, Beginnings { as_usual, with_first, habits });
    }
    Ok(())
}

/// Of the nameless user, whose grants all others have, those who are not granted the same for every host. All users, where that
/// cannot be told.
fn users_with_several_hosts(flavour: &Flavour, link: &mut dyn Link) -> HashSet<Vec<u8>> {
    link.query(flavour.catalogue.users_with_several_hosts)
        .map_or_else(|_| HashSet::from([Vec::new()]), |rows| first_column(rows).collect())
}

/// With time alone: the server then refuses what a session asks, which nothing else tells than its answer.
fn may_passwords_expire(flavour: &Flavour, link: &mut dyn Link) -> bool {
    let answer = link
        .query(flavour.catalogue.passwords_last)
        .ok()
        .and_then(|rows| rows.into_iter().next()?.into_iter().next()?);
    answer.as_deref() != Some(b"1")
}

fn is_usual(flavour: &'static Flavour, mode: &[u8]) -> bool {
    let usual = LexMode::new(flavour);
    usual.with_sql_mode(&Value::Text(mode.to_vec())) == Some(usual)
}

/// Whether what sessions run at their beginning leaves `sql_mode` and their habits alone.
fn is_plain(flavour: &'static Flavour, text: &[u8]) -> bool {
    let counts = |assignment: &Assignment| matches!(&assignment.target, Target::Session(name) if name == b"sql_mode" || Habits::hang_on(flavour, name));
    match sql::classify(text, LexMode::new(flavour)).kind {
        Kind::Empty => true,
        Kind::Set(assignments) => !assignments.iter().any(counts),
        _ => false,
    }
}
