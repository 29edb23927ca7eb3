//! Reads the cache filters of MaxScale's configuration file, and the JSON files with rules that they name.

use super::{ConvertedRules, Part, seconds, text};
use near_core::rules::expression;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Settings of a cache filter that cannot be converted, and the note about each.
const NOTED: &[(&str, &str)] = &[
    ("cached_data", "results are shared by all threads here"),
    ("cache_in_transactions", "nothing is kept or served in a transaction here"),
    ("cache_inside_transactions", "nothing is kept or served in a transaction here"),
    ("invalidate", "only a connection's own writes are seen here before the time is over"),
    ("max_count", "set size, the memory for all results"),
    ("max_resultset_rows", "results are kept here up to 1 MiB, whatever their rows"),
    ("max_resultset_size", "results are kept here up to 1 MiB"),
    ("max_size", "set size, the memory for all results"),
    ("selects", "reads with functions that tell the time, and their like, are never kept here"),
    ("storage", "results are kept in this process's memory here"),
    ("storage_options", "results are kept in this process's memory here"),
    ("users", "each account has its own results here"),
];
/// Settings of a cache filter that need no note: they are converted, or do not matter to which results are kept.
const WITHOUT_EFFECT: &[&str] =
    &["clear_cache_on_parse_errors", "debug", "enabled", "hard_ttl", "module", "rules", "soft_ttl", "timeout", "type"];

/// A file with rules: one set, or a list of sets.
#[derive(Deserialize)]
#[serde(untagged)]
enum File {
    One(Set),
    Several(Vec<Set>),
}

/// A set of MaxScale's rules: conditions on the reads that are stored, and on the accounts that use results. An empty list stands for all.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Set {
    #[serde(default)]
    store: Vec<Condition>,
    #[serde(default, rename = "use")]
    uses: Vec<Condition>,
}

/// One condition of MaxScale's rules, such as `table = shop.stock`: `attribute`, `op` and `value`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Condition {
    attribute: String,
    op: String,
    value: String,
}

/// A section of MaxScale's configuration file, such as a filter. `line`: where it begins.
struct Section {
    name: String,
    line: usize,
    /// The value of each key in this section, and its line in the file.
    values: BTreeMap<String, (String, usize)>,
}

/// Converts the cache filters in `file`, the text of a configuration file of MaxScale. `read` is called for each file with rules that it
/// names, and returns the path and the content. An error if there is no cache filter, or a file is malformed.
pub fn import(file: &str, read: impl Fn(&str) -> Result<(String, String), String>) -> Result<ConvertedRules, String> {
    let mut out = ConvertedRules::default();
    let sections = sections(file)?;
    let filters = sections.iter().filter(|section| section.get("module") == Some("cache"));
    let filters: Vec<_> = filters.collect();
    if filters.is_empty() {
        return Err("there is no section with module=cache in the file".into());
    }
    for filter in filters {
        filter.convert(&mut out, &read)?;
    }
    Ok(out)
}

