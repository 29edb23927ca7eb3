//! Values of other types for the parameters of one prepared statement. A server may interpret a value by the types of earlier ones.

use super::Generator;
use crate::client::Param;
use crate::differential::action::{Commands, Kind};

/// Reads whose rows depend on the type of the parameter. `{c}` stands for a column, `{t}` for a table.
const READS: [&str; 12] = [
    "SELECT id, {c} FROM {t} WHERE {c} = ? ORDER BY id",
    "SELECT id FROM {t} WHERE {c} < ? ORDER BY id",
    "SELECT COUNT(*), MAX(id) FROM {t} WHERE {c} IN (?, 'ab')",
    "SELECT id FROM {t} WHERE {c} BETWEEN ? AND 'b' ORDER BY id",
    "SELECT id FROM {t} WHERE NOT {c} <=> ? ORDER BY id",
    "SELECT COUNT(*) FROM {t} WHERE ? = {c}",
    "SELECT id FROM {t} WHERE id = ?",
    "SELECT id, ? + 1 FROM {t} WHERE id < 3 ORDER BY id",
    "SELECT id, COALESCE(?, {c}) FROM {t} WHERE id < 5 ORDER BY id",
    "SELECT id, {c} = ?, CONCAT(?, 'x') FROM {t} WHERE id < 9 ORDER BY id",
    "SELECT id, GREATEST(?, {c}) FROM {t} WHERE id < 9 ORDER BY id",
    "SELECT id FROM {t} WHERE CASE ? WHEN {c} THEN 1 ELSE 0 END ORDER BY id",
];

/// True if the metadata of the read's columns does not depend on earlier executions. For a result that may come out of a temporary table it
/// depends on the plan, which a plain server keeps from executions with other values.
fn is_plain(text: &str) -> bool {
    let text = text.to_ascii_uppercase();
    !["JOIN", "GROUP", "DISTINCT", "UNION", "WITH", "OVER", "INTERSECT", "EXCEPT"]
        .iter()
        .any(|word| text.contains(word))
}

impl Generator {
    /// Returns a copy of a step that executes a prepared statement, with the value of one parameter changed. None for other steps, if the
    /// statement has no parameters, or if its metadata depends on earlier executions.
    pub(super) fn revalued(&mut self, commands: &Commands) -> Option<Commands> {
        let Commands::Run(text, params) = commands else { return None };
        if params.is_empty() || !is_plain(text) {
            return None;
        }
        let mut params = params.clone();
        let index = self.random.below(params.len());
        params[index] = match &params[index] {
            Param::Int(_) if self.random.percent(50) => Param::Int(self.random.between(0, 11)),
            param => self.retyped(param),
        };
        Some(Commands::Run(text.clone(), params))
    }

    /// Queues executions of one statement in two sessions. Each session binds values of several types in its own order. Returns the step to
    /// run before those.
    pub(super) fn types_scene(&mut self, session: usize) -> (Kind, Commands) {
        let partner = self.random.below(self.assumptions.len());
        let table = self.table(false);
        let column = table.column(&mut self.random).to_string();
        let name = format!("{}.{}", table.database, table.name);
        let text = self.random.word(&READS).replace("{t}", &name).replace("{c}", &column);
        self.bound = Some(Vec::new());
        text.matches('?').for_each(|_| _ = self.value_of(&column));
        let params = self.bound.take().unwrap_or_default();
        let mut choices = vec![params];
        for _ in 0..2 {
            let other = choices[0].iter().map(|param| self.retyped(param)).collect();
            choices.push(other);
        }
        for one in [session, partner, session, partner] {
            self.later(one, Kind::Connection, Commands::Close(text.clone()));
            for _ in 0..2 + self.random.below(4) {
                let params = self.random.pick(&choices).clone();
                self.later(one, Kind::Repeat, Commands::Run(text.clone(), params));
            }
            self.aftermath(one);
        }
        (Kind::Read, Commands::Run(text, choices.swap_remove(0)))
    }

    /// Returns about the same value as a parameter of another type, and sometimes NULL.
    pub(super) fn retyped(&mut self, param: &Param) -> Param {
        let number = match param {
            Param::Int(number) => *number,
            Param::Unsigned(number) => *number as i64,
            Param::Double(number) => *number as i64,
            // Like most words, compared with a number.
            Param::Text(_) | Param::Blob(_) => 0,
            _ => self.random.between(0, 11),
        };
        let day = self.random.between(1, 28) as u8;
        match self.random.below(9) {
            0 | 1 => Param::Int(number),
            2 => Param::Text(number.to_string()),
            3 => Param::Text("12abc".into()),
            4 => Param::Double(number as f64),
            5 => Param::Decimal(format!("{number}.{}", self.random.below(2) * 5)),
            6 => Param::Date(2024, 1, day),
            7 => Param::DateTime(2024, 1, day, 0, 30, 0),
            _ => Param::Null,
        }
    }
}
