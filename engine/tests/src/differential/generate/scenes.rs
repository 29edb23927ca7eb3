//! Scenes: one read, asked again and again by a few sessions while others write, so that most answers come from the cache.

use super::{Aim, Generator};
use crate::differential::action::{Commands, Kind};

/// Settings whose meaning depends on the order in which they are made, or that change the metadata or warnings that come with the rows.
const SETTINGS: &[&str] = &[
    "SET collation_connection = latin1_bin",
    "SET character_set_connection = utf8mb4",
    "SET character_set_connection = utf8",
    "SET NAMES utf8",
    "SET NAMES latin1",
    "SET old_mode = ''",
    "SET old_mode = 'UTF8_IS_UTF8MB3'",
    "SET sql_notes = 0",
    "SET character_set_results = utf8",
    "SET time_zone = '+05:00'",
];

/// Settings: a variable, a value that a statement shows in its text, and another one that a statement sets without showing it.
const HIDDEN: &[(&str, &str, &str)] = &[
    ("time_zone", "'+05:00'", "'-03:00'"),
    ("lc_time_names", "'de_DE'", "'fr_FR'"),
    ("div_precision_increment", "9", "2"),
    ("collation_connection", "'latin1_bin'", "'utf8mb4_general_ci'"),
    ("default_regex_flags", "'DOTALL'", "''"),
];

/// True unless the read contains comments that a server executes. Reads with such comments are never cached, so most scenes avoid them.
fn is_promising(read: &Commands) -> bool {
    let (Commands::Query(text) | Commands::Run(text, _)) = read else { return false };
    !text.contains("/*!") && !text.contains("/*M!")
}

impl Generator {
    /// The weight of scenes among the other kinds of steps: 0 in a run that aims at rows, since it repeats reads anyway.
    pub(super) fn scenes(&self) -> u32 {
        if self.aim == Aim::Everything { 220 } else { 0 }
    }

    /// Queues steps for two sessions: both make the same settings, in different orders, and then run the same reads. Returns the step to
    /// run before those.
    fn settings_scene(&mut self, session: usize) -> (Kind, Commands) {
        let partner = self.random.below(self.assumptions.len());
        let settings: Vec<_> = (0..2 + self.random.below(2)).map(|_| *self.random.pick(SETTINGS)).collect();
        let table = self.table(false);
        let name = format!("{}.{}", table.database, table.name);
        let read =
            format!("SELECT COLLATION('x'), 'a' = 'A', CAST('12 ' AS SIGNED), COUNT(*), FROM_UNIXTIME(0) FROM {name}");
        let quiet = format!("SELECT COLLATION('x'), 'a' = 'A', FROM_UNIXTIME(0), COUNT(*) FROM {name}");
        let reads = [&read, &quiet, &read, &quiet, &quiet];
        for (one, is_reversed) in [(session, false), (partner, true)] {
            self.later(one, Kind::Connection, Commands::ResetConnection);
            self.settle(one);
            let mut order = settings.clone();
            if is_reversed {
                order.reverse();
            }
            order.into_iter().for_each(|setting| self.later(one, Kind::Setting, Commands::Query(setting.into())));
            reads.into_iter().for_each(|read| self.later(one, Kind::Repeat, Commands::Query(read.clone())));
            self.aftermath(one);
        }
        for one in [session, partner] {
            self.later(one, Kind::Connection, Commands::ResetConnection);
            self.settle(one);
        }
        (Kind::Read, Commands::Query(quiet))
    }

