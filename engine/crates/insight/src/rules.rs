//! What a user says about caching, as JSON: a list of rules. The first rule that fits decides.
//!
//! `[{"table": "shop.orders", "cache": "never"}, {"account": "report@%", "cache": "always", "ttl": 5}]`
//!
//! A rule names one or more of `digest`, `table`, `schema` and `account`, and fits if all of them do. In names `%` stands for any
//! text. `never` fits a statement if it reads any such table. `always` fits only if all its tables do, because it serves a
//! result for `ttl` seconds whatever is written meanwhile.

mod pattern;

use crate::timeline::LONGEST_SECONDS;
pub use pattern::Pattern;
use serde::Deserialize;

/// What a rule says of the statements that it fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Caching {
    Never,
    /// Served until it is so old, also if it is outdated.
    Always {
        ttl_seconds: u64,
    },
    #[default]
    Normal,
}

/// A statement as the rules see it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub digest: u128,
    pub account: &'a str,
    /// Schema and name of every table that it reads.
    pub tables: &'a [(&'a str, &'a str)],
}

#[derive(Debug, Default)]
pub struct Rules(Vec<Rule>);

#[derive(Debug, Deserialize)]
#[serde(try_from = "Written")]
struct Rule {
    digest: Option<u128>,
    table: Option<(Pattern, Pattern)>,
    schema: Option<Pattern>,
    account: Option<Pattern>,
    caching: Caching,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    digest: Option<String>,
    table: Option<String>,
    schema: Option<String>,
    account: Option<String>,
    cache: Word,
    #[serde(rename = "ttl")]
    ttl_seconds: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Never,
    Always,
    Normal,
}

impl Rules {
    /// Empty text: no rules. An error says what is wrong, in which line and column, and what would be right.
    pub fn parse(text: &str) -> Result<Rules, String> {
        if text.trim().is_empty() {
            return Ok(Rules::default());
        }
        if !text.trim_start().starts_with('[') {
            return Err(r#"it is not a list of rules, such as [{"table": "shop.orders", "cache": "never"}]"#.into());
        }
        serde_json::from_str(text).map(Rules).map_err(|error| error.to_string())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether some rule serves what is outdated.
    pub fn has_ttl(&self) -> bool {
        self.0.iter().any(|rule| matches!(rule.caching, Caching::Always { .. }))
    }

    pub fn of(&self, subject: &Subject) -> Caching {
        self.0.iter().find(|rule| rule.fits(subject)).map_or(Caching::Normal, |rule| rule.caching)
    }
}

impl Rule {
    fn fits(&self, subject: &Subject) -> bool {
        self.digest.is_none_or(|digest| digest == subject.digest)
            && self.account.as_ref().is_none_or(|account| account.fits(subject.account))
            && self.fits_tables(subject.tables)
    }

    fn fits_tables(&self, tables: &[(&str, &str)]) -> bool {
        if self.table.is_none() && self.schema.is_none() {
            return true;
        }
        let fits = |(schema, name): &(&str, &str)| {
            self.schema.as_ref().is_none_or(|pattern| pattern.fits(schema))
                && self.table.as_ref().is_none_or(|(first, second)| first.fits(schema) && second.fits(name))
        };
        match self.caching {
            Caching::Always { .. } => !tables.is_empty() && tables.iter().all(fits),
            _ => tables.iter().any(fits),
        }
    }
}

impl TryFrom<Written> for Rule {
    type Error = String;

    fn try_from(written: Written) -> Result<Rule, String> {
        let Written { digest, table, schema, account, cache, ttl_seconds } = written;
        if [&digest, &table, &schema, &account].iter().all(|part| part.is_none()) {
            return Err("the rule fits nothing: give it a \"digest\", \"table\", \"schema\" or \"account\"".into());
        }
        let caching = match (cache, ttl_seconds) {
            (Word::Always, Some(ttl_seconds @ 1..=LONGEST_SECONDS)) => Caching::Always { ttl_seconds },
            (Word::Always, _) => return Err(format!("\"always\" needs a \"ttl\" from 1 to {LONGEST_SECONDS} seconds")),
            (_, Some(_)) => return Err("\"ttl\" goes with \"always\" only".into()),
            (Word::Never, None) => Caching::Never,
            (Word::Normal, None) => Caching::Normal,
        };
        Ok(Rule {
            digest: digest.as_deref().map(digest_of).transpose()?,
            table: table.as_deref().map(table_of).transpose()?,
            schema: schema.map(Pattern::new),
            account: account.map(Pattern::new),
            caching,
        })
    }
}

/// As a rule writes it.
pub fn digest_of(text: &str) -> Result<u128, String> {
    let is_hex = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = is_hex.then(|| u128::from_str_radix(text, 16).ok()).flatten();
    number.ok_or_else(|| format!("\"digest\" is 32 hexadecimal digits as SHOW FQC QUERIES shows them, not \"{text}\""))
}

/// Schema and name, as a rule writes them.
pub fn table_of(text: &str) -> Result<(Pattern, Pattern), String> {
    let (schema, name) =
        text.split_once('.').ok_or_else(|| format!("\"table\" is written \"schema.table\", not \"{text}\""))?;
    Ok((Pattern::new(schema.into()), Pattern::new(name.into())))
}
