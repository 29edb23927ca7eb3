//! Statements that begin and end transactions of every kind, XA transactions, and locks.

use super::Generator;
use crate::differential::action::{Account, Commands, Kind};

const LEVELS: &[&str] =
    &["REPEATABLE READ", "READ COMMITTED", "SERIALIZABLE", "READ UNCOMMITTED", "REPEATABLE READ", "READ COMMITTED"];

impl Generator {
    /// A statement that begins, ends or configures a transaction of this session.
    pub(super) fn transaction(&mut self, session: usize) -> String {
        let level = self.random.word(LEVELS);
        if self.assumptions[session].in_transaction && self.random.percent(60) {
            return self.ending();
        }
        match self.random.below(20) {
            0..=4 => {
                self.random.word(&["BEGIN", "BEGIN WORK", "begin", "START TRANSACTION", "/* x */ BEGIN"]).to_string()
            }
            5..=8 => self
                .random
                .word(&[
                    "START TRANSACTION WITH CONSISTENT SNAPSHOT",
                    "START TRANSACTION READ ONLY",
                    "START TRANSACTION READ WRITE",
                    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
                ])
                .to_string(),
            9 => format!("SET TRANSACTION ISOLATION LEVEL {level}"),
            10 => format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}"),
            11 => format!("SET tx_isolation = '{}'", level.replace(' ', "-")),
            12 => self
                .random
                .word(&[
                    "SET autocommit = 0",
                    "SET autocommit = 0",
                    "SET @@autocommit = OFF",
                    "SET SESSION autocommit = FALSE",
                ])
                .to_string(),
            13 | 14 => {
                self.random.word(&["SET autocommit = 1", "SET autocommit = ON", "SET autocommit = DEFAULT"]).to_string()
            }
            15 => self
                .random
                .word(&[
                    "SAVEPOINT s",
                    "SAVEPOINT r",
                    "ROLLBACK TO s",
                    "ROLLBACK TO SAVEPOINT r",
                    "RELEASE SAVEPOINT s",
                ])
                .to_string(),
            16 => self
                .random
                .word(&[
                    "SET TRANSACTION READ ONLY",
                    "SET TRANSACTION READ WRITE",
                    "SET SESSION TRANSACTION READ WRITE",
                ])
                .to_string(),
            _ => self.ending(),
        }
    }

    /// A statement that mostly ends a transaction.
    pub(super) fn ending(&mut self) -> String {
        self.random
            .word(&[
                "COMMIT",
                "COMMIT",
                "COMMIT",
                "COMMIT WORK",
                "commit",
                "ROLLBACK",
                "ROLLBACK",
                "COMMIT AND CHAIN",
                "ROLLBACK AND CHAIN",
                "COMMIT AND NO CHAIN NO RELEASE",
                "BEGIN",
                "SET autocommit = 1",
                "ROLLBACK TO s",
                "SAVEPOINT s",
            ])
            .to_string()
    }

    /// The first statement of an XA transaction, whose others are queued. Most end in the session itself, some are left to another after a
    /// disconnect. At times only a single XA statement.
    pub(super) fn xa(&mut self, session: usize) -> String {
        let name = self.random.below(3);
        if self.random.percent(30) {
            return self
                .random
                .word(&["XA RECOVER", "XA COMMIT 'x{}'", "XA ROLLBACK 'x{}'", "XA END 'x{}'", "XA PREPARE 'x{}'"])
                .replace("{}", &name.to_string());
        }
        let write = self.write();
        let read = self.read();
        self.later(session, Kind::Write, Commands::Query(write));
        self.later(session, Kind::Read, Commands::Query(read));
        self.later(session, Kind::Xa, Commands::Query(format!("XA END 'x{name}'")));
        let finish = self.random.word(&["COMMIT", "COMMIT", "ROLLBACK"]);
        if self.random.percent(35) {
            let suffix = if finish == "COMMIT" { " ONE PHASE" } else { "" };
            self.later(session, Kind::Xa, Commands::Query(format!("XA {finish} 'x{name}'{suffix}")));
            return format!("XA START 'x{name}'");
        }
        self.later(session, Kind::Xa, Commands::Query(format!("XA PREPARE 'x{name}'")));
        let mut finisher = session;
        if self.random.percent(60) {
            finisher = self.random.below(self.assumptions.len());
            let is_abrupt = self.random.percent(50);
            self.later(session, Kind::Connection, Commands::Reconnect(Account::root().in_database("d0"), is_abrupt));
            self.settle(session);
        }
        for _ in 0..self.random.below(4) {
            let (reader, repeat) = (self.random.below(self.assumptions.len()), self.repeat());
            self.later(reader, Kind::Repeat, repeat);
        }
        self.later(finisher, Kind::Xa, Commands::Query(format!("XA {finish} 'x{name}'")));
        format!("XA START 'x{name}'")
    }

    /// A statement that locks tables, with the statements under the lock and its release queued.
    pub(super) fn lock(&mut self, session: usize) -> String {
        let table = self.table(true);
        let name = self.reference(&table);
        for _ in 0..self.random.below(4) {
            let text = if self.random.percent(50) { self.write() } else { self.read() };
            self.later(session, Kind::Lock, Commands::Query(text));
            let (reader, repeat) = (self.random.below(self.assumptions.len()), self.repeat());
            self.later(reader, Kind::Repeat, repeat);
        }
        match self.random.below(5) {
            0 => {
                self.later(session, Kind::Lock, Commands::Query(format!("HANDLER {} READ FIRST", table.name)));
                self.later(session, Kind::Lock, Commands::Query(format!("HANDLER {} CLOSE", table.name)));
                format!("HANDLER {name} OPEN")
            }
            1 => {
                self.later(session, Kind::Lock, Commands::Query("UNLOCK TABLES".into()));
                "FLUSH TABLES WITH READ LOCK".into()
            }
            choice => {
                self.later(session, Kind::Lock, Commands::Query("UNLOCK TABLES".into()));
                let mode = self.random.word(&["READ", "WRITE", "READ LOCAL"]);
                let other = if choice == 2 { ", d0.t1 READ" } else { "" };
                format!("LOCK TABLES {name} {mode}{other}")
            }
        }
    }
}
