//! What may be served although it may be outdated, and for how long: the rules of the file that `rules` names, and hints in texts.
//!
//! The words are those of the engine's `fqc_rules`. The first rule that fits decides, and without one nothing is kept. `always` fits a
//! read only if all its tables are known and do; `never` fits, too, if they are not known.

use crate::counter::Counter;
use insight::{Pattern, digest_of, table_of};
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;
use sql::{LexMode, TableName};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Duration;

/// Of a result that is served.
pub const OLDEST: Duration = Duration::from_secs(86_400);
/// That a read waits for another client's.
const LONGEST_WAIT_MS: u64 = 60_000;
/// What hints are counted under.
const HINT: &str = "hint";

/// How long a result may be served, and how the server is asked for it.
#[derive(Clone, Debug)]
pub struct Terms {
    /// From before the server was asked.
    pub ttl: Duration,
    /// From this age on, one client's read goes to the server, and the others get what there is.
    pub soft_ttl: Duration,
    /// For so long a read waits for another client's answer to the same one; not at all if it is zero.
    pub coalesce: Duration,
    /// Reads in a transaction that has written nothing are served, too.
    pub in_transactions: bool,
    pub counts: Arc<Counts>,
}

/// What became of the reads that a rule decides.
#[derive(Debug, Default)]
pub struct Counts {
    pub hits: Counter,
    /// Reads that went to the server while what they replaced was still served.
    pub refreshes: Counter,
    pub misses: Counter,
    /// Reads that have waited for another client's answer, before they became one of the others.
    pub waits: Counter,
}

#[derive(Debug)]
pub struct Rules {
    rules: Vec<Rule>,
    /// Hints in texts count, and are counted here.
    hints: Option<Arc<Counts>>,
}

#[derive(Debug)]
struct Rule {
    name: String,
    digest: Option<u128>,
    table: Option<(Pattern, Pattern)>,
    schema: Option<Pattern>,
    account: Option<Pattern>,
    text: Option<Regex>,
    shape: Option<Regex>,
    /// `None`: never.
    terms: Option<Terms>,
    is_normal: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rule: Vec<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: Option<String>,
    digest: Option<String>,
    table: Option<String>,
    schema: Option<String>,
    account: Option<String>,
    text: Option<String>,
    shape: Option<String>,
    cache: Word,
    ttl: Option<f64>,
    soft_ttl: Option<f64>,
    coalesce_ms: Option<u64>,
    in_transactions: Option<bool>,
}

#[derive(Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Word {
    Never,
    Always,
    Normal,
}

/// A read as the rules see it.
pub struct Subject<'a> {
    pub text: &'a [u8],
    pub mode: LexMode,
    /// As the server calls it; none before it was asked.
    pub account: Option<&'a str>,
    /// The current database; none before the server was asked.
    pub database: Option<&'a str>,
}

