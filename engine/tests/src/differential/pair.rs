//! The plain and the cached server, run in lockstep.

use std::collections::HashMap;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use super::action::{Action, Commands, Kind};
use super::lane::{Answer, Lane};
use super::{Plan, SESSIONS, compare, report};
use crate::client::{Client, Endpoint, Row};
use crate::near::{self, Near};
use crate::server::{Product, Server};

/// The longest time for which a definition is sent again because of the plugin's own lock.
const PATIENCE: Duration = Duration::from_secs(20);
/// The longest wait for the end of a server that crashes: it first writes a stack trace to its log, symbol by symbol.
const DYING: Duration = Duration::from_secs(120);
/// The number of lines that are shown of a crashed server's log: a stack trace, and what came before it.
const LAST_LINES: usize = 80;
const LOOK: Duration = Duration::from_millis(20);

/// The two servers, over all histories of a run.
pub struct Pair<'a> {
    pub plain: &'a mut Server,
    pub cached: &'a mut Server,
    /// The endpoint that sessions of the cached side connect to instead of the server itself.
    pub through: Option<Endpoint>,
    /// The near cache between sessions and the cached server, if there is one that follows the binary log.
    pub near: Option<Near>,
    /// A statement that each session of the cached side begins with.
    pub first_words: &'static str,
}

