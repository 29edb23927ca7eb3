//! Statements about accounts and privileges, and changes of a session's account.

use super::Generator;
use crate::client::capability;
use crate::differential::action::{Account, Commands, Kind};

/// The accounts of sessions; root is the most frequent.
const USERS: &[&str] = &["root", "root", "root", "u0", "u1", "u2"];

impl Generator {
    fn account(&mut self) -> Account {
        let optional = *self.random.pick(&[
            capability::DEPRECATE_EOF,
            capability::DEPRECATE_EOF,
            capability::DEPRECATE_EOF,
            0,
            capability::FOUND_ROWS,
            capability::DEPRECATE_EOF | capability::EXTENDED_METADATA,
            capability::DEPRECATE_EOF | capability::CACHE_METADATA,
            capability::DEPRECATE_EOF | capability::SESSION_TRACK,
        ]);
        let database = *self.random.pick(&[Some("d0"), Some("d0"), Some("d0"), Some("d1"), None]);
        let collation = *self.random.pick(&[45, 45, 45, 8, 33, 46, 63]);
        Account { user: self.random.word(USERS), database: database.map(String::from), optional, collation }
    }

    /// A command of the session's connection: a reset, another account, another database, a ping, or the end of a prepared statement.
    pub(super) fn connection(&mut self, session: usize) -> Commands {
        match self.random.below(12) {
            0 | 1 => {
                self.settle(session);
                Commands::ResetConnection
            }
            2 | 3 => {
                self.settle(session);
                Commands::ChangeUser(self.account())
            }
            4 => {
                self.settle(session);
                Commands::Reconnect(self.account(), self.random.percent(50))
            }
            5 => Commands::InitDb(self.random.word(&["d0", "d1", "d0", "nowhere"]).to_string()),
            6 => Commands::Ping,
            7..=9 => Commands::Query(
                self.random.word(&["USE d0", "USE d1", "USE d0", "use `d0`", "USE nowhere"]).to_string(),
            ),
            _ => match self.memory.pick(&mut self.random) {
                Some(Commands::Run(text, _)) if self.random.percent(50) => Commands::Close(text),
                Some(Commands::Run(text, _)) => Commands::Reset(text),
                _ => Commands::Ping,
            },
        }
    }

    /// Queues what a fresh session needs so that both servers answer it alike: a fixed clock.
    pub(super) fn settle(&mut self, session: usize) {
        // Most sessions get the same time, so that they share entries.
        let clock = 1_700_000_000 + if self.random.percent(15) { 40_000_000 } else { 0 };
        self.later(session, Kind::Setting, Commands::Query(format!("SET timestamp = {clock}")));
    }

    pub(super) fn privilege(&mut self) -> String {
        let user = self.random.word(&["u0", "u1", "u2"]);
        let table = self.random.below(5);
        self.random
            .word(&[
                "GRANT SELECT ON d0.t# TO @",
                "REVOKE SELECT ON d0.t# FROM @",
                "GRANT SELECT ON d0.* TO @",
                "REVOKE SELECT ON d0.* FROM @",
                "REVOKE ALL PRIVILEGES, GRANT OPTION FROM @",
                "GRANT ALL ON d0.* TO @",
                "GRANT ALL ON d1.* TO @",
                "GRANT SELECT (id) ON d0.t# TO @",
                "REVOKE SELECT (id) ON d0.t# FROM @",
                "GRANT SELECT ON *.* TO @",
                "REVOKE SELECT ON *.* FROM @",
                "GRANT r0 TO @",
                "REVOKE r0 FROM @",
                "GRANT SELECT ON d0.t# TO r0",
                "REVOKE SELECT ON d0.t# FROM r0",
                "GRANT EXECUTE ON d0.* TO @",
                "GRANT EXECUTE ON *.* TO @",
                "DROP USER @",
                "CREATE USER IF NOT EXISTS @@'%' IDENTIFIED BY 'pw'",
                "GRANT SELECT ON d0.v0 TO @",
                "FLUSH PRIVILEGES",
                "SHOW GRANTS FOR @",
                "CREATE ROLE IF NOT EXISTS r0",
                "DROP ROLE r0",
                "SET DEFAULT ROLE r0 FOR @",
                "GRANT SELECT ON d0.t# TO PUBLIC",
                "SHOW GRANTS",
            ])
            .replace("@@", user)
            .replace('@', user)
            .replace('#', &table.to_string())
    }

    /// A statement that flushes or checks tables.
    pub(super) fn flush(&mut self) -> String {
        self.random
            .word(&[
                "FLUSH TABLES",
                "FLUSH TABLES d0.t1",
                "FLUSH STATUS",
                "FLUSH PRIVILEGES",
                "FLUSH LOCAL TABLES",
                "CHECK TABLE d0.t1",
                "ANALYZE TABLE d0.t2",
                "OPTIMIZE TABLE d0.t1",
                "REPAIR TABLE d0.t3",
                "FLUSH HOSTS",
                // CHECKSUM TABLE without QUICK is left out: for a table with a virtual column, its result depends on what the server read
                // before.
                "CHECKSUM TABLE d0.t1 QUICK",
                "FLUSH TABLES d0.t1 FOR EXPORT",
            ])
            .to_string()
    }
}