impl Rules {
    pub fn parse(text: &str, has_hints: bool) -> Result<Rules, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        let mut rules = Vec::new();
        for (place, written) in file.rule.into_iter().enumerate() {
            let name = written.name.clone().unwrap_or_else(|| (place + 1).to_string());
            let rule = Rule::of(written, name.clone()).map_err(|error| format!("rule {name}: {error}"))?;
            if name == HINT || rules.iter().any(|other: &Rule| other.name == rule.name) {
                return Err(format!("rule {name}: the name is taken"));
            }
            rules.push(rule);
        }
        Ok(Rules { rules, hints: has_hints.then(Arc::default) })
    }

    /// A rule that keeps its name goes on counting.
    pub fn continue_counts(&mut self, before: &Rules) {
        for terms in self.rules.iter_mut().filter_map(|rule| Some((&rule.name, rule.terms.as_mut()?))) {
            let (name, terms) = terms;
            let same = before.rules.iter().find(|other| other.name == *name).and_then(|other| other.terms.as_ref());
            if let Some(same) = same {
                terms.counts = same.counts.clone();
            }
        }
        if let (Some(counts), Some(same)) = (&mut self.hints, &before.hints) {
            *counts = same.clone();
        }
    }

    /// How a read may be served; none if it may not.
    pub fn of(&self, subject: &Subject) -> Option<Terms> {
        let read = Looked::new(subject);
        let rule = self.rules.iter().find(|rule| rule.fits(&read));
        match rule {
            Some(Rule { terms: None, is_normal: false, .. }) => None,
            rule => self.hinted(subject.text).or_else(|| rule?.terms.clone()),
        }
    }

    fn hinted(&self, text: &[u8]) -> Option<Terms> {
        let counts = self.hints.as_ref()?.clone();
        let ttl = hint(text)?.min(OLDEST);
        Some(Terms { ttl, soft_ttl: ttl, coalesce: Duration::ZERO, in_transactions: false, counts })
    }

    /// No result is served that is older.
    pub fn longest(&self) -> Duration {
        let longest = self.rules.iter().filter_map(|rule| Some(rule.terms.as_ref()?.ttl)).max().unwrap_or_default();
        if self.hints.is_some() { OLDEST } else { longest }
    }

    /// By name.
    pub fn counts(&self) -> impl Iterator<Item = (&str, &Counts)> {
        let of_rule = |rule: &'_ Rule| rule.terms.is_some();
        let rules = self.rules.iter().filter(move |rule| of_rule(rule));
        let rules = rules.filter_map(|rule| Some((rule.name.as_str(), &*rule.terms.as_ref()?.counts)));
        rules.chain(self.hints.iter().map(|counts| (HINT, &**counts)))
    }
}

impl Written {
    /// None unless it lets reads be served.
    fn terms(&self) -> Result<Option<Terms>, String> {
        let &Written { ttl, soft_ttl, coalesce_ms, in_transactions, .. } = self;
        if self.cache != Word::Always {
            let is_of_session = ttl.or(soft_ttl).is_none() && coalesce_ms.is_none() && in_transactions.is_none();
            let why = "ttl, soft_ttl, coalesce_ms and in_transactions go with cache = \"always\" only";
            return if is_of_session { Ok(None) } else { Err(why.into()) };
        }
        let ttl = seconds("ttl", ttl.ok_or("cache = \"always\" needs a ttl, in seconds")?)?;
        let soft_ttl = soft_ttl.map_or(Ok(ttl), |soft| seconds("soft_ttl", soft))?;
        if soft_ttl > ttl {
            return Err("soft_ttl is longer than ttl".into());
        }
        if coalesce_ms.is_some_and(|ms| !(1..=LONGEST_WAIT_MS).contains(&ms)) {
            return Err(format!("coalesce_ms is a number of milliseconds from 1 to {LONGEST_WAIT_MS}"));
        }
        let coalesce = Duration::from_millis(coalesce_ms.unwrap_or(0));
        let in_transactions = in_transactions.unwrap_or(false);
        Ok(Some(Terms { ttl, soft_ttl, coalesce, in_transactions, counts: Arc::default() }))
    }
}

fn seconds(name: &str, seconds: f64) -> Result<Duration, String> {
    let read = Duration::try_from_secs_f64(seconds).ok();
    read.filter(|read| (Duration::from_millis(1)..=OLDEST).contains(read))
        .ok_or_else(|| format!("{name} is a number of seconds from 0.001 to {}, not {seconds}", OLDEST.as_secs()))
}

/// A subject, and what is found in its text once a rule asks for it: none where it cannot be told.
struct Looked<'a> {
    subject: &'a Subject<'a>,
    tables: OnceCell<Option<Vec<TableName>>>,
    shape: OnceCell<Option<Vec<u8>>>,
    digest: OnceCell<Option<u128>>,
}

impl<'a> Looked<'a> {
    fn new(subject: &'a Subject<'a>) -> Looked<'a> {
        Looked { subject, tables: OnceCell::new(), shape: OnceCell::new(), digest: OnceCell::new() }
    }

    fn tables(&self) -> Option<&[TableName]> {
        self.tables.get_or_init(|| sql::sources(self.subject.text, self.subject.mode)).as_deref()
    }

    fn shape(&self) -> Option<&[u8]> {
        self.shape.get_or_init(|| shape(self.subject)).as_deref()
    }

    fn digest(&self) -> Option<u128> {
        *self.digest.get_or_init(|| shape_id(self.subject))
    }
}

