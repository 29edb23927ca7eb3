//! Reads `mysql_query_rules` of ProxySQL's configuration file.
//!
//! ProxySQL tries all rules in the order of their `rule_id` until a rule that matches has `apply`; the last rule that matches and has a
//! `cache_ttl` decides. In this program the first rule that matches decides. So the rules with `apply` come first, in their order, and then
//! the others in reverse order. If a read matches rules of both kinds, it may be kept for a shorter time than by ProxySQL, but never
//! longer.

use super::{ConvertedRules, Part, seconds, text};
use near_core::rules::expression;
use std::collections::BTreeMap;

/// Keys of ProxySQL's rules that decide where statements are sent or how they are monitored. They do not matter to a cache.
const WITHOUT_EFFECT: &[&str] = &[
    "active",
    "apply",
    "attributes",
    "comment",
    "delay",
    "destination_hostgroup",
    "gtid_from_hostgroup",
    "log",
    "mirror_flagout",
    "mirror_hostgroup",
    "multiplex",
    "next_query_flagin",
    "reconnect",
    "retries",
    "rule_id",
    "sticky_conn",
    "timeout",
    "cache_timeout",
    "flagin",
];
/// Conditions of ProxySQL's rules that rules of this program cannot have. They have digests, but ProxySQL computes other numbers.
const CONDITIONS: &[&str] = &["client_addr", "proxy_addr", "proxy_port", "digest"];
/// Actions of ProxySQL's rules that this program does not have.
const ACTIONS: &[&str] = &["replace_pattern", "error_msg", "ok_msg", "flagout"];

/// A rule of ProxySQL's file. `line`: where it begins. `values`: by the key in lower case, the value and its line.
struct ProxySqlRule {
    line: usize,
    values: BTreeMap<String, (String, usize)>,
}

/// Converts the rules in `file`, the text of a configuration file of ProxySQL. An error if it has no `mysql_query_rules`, or these are
/// malformed.
pub fn import(file: &str) -> Result<ConvertedRules, String> {
    let mut rules = rules(file)?;
    rules.sort_by_key(|rule| rule.number("rule_id"));
    let mut out = ConvertedRules::default();
    let (mut last, mut first) = (Vec::new(), Vec::new());
    for rule in &rules {
        if let Some(parts) = rule.converted(&mut out) {
            if rule.is_on("apply", false) { first.push((rule, parts)) } else { last.push((rule, parts)) }
        }
    }
    last.reverse();
    for (rule, parts) in first.into_iter().chain(last) {
        out.push(&rule.name(), &parts);
    }
    Ok(out)
}

