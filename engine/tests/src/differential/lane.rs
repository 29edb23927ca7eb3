//! One of the two servers with its sessions: runs the steps, and returns every byte of the answers.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use super::SESSIONS;
use super::action::{Account, Action, Commands, closes_at_once};
use crate::client::{Client, Endpoint, Login, Param, Prepared, Response, capability, command, execute_body};
use crate::server::{Product, Server};

/// The longest wait for an answer, which then counts as lost. Nothing can block, because every lock timeout is 0.
const ANSWER_LIMIT: Duration = Duration::from_secs(120);
/// The number of prepared statements above which a session closes all of them.
const MOST_PREPARED: usize = 24;

/// The responses to one step. There may be none, or several.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    pub responses: Vec<Response>,
    /// The reason why the connection was lost, if it was: it ended, or no answer came. `responses` then has those that came before.
    pub lost: Option<String>,
}

/// One connection, and what it has prepared.
struct Session {
    client: Client,
    /// True if parameter types are sent at the first execution and again only when they change, as the C client libraries do. Else they are
    /// sent each time.
    binds_once: bool,
    /// True if a statement is closed after each execution.
    closes_at_once: bool,
    /// The open prepared statements, by their text.
    prepared: HashMap<String, Known>,
}

/// A prepared statement, and the parameter types that the server got last.
struct Known {
    prepared: Prepared,
    bound: Vec<u8>,
}

impl Session {
    /// The body of COM_STMT_EXECUTE. None if the session has not prepared this text.
    fn execution(&mut self, text: &str, params: &[Param]) -> Option<Vec<u8>> {
        let known = self.prepared.get_mut(text)?;
        if !self.binds_once {
            known.bound.clear();
        }
        Some(execute_body(known.prepared.id, params, &mut known.bound))
    }
}

/// One server, and a connection for each session of a history.
pub struct Lane {
    /// The endpoints of the sessions: even ones use the first, odd ones the second.
    endpoints: [Endpoint; 2],
    admin: Client,
    /// This connection holds an open snapshot, which keeps the purge from running. Otherwise the purge would decide which gap locks a
    /// statement meets.
    holder: Client,
    sessions: Vec<Session>,
    product: Product,
    /// Capabilities that no login asks for, although its account does.
    withheld: u64,
    /// A statement that each session begins with.
    first_words: &'static str,
}

impl Lane {
    pub fn product(&self) -> Product {
        self.product
    }

    /// Removes what earlier histories have left on the server, and connects all sessions as root. `through`: the endpoint for all sessions,
    /// if they do not connect to the server itself. `first_words`: a statement that each session begins with.
    pub fn new(server: &Server, through: Option<&Endpoint>, first_words: &'static str) -> io::Result<Self> {
        let endpoints = match through {
            Some(endpoint) => [endpoint.clone(), endpoint.clone()],
            None => [server.unix_endpoint(), server.endpoint()],
        };
        let (admin, holder) = (server.admin()?, server.admin()?);
        // A near cache does not offer this capability.
        let withheld = if through.is_some() { capability::CACHE_METADATA } else { 0 };
        let (product, sessions) = (server.product(), Vec::new());
        let mut lane = Self { endpoints, admin, holder, sessions, product, withheld, first_words };
        lane.clean()?;
        lane.holder.must("START TRANSACTION WITH CONSISTENT SNAPSHOT")?;
        for index in 0..SESSIONS {
            let session = lane.open(index, &Account::root())?;
            lane.sessions.push(session);
        }
        Ok(lane)
    }

    /// Connects the session with this index.
    fn open(&self, index: usize, account: &Account) -> io::Result<Session> {
        let login = account.login();
        let login = Login { capabilities: login.capabilities & !self.withheld, ..login };
        let mut client = Client::connect(&self.endpoints[index % 2], &login)?;
        client.set_timeout(Some(ANSWER_LIMIT))?;
        // In a fresh session FOUND_ROWS() is left over from an earlier session of the same thread. This statement sets it.
        client.must(self.first_words)?;
        let (binds_once, closes_at_once) = (index % 3 == 2, closes_at_once(index));
        Ok(Session { client, binds_once, closes_at_once, prepared: HashMap::new() })
    }

