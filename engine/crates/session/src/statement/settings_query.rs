//! The query for the values of uncertain settings.

use flavour::Flavour;
use wire::Query;

/// Returns the packet of a query for the variables that a session may have set by an expression, and for its side effects.
/// The first columns are FOUND_ROWS(), which the query itself overwrites, and `init_connect`, which sessions run first.
pub fn packet(flavour: &Flavour, capabilities: u64) -> Vec<u8> {
    let askable = flavour.variables.askable.iter().map(|name| format!("@@SESSION.{name}"));
    let of_settings = flavour.side_effect_settings.all().map(|setting| setting.expression.to_owned());
    let names: Vec<String> = askable.chain(of_settings).collect();
    let text = format!("SELECT FOUND_ROWS(), @@GLOBAL.init_connect, {}", names.join(", "));
    Query::packet(text.as_bytes(), capabilities)
}