impl Pair<'_> {
    /// Runs a fixed history from the start, after reviving servers that have died. Returns the number of steps up to the first difference,
    /// and the text of the difference. None if there was none, or the history had to end early.
    pub fn replay(&mut self, history: &[Action]) -> io::Result<Option<(usize, String)>> {
        for server in [&mut *self.plain, &mut *self.cached] {
            if !server.is_running() {
                revive(server)?;
            }
        }
        let mut lanes = Lanes::new(self)?;
        for (index, action) in history.iter().enumerate() {
            lanes.wait_for_log(action)?;
            match lanes.step(action) {
                Ok(_) => {}
                Err(EarlyEnd::Difference(what)) => return Ok(Some((index + 1, what))),
                Err(_) => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Runs a history up to `times` times. True if every run differs, or as soon as one differs in something else than a lock.
    pub fn replays(&mut self, history: &[Action], times: usize) -> io::Result<bool> {
        for _ in 0..times {
            match self.replay(history)? {
                None => return Ok(false),
                Some((_, what)) if !super::is_of_locks(&what) => return Ok(true),
                Some(_) => {}
            }
        }
        Ok(true)
    }

    /// True if both servers have crashed, which is a fault of the server itself; both are started again. Waits up to two minutes for their
    /// ends, and returns false if one still runs.
    pub fn have_died(&mut self) -> io::Result<bool> {
        let begun = Instant::now();
        while self.plain.is_running() || self.cached.is_running() {
            if begun.elapsed() > DYING {
                return Ok(false);
            }
            thread::sleep(LOOK);
        }
        revive(self.plain)?;
        revive(self.cached)?;
        Ok(true)
    }

    /// The last lines of the error logs of servers that have crashed. Waits up to two minutes for the first crash.
    pub fn last_words(&mut self) -> String {
        let begun = Instant::now();
        while self.plain.is_running() && self.cached.is_running() && begun.elapsed() < DYING {
            thread::sleep(LOOK);
        }
        let servers = [("plain", &mut *self.plain), ("cached", &mut *self.cached)];
        let dead = servers.into_iter().filter_map(|(name, server)| {
            let log = (!server.is_running()).then(|| server.error_log())?;
            let first = log.lines().count().saturating_sub(LAST_LINES);
            Some(format!("the {name} server has died:\n{}\n", log.lines().skip(first).collect::<Vec<_>>().join("\n")))
        });
        dead.collect()
    }

    /// A status variable of the cached server. None if the server does not answer or has no such number.
    pub fn counter(&self, name: &str) -> Option<u64> {
        let question = format!("SHOW GLOBAL STATUS LIKE '{name}'");
        let rows = self.cached.admin().ok()?.must(&question).ok()?.rows(false);
        let value = rows.first()?[1].clone()?;
        String::from_utf8_lossy(&value).parse().ok()
    }
}

/// Starts a server again, whether or not it still runs.
fn revive(server: &mut Server) -> io::Result<()> {
    server.kill9()?;
    server.restart()
}

/// Words of reads that skip, group or combine rows, or have a subquery, and the beginnings of executable comments, which the engine does
/// not look into. The results of these reads do not show how many rows were found.
const HIDING: [&str; 21] = [
    "/*!",
    "/*M!",
    "SQL_CALC_FOUND_ROWS",
    "(SELECT",
    "SUM",
    "MIN",
    "BIT_",
    "STD",
    "AGG(",
    "OFFSET",
    "LIMIT 1,",
    "GROUP",
    "UNION",
    "INTERSECT",
    "EXCEPT",
    "DISTINCT",
    "HAVING",
    "COUNT",
    "MAX",
    "WITH",
    "AVG",
];
/// Names of views. The definition of a view may contain any word of `HIDING`.
const VIEWS: [&str; 4] = ["v0", "v1", "vä", "v3"];
/// Statements that ask for warnings or the number of rows found in a way that the engine does not recognize.
const OPAQUE: [&str; 2] = ["EXECUTE IMMEDIATE 'SHOW WARNINGS'", "BEGIN NOT ATOMIC DECLARE CONTINUE HANDLER"];

/// The reason why a history ends early.
pub enum EarlyEnd {
    /// The answers differ; this text says how.
    Difference(String),
    /// A documented limit: a read that was served holds no metadata lock, so the cached server did not wait where the plain one did. From
    /// here on the two servers have different tables.
    Lock,
    /// The warnings of a read, and how far it comes with LIMIT ROWS EXAMINED, depend on how the server finds its rows. That depends on
    /// statistics, which change without a write and whenever a table is opened. From here on the two servers have different warnings.
    Plan,
    /// MySQL warns of a write to a table of another engine than the write before, unless a read came in between. That read may have been
    /// served. From here on, too, the two servers have different warnings.
    Engines,
    /// A near cache has refused to give the number of rows found to a statement that stores it. From here on the two servers have
    /// different variables or prepared statements.
    Rows,
    /// InnoDB saves the next auto-increment number to disk before it waits for a lock. If the row is not inserted then, the number in
    /// memory is not advanced. Whether later rows skip it depends on when the table was last loaded from disk. From here on the two
    /// servers number rows differently.
    Numbers,
}

/// Both servers, each with its sessions, during one history.
pub struct Lanes {
    plain: Lane,
    cached: Lane,
    /// For each session: any session has written since its last read that did not fail.
    written_since: [bool; SESSIONS],
    /// Some session may get only the first rows of a result (`sql_select_limit`). Without an ORDER BY these can be any rows.
    is_limited: bool,
    /// In this history a row was not inserted because of a lock.
    has_lost_row: bool,
    /// The cached side's sessions connect through another endpoint, such as a near cache.
    is_beside: bool,
    /// A connection to the near cache, if it follows the log, to ask how far it has read.
    log: Option<Client>,
    /// Something may have been written since the near cache was last known to have read the log to its end.
    is_behind: bool,
    /// For each session: the result of its last read does not show how many rows were found.
    hides_found: [bool; SESSIONS],
    /// For each session: its last read names a view, so the engine does not know what a replay of the read would do.
    reads_view: [bool; SESSIONS],
    /// For each session: FOUND_ROWS() may be the number of a read before its last one.
    may_be_older: [bool; SESSIONS],
    /// For each session: its last read has failed.
    has_failed: [bool; SESSIONS],
    /// For each session: its last statement was refused with another error than on the plain server, and so has left other warnings.
    was_refused: [bool; SESSIONS],
    /// The plain server's answers to reads since the last step that was not a read, by the text of the step.
    answered: HashMap<String, Answer>,
}

impl Lanes {
    /// Empties both servers, connects all sessions, and restarts the near cache that follows the log.
    pub fn new(pair: &mut Pair) -> io::Result<Self> {
        // The near cache is restarted, because what it has learned in one history would change what it stores in the next.
        pair.near.as_mut().map(Near::replace).transpose()?;
        // The host that a client connects from is a part of its account, so both sides use the same way: TCP only, or TCP and socket in
        // turns.
        let direct = pair.through.as_ref().map(|_| pair.plain.endpoint());
        let plain = Lane::new(pair.plain, direct.as_ref(), Plan::default().first_words)?;
        let cached = Lane::new(pair.cached, pair.through.as_ref(), pair.first_words)?;
        let log = pair.near.as_ref().map(|near| Client::root(&near.endpoint())).transpose()?;
        let nowhere = [false; SESSIONS];
        Ok(Self {
            plain,
            cached,
            written_since: nowhere,
            is_limited: false,
            has_lost_row: false,
            is_beside: pair.through.is_some(),
            log,
            is_behind: true,
            hides_found: nowhere,
            reads_view: nowhere,
            may_be_older: nowhere,
            has_failed: nowhere,
            was_refused: nowhere,
            answered: HashMap::new(),
        })
    }

    /// Waits, before a read, until a near cache that follows the log has read it to its end. Before that it serves nothing that was written
    /// through it. Must be called before each step; does nothing without such a near cache.
    pub fn wait_for_log(&mut self, action: &Action) -> io::Result<()> {
        let is_read = matches!(action.kind, Kind::Read | Kind::Repeat);
        if let Some(client) = self.log.as_mut().filter(|_| is_read && self.is_behind) {
            near::wait_until_served(client)?;
        }
        self.is_behind = !is_read && (self.is_behind || action.kind != Kind::Aftermath);
        Ok(())
    }

    /// Runs a step on both sides. Returns the plain server's answer if both agree, or differ as documented, and else the reason to end the
    /// history.
    pub fn step(&mut self, action: &Action) -> Result<Answer, EarlyEnd> {
        let sent = (self.plain.start(action), self.cached.start(action));
        let (plain, cached) = (self.plain.finish(action), self.cached.finish(action));
        let cached = self.retried(action, &plain, cached);
        let asks_rows = action.mentions("FOUND_ROWS") || action.mentions("EXECUTE");
        self.is_limited |= action.mentions("sql_select_limit");
        self.has_lost_row |= timed_out(&plain) && (action.mentions("INSERT") || action.mentions("REPLACE"));
        match action.kind {
            Kind::Read | Kind::Repeat if !asks_rows && !compare::has_failed(&plain) => {
                self.written_since[action.session] = false
            }
            Kind::Read | Kind::Repeat | Kind::Aftermath => {}
            _ => self.written_since = [true; SESSIONS],
        }
        let is_select = action.is_select();
        if matches!(action.kind, Kind::Read | Kind::Repeat) {
            self.has_failed[action.session] = compare::has_failed(&plain);
            if !self.has_failed[action.session] {
                let hides = HIDING.iter().any(|word| action.mentions(word));
                self.hides_found[action.session] = hides;
                self.reads_view[action.session] = VIEWS.iter().any(|view| action.mentions(view));
                let may_be_older = &mut self.may_be_older[action.session];
                *may_be_older = hides || *may_be_older && !action.replaces_found();
            }
        }
        let was_refused = std::mem::take(&mut self.was_refused[action.session])
            && (action.kind == Kind::Aftermath || matches!(action.commands, Commands::Ping));
        if was_refused && !is_select {
            return Err(EarlyEnd::Rows);
        }
        if !is_select {
            self.answered.clear();
        }
        let earlier = is_select.then(|| self.answered.insert(action.to_string(), plain.clone())).flatten();
        let Some(place) = compare::difference(&plain, &cached, action.is_ordered()) else { return Ok(plain) };
        // This comes first: SHOW WARNINGS shows nothing more once another statement has run.
        let warn_differently = match is_select {
            true => action.mentions("FOR UPDATE") && compare::have_same_rows(&plain, &cached),
            false => compare::warn_differently(&plain, &cached),
        };
        if warn_differently && self.one_warns_of_engines(action) {
            return Err(EarlyEnd::Engines);
        }
        let may_hang_on_plan = action.mentions("ROWS EXAMINED") || compare::have_same_rows(&plain, &cached);
        if is_select && may_hang_on_plan && self.hangs_on_plan(action, earlier, &cached) {
            return Err(EarlyEnd::Plan);
        }
        // A documented limit: the table that a column is reported to come from may depend on what another session has not committed, and
        // the log does not contain that.
        if self.log.is_some() && is_select && compare::tell_origins_alone(&plain, &cached) {
            return Err(EarlyEnd::Plan);
        }
        // A documented limit: a statement that may ask for the number of rows found in a way that the engine does not recognize finds no
        // warnings.
        let may_be_replayed = self.hides_found[action.session] || self.reads_view[action.session];
        if may_be_replayed && OPAQUE.iter().any(|word| action.mentions(word)) {
            return Ok(plain);
        }
        // A documented limit: the server runs the served read now, to get FOUND_ROWS() right, and if its tables have changed in between,
        // the read may fail or warn.
        let asks_for_count = ["SHOW COUNT(*)", "@@warning_count"].iter().any(|word| action.mentions(word));
        if may_be_replayed
            && self.written_since[action.session]
            && asks_for_count
            && compare::are_alike(&plain, &cached)
        {
            return Ok(plain);
        }
        // A documented limit: if the tables of the served read have changed in between, the number of rows found is the present one. A
        // near cache refuses to give the number then, and also after a read that failed. It also refuses after a read that may have
        // aggregated nothing, since the number may then be that of an earlier read.
        let is_of_now = self.written_since[action.session] && compare::are_alike(&plain, &cached);
        let may_decline = self.written_since[action.session]
            || self.has_failed[action.session]
            || self.is_beside && self.may_be_older[action.session];
        let is_declined = may_decline && says(&cached, b"rows have changed since the read whose FOUND_ROWS()");
        // Only one of the two servers may have prepared the statement.
        let leaves_more = !is_select || matches!(action.commands, Commands::Run(..));
        if asks_rows && is_declined && leaves_more {
            return Err(EarlyEnd::Rows);
        }
        self.was_refused[action.session] = was_refused || asks_rows && is_declined;
        if self.was_refused[action.session] || asks_rows && is_of_now {
            return Ok(plain);
        }
        // A documented limit: when a view's definer has lost a privilege, MariaDB names the view at the first execution that fails, and the
        // table from the next one on. The first one may have been the engine's own.
        let is_execution = matches!(action.commands, Commands::Run(..));
        if is_execution && says(&plain, b"lack rights to use them") && says(&cached, b"command denied to user") {
            self.was_refused[action.session] = true;
            return Ok(plain);
        }
        // A documented limit: a server reports once that a prepared statement has new columns, and it may have reported that to the engine,
        // or to the near cache.
        if compare::tells_of_columns_alone(&plain, &cached, action.is_ordered()) {
            return Ok(plain);
        }
        if self.is_limited && !action.is_ordered() && compare::are_alike(&plain, &cached) {
            return Ok(plain);
        }
        if timed_out(&plain) && !timed_out(&cached) && wants_metadata_lock(action) {
            return Err(EarlyEnd::Lock);
        }
        if self.has_lost_row && compare::number_differently(&plain, &cached) {
            return Err(EarlyEnd::Numbers);
        }
        let (plain, cached) = (report::answer(&plain, action), report::answer(&cached, action));
        let head = format!("at {action}\n  differs: {place} (sent {sent:?})");
        let (here, there) = (self.plain.transactions(), self.cached.transactions());
        Err(EarlyEnd::Difference(format!("{head}\n  plain:\n{plain}{here}  cached:\n{cached}{there}")))
    }

    /// True if the plain server itself has given the cached side's answer before and only reads came in between, or if the two servers
    /// would find the rows in different ways.
    fn hangs_on_plan(&mut self, action: &Action, earlier: Option<Answer>, cached: &Answer) -> bool {
        earlier.is_some_and(|earlier| compare::end_alike(&earlier, cached, action.is_ordered())) || {
            let explained = action.explained();
            let sent = (self.plain.start(&explained), self.cached.start(&explained));
            let (plain, cached) = (self.plain.finish(&explained), self.cached.finish(&explained));
            matches!(sent, (Ok(_), Ok(_))) && !compare::has_failed(&plain) && !compare::have_same_rows(&plain, &cached)
        }
    }

    /// True if only one of the servers warned, at the session's last statement, that it combines storage engines.
    fn one_warns_of_engines(&mut self, action: &Action) -> bool {
        // SHOW WARNINGS only shows the warnings of the last of several statements.
        if action.kind == Kind::Several {
            return self.plain.product() == Product::MySql;
        }
        let question = action.followed_by("SHOW WARNINGS");
        let sent = (self.plain.start(&question), self.cached.start(&question));
        let (plain, cached) = (self.plain.finish(&question), self.cached.finish(&question));
        matches!(sent, (Ok(_), Ok(_))) && warns_of_engines(&plain) != warns_of_engines(&cached)
    }

    /// Sends a step to the cached server again while only that one meets a lock. The plugin may read a table's definition at any time, and
    /// holds a metadata lock while it does. A change of the table meets that lock, and here every lock timeout is 0. Such a change has done
    /// nothing yet.
    fn retried(&mut self, action: &Action, plain: &Answer, mut cached: Answer) -> Answer {
        let begun = Instant::now();
        while matches!(action.commands, Commands::Query(_))
            && timed_out(&cached)
            && !timed_out(plain)
            && begun.elapsed() < PATIENCE
        {
            if self.cached.start(action).is_ok() {
                cached = self.cached.finish(action);
            }
        }
        cached
    }

    /// Runs a statement on both servers, so that both have opened the same tables. Returns the plain server's rows.
    pub fn listing(&mut self, statement: &str) -> io::Result<Vec<Row>> {
        self.cached.admin().must(statement)?;
        Ok(self.plain.admin().must(statement)?.rows(false))
    }
}

/// True if a lock wait timed out. It is an error, or a row in the answer of a statement such as REPAIR.
fn timed_out(answer: &Answer) -> bool {
    says(answer, b"Lock wait timeout exceeded")
}

fn warns_of_engines(answer: &Answer) -> bool {
    says(answer, b"Combining the storage engines")
}

/// True if a response contains these bytes.
fn says(answer: &Answer, words: &[u8]) -> bool {
    answer.responses.iter().any(|one| one.bytes.windows(words.len()).any(|part| part == words))
}

/// True for statements that need an exclusive metadata lock: definitions (also those in a procedure, or those that are meant for a
/// temporary table and affect another one) and locks that exclude readers.
fn wants_metadata_lock(action: &Action) -> bool {
    use Kind::{Call, Definition, Flush, Lock, Routine, Temporary};
    matches!(action.kind, Definition | Routine | Temporary | Lock | Flush | Call)
}
