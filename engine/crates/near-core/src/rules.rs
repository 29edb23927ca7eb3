//! Rules that allow serving results although they may be stale, and for how long. They come from the file that the option `rules`
//! names, and from hints in texts.
//!
//! The rules have the format of the server's variable `fqc_rules`. The first rule that matches decides, and without a match
//! nothing is stored. `always` matches a read only if all its tables are known and match. `never` also matches if the tables are
//! not known.

use crate::counter::Counter;
use insight::rules::{self, Caching, Expression, Fact, Facts, RuleHost, of_json};
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;
use sql::{LexMode, TableName};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

/// The maximum age of a result that any rule or hint may allow.
pub const MAX_TTL: Duration = Duration::from_secs(86_400);
/// The name for the counters of hints in texts. No rule may have it.
const HINT: &str = "hint";

/// The dialect of rules that `fqc-near` supports, which has all settings.
#[derive(Debug)]
struct NearDialect;

impl RuleHost for NearDialect {
    type Expression = RegexExpression;
    const STEP: Duration = Duration::from_millis(1);
    const LONGEST: Duration = MAX_TTL;
    const HAS_FURTHER_TERMS: bool = true;
}

/// A regular expression in a rule.
#[derive(Debug)]
struct RegexExpression(Regex);

impl Expression for RegexExpression {
    fn parse(text: &str) -> Result<RegexExpression, String> {
        expression(text).map(RegexExpression)
    }

    fn fits(&self, text: &[u8]) -> bool {
        self.0.is_match(text)
    }
}

/// The terms for serving a read, and the counters of the rule that set them.
#[derive(Clone, Debug)]
pub struct Terms {
    pub of_rule: rules::TtlSettings,
    pub counts: Arc<RuleCounts>,
}

impl Deref for Terms {
    type Target = rules::TtlSettings;

    fn deref(&self) -> &rules::TtlSettings {
        &self.of_rule
    }
}

/// Counters for the reads that one rule lets be served.
#[derive(Debug, Default)]
pub struct RuleCounts {
    /// The number of reads that were answered from memory.
    pub hits: Counter,
    /// The number of reads that went to the server to refresh a result that was still being served. Each is also counted as a
    /// miss.
    pub refreshes: Counter,
    /// The number of reads that went to the server.
    pub misses: Counter,
    /// The number of reads that have waited for another client's answer. Each is also counted as a hit or a miss.
    pub waits: Counter,
}

/// The operator's rules in their order, with counters.
#[derive(Debug)]
pub struct Rules {
    rules: Vec<Rule>,
    /// The counters for hints in texts. None if hints are ignored.
    hints: Option<Arc<RuleCounts>>,
}

#[derive(Debug)]
struct Rule {
    name: String,
    rule: rules::Rule<NearDialect>,
    counts: Arc<RuleCounts>,
}

impl Rule {
    /// Returns the terms for the reads that this rule lets be served. None if it lets none be served.
    fn terms(&self) -> Option<Terms> {
        match self.rule.caching {
            Caching::Always(of_rule) => Some(Terms { of_rule, counts: self.counts.clone() }),
            _ => None,
        }
    }
}

/// The contents of a file with rules, in TOML.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rule: Vec<rules::Rule<NearDialect>>,
}

/// Parses rules in TOML, or in JSON as in the server's variable `fqc_rules`. The error says what is wrong, for the operator.
fn read(text: &str) -> Result<Vec<rules::Rule<NearDialect>>, String> {
    let is_json = text.trim_start().strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with(['{', ']']));
    if is_json {
        return of_json(text);
    }
    let file: File = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    Ok(file.rule)
}

/// The facts about a read that rules look at.
pub struct Subject<'a> {
    pub text: &'a [u8],
    pub mode: LexMode,
    /// The account as CURRENT_USER() shows it. None before the server was asked; rules that name an account do not match then,
    /// unless they allow serving.
    pub account: Option<&'a str>,
    /// The current database. None before the server was asked.
    pub database: Option<&'a str>,
}

impl Rules {
    /// Parses the contents of the file with rules, in TOML or JSON. `has_hints` is true if hints in texts are honoured as well.
    /// The error says what is wrong, for the operator.
    pub fn parse(text: &str, has_hints: bool) -> Result<Rules, String> {
        let mut rules: Vec<Rule> = Vec::new();
        for (place, rule) in read(text)?.into_iter().enumerate() {
            let name = rule.name.clone().unwrap_or_else(|| (place + 1).to_string());
            if name == HINT || rules.iter().any(|other| other.name == name) {
                return Err(format!("rule {name}: the name is taken"));
            }
            rules.push(Rule { name, rule, counts: Arc::default() });
        }
        Ok(Rules { rules, hints: has_hints.then(Arc::default) })
    }