impl Section {
    /// Returns the value of a key in this section. None if the section does not have the key.
    fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(|(value, _)| value.as_str())
    }

    /// Adds a note about a key of this section, with its line; without that key, with the line of the section.
    fn note(&self, out: &mut ConvertedRules, key: &str, what: &str) {
        let line = self.values.get(key).map_or(self.line, |(_, line)| *line);
        out.note(format!("line {line}, [{}]", self.name), what);
    }

    /// Converts this section, which configures a cache filter of MaxScale, and adds the resulting rules to `out`, with notes about what
    /// cannot be converted. `read` returns the path and the content of a file, given its name. The error is for the user.
    fn convert(
        &self,
        out: &mut ConvertedRules,
        read: &impl Fn(&str) -> Result<(String, String), String>,
    ) -> Result<(), String> {
        for key in self.values.keys() {
            match NOTED.iter().find(|(noted, _)| noted == key) {
                Some((_, what)) => self.note(out, key, &format!("{key} is not carried over: {what}")),
                None if !WITHOUT_EFFECT.contains(&key.as_str()) => self.note(out, key, &format!("{key} is not known")),
                None => {}
            }
        }
        if self.get("enabled").is_some_and(|value| matches!(value, "false" | "0" | "no" | "off")) {
            self.note(out, "enabled", "left out, since it is not enabled");
            return Ok(());
        }
        let Some(times) = self.times(out)? else { return Ok(()) };
        let Some(name) = self.get("rules") else {
            // A filter without rules caches everything it can, so the new rule matches every statement.
            out.push(&format!("maxscale {}", self.name), &[&[("text", text(""))], &times[..]].concat());
            return Ok(());
        };
        let (name, content) = read(name)?;
        let sets = match serde_json::from_str(&content).map_err(|error| format!("{name}: {error}"))? {
            File::One(set) => vec![set],
            File::Several(sets) => sets,
        };
        for (number, set) in sets.iter().enumerate() {
            self.convert_set(&format!("{name}, set {}", number + 1), number + 1, set, &times, out);
        }
        Ok(())
    }

    /// Returns the fields of a rule (`ttl` and the like) for the filter's times to live, and an error if one of them is no duration. None if the filter has no `hard_ttl`, so that its results would never
    /// expire; that is then noted in `out`.
    fn times(&self, out: &mut ConvertedRules) -> Result<Option<Vec<Part>>, String> {
        let time = |key: &str| {
            let read = self.get(key).map(|value| milliseconds(value).ok_or(value)).transpose();
            read.map_err(|value| format!("[{}]: {key}={value} is no duration", self.name))
        };
        let hard = time("hard_ttl")?.filter(|ms| *ms > 0);
        let soft = time("soft_ttl")?.filter(|ms| *ms > 0);
        let Some(hard) = hard else {
            self.note(out, "hard_ttl", "left out: without hard_ttl its results have no end, and here they need one");
            return Ok(None);
        };
        let mut parts = vec![("cache", text("always")), ("ttl", seconds(hard))];
        if let Some(soft) = soft {
            parts.push(("soft_ttl", seconds(soft.min(hard))));
        }
        Ok(Some(parts))
    }

    /// Adds a rule for each pair of a condition on reads and a condition on accounts in the set. Conditions that cannot be converted are
    /// noted and left out. `place`: the file and the set, for notes; `number`: that of the set; `times`: the times to live of all rules.
    fn convert_set(&self, place: &str, number: usize, set: &Set, times: &[Part], out: &mut ConvertedRules) {
        let mut convert = |conditions: &[Condition], kind: &str| -> Vec<Option<Part>> {
            if conditions.is_empty() {
                return vec![None];
            }
            let mut parts = Vec::new();
            for (index, condition) in conditions.iter().enumerate() {
                match condition.part() {
                    Ok(part) => parts.push(Some(part)),
                    Err(why) => out.note(format!("{place}, {kind} {}", index + 1), &format!("left out: {why}")),
                }
            }
            parts
        };
        let (stores, uses) = (convert(&set.store, "store"), convert(&set.uses, "use"));
        let mut count = 0;
        for store in &stores {
            for user in &uses {
                let mut parts: Vec<Part> = store.iter().chain(user).cloned().collect();
                if parts.is_empty() {
                    parts.push(("text", text("")));
                }
                parts.extend_from_slice(times);
                count += 1;
                out.push(&format!("maxscale {} {number}.{count}", self.name), &parts);
            }
        }
    }
}

impl Condition {
    /// Returns the condition as a key of a converted rule. The error says why it cannot be converted.
    fn part(&self) -> Result<Part, String> {
        let (op, value) = (self.op.as_str(), self.value.as_str());
        let is_pattern = value.contains('%');
        match (self.attribute.as_str(), op) {
            ("database" | "table", "=") if is_pattern => Err("% stands for any text in names here".into()),
            ("database", "=") => Ok(("schema", text(value))),
            ("table", "=") if value.contains('.') => Ok(("table", text(value))),
            ("table", "=") => Ok(("table", text(format!("%.{value}")))),
            ("query", "=") => Ok(("text", text(format!("(?-i)^{}$", regex::escape(value))))),
            ("query", "like") => {
                let pattern = format!("(?-si){value}");
                expression(&pattern)
                    .map(|_| ("text", text(pattern)))
                    .map_err(|error| format!("its pattern is not understood: {error}"))
            }
            ("user", "=") => Ok(("account", text(account(value)))),
            ("column", _) => Err("columns cannot be named here".into()),
            (attribute @ ("database" | "table" | "query" | "user"), op @ ("!=" | "like" | "unlike")) => {
                Err(format!("{attribute} cannot be compared by {op} here"))
            }
            (attribute, op) => Err(format!("{attribute} {op} is not known")),
        }
    }
}

