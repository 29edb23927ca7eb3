//! One step of a history: what one session does. A step does not refer to other steps, so that a history still runs when some are
//! removed.

use std::fmt;

use crate::client::{Login, Param, capability};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    Read,
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
    Several,
    Call,
    Flush,
    Big,
    Aftermath,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    Query(String),
    /// Executes a statement in the binary protocol. It is prepared first if the session has not done so yet.
    Run(String, Vec<Param>),
    Close(String),
    Reset(String),
    /// `LOAD DATA LOCAL` with the content of the file.
    Load(String, String),
    /// Written with one system call.
    Pipeline(Vec<String>),
    InitDb(String),
    Ping,
    ResetConnection,
    ChangeUser(Account),
    /// Ends the connection and opens another one. The flag says whether COM_QUIT is sent first.
    Reconnect(Account, bool),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    pub user: &'static str,
    pub database: Option<String>,
    pub optional: u64,
    pub collation: u8,
}

impl Account {
    /// Root, as most sessions begin.
    pub fn root() -> Self {
        Self { user: "root", database: None, optional: capability::DEPRECATE_EOF, collation: 45 }
    }

    pub fn in_database(self, database: &str) -> Self {
        Self { database: Some(database.into()), ..self }
    }

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

#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    pub session: usize,
    pub kind: Kind,
    pub deed: Deed,
}

/// True if this session prepares a statement for each execution and closes it, as many libraries do, for Go and others.
pub fn closes_at_once(session: usize) -> bool {
    session % 3 == 1
}

impl Action {
    pub fn mentions(&self, word: &str) -> bool {
        match &self.deed {
            Deed::Query(text) | Deed::Run(text, _) => text.contains(word),
            _ => false,
        }
    }

    pub fn is_select(&self) -> bool {
        matches!(&self.deed, Deed::Query(text) | Deed::Run(text, _) if text.starts_with("SELECT"))
    }

    /// True if this read, unless it fails, sets FOUND_ROWS() and a near cache can know that. It cannot know that of a read that is sent
    /// in one piece with COM_STMT_CLOSE.
    pub fn replaces_found(&self) -> bool {
        let is_known = matches!(&self.deed, Deed::Query(text) if !text.contains("INTO"));
        is_known && self.is_select() && !closes_at_once(self.session)
    }

    /// The EXPLAIN of this statement: how would a server find the rows?
    pub fn explained(&self) -> Action {
        let deed = match &self.deed {
            Deed::Query(text) => Deed::Query(format!("EXPLAIN {text}")),
            Deed::Run(text, params) => Deed::Run(format!("EXPLAIN {text}"), params.clone()),
            other => other.clone(),
        };
        Action { deed, ..self.clone() }
    }

    /// The same session runs another statement.
    pub fn followed_by(&self, text: &str) -> Action {
        Action { deed: Deed::Query(text.to_string()), ..self.clone() }
    }

    /// True if the order of the answer's rows is determined.
    pub fn is_ordered(&self) -> bool {
        let ordered = |text: &String| text.split("; ").all(orders_by_key);
        match &self.deed {
            Deed::Query(text) | Deed::Run(text, _) => ordered(text),
            Deed::Pipeline(texts) => texts.iter().all(ordered),
            _ => true,
        }
    }
}

/// True if the outermost order is by a unique key. Ties of any other key come in any order.
fn orders_by_key(text: &str) -> bool {
    let order = text.rfind("ORDER BY ").map_or("", |at| &text[at + "ORDER BY ".len()..]);
    order.starts_with("id") || order.starts_with("x.id, y.id")
}

impl fmt::Display for Action {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "[{}] ", self.session)?;
        match &self.deed {
            Deed::Query(text) => out.write_str(text),
            Deed::Run(text, params) => write!(out, "{text}  -- binary, {params:?}"),
            Deed::Load(text, file) => write!(out, "{text}  -- file {file:?}"),
            Deed::Pipeline(texts) => write!(out, "{}  -- pipelined", texts.join("  ||  ")),
            other => write!(out, "-- {other:?}"),
        }
    }
}