    /// Queues a setting that is made again after a statement that may have changed it without saying so in its text.
    fn again_scene(&mut self, session: usize) -> (Kind, Commands) {
        let partner = self.random.below(self.assumptions.len());
        let table = self.table(false);
        let read = Commands::Query(format!(
            "SELECT FROM_UNIXTIME(0), DATE_FORMAT('2026-01-05', '%M'), 1 / 3, 'a' = 'A', 'a\nb' REGEXP 'a.b', COUNT(*) FROM {}.{}",
            table.database, table.name
        ));
        let (name, known, other) = *self.random.pick(HIDDEN);
        let again = format!("SET {name} = {known}");
        for one in [session, partner] {
            self.later(one, Kind::Connection, Commands::ResetConnection);
            self.settle(one);
            for _ in 0..3 {
                self.later(one, Kind::Setting, Commands::Query(again.clone()));
                (0..3).for_each(|_| self.later(one, Kind::Repeat, read.clone()));
                let hidden = match self.random.below(3) {
                    0 => format!("SET {name} = COALESCE({other})"),
                    1 => format!("SET {name} = {other}, max_sort_length = 'none'"),
                    _ => format!("EXECUTE IMMEDIATE 'SET {name} = {}'", other.replace('\'', "''")),
                };
                self.later(one, Kind::Setting, Commands::Query(hidden));
                (0..2).for_each(|_| self.later(one, Kind::Repeat, read.clone()));
                self.aftermath(one);
            }
            self.later(one, Kind::Connection, Commands::ResetConnection);
            self.settle(one);
        }
        (Kind::Read, read)
    }

    /// Generates a scene. Returns its first step, and queues the others.
    pub(super) fn scene(&mut self, session: usize) -> (Kind, Commands) {
        if self.random.percent(4) {
            return self.settings_scene(session);
        }
        if self.random.percent(4) {
            return self.again_scene(session);
        }
        if self.random.percent(15) {
            return self.types_scene(session);
        }
        let is_of_views = self.random.percent(20);
        let mut read = if self.random.percent(60) { self.fresh_read() } else { self.repeat() };
        for _ in 0..if is_of_views { 12 } else { 2 } {
            if self.names_view(&read) != is_of_views || !is_promising(&read) {
                read = self.fresh_read();
            }
        }
        let mut first = (Kind::Read, read.clone());
        if self.random.percent(25) {
            // A reset clears what the session has accumulated, which may keep it from being served.
            self.settle(session);
            self.later(session, first.0, first.1);
            first = (Kind::Connection, Commands::ResetConnection);
        }
        let partner = self.random.below(self.assumptions.len());
        if self.assumptions[partner].in_transaction && self.random.percent(60) {
            let ending = self.ending();
            self.later(partner, Kind::Transaction, Commands::Query(ending));
        }
        for _ in 0..3 + self.random.below(8) {
            let reader = match self.random.below(10) {
                0..=4 => session,
                5..=8 => partner,
                _ => self.random.below(self.assumptions.len()),
            };
            let again = self.otherwise(&read);
            self.later(reader, Kind::Repeat, again);
            self.aftermath(reader);
            self.disturbance(reader);
            if is_of_views && self.random.percent(12) {
                let definer = self.random.below(self.assumptions.len());
                let change = self.view_change();
                self.later(definer, Kind::Routine, Commands::Query(change));
            }
        }
        first
    }

    /// True if the read names a view.
    fn names_view(&self, read: &Commands) -> bool {
        let (Commands::Query(text) | Commands::Run(text, _)) = read else { return false };
        self.model.tables.iter().any(|table| table.is_view() && text.contains(&table.name))
    }

    /// Returns a read with the same text, sometimes in the other protocol, or with another value.
    fn otherwise(&mut self, read: &Commands) -> Commands {
        match read {
            Commands::Query(text) if self.random.percent(8) => Commands::Run(text.clone(), Vec::new()),
            Commands::Run(text, params) if params.is_empty() && self.random.percent(8) => Commands::Query(text.clone()),
            _ if self.random.percent(30) => self.revalued(read).unwrap_or_else(|| read.clone()),
            _ => read.clone(),
        }
    }

    /// Queues at times a write, or the begin or end of a transaction, while a scene goes on.
    fn disturbance(&mut self, reader: usize) {
        let writer = self.random.below(self.assumptions.len());
        match self.random.below(100) {
            0..=9 => {
                self.session = writer;
                let write = self.prepared_or_text(Self::write);
                self.later(writer, Kind::Write, write);
            }
            10 | 11 => self.later(reader, Kind::Transaction, Commands::Query("BEGIN".into())),
            12..=15 => {
                let session = if self.random.percent(50) { reader } else { writer };
                let ending = self.ending();
                self.later(session, Kind::Transaction, Commands::Query(ending));
            }
            _ => {}
        }
    }
}
