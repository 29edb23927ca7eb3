//! The query that asks the server for settings that are not certain, and how its result is read.

use flavour::Flavour;
use wire::Query;

/// Asks the server for the settings that a session changed by an expression, and first for the number of rows found,
/// which the question itself replaces, and for what sessions run at their beginning.
pub fn question(flavour: &Flavour, capabilities: u64) -> Vec<u8> {
    let askable = flavour.variables.askable.iter().map(|name| format!("@@SESSION.{name}"));
    let of_habits = flavour.habits.all().map(|habit| habit.question.to_owned());
    let names: Vec<String> = askable.chain(of_habits).collect();
    let text = format!("SELECT FOUND_ROWS(), @@GLOBAL.init_connect, {}", names.join(", "));
    Query::packet(text.as_bytes(), capabilities)
}