impl ProxySqlRule {
    /// Returns the value of a key in this rule. None if the rule does not have the key.
    fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(|(value, _)| value.as_str())
    }

    /// Returns the value of a key as a number; 0 if it is missing or no number.
    fn number(&self, key: &str) -> u64 {
        self.get(key).and_then(|value| value.parse().ok()).unwrap_or(0)
    }

    /// Returns whether a key is switched on; `default` if it is missing.
    fn is_on(&self, key: &str, default: bool) -> bool {
        self.get(key).map_or(default, |value| matches!(value, "1" | "true"))
    }

    /// Returns the name of the converted rule, with the rule's number in ProxySQL.
    fn name(&self) -> String {
        format!("proxysql {}", self.get("rule_id").unwrap_or("without a number"))
    }

    /// Adds a note about a key of this rule, with its line; without that key, with the line of the rule.
    fn note(&self, out: &mut ConvertedRules, key: &str, what: &str) {
        let line = self.values.get(key).map_or(self.line, |(_, line)| *line);
        out.note(format!("line {line}, rule {}", self.get("rule_id").unwrap_or("without a number")), what);
    }

    /// Returns the keys of the converted rule. None if the rule has no effect on caching, or cannot be converted; the latter is noted in
    /// `out`.
    fn converted(&self, out: &mut ConvertedRules) -> Option<Vec<Part>> {
        if !self.is_on("active", true) {
            self.note(out, "active", "left out, since it is not active");
            return None;
        }
        if self.number("flagin") != 0 {
            self.note(out, "flagin", "left out: flagIN makes it part of a chain, and there are none here");
            return None;
        }
        let acts = ACTIONS.iter().copied().find(|key| self.get(key).is_some());
        let ttl = self.get("cache_ttl").map(|_| self.number("cache_ttl")).filter(|ttl| *ttl > 0 && acts.is_none());
        if let Some(key) = acts {
            self.note(out, key, &format!("{key} is not done here; the reads that it fits are never kept"));
        } else if ttl.is_none() && !self.is_on("apply", false) {
            return None;
        }
        for (key, _) in self.values.iter().filter(|(key, _)| !is_known(key)) {
            self.note(out, key, &format!("{key} is not known"));
        }
        self.parts(ttl, out)
    }

    /// Returns the keys of the converted rule. `ttl`: its time to live in milliseconds; none if the reads that it matches are not to be
    /// kept. None if the rule must be left out, which is noted in `out`.
    fn parts(&self, ttl: Option<u64>, out: &mut ConvertedRules) -> Option<Vec<Part>> {
        let (mut parts, mut is_whole) = (Vec::new(), true);
        let unknown = CONDITIONS.iter().copied().filter(|key| self.get(key).is_some());
        for key in unknown.chain(self.is_on("negate_match_pattern", false).then_some("negate_match_pattern")) {
            is_whole = false;
            let hint = if key == "digest" { " (its numbers are others than ours; use match_digest)" } else { "" };
            self.note(out, key, &format!("{key} cannot be carried over{hint}"));
        }
        if let Some(user) = self.get("username") {
            parts.push(("account", text(format!("{user}@%"))));
        }
        match (self.get("schemaname"), ttl) {
            (Some(schema), Some(_)) => {
                self.note(out, "schemaname", "schemaname is the current database there, and that of all tables here");
                parts.push(("schema", text(schema)));
            }
            (Some(_), None) => {
                self.note(out, "schemaname", "schemaname is the current database there: the rule stops all reads here");
            }
            _ => {}
        }
        if !self.is_on("negate_match_pattern", false) {
            for (key, ours) in [("match_digest", "shape"), ("match_pattern", "text")] {
                let Some(pattern) = self.get(key) else { continue };
                match self.expression(pattern) {
                    Ok(pattern) => parts.push((ours, text(pattern))),
                    Err(error) => {
                        is_whole = false;
                        self.note(out, key, &format!("{key} is not understood: {error}"));
                    }
                }
            }
        }
        if self.get("cache_empty_result").is_some_and(|value| value == "0") && ttl.is_some() {
            is_whole = false;
            self.note(
                out,
                "cache_empty_result",
                "cache_empty_result cannot be carried over: results without rows are kept here",
            );
        }
        self.decided(ttl, parts, is_whole, out)
    }

    /// Completes a converted rule: returns its conditions `parts` and, after them, what the rule decides, to store results for `ttl` or,
    /// without a `ttl`, never. `is_whole` is false if some condition could not be converted. A rule that stores results is then left out:
    /// None. One that forbids storing is kept, and forbids it for more reads than before.
    fn decided(
        &self,
        ttl: Option<u64>,
        mut parts: Vec<Part>,
        is_whole: bool,
        out: &mut ConvertedRules,
    ) -> Option<Vec<Part>> {
        match ttl {
            Some(_) if !is_whole => {
                self.note(out, "cache_ttl", "left out; a later rule may fit its reads");
                return None;
            }
            Some(ttl) => {
                parts.extend([("cache", text("always")), ("ttl", seconds(ttl))]);
            }
            None if !is_whole => {
                self.note(out, "apply", "it keeps nothing, and stops more reads here than there");
                parts.push(("cache", text("never")));
            }
            None => parts.push(("cache", text("never"))),
        }
        if parts.iter().all(|(key, _)| matches!(*key, "cache" | "ttl")) {
            // A rule needs a condition. Every statement contains the empty text.
            parts.insert(0, ("text", text("")));
        }
        Some(parts)
    }

    /// Converts a regular expression of this rule, and applies the rule's modifiers to it. An error if it is not supported here.
    fn expression(&self, pattern: &str) -> Result<String, String> {
        let modifiers = self.get("re_modifiers").unwrap_or("CASELESS").to_uppercase();
        // In ProxySQL a dot does not match the end of a line.
        let pattern = format!("{}{pattern}", if modifiers.contains("CASELESS") { "(?-s)" } else { "(?-si)" });
        expression(&pattern).map(|_| pattern)
    }
}

