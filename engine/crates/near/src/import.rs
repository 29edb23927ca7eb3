//! Converts the rules of ProxySQL and MaxScale to rules of this program.
//!
//! A note with the line says what cannot be converted. In that case a rule that caches is left out, and a rule that forbids caching forbids
//! it for more reads. So the new rules never cache a read that the old rules did not.

mod maxscale;
mod proxysql;

use std::fmt::Write;
use std::path::Path;

/// A product whose caching rules can be converted to those of `fqc-near`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceProduct {
    ProxySql,
    MaxScale,
}

impl SourceProduct {
    /// Returns the product that has this name on the command line. None if there is none, as the rules of other products cannot be
    /// converted.
    pub fn of(name: &str) -> Option<SourceProduct> {
        match name {
            "proxysql" => Some(SourceProduct::ProxySql),
            "maxscale" => Some(SourceProduct::MaxScale),
            _ => None,
        }
    }
}

/// The converted rules, and what could not be converted.
#[derive(Debug, Default)]
pub struct ConvertedRules {
    /// The converted rules as the text of a file for the option `rules`, in TOML.
    pub rules: String,
    /// A line of text for each setting or rule that could not be converted, with its place in the old file and the reason.
    pub notes: Vec<String>,
}

/// A key of a converted rule, and its value as it is written in TOML.
type Part = (&'static str, String);

impl ConvertedRules {
    /// Appends a converted rule with this name and these keys.
    fn push(&mut self, name: &str, parts: &[Part]) {
        let name = [("name", text(name))];
        self.rules.push_str("[[rule]]\n");
        for (key, value) in name.iter().chain(parts) {
            let _ = writeln!(self.rules, "{key} = {value}");
        }
        self.rules.push('\n');
    }

    /// Appends a note. `place`: the line and the rule that it is about.
    fn note(&mut self, place: impl std::fmt::Display, what: &str) {
        self.notes.push(format!("{place}: {what}"));
    }
}

/// Converts the caching rules in a configuration file of another product. An error if the file, or one that it names, cannot be read or
/// parsed; rules that cannot be converted are no error, but get a note.
pub fn convert_file(product: SourceProduct, file: &Path) -> Result<ConvertedRules, String> {
    let text = text_of(file)?;
    let imported = match product {
        SourceProduct::ProxySql => proxysql::import(&text),
        SourceProduct::MaxScale => maxscale::import(&text, |name| {
            // A relative path starts from the directory of the file that names it.
            let path = file.parent().unwrap_or(Path::new("")).join(name);
            Ok((path.display().to_string(), text_of(&path)?))
        }),
    };
    imported.map_err(|error| format!("{}: {error}", file.display()))
}

fn text_of(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// Returns a time in seconds as a number in TOML. It is limited to the longest time that a rule may have.
fn seconds(milliseconds: u64) -> String {
    let most = near_core::rules::MAX_TTL.as_millis() as u64;
    format!("{:?}", milliseconds.min(most) as f64 / 1000.0)
}

/// Returns a text as a string in TOML. JSON's escapes are valid there.
fn text(value: impl Into<String>) -> String {
    serde_json::Value::String(value.into()).to_string()
}
