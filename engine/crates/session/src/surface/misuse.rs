//! Statements that fail, for errors of the engine's own. The server reports the error of such a statement itself, so its
//! diagnostics contain it afterwards.

use flavour::Flavour;
use sql::SelectionError;

/// Returns the text of a statement that fails with the error for this misuse of SHOW FQC. `text` is the client's text.
pub fn statement(flavour: &Flavour, misuse: &SelectionError, text: &[u8]) -> Vec<u8> {
    match misuse {
        SelectionError::Syntax(at) => syntax_error(flavour, text, *at),
        SelectionError::Unsupported(what) => unsupported(flavour, what),
    }
}

/// Returns the text of a statement that fails with the server's error for an unknown column of this name.
pub fn unknown_column(name: &str) -> Vec<u8> {
    const LONGEST: usize = 63;
    let name: String = name.chars().take(LONGEST).collect::<String>().replace('`', "``");
    format!("SELECT 1 FROM (SELECT 1 AS `{name}_`) AS report WHERE `{name}` = 1").into_bytes()
}

/// Returns the text of a statement with the same syntax error in the same line: the part of the client's text after the
/// report's name is an error after this statement too. If there is no such part, the statement ends too early.
fn syntax_error(flavour: &Flavour, text: &[u8], at: Option<usize>) -> Vec<u8> {
    let (before, rest) = text.split_at(at.unwrap_or(text.len()));
    let whole = flavour.statements.process_test;
    let (start, _) = whole.rsplit_once(' ').unwrap_or_default();
    let statement = if rest.is_empty() { start.to_owned() } else { format!("{whole} ") };
    let lines = vec![b'\n'; before.iter().filter(|byte| **byte == b'\n').count()];
    [statement.as_bytes(), &lines, rest].concat()
}

fn unsupported(flavour: &Flavour, what: &str) -> Vec<u8> {
    let message = format!(
        "SHOW FQC does not support {what}: compare a column with a literal by =, <>, <, <=, >, >=, LIKE or IS NULL, \
         and join by AND, OR and NOT"
    );
    signal(flavour, "42000", flavour.errors.not_supported, &message)
}

/// Returns the text of a statement that fails with this message. A server accepts at most 128 characters, so the rest is cut
/// off.
pub fn refusal(flavour: &Flavour, message: &str) -> Vec<u8> {
    const LONGEST: usize = 128;
    const SIGNALLED: u32 = 1644;
    let message: String = message.chars().take(LONGEST).collect();
    signal(flavour, "45000", SIGNALLED, &message)
}

/// Returns the text of a SIGNAL statement. The message is written in hexadecimal, so that no setting can change its meaning.
fn signal(flavour: &Flavour, state: &str, number: u32, message: &str) -> Vec<u8> {
    let digits: String = message.bytes().map(|byte| format!("{byte:02x}")).collect();
    let utf8 = flavour.catalogue.utf8;
    format!("SIGNAL SQLSTATE '{state}' SET MYSQL_ERRNO = {number}, MESSAGE_TEXT = {utf8} x'{digits}'").into_bytes()
}