/// Returns true if a key of ProxySQL's rules is converted, noted or without effect. Any other key gets a note.
fn is_known(key: &str) -> bool {
    const CONVERTED: &[&str] = &[
        "username",
        "schemaname",
        "match_digest",
        "match_pattern",
        "negate_match_pattern",
        "re_modifiers",
        "cache_ttl",
        "cache_empty_result",
    ];
    [CONVERTED, WITHOUT_EFFECT, CONDITIONS, ACTIONS].iter().any(|keys| keys.contains(&key))
}

/// A token of ProxySQL's configuration file.
#[derive(Debug, PartialEq)]
enum Token {
    /// A character of punctuation.
    Mark(char),
    /// A name, a number, or the value of a string.
    Word(String),
}

/// Returns the rules in the list `mysql_query_rules`, in the order of the file. The error names the line.
fn rules(file: &str) -> Result<Vec<ProxySqlRule>, String> {
    let tokens = tokens(file)?;
    let start = tokens.iter().position(|(token, _)| *token == Token::Word("mysql_query_rules".into()));
    let start = start.ok_or("there is no mysql_query_rules in the file")?;
    let mut rules = Vec::new();
    let mut rest = tokens[start + 1..].iter();
    while let Some((token, line)) = rest.next() {
        match token {
            Token::Mark('{') => {
                let inner: Vec<_> = rest.by_ref().take_while(|(token, _)| *token != Token::Mark('}')).collect();
                rules.push(rule(&inner, *line)?);
            }
            Token::Mark(')') => return Ok(rules),
            Token::Mark('(' | '=' | ':' | ',' | ';') => {}
            other => return Err(format!("line {line}: {other:?} is not expected")),
        }
    }
    Err("mysql_query_rules does not end".into())
}

/// Parses one rule. `tokens`: those between its braces; `line`: where it begins, for messages. An error, with its line, if a token is not
/// part of `key = value`.
fn rule(tokens: &[&(Token, usize)], line: usize) -> Result<ProxySqlRule, String> {
    let mut values = BTreeMap::new();
    let mut words = tokens.iter().filter(|(token, _)| !matches!(token, Token::Mark(',' | ';')));
    while let Some((key, line)) = words.next() {
        match (key, words.next(), words.next()) {
            (Token::Word(key), Some((Token::Mark('=' | ':'), _)), Some((Token::Word(value), _))) => {
                values.insert(key.to_lowercase(), (value.clone(), *line));
            }
            _ => return Err(format!("line {line}: `key = value` is expected")),
        }
    }
    Ok(ProxySqlRule { line, values })
}

/// Splits the text of a configuration file into tokens, each with its line. Comments are left out, and adjacent strings joined.
fn tokens(file: &str) -> Result<Vec<(Token, usize)>, String> {
    let (mut tokens, mut line) = (Vec::new(), 1);
    let mut rest = file;
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => {
                let (word, taken) = quoted(rest).ok_or_else(|| format!("line {line}: a text does not end"))?;
                match tokens.last_mut() {
                    // Adjacent strings are joined.
                    Some((Token::Word(before), _)) if rest.len() < file.len() && was_quoted(file, rest) => {
                        before.push_str(&word)
                    }
                    _ => tokens.push((Token::Word(word), line)),
                }
                taken
            }
            one if is_of_word(one) => {
                let taken = rest.find(|one| !is_of_word(one)).unwrap_or(rest.len());
                tokens.push((Token::Word(rest[..taken].into()), line));
                taken
            }
            one => {
                if !one.is_whitespace() {
                    tokens.push((Token::Mark(one), line));
                }
                one.len_utf8()
            }
        };
        line += rest[..taken].matches('\n').count();
        rest = &rest[taken..];
    }
    Ok(tokens)
}

/// Returns true if the character may be part of a name or number without quotes.
fn is_of_word(one: char) -> bool {
    one.is_alphanumeric() || "_-.+".contains(one)
}

