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

/// The values of the one row of a text result.
pub fn answer(response: &[u8], capabilities: u64) -> Option<Vec<Vec<u8>>> {
    let mut packets = wire::packets(response);
    let (columns, true) = wire::column_count(packets.next()?.payload, capabilities)? else { return None };
    let skipped = usize::try_from(columns).ok()? + usize::from(capabilities & wire::capability::DEPRECATE_EOF == 0);
    let row = packets.nth(skipped)?;
    let mut reader = wire::lenenc::Reader::new(row.payload);
    // What the server is asked for has no zeros but those of a wide character set of results.
    let narrow = |value: &[u8]| value.iter().copied().filter(|byte| *byte != 0).collect();
    (0..columns).map(|_| reader.string().map(narrow)).collect()
}