    /// Goes on with the counters of the rules in force before, for rules of the same name, and for hints.
    pub fn continue_counts(&mut self, before: &Rules) {
        for rule in &mut self.rules {
            let same = before.rules.iter().find(|other| other.name == rule.name && other.terms().is_some());
            same.into_iter().for_each(|same| rule.counts = same.counts.clone());
        }
        if let (Some(counts), Some(same)) = (&mut self.hints, &before.hints) {
            *counts = same.clone();
        }
    }

    /// Returns the terms for serving this read. None if it may not be served. Before the session is known, the answer is only
    /// provisional: it is none only if the read certainly may not be served.
    pub fn of(&self, subject: &Subject) -> Option<Terms> {
        let read = ReadFacts::new(subject);
        let rule = self.rules.iter().find(|rule| rule.rule.fits(&read));
        if rule.is_some_and(|rule| rule.rule.caching == Caching::Never) {
            return None;
        }
        self.hinted(subject.text).or_else(|| rule?.terms())
    }

    /// Returns the terms that a hint in the text sets. None if there is no hint, or hints are ignored.
    fn hinted(&self, text: &[u8]) -> Option<Terms> {
        let counts = self.hints.as_ref()?.clone();
        let ttl = hint(text)?.min(MAX_TTL);
        let of_rule = rules::TtlSettings { ttl, soft_ttl: ttl, coalesce: Duration::ZERO, in_transactions: false };
        Some(Terms { of_rule, counts })
    }

    /// Returns the maximum age of any result that may be served. Older results can be dropped.
    pub fn max_ttl(&self) -> Duration {
        let longest = self.rules.iter().filter_map(Rule::terms).map(|terms| terms.ttl).max().unwrap_or_default();
        if self.hints.is_some() { MAX_TTL } else { longest }
    }

    /// Returns the counters of all rules that let reads be served, with the rule's name, and those of hints, if they are
    /// honoured.
    pub fn counts(&self) -> impl Iterator<Item = (&str, &RuleCounts)> {
        let rules = self.rules.iter().filter(|rule| matches!(rule.rule.caching, Caching::Always(_)));
        let rules = rules.map(|rule| (rule.name.as_str(), &*rule.counts));
        rules.chain(self.hints.iter().map(|counts| (HINT, &**counts)))
    }
}

/// A read, with facts from its text that are determined once a rule needs them. A fact is none if it cannot be determined.
struct ReadFacts<'a> {
    subject: &'a Subject<'a>,
    tables: OnceCell<Option<Vec<TableName>>>,
    shape: OnceCell<Option<Vec<u8>>>,
    digest: OnceCell<Option<u128>>,
}

impl<'a> ReadFacts<'a> {
    fn new(subject: &'a Subject<'a>) -> ReadFacts<'a> {
        ReadFacts { subject, tables: OnceCell::new(), shape: OnceCell::new(), digest: OnceCell::new() }
    }
}

impl Facts for ReadFacts<'_> {
    fn digest(&self) -> Fact<u128> {
        Fact::or_unknown(*self.digest.get_or_init(|| shape_id(self.subject)))
    }

    fn account(&self) -> Fact<&str> {
        Fact::or_later(self.subject.account)
    }

    fn text(&self) -> &[u8] {
        self.subject.text
    }

    fn shape(&self) -> Fact<&[u8]> {
        Fact::or_unknown(self.shape.get_or_init(|| shape(self.subject)).as_deref())
    }

    fn tables(&self, see: &mut dyn FnMut(Fact<&str>, &str)) -> bool {
        let tables = self.tables.get_or_init(|| sql::sources(self.subject.text, self.subject.mode));
        tables.iter().flatten().for_each(|table| {
            let schema = table.db.as_deref().map(text).or(self.subject.database.map(Cow::Borrowed));
            see(Fact::or_later(schema.as_deref()), &text(&table.name));
        });
        tables.is_some()
    }
}

fn text(name: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(name)
}

/// Compiles a regular expression as rules use it: it ignores case unless it contains `(?-i)`, and `.` also matches a line break.
/// The error says what is wrong with it.
pub fn expression(text: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(text).case_insensitive(true).dot_matches_new_line(true).build();
    built.map_err(|error| error.to_string())
}