/// Returns true if the token before `rest` is a string. `rest`: the end of `file`.
fn was_quoted(file: &str, rest: &str) -> bool {
    file[..file.len() - rest.len()].trim_end().ends_with('"')
}

/// Reads the string at the beginning of `rest`. Returns its value, and its length in the file, including quotes and escapes. None if it
/// does not end.
fn quoted(rest: &str) -> Option<(String, usize)> {
    let mut out = String::new();
    let mut characters = rest.char_indices().skip(1);
    while let Some((at, one)) = characters.next() {
        match one {
            '"' => return Some((out, at + 1)),
            '\\' => match characters.next()?.1 {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                other @ ('"' | '\\') => out.push(other),
                // An escape of the regular expression, such as `\d`, is kept.
                other => out.extend(['\\', other]),
            },
            other => out.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use near_core::rules::Rules;

    const FILE: &str = r#"
datadir="/var/lib/proxysql" # (a comment)
mysql_query_rules:
(
    { rule_id=20, active=1, match_digest="^SELECT .* FROM stock", cache_ttl=1500, apply=1 },
    { rule_id=10; active=1; match_pattern="FOR UPDATE$"; destination_hostgroup=0; apply=1; },
    // of one account
    { rule_id=30 active=1 username="report" schemaname="shop" match_pattern="\\bsum\\(" re_modifiers="GLOBAL"
      cache_ttl=60000 },
    { rule_id=40, active=0, match_digest="x", cache_ttl=1 },
    { rule_id=50, digest="0xABCDEF0123456789", cache_ttl=5, apply=1 },
    { rule_id=60, client_addr="10.0.0.1", apply=1 },
    { rule_id=70, match_pattern="(?<=a)b", cache_ttl=1000 },
    { rule_id=80, match_digest=".", cache_ttl=2000, comment="the rest" },
    { rule_id=90, match_pattern="old", replace_pattern="new", cache_ttl=5 }
)
"#;

    #[test]
    fn rules_that_keep_are_carried_over_in_the_order_that_decides() {
        let imported = import(FILE).expect("rules");
        Rules::parse(&imported.rules, false).expect("they are valid");
        let names: Vec<_> = imported.rules.lines().filter_map(|line| line.strip_prefix("name = ")).collect();
        let expected = ["10", "20", "60", "90", "80", "30"].map(|number| format!("\"proxysql {number}\""));
        assert_eq!(names, expected, "{}", imported.rules);
        for part in ["ttl = 1.5\n", "account = \"report@%\"", "schema = \"shop\"", "(?-si)", "ttl = 60.0\n"] {
            assert!(imported.rules.contains(part), "{part}: {}", imported.rules);
        }
    }

    #[test]
    fn what_cannot_be_carried_over_is_told_with_its_line() {
        let notes = import(FILE).expect("rules").notes;
        for note in [
            "line 10, rule 40: left out, since it is not active",
            "line 11, rule 50: digest cannot be carried over (its numbers are others than ours; use match_digest)",
            "line 11, rule 50: left out; a later rule may fit its reads",
            "line 12, rule 60: client_addr cannot be carried over",
            "line 12, rule 60: it keeps nothing, and stops more reads here than there",
            "line 15, rule 90: replace_pattern is not done here; the reads that it fits are never kept",
        ] {
            assert!(notes.iter().any(|one| one == note), "{note}: {notes:#?}");
        }
        assert!(
            notes.iter().any(|one| one.starts_with("line 13, rule 70: match_pattern is not understood")),
            "{notes:#?}"
        );
    }

    #[test]
    fn a_file_that_is_not_understood_is_refused_with_its_line() {
        for (file, expected) in [
            ("x = 1", "there is no mysql_query_rules"),
            ("mysql_query_rules = (\n{ rule_id 1 }\n)", "line 2: `key = value` is expected"),
            ("mysql_query_rules = (\n{ a = \"b }\n)", "line 2: a text does not end"),
            ("mysql_query_rules = ( { a = 1 }", "does not end"),
        ] {
            let error = import(file).expect_err(file);
            assert!(error.contains(expected), "{error}");
        }
    }
}
