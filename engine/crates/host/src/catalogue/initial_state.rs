//! What new sessions start with: how their statements are parsed, and which users have different grants for different hosts.

use crate::link::{Link, first_column};
use flavour::Flavour;
use session::{Engine, InitialState, SideEffects};
use sql::{Assignment, Kind, LexMode, Target, Value};
use std::collections::HashSet;

/// Looks up the settings that new sessions inherit, and whether all new sessions are parsed in the usual way, and gives both to the engine.
/// The engine ignores the answers if settings have changed since this began. An error is that of the first query; where a later one fails,
/// the worst is assumed.
pub fn look_up(engine: &Engine, link: &mut dyn Link) -> Result<(), String> {
    let flavour = engine.flavour();
    let inherited = engine.settings().inherited();
    let of_settings = flavour
        .side_effect_settings
        .all()
        .map(|setting| setting.expression.replace("@@SESSION.", "@@GLOBAL."))
        .join(", ");
    let rows = link.query(&format!("SELECT @@GLOBAL.sql_mode, @@GLOBAL.init_connect, {of_settings}"))?;
    if let Some(
        [Some(mode), Some(first), Some(traces), Some(idleness), Some(reports), Some(joins), Some(numbers), Some(waits)],
    ) = rows.first().map(|row| row.as_slice())
    {
        // The users stay valid as long as no privilege changes, so they are not queried again after each SET GLOBAL.
        if engine.settings().known_hosts().is_none() {
            engine.contexts().note_several_hosts(users_with_several_hosts(flavour, link));
            engine.settings().note_hosts(inherited);
        }
        let parses_as_usual =
            is_usual(flavour, mode) && is_plain(flavour, first) && !may_passwords_expire(flavour, link);
        let (has_init_connect, side_effects) =
            (!first.is_empty(), SideEffects::from_values(flavour, [traces, idleness, reports, joins, numbers, waits]));
        engine
            .settings()
            .note_initial_state(inherited, InitialState { parses_as_usual, has_init_connect, side_effects });
    }
    Ok(())
}

/// Returns the users with grants for more than one host. The anonymous user (an empty name), whose grants apply to all users, is among them
/// if its grants are not the same for every host. If the query fails, only the empty name is returned, and then stands for everyone.
fn users_with_several_hosts(flavour: &Flavour, link: &mut dyn Link) -> HashSet<Vec<u8>> {
    link.query(flavour.catalogue.users_with_several_hosts)
        .map_or_else(|_| HashSet::from([Vec::new()]), |rows| first_column(rows).collect())
}

/// True if passwords may expire over time, or if that could not be queried. The server then refuses a session's statements, and only its
/// response shows that.
fn may_passwords_expire(flavour: &Flavour, link: &mut dyn Link) -> bool {
    let answer = link
        .query(flavour.catalogue.no_password_expires)
        .ok()
        .and_then(|rows| rows.into_iter().next()?.into_iter().next()?);
    answer.as_deref() != Some(b"1")
}

/// True if `mode`, a value of `sql_mode`, leaves the parsing of statements as it is by default.
fn is_usual(flavour: &'static Flavour, mode: &[u8]) -> bool {
    let usual = LexMode::new(flavour);
    usual.with_sql_mode(&Value::Text(mode.to_vec())) == Some(usual)
}

/// True if `text`, the value of `init_connect`, leaves `sql_mode` and the session settings that the engine follows unchanged.
fn is_plain(flavour: &'static Flavour, text: &[u8]) -> bool {
    let counts = |assignment: &Assignment| matches!(&assignment.target, Target::Session(name) if name == b"sql_mode" || SideEffects::depend_on(flavour, name));
    match sql::classify(text, LexMode::new(flavour)).kind {
        Kind::Empty => true,
        Kind::Set(assignments) => !assignments.iter().any(counts),
        _ => false,
    }
}