    /// A connection of root that is no session of the history.
    pub fn admin(&mut self) -> &mut Client {
        &mut self.admin
    }

    /// Lists the open transactions with their locks, for reports: one side may wait for a lock that the other does not have.
    pub fn transactions(&mut self) -> String {
        let ids: Vec<_> = self.sessions.iter().map(|session| session.client.thread_id).collect();
        let listing = "SELECT trx_mysql_thread_id, CONCAT_WS(' ', trx_state, trx_isolation_level, \
            trx_tables_locked, 'tables', trx_rows_locked, 'rows locked', trx_rows_modified, 'modified') \
            FROM information_schema.innodb_trx";
        let Ok(response) = self.admin.query(listing) else { return String::new() };
        let line = |row: &crate::client::Row| {
            let cell = |at: usize| String::from_utf8_lossy(row[at].as_deref().unwrap_or_default()).into_owned();
            let session = ids.iter().position(|id| id.to_string() == cell(0));
            session.map(|session| format!("    open in [{session}]: {}\n", cell(1)))
        };
        response.rows(false).iter().filter_map(line).collect()
    }

    /// Removes everything that an earlier history has left.
    fn clean(&mut self) -> io::Result<()> {
        let admin = &mut self.admin;
        for statement in super::RESTORING {
            for statement in super::generate::in_words_of(self.product, statement) {
                admin.must(&statement)?;
            }
        }
        if self.product == Product::MySql {
            admin.must("RESET PERSIST")?;
        }
        // The server refuses this with autocommit off, and until it has noticed the end of the session that prepared the branch.
        loop {
            let branches = admin.must("XA RECOVER")?.rows(false);
            if branches.is_empty() {
                break;
            }
            for row in branches {
                let name = row[3].clone().unwrap_or_default();
                admin.query(format!("XA ROLLBACK '{}'", String::from_utf8_lossy(&name)))?;
            }
        }
        let accounts = match self.product {
            Product::MariaDb => "CONCAT(IF(is_role = 'Y', 'DROP ROLE `', 'DROP USER `'), user, '`')",
            Product::MySql => "CONCAT('DROP USER `', user, '`')",
        };
        // Drops only the generator's schemas: while the plugin tests the server it has a schema of its own.
        let listing = format!(
            "SELECT CONCAT('DROP DATABASE `', schema_name, '`') FROM information_schema.schemata \
            WHERE schema_name REGEXP '^[dD][0-9]$' \
            UNION ALL SELECT {accounts} FROM mysql.user WHERE user REGEXP '^[ru][0-9]$'"
        );
        for row in admin.must(&listing)?.rows(false) {
            let statement = row[0].clone().unwrap_or_default();
            admin.must(&String::from_utf8_lossy(&statement))?;
        }
        // From here on this session waits for no metadata lock.
        admin.must("SET SESSION lock_wait_timeout = 0").map(drop)
    }