/// Converts an account such as `bob` or `'bob'@'10.%'` to `USER@HOST`, without quotes. For an account without a host the result has `%`,
/// any host.
fn account(value: &str) -> String {
    let plain = value.replace('\'', "");
    if plain.contains('@') { plain } else { format!("{plain}@%") }
}

/// Reads a duration such as `30s`, `500ms`, `2min` or `1h`, and returns milliseconds. A number without a unit is in seconds. None if it is
/// malformed.
fn milliseconds(value: &str) -> Option<u64> {
    let digits = value.find(|one: char| !one.is_ascii_digit()).unwrap_or(value.len());
    let number: u64 = value[..digits].parse().ok()?;
    let factor = match value[digits..].trim() {
        "ms" => 1,
        "" | "s" => 1000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.checked_mul(factor)
}

/// Splits the text of a configuration file into its sections, in their order. The error names the line.
fn sections(file: &str) -> Result<Vec<Section>, String> {
    let mut sections: Vec<Section> = Vec::new();
    for (index, line) in file.lines().enumerate() {
        let (number, line) = (index + 1, line.trim());
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            sections.push(Section { name: name.into(), line: number, values: BTreeMap::new() });
            continue;
        }
        let (key, value) = line.split_once('=').ok_or_else(|| format!("line {number}: `key=value` is expected"))?;
        let section = sections.last_mut().ok_or_else(|| format!("line {number}: a section is expected"))?;
        section.values.insert(key.trim().into(), (value.trim().into(), number));
    }
    Ok(sections)
}

#[cfg(test)]
mod tests {
    use super::*;
    use near_core::rules::Rules;

    const FILE: &str = "[maxscale]\nthreads=auto\n[Cache]\ntype=filter\nmodule=cache\nhard_ttl=30s\nsoft_ttl=500ms\n\
        max_size=50Mi\nrules=rules.json\n[Other]\nmodule=cache\nrules=none.json\n";
    const JSON: &str = r#"[
        {"store": [{"attribute": "table", "op": "=", "value": "shop.stock"},
                   {"attribute": "query", "op": "like", "value": "FROM [a-z]+"},
                   {"attribute": "column", "op": "!=", "value": "secret"}],
         "use": [{"attribute": "user", "op": "=", "value": "'bob'@'10.%'"},
                 {"attribute": "user", "op": "=", "value": "alice"}]},
        {"store": [{"attribute": "database", "op": "!=", "value": "d"}]}
    ]"#;

    /// Converts a configuration file, in which every file with rules has the content `JSON`.
    fn imported(file: &str) -> Result<ConvertedRules, String> {
        import(file, |name| Ok((name.to_owned(), JSON.to_owned())))
    }

    #[test]
    fn each_pair_of_what_is_stored_and_who_uses_it_is_a_rule() {
        let imported = imported(FILE).expect("rules");
        Rules::parse(&imported.rules, false).expect("they are valid");
        assert_eq!(imported.rules.matches("[[rule]]").count(), 4, "{}", imported.rules);
        for part in [
            "account = \"bob@10.%\"",
            "account = \"alice@%\"",
            "table = \"shop.stock\"",
            "ttl = 30.0",
            "soft_ttl = 0.5",
        ] {
            assert_eq!(imported.rules.matches(part).count() % 2, 0, "{part}");
            assert!(imported.rules.contains(part), "{part}: {}", imported.rules);
        }
    }

    #[test]
    fn what_cannot_be_carried_over_is_told() {
        let notes = imported(FILE).expect("rules").notes;
        for note in [
            "line 8, [Cache]: max_size is not carried over: set size, the memory for all results",
            "rules.json, set 1, store 3: left out: columns cannot be named here",
            "rules.json, set 2, store 1: left out: database cannot be compared by != here",
            "line 10, [Other]: left out: without hard_ttl its results have no end, and here they need one",
        ] {
            assert!(notes.iter().any(|one| one == note), "{note}: {notes:#?}");
        }
    }

    #[test]
    fn what_is_no_such_file_is_refused() {
        for (file, expected) in [
            ("[a]\nmodule=tee", "no section with module=cache"),
            ("x", "line 1: `key=value` is expected"),
            ("[c]\nmodule=cache\nhard_ttl=1 year", "hard_ttl=1 year is no duration"),
        ] {
            let error = imported(file).expect_err(file);
            assert!(error.contains(expected), "{error}");
        }
    }
}
