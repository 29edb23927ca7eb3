//! A list of rules says what a user wants to be cached. The first rule that fits a statement decides.
//!
//! `[{"table": "shop.orders", "cache": "never"}, {"account": "report@%", "cache": "always", "ttl": 5}]`
//!
//! A rule has conditions (`digest`, `table`, `schema`, `account`, `text`, `shape`), and fits a statement that meets all of them. In names
//! `%` stands for any text. A rule with `never` fits a statement if it reads any such table. A rule with `always` fits only if all tables
//! of the statement are such, because it serves a result for `ttl` seconds whatever is written in that time.
//!
//! The grammar is the same in the server and in `fqc-near`. A [`RuleHost`] says what each of them supports. A rule that asks for more is
//! refused.

mod pattern;

pub use pattern::Pattern;
use serde::Deserialize;
use std::convert::Infallible;
use std::time::Duration;

/// The caching that a rule sets for the statements that it fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Caching {
    /// Results are not cached.
    Never,
    /// A result is served until it has the age [`TtlSettings::ttl`], even if it is stale.
    Always(TtlSettings),
    /// The rule changes nothing: the host caches the statement as it does without rules.
    #[default]
    Normal,
}

/// The settings of a rule with the caching `always`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TtlSettings {
    /// The age at which a result is not served any more.
    pub ttl: Duration,
    /// From this age of a result on, one client's read goes to the server to refresh it, while the others are served the cached result.
    /// Equal to `ttl` if the rule does not set it.
    pub soft_ttl: Duration,
    /// How long a read for which no result is cached waits for the response to another client's same read; zero if it does not wait.
    pub coalesce: Duration,
    /// True if reads in a transaction that has written nothing are served, too.
    pub in_transactions: bool,
}

/// A program that reads rules, the server or `fqc-near`, and the settings that it supports. A rule with a setting that is not supported is
/// an error.
pub trait RuleHost {
    /// The expressions for `text` and `shape`; [`Infallible`] if these are not supported.
    type Expression: Expression;
    /// The shortest `ttl` that a rule may set. If it is a second, every `ttl` is a whole number of seconds.
    const STEP: Duration;
    /// The longest `ttl` that a rule may set.
    const LONGEST: Duration;
    /// True if `soft_ttl`, `coalesce_ms` and `in_transactions` are supported.
    const HAS_FURTHER_TERMS: bool;
}

/// An expression in a rule that the text of a statement has to match, such as a regular expression.
pub trait Expression: Sized {
    /// Parses the expression. The error says what is wrong, for the user who wrote the rule.
    fn parse(text: &str) -> Result<Self, String>;
    /// True if the text matches.
    fn fits(&self, text: &[u8]) -> bool;
}

/// The expression of a [`RuleHost`] that does not support expressions: parsing one is always an error.
impl Expression for Infallible {
    fn parse(_: &str) -> Result<Self, String> {
        Err("\"text\" and \"shape\" are words of fqc-near's rules".into())
    }

    fn fits(&self, _: &[u8]) -> bool {
        match *self {}
    }
}

/// A fact about a statement that a rule may ask for, such as its account.
#[derive(Clone, Copy, Debug)]
pub enum Fact<T> {
    /// The fact is known; the rule is compared with it.
    Known(T),
    /// The fact cannot be determined. Of the rules that ask for it, the statement fits only those that say `never`.
    Unknown,
    /// The fact will be known later, and the caller applies the rules again then. Until then, of the rules that ask for it, the statement
    /// fits only those that say `always`.
    Later,
}

impl<T> Fact<T> {
    /// Returns the fact, or [`Fact::Unknown`] for `None`.
    pub fn or_unknown(fact: Option<T>) -> Fact<T> {
        fact.map_or(Fact::Unknown, Fact::Known)
    }

    /// Returns the fact, or [`Fact::Later`] for `None`.
    pub fn or_later(fact: Option<T>) -> Fact<T> {
        fact.map_or(Fact::Later, Fact::Known)
    }
}

/// A statement as [`Rule::fits`] sees it.
pub trait Facts {
    /// The hash of the statement's shape, as `SHOW FQC QUERIES` shows it.
    fn digest(&self) -> Fact<u128>;
    /// The account that executes the statement, as `user@host`.
    fn account(&self) -> Fact<&str>;
    /// The text of the statement as the client sent it.
    fn text(&self) -> &[u8];
    /// The text without comments, with `?` instead of literals.
    fn shape(&self) -> Fact<&[u8]>;
    /// Calls `see` with schema and name of every table that the statement reads. Returns false if the tables cannot be determined; then the
    /// calls do not count.
    fn tables(&self, see: &mut dyn FnMut(Fact<&str>, &str)) -> bool;
}