    /// Sends all that can be sent before an answer arrives, so that both servers work at the same time. To be followed by [`Self::finish`]
    /// with the same step.
    pub fn start(&mut self, action: &Action) -> io::Result<()> {
        let session = &mut self.sessions[action.session];
        match &action.commands {
            Commands::Query(text) => session.client.send(command::QUERY, text.as_bytes()),
            Commands::Load(text, file) => {
                session.client.local_file = file.clone().into_bytes();
                session.client.send(command::QUERY, text.as_bytes())
            }
            Commands::Pipeline(texts) => {
                let commands: Vec<_> = texts.iter().map(|text| (command::QUERY, text.as_bytes())).collect();
                session.client.send_together(&commands)
            }
            Commands::Run(text, params) => match session.execution(text, params) {
                Some(body) => session.client.send(command::STMT_EXECUTE, &body),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Does the rest of a step that was started, and waits for its responses. A failed connection is a part of the answer.
    pub fn finish(&mut self, action: &Action) -> Answer {
        let mut answer = Answer::default();
        if let Err(error) = self.collect(action, &mut answer.responses) {
            answer.lost = Some(error.kind().to_string());
        }
        answer
    }

    fn collect(&mut self, action: &Action, responses: &mut Vec<Response>) -> io::Result<()> {
        if let Commands::Reconnect(account, is_abrupt) = &action.commands {
            return self.reconnect(action.session, account, *is_abrupt);
        }
        let session = &mut self.sessions[action.session];
        if let Commands::Run(text, params) = &action.commands {
            return run(session, text, params, responses);
        }
        let Session { client, prepared, .. } = session;
        match &action.commands {
            Commands::Query(_) | Commands::Load(..) => responses.push(client.read_response()?),
            Commands::Pipeline(texts) => {
                for _ in texts {
                    responses.push(client.read_response()?);
                }
            }
            Commands::Close(text) => {
                if let Some(known) = prepared.remove(text) {
                    client.close(&known.prepared)?;
                }
            }
            Commands::Reset(text) => {
                if let Some(known) = prepared.get(text) {
                    responses.push(client.reset(&known.prepared)?);
                }
            }
            Commands::InitDb(database) => responses.push(client.init_db(database)?),
            Commands::Ping => responses.push(client.ping()?),
            Commands::ResetConnection => {
                prepared.clear();
                responses.push(client.reset_connection()?);
            }
            Commands::ChangeUser(account) => {
                prepared.clear();
                responses.push(client.change_user(&account.login())?);
            }
            Commands::Run(..) | Commands::Reconnect(..) => unreachable!("handled above"),
        }
        Ok(())
    }

    /// Replaces a session's connection. The old one must be gone from the server, with its locks and temporary tables, before anything else
    /// runs. If the account is refused, root takes its place, and the refusal is returned.
    fn reconnect(&mut self, index: usize, account: &Account, is_abrupt: bool) -> io::Result<()> {
        let opened = self.open(index, account);
        let fallback = || self.open(index, &Account::root());
        let (fresh, outcome) = match opened {
            Ok(session) => (session, Ok(())),
            Err(error) => (fallback()?, Err(io::Error::other(error.to_string()))),
        };
        let mut old = std::mem::replace(&mut self.sessions[index], fresh).client;
        let listing = format!("SELECT 1 FROM information_schema.processlist WHERE id = {}", old.thread_id);
        if !is_abrupt {
            // A connection that the server has ended already needs no goodbye.
            let _ = old.send(command::QUIT, &[]);
        }
        old.abort();
        while self.admin.scalar(&listing)?.is_some() {
            std::thread::yield_now();
        }
        outcome
    }
}

/// Does the rest of a [`Commands::Run`]: reads the response of an execution that was sent, or prepares, executes and perhaps closes the
/// statement.
fn run(session: &mut Session, text: &str, params: &[Param], responses: &mut Vec<Response>) -> io::Result<()> {
    let Session { client, prepared, .. } = session;
    if prepared.contains_key(text) {
        responses.push(client.read_response()?);
        return Ok(());
    }
    if prepared.len() >= MOST_PREPARED {
        for (_, known) in prepared.drain() {
            client.close(&known.prepared)?;
        }
    }
    let (response, known) = client.prepare(text)?;
    responses.push(response);
    if let Some(known) = known {
        prepared.insert(text.to_string(), Known { prepared: known, bound: Vec::new() });
        let body = session.execution(text, params).expect("prepared just now");
        session.client.send(command::STMT_EXECUTE, &body)?;
        responses.push(session.client.read_response()?);
        let closing = if session.closes_at_once { session.prepared.remove(text) } else { None };
        if let Some(known) = closing {
            session.client.close(&known.prepared)?;
        }
    }
    Ok(())
}

impl Drop for Lane {
    /// Waits until all sessions have ended, because the next history must not meet the locks of this one.
    fn drop(&mut self) {
        let ids: Vec<_> = self.sessions.iter().map(|session| session.client.thread_id.to_string()).collect();
        self.sessions.drain(..).for_each(|session| session.client.abort());
        let listing = format!("SELECT 1 FROM information_schema.processlist WHERE id IN (0, {})", ids.join(","));
        // A server that has died answers with an error, and holds no locks.
        while self.admin.scalar(&listing).is_ok_and(|one| one.is_some()) {
            std::thread::yield_now();
        }
    }
}
