//! The rules of the server's system variable `fqc_rules`: see `rules`.

use crate::rules::{Caching, Fact, Facts, Rule, RuleHost, of_json};
use crate::timeline::LONGEST_SECONDS;
use std::convert::Infallible;
use std::time::Duration;

/// The server as a reader of rules: without expressions, and with whole seconds.
#[derive(Debug)]
struct InServer;

impl RuleHost for InServer {
    type Expression = Infallible;
    const STEP: Duration = Duration::from_secs(1);
    const LONGEST: Duration = Duration::from_secs(LONGEST_SECONDS);
    const HAS_FURTHER_TERMS: bool = false;
}

/// A read that the server has executed, for [`Rules::of`].
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The hash of the statement's shape, as `SHOW FQC QUERIES` shows it.
    pub digest: u128,
    /// The account that executed the statement, as `user@host`.
    pub account: &'a str,
    /// Schema and name of every table that the statement reads.
    pub tables: &'a [(&'a str, &'a str)],
}

impl Facts for Subject<'_> {
    fn digest(&self) -> Fact<u128> {
        Fact::Known(self.digest)
    }

    fn account(&self) -> Fact<&str> {
        Fact::Known(self.account)
    }

    fn text(&self) -> &[u8] {
        &[]
    }

    fn shape(&self) -> Fact<&[u8]> {
        Fact::Unknown
    }

    fn tables(&self, see: &mut dyn FnMut(Fact<&str>, &str)) -> bool {
        self.tables.iter().for_each(|(schema, name)| see(Fact::Known(schema), name));
        true
    }
}

/// The rules of the server's system variable `fqc_rules`, in order.
#[derive(Debug, Default)]
pub struct Rules(Vec<Rule<InServer>>);

impl Rules {
    /// Parses the text of `fqc_rules`, a list in JSON. Blank text is an empty list. The error says what is wrong, for the user.
    pub fn parse(text: &str) -> Result<Rules, String> {
        of_json(text).map(Rules)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if some rule says `always`, which lets stale results be served.
    pub fn has_ttl(&self) -> bool {
        self.0.iter().any(|rule| matches!(rule.caching, Caching::Always(_)))
    }

    /// Returns the caching that the first fitting rule sets for this read; [`Caching::Normal`] if no rule fits.
    pub fn of(&self, subject: &Subject) -> Caching {
        self.0.iter().find(|rule| rule.fits(subject)).map_or(Caching::Normal, |rule| rule.caching)
    }
}