/// One rule: the conditions that a statement has to meet, and the caching that the rule then sets. Deserializing one checks it.
#[derive(Debug, Deserialize)]
#[serde(try_from = "RuleJson", bound = "")]
pub struct Rule<P: RuleHost> {
    /// The user's name for the rule, if it has one. It has no effect on what the rule fits.
    pub name: Option<String>,
    digest: Option<u128>,
    table: Option<(Pattern, Pattern)>,
    schema: Option<Pattern>,
    account: Option<Pattern>,
    text: Option<P::Expression>,
    shape: Option<P::Expression>,
    pub caching: Caching,
}

/// A rule as JSON, with all its settings unchecked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleJson {
    name: Option<String>,
    digest: Option<String>,
    table: Option<String>,
    schema: Option<String>,
    account: Option<String>,
    text: Option<String>,
    shape: Option<String>,
    cache: CachingWord,
    ttl: Option<f64>,
    soft_ttl: Option<f64>,
    coalesce_ms: Option<u64>,
    in_transactions: Option<bool>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum CachingWord {
    Never,
    Always,
    Normal,
}

/// The maximum of `coalesce_ms`, the time that a read waits for another client's read.
const LONGEST_WAIT_MS: u64 = 60_000;

/// Parses a list of rules from JSON, in order. Blank text is an empty list. The error says what is wrong and what would be right, for the
/// user; where it can, with line and column. One wrong rule makes the whole list an error.
pub fn of_json<P: RuleHost>(text: &str) -> Result<Vec<Rule<P>>, String> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    if !text.trim_start().starts_with('[') {
        return Err(r#"it is not a list of rules, such as [{"table": "shop.orders", "cache": "never"}]"#.into());
    }
    serde_json::from_str(text).map_err(|error| error.to_string())
}

impl<P: RuleHost> Rule<P> {
    /// True if the statement meets all conditions of this rule. A condition on a fact that is not known counts as [`Fact`] says.
    pub fn fits(&self, facts: &impl Facts) -> bool {
        let fits_shape = |shape: &P::Expression| self.holds(facts.shape(), |told| shape.fits(told));
        self.digest.is_none_or(|digest| self.holds(facts.digest(), |told| told == digest))
            && self.account.as_ref().is_none_or(|account| self.holds(facts.account(), |told| account.fits(told)))
            && self.text.as_ref().is_none_or(|text| text.fits(facts.text()))
            && self.shape.as_ref().is_none_or(fits_shape)
            && self.fits_tables(facts)
    }

    /// True if a condition on this fact is met. If the fact is not known, that depends on what the rule says, see [`Fact`].
    fn holds<T>(&self, fact: Fact<T>, holds: impl FnOnce(T) -> bool) -> bool {
        match fact {
            Fact::Known(told) => holds(told),
            Fact::Unknown => self.caching == Caching::Never,
            Fact::Later => matches!(self.caching, Caching::Always(_)),
        }
    }

    /// True if the rule's conditions on tables and schemas are met: for `always` by all tables of the statement, otherwise by any. False if
    /// the statement reads no table. If the tables cannot be determined, true only for `never`. True if the rule has no such condition.
    fn fits_tables(&self, facts: &impl Facts) -> bool {
        if self.table.is_none() && self.schema.is_none() {
            return true;
        }
        let (mut all, mut fitting) = (0, 0);
        let is_known = facts.tables(&mut |schema, name| {
            let is_schema = |pattern: &Pattern| self.holds(schema, |schema| pattern.fits(schema));
            let fits = self.schema.as_ref().is_none_or(is_schema)
                && self.table.as_ref().is_none_or(|(first, second)| is_schema(first) && second.fits(name));
            all += 1;
            fitting += usize::from(fits);
        });
        match self.caching {
            _ if !is_known => self.caching == Caching::Never,
            Caching::Always(_) => all > 0 && fitting == all,
            _ => fitting > 0,
        }
    }
}

impl<P: RuleHost> TryFrom<RuleJson> for Rule<P> {
    type Error = String;

