//! Rules of other products, as rules of ours.
//!
//! What cannot be carried over is told with its place. Then a rule that serves is left out, and one that does not stops more reads:
//! nothing is served by the new rules that was not by the old ones.

mod maxscale;
mod proxysql;

use std::fmt::Write;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    ProxySql,
    MaxScale,
}

impl Product {
    pub fn of(name: &str) -> Option<Product> {
        match name {
            "proxysql" => Some(Product::ProxySql),
            "maxscale" => Some(Product::MaxScale),
            _ => None,
        }
    }
}

/// The rules as a file, and what is to be said of each.
#[derive(Debug, Default)]
pub struct Imported {
    pub rules: String,
    pub notes: Vec<String>,
}

/// A key of a rule, and its value as TOML has it.
type Part = (&'static str, String);

impl Imported {
    fn push(&mut self, name: &str, parts: &[Part]) {
        let name = [("name", text(name))];
        self.rules.push_str("[[rule]]\n");
        for (key, value) in name.iter().chain(parts) {
            let _ = writeln!(self.rules, "{key} = {value}");
        }
        self.rules.push('\n');
    }

    fn note(&mut self, place: impl std::fmt::Display, what: &str) {
        self.notes.push(format!("{place}: {what}"));
    }
}

pub fn read(product: Product, file: &Path) -> Result<Imported, String> {
    let text = text_of(file)?;
    let imported = match product {
        Product::ProxySql => proxysql::import(&text),
        Product::MaxScale => maxscale::import(&text, |name| {
            // Beside the file that names it, unless it is named in full.
            let path = file.parent().unwrap_or(Path::new("")).join(name);
            Ok((path.display().to_string(), text_of(&path)?))
        }),
    };
    imported.map_err(|error| format!("{}: {error}", file.display()))
}

fn text_of(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// In seconds, as a rule has it; no longer than it may be.
fn seconds(milliseconds: u64) -> String {
    let most = near_core::rules::OLDEST.as_millis() as u64;
    format!("{:?}", milliseconds.min(most) as f64 / 1000.0)
}

/// What JSON escapes, TOML reads.
fn text(value: impl Into<String>) -> String {
    serde_json::Value::String(value.into()).to_string()
}
