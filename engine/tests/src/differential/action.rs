//! One step of a history (the list of statements that all sessions have run): what one session does. A step does not refer to other steps,
//! so that a history still runs when some are removed.

use std::fmt;

use crate::client::{Login, Param, capability};

/// The purpose of a step, for counts and for the rules of comparison. Its deed may have any form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    Read,
    /// A read that was sent before, by any session.
    Repeat,
    Write,
    Transaction,
    Xa,
    Lock,
    Setting,
    Definition,
    Routine,
    Temporary,
    Account,
    Connection,
    Variable,
    Prepared,
    /// Several statements in one text, or a pipeline.
    Several,
    Call,
    Flush,
    /// A read with a large result.
    Big,
    /// A question about the statement before, such as `SHOW WARNINGS`.
    Aftermath,
}

/// The commands that a step sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Commands {
    /// One statement, or several, in the text protocol.
    Query(String),
    /// Executes a statement in the binary protocol. It is prepared first if the session has not done so yet.
    Run(String, Vec<Param>),
    /// Closes the prepared statement with this text, if the session has one.
    Close(String),
    /// Resets the prepared statement with this text, if the session has one.
    Reset(String),
    /// `LOAD DATA LOCAL`: the statement, and the content that is sent for its file.
    Load(String, String),
    /// Several text commands, written with one system call before any answer is read.
    Pipeline(Vec<String>),
    InitDb(String),
    Ping,
    ResetConnection,
    ChangeUser(Account),
    /// Ends the connection and opens another one. The flag is true if the old one is cut without COM_QUIT.
    Reconnect(Account, bool),
}

/// The account and the options of a session's login. Every account but root has the password `pw`.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    pub user: &'static str,
    pub database: Option<String>,
    /// Capabilities that the login asks for in addition to those of every session.
    pub optional: u64,
    /// The collation id in the handshake.
    pub collation: u8,
}

impl Account {
    /// Root without a current database, as most sessions begin.
    pub fn root() -> Self {
        Self { user: "root", database: None, optional: capability::DEPRECATE_EOF, collation: 45 }
    }

    /// Returns a copy of this account whose sessions have this current database.
    pub fn in_database(self, database: &str) -> Self {
        Self { database: Some(database.into()), ..self }
    }

    /// The login for the client of the tests.
    pub fn login(&self) -> Login {
        Login {
            user: self.user.into(),
            password: if self.user == "root" { String::new() } else { "pw".into() },
            database: self.database.clone(),
            capabilities: capability::BASE | capability::MULTI_STATEMENTS | self.optional,
            collation: self.collation,
            ..Login::default()
        }
    }
}

/// One step: what `session` (its index, from 0) does.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    pub session: usize,
    pub kind: Kind,
    pub commands: Commands,
}

/// True if this session closes a prepared statement after each execution, as many libraries do, for Go and others.
pub fn closes_at_once(session: usize) -> bool {
    session % 3 == 1
}

impl Action {
    /// True if a statement of this step contains this text. False for steps without statements.
    pub fn mentions(&self, word: &str) -> bool {
        match &self.commands {
            Commands::Query(text) | Commands::Run(text, _) => text.contains(word),
            Commands::Pipeline(texts) => texts.iter().any(|text| text.contains(word)),
            _ => false,
        }
    }

    pub fn is_select(&self) -> bool {
        matches!(&self.commands, Commands::Query(text) | Commands::Run(text, _) if text.starts_with("SELECT"))
    }

    /// True if this read, unless it fails, sets FOUND_ROWS() and a near cache can know that.
    pub fn replaces_found(&self) -> bool {
        matches!(&self.commands, Commands::Query(text) if !text.contains("INTO")) && self.is_select()
    }

    /// The step that sends EXPLAIN with this statement, which shows how a server would find the rows. A step without a single statement is
    /// returned unchanged.
    pub fn explained(&self) -> Action {
        let commands = match &self.commands {
            Commands::Query(text) => Commands::Query(format!("EXPLAIN {text}")),
            Commands::Run(text, params) => Commands::Run(format!("EXPLAIN {text}"), params.clone()),
            other => other.clone(),
        };
        Action { commands, ..self.clone() }
    }

    /// Returns a copy of this step with `text` as its statement; session and kind stay the same.
    pub fn followed_by(&self, text: &str) -> Action {
        Action { commands: Commands::Query(text.to_string()), ..self.clone() }
    }

    /// True if the order of the answer's rows is determined, since every statement orders its rows by a unique key. Also true for steps
    /// without rows.
    pub fn is_ordered(&self) -> bool {
        let ordered = |text: &String| text.split("; ").all(orders_by_key);
        match &self.commands {
            Commands::Query(text) | Commands::Run(text, _) => ordered(text),
            Commands::Pipeline(texts) => texts.iter().all(ordered),
            _ => true,
        }
    }
}

/// True if the outermost ORDER BY is by a unique key. Ties of any other key come in any order.
fn orders_by_key(text: &str) -> bool {
    let order = text.rfind("ORDER BY ").map_or("", |at| &text[at + "ORDER BY ".len()..]);
    order.starts_with("id") || order.starts_with("x.id, y.id")
}

impl fmt::Display for Action {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "[{}] ", self.session)?;
        match &self.commands {
            Commands::Query(text) => out.write_str(text),
            Commands::Run(text, params) => write!(out, "{text}  -- binary, {params:?}"),
            Commands::Load(text, file) => write!(out, "{text}  -- file {file:?}"),
            Commands::Pipeline(texts) => write!(out, "{}  -- pipelined", texts.join("  ||  ")),
            other => write!(out, "-- {other:?}"),
        }
    }
}