    fn try_from(written: RuleJson) -> Result<Rule<P>, String> {
        let caching = written.caching::<P>()?;
        let RuleJson { name, digest, table, schema, account, text, shape, .. } = written;
        if [&digest, &table, &schema, &account, &text, &shape].iter().all(|part| part.is_none()) {
            return Err("the rule fits nothing: give it a digest, table, schema, account, text or shape".into());
        }
        Ok(Rule {
            name,
            digest: digest.as_deref().map(digest_of).transpose()?,
            table: table.as_deref().map(table_of).transpose()?,
            schema: schema.map(Pattern::new),
            account: account.map(Pattern::new),
            text: text.as_deref().map(P::Expression::parse).transpose()?,
            shape: shape.as_deref().map(P::Expression::parse).transpose()?,
            caching,
        })
    }
}

impl RuleJson {
    /// Checks `cache` and the settings that belong to it. The error is for the user who wrote the rule.
    fn caching<P: RuleHost>(&self) -> Result<Caching, String> {
        let &RuleJson { cache, ttl, soft_ttl, coalesce_ms, in_transactions, .. } = self;
        let has_further = soft_ttl.is_some() || coalesce_ms.is_some() || in_transactions.is_some();
        if has_further && !P::HAS_FURTHER_TERMS {
            return Err("soft_ttl, coalesce_ms and in_transactions are words of fqc-near's rules".into());
        }
        let is_always = matches!(cache, CachingWord::Always);
        if !is_always && (ttl.is_some() || has_further) {
            return Err("ttl, soft_ttl, coalesce_ms and in_transactions go with cache \"always\" only".into());
        }
        match cache {
            CachingWord::Never => return Ok(Caching::Never),
            CachingWord::Normal => return Ok(Caching::Normal),
            CachingWord::Always => {}
        }
        let ttl = seconds::<P>("ttl", ttl)?;
        let soft_ttl = soft_ttl.map_or(Ok(ttl), |soft| seconds::<P>("soft_ttl", Some(soft)))?;
        if soft_ttl > ttl {
            return Err("soft_ttl is longer than ttl".into());
        }
        if coalesce_ms.is_some_and(|ms| !(1..=LONGEST_WAIT_MS).contains(&ms)) {
            return Err(format!("coalesce_ms is a number of milliseconds from 1 to {LONGEST_WAIT_MS}"));
        }
        let coalesce = Duration::from_millis(coalesce_ms.unwrap_or(0));
        Ok(Caching::Always(TtlSettings { ttl, soft_ttl, coalesce, in_transactions: in_transactions.unwrap_or(false) }))
    }
}

/// Checks a number of seconds that is required. `name` is the setting's name for the error; `written` is none if the rule lacks the
/// setting, which is an error.
fn seconds<P: RuleHost>(name: &str, written: Option<f64>) -> Result<Duration, String> {
    let read = written.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let is_right = |read: &Duration| (P::STEP..=P::LONGEST).contains(read) && is_multiple(*read, P::STEP);
    read.filter(is_right).ok_or_else(|| {
        let is_whole = P::STEP == Duration::from_secs(1);
        let number = if is_whole { "a whole number" } else { "a number" };
        let (least, most) = (P::STEP.as_secs_f64(), P::LONGEST.as_secs());
        let given = written.map_or(String::new(), |seconds| format!(", not {seconds}"));
        format!("cache \"always\" needs a {name}, {number} of seconds from {least} to {most}{given}")
    })
}

/// True if the time is a multiple of the step, or the step is less than a second: such a step only limits the shortest time.
fn is_multiple(time: Duration, step: Duration) -> bool {
    step < Duration::from_secs(1) || time.as_nanos().is_multiple_of(step.as_nanos())
}

/// Parses a digest as a rule writes it: 32 hexadecimal digits. The error says that, for the user.
pub fn digest_of(text: &str) -> Result<u128, String> {
    let is_hex = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = is_hex.then(|| u128::from_str_radix(text, 16).ok()).flatten();
    number.ok_or_else(|| format!("\"digest\" is 32 hexadecimal digits as SHOW FQC QUERIES shows them, not \"{text}\""))
}

/// Parses the patterns of schema and table as a rule writes them, `schema.table`. The error says that, for the user.
fn table_of(text: &str) -> Result<(Pattern, Pattern), String> {
    let (schema, name) =
        text.split_once('.').ok_or_else(|| format!("\"table\" is written \"schema.table\", not \"{text}\""))?;
    Ok((Pattern::new(schema.into()), Pattern::new(name.into())))
}