impl Rule {
    fn of(written: Written, name: String) -> Result<Rule, String> {
        let terms = written.terms()?;
        let Written { digest, table, schema, account, text, shape, cache, .. } = written;
        if [&digest, &table, &schema, &account, &text, &shape].iter().all(|part| part.is_none()) {
            return Err("it fits nothing: give it a digest, table, schema, account, text or shape".into());
        }
        let is_normal = cache == Word::Normal;
        Ok(Rule {
            name,
            digest: digest.as_deref().map(digest_of).transpose()?,
            table: table.as_deref().map(table_of).transpose()?,
            schema: schema.map(Pattern::new),
            account: account.map(Pattern::new),
            text: text.as_deref().map(expression).transpose()?,
            shape: shape.as_deref().map(expression).transpose()?,
            terms,
            is_normal,
        })
    }

    /// An account or database that is not known yet fits only what may serve: it is looked at again once the server has told them.
    fn fits(&self, read: &Looked) -> bool {
        let subject = read.subject;
        let is_shape = |expression: &Regex| read.shape().map_or(self.is_never(), |shape| expression.is_match(shape));
        let is_digest = |digest| read.digest().map_or(self.is_never(), |id| id == digest);
        self.digest.is_none_or(is_digest)
            && self.account.as_ref().is_none_or(|pattern| self.fits_told(pattern, subject.account))
            && self.text.as_ref().is_none_or(|expression| expression.is_match(subject.text))
            && self.shape.as_ref().is_none_or(is_shape)
            && self.fits_tables(read)
    }

    fn fits_told(&self, pattern: &Pattern, told: Option<&str>) -> bool {
        told.map_or(self.terms.is_some(), |told| pattern.fits(told))
    }

    fn is_never(&self) -> bool {
        self.terms.is_none() && !self.is_normal
    }

    fn fits_tables(&self, read: &Looked) -> bool {
        if self.table.is_none() && self.schema.is_none() {
            return true;
        }
        let Some(tables) = read.tables() else { return self.is_never() };
        let fits = |table: &TableName| {
            let (schema, name) = (table.db.as_deref().map(text), text(&table.name));
            let schema = schema.or(read.subject.database.map(Cow::Borrowed));
            let is_schema = |pattern: &Pattern| self.fits_told(pattern, schema.as_deref());
            self.schema.as_ref().is_none_or(is_schema)
                && self.table.as_ref().is_none_or(|(first, second)| is_schema(first) && second.fits(&name))
        };
        match self.terms {
            Some(_) => !tables.is_empty() && tables.iter().all(fits),
            None => tables.iter().any(fits),
        }
    }
}

fn text(name: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(name)
}

/// Upper and lower case are the same, unless it says `(?-i)`.
pub fn expression(text: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(text).case_insensitive(true).dot_matches_new_line(true).build();
    built.map_err(|error| error.to_string())
}

fn raw_shape(subject: &Subject) -> Option<Vec<u8>> {
    let mut shape = Vec::new();
    sql::shape(subject.text, subject.mode, &mut shape).then_some(shape)
}

fn shape_id(subject: &Subject) -> Option<u128> {
    raw_shape(subject).map(|shape| sql::shape_id(&shape[1..]))
}

/// The text without comments, with `?` in place of literals, and with one blank in place of several.
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

/// `cache_ttl=MILLISECONDS` in the first comment of a text, where words are separated by semicolons.
fn hint(text: &[u8]) -> Option<Duration> {
    let start = text.windows(2).position(|two| two == b"/*")?;
    // In a literal it is none, and where one comes first nobody looks.
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
            ("cache = 'always'\nttl = 1", "rule 1: it fits nothing"),
            ("table = 'a.b'\ncache = 'always'", "needs a ttl"),
            ("table = 'a.b'\ncache = 'never'\nttl = 1", "go with cache = \"always\" only"),
            ("table = 'a.b'\ncache = 'normal'\ncoalesce_ms = 1", "go with cache = \"always\" only"),
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