/// Returns the shape of the text as [`sql::shape`] writes it. None if the text cannot be parsed.
fn raw_shape(subject: &Subject) -> Option<Vec<u8>> {
    let mut shape = Vec::new();
    sql::shape(subject.text, subject.mode, &mut shape).then_some(shape)
}

/// Returns the digest of a statement without its literals and comments, which rules may name. None if the text cannot be parsed.
fn shape_id(subject: &Subject) -> Option<u128> {
    raw_shape(subject).map(|shape| sql::shape_id(&shape[1..]))
}

/// Returns the text without comments, with `?` for each literal, and with single spaces. None if it cannot be parsed.
fn shape(subject: &Subject) -> Option<Vec<u8>> {
    let shape = raw_shape(subject)?;
    let mut out: Vec<u8> = Vec::with_capacity(shape.len());
    let without_comments = sql::without_comments(&shape[1..]);
    let mut rest = without_comments.trim_ascii();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'\'' if rest.starts_with(b"?'") => {
                out.push(b'?');
                rest = &rest[2..];
            }
            one if !one.is_ascii_whitespace() => out.push(one),
            _ if out.last() == Some(&b' ') => {}
            _ => out.push(b' '),
        }
    }
    Some(out)
}

/// Returns the value of `cache_ttl=MILLISECONDS` in the first comment of a text. None if there is none, or if it is zero. Several
/// settings in the comment are separated by semicolons.
fn hint(text: &[u8]) -> Option<Duration> {
    let start = text.windows(2).position(|two| two == b"/*")?;
    // In a literal, `/*` does not start a comment. So a comment is not searched after a literal or a quoted name.
    if text[..start].iter().any(|byte| matches!(byte, b'\'' | b'"' | b'`')) {
        return None;
    }
    let comment = &text[start + 2..];
    let end = comment.windows(2).position(|two| two == b"*/")?;
    let comment = std::str::from_utf8(&comment[..end]).ok()?;
    let value = comment.split(';').find_map(|word| word.trim().strip_prefix("cache_ttl")?.trim().strip_prefix('='))?;
    value.trim().parse().ok().filter(|ms| *ms > 0).map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flavour::MARIADB;

    fn subject(text: &str) -> Subject<'_> {
        let mode = LexMode::new(&MARIADB);
        Subject { text: text.as_bytes(), mode, account: Some("app@%"), database: Some("shop") }
    }

    fn ttl(rules: &str, text: &str) -> Option<u64> {
        let rules = Rules::parse(rules, false).expect("rules");
        rules.of(&subject(text)).map(|terms| terms.ttl.as_millis() as u64)
    }

    const READ: &str = "SELECT v  FROM t WHERE id = 7 AND n = 'x'";

    #[test]
    fn a_rule_fits_if_all_that_it_names_does() {
        let shape = shape(&subject(READ)).expect("a shape");
        assert_eq!(shape, b"SELECT v FROM t WHERE id = ? AND n = ?");
        let commented = subject("/* a */ SELECT v  FROM t WHERE id = 7 AND n = 'x' /* b */");
        assert_eq!(shape_id(&commented), shape_id(&subject(READ)));
        assert_eq!(super::shape(&commented), Some(shape));
        let digest = format!("digest = '{:032x}'", shape_id(&subject(READ)).expect("a digest"));
        let fitting = [
            "table = 'shop.t'",
            "table = '%.T'",
            "schema = 'sh%'",
            "account = 'app@%'",
            "text = '^select v'",
            r"shape = 'id = \? and n = \?$'",
            &digest,
            "table = 'shop.t'\naccount = 'app@%'",
        ];
        for what in fitting {
            assert_eq!(ttl(&format!("[[rule]]\n{what}\ncache = 'always'\nttl = 1.5"), READ), Some(1500), "{what}");
        }
        let others = [
            "table = 'shop.u'",
            "schema = 'd'",
            "account = 'root@%'",
            "text = '^v'",
            "shape = '7'",
            "digest = '00000000000000000000000000000000'",
            "table = 'shop.t'\naccount = 'root@%'",
        ];
        for what in others {
            assert_eq!(ttl(&format!("[[rule]]\n{what}\ncache = 'always'\nttl = 1"), READ), None, "{what}");
        }
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let never = "[[rule]]\ntable = 'shop.secret'\ncache = 'never'\n";
        let normal = "[[rule]]\ntable = 'shop.plain'\ncache = 'normal'\n";
        let always = "[[rule]]\nschema = 'shop'\ncache = 'always'\nttl = 2\n";
        let rules = [never, normal, always].concat();
        assert_eq!(ttl(&rules, "SELECT 1 FROM t"), Some(2000));
        assert_eq!(ttl(&rules, "SELECT 1 FROM t JOIN secret"), None);
        assert_eq!(ttl(&rules, "SELECT 1 FROM plain"), None);
        assert_eq!(ttl(&rules, "SELECT 1 FROM t, d.u"), None, "all tables must fit");
        assert_eq!(ttl(&rules, "SELECT 1 FROM { OJ t LEFT JOIN u ON 1 }"), None, "its tables are not known");
    }

    #[test]
    fn rules_are_read_as_the_server_writes_them_too() {
        let rules = r#" [ {"table": "shop.t", "cache": "always", "ttl": 5}, {"name": "all", "schema": "%", "cache": "never"} ]"#;
        assert_eq!(ttl(rules, READ), Some(5000));
        assert_eq!(ttl(rules, "SELECT 1 FROM u"), None);
        assert_eq!(ttl("[]", READ), None);
        let error = Rules::parse(r#"[{"table": "t", "cache": "never"}]"#, false).map(drop).expect_err("an error");
        assert!(error.contains("schema.table") && error.contains("line 1"), "{error}");
    }

    #[test]
    fn before_the_account_is_known_a_rule_of_another_account_stops_nothing() {
        let never = "[[rule]]\naccount = 'root@%'\ncache = 'never'\n";
        let always = "[[rule]]\ntable = 'shop.t'\ncache = 'always'\nttl = 1\n";
        let rules = Rules::parse(&[never, always].concat(), false).expect("rules");
        let of = |account| rules.of(&Subject { account, ..subject(READ) }).is_some();
        assert!(of(None) && of(Some("app@%")) && !of(Some("root@%")));
    }

    #[test]
    fn a_hint_counts_only_where_hints_are_on_and_no_rule_says_never() {
        let never = "[[rule]]\ntable = 'shop.secret'\ncache = 'never'\n";
        let of = |text: &str, has_hints| {
            Rules::parse(never, has_hints).expect("rules").of(&subject(text)).map(|terms| terms.ttl.as_millis())
        };
        assert_eq!(of("/* cache_ttl=1000 */ SELECT 1 FROM t", true), Some(1000));
        assert_eq!(of("SELECT /*hostgroup=1; cache_ttl = 20*/ 1 FROM t", true), Some(20));
        assert_eq!(of("/* cache_ttl=1000 */ SELECT 1 FROM t", false), None);
        for text in [
            "/* cache_ttl=1000 */ SELECT 1 FROM secret",
            "SELECT '/* cache_ttl=1 */' FROM t",
            "SELECT 1 FROM t",
            "/* cache_ttl=0 */ SELECT 1 FROM t",
            "/* cache_ttl=x */ SELECT 1 FROM t",
            "/* no */ /* cache_ttl=1 */ SELECT 1",
        ] {
            assert_eq!(of(text, true), None, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_rule() {
        for (text, expected) in [
            ("cache = 'always'\nttl = 1", "the rule fits nothing"),
            ("table = 'a.b'\ncache = 'always'", "needs a ttl"),
            ("table = 'a.b'\ncache = 'never'\nttl = 1", "go with cache \"always\" only"),
            ("table = 'a.b'\ncache = 'normal'\ncoalesce_ms = 1", "go with cache \"always\" only"),
            ("table = 'a.b'\ncache = 'always'\nttl = 1\ncoalesce_ms = 0", "milliseconds from 1 to 60000"),
            ("table = 'a.b'\ncache = 'always'\nttl = 0", "from 0.001 to 86400, not 0"),
            ("table = 'a.b'\ncache = 'always'\nttl = 1\nsoft_ttl = 2", "soft_ttl is longer than ttl"),
            ("table = 'b'\ncache = 'never'", "is written \"schema.table\""),
            ("text = '('\ncache = 'never'", "unclosed group"),
            ("table = 'a.b'\ncache = 'sometimes'", "unknown variant"),
            ("tabel = 'a.b'\ncache = 'never'", "unknown field `tabel`"),
        ] {
            let error = Rules::parse(&format!("[[rule]]\n{text}"), false).map(drop).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
