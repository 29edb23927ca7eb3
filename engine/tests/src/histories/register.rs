//! Registers: counters that only grow, each in a row of a table. A read must show at least every value that was acknowledged, or seen by
//! any session, before the read began. It must not show a value that no session has tried to write.
//!
//! Invariant: each register has a single writer, so its attempts are in order. An attempt of unknown outcome is never repeated; the next
//! one is higher. A server that is killed may lose a value that was seen and not acknowledged: other sessions see a commit before it is in
//! the log.

use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use super::World;
use super::members::WAITING_WRITES;
use super::session::{NoResult, Outcome, Session, whole_numbers};
use super::stage::Stage;
use crate::client::Row;
use crate::server::Product;

/// The number of registers in each table.
pub const KEYS: usize = 12;
/// A value that is always rolled back. A read that shows more than this shows a state that never existed.
const UNREAL: i64 = 1_000_000_000;

/// Makes a statement that found no row fail, like `NoResult::MatchedNoRow`, where only the last answer of several statements is seen.
const UNLESS_IN_VAIN: &str = "IF ROW_COUNT() < 1 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'in vain'; END IF;";

/// The way in which a table of registers is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WritePath {
    /// An UPDATE, an upsert, or a stored procedure that the statement calls.
    Direct,
    /// A write of a parent row, which a foreign key hands on.
    Cascade,
    /// A write of another table, whose trigger writes the register.
    Trigger,
    /// A write of a table in this storage engine.
    Engine(&'static str),
    /// A new row for each value; the highest one counts.
    Inserts,
}

pub const WAYS: [WritePath; 6] = [
    WritePath::Direct,
    WritePath::Cascade,
    WritePath::Trigger,
    WritePath::Engine("MyISAM"),
    WritePath::Engine("Aria"),
    WritePath::Inserts,
];

impl WritePath {
    /// Returns this way to write, or a plain write to InnoDB instead if its statements run a trigger.
    pub fn unprogrammed(self) -> WritePath {
        if self == WritePath::Trigger { WritePath::Engine("InnoDB") } else { self }
    }

    /// Returns this way to write if a replication group admits its storage engine, or a plain write to InnoDB instead.
    pub fn in_group(self) -> WritePath {
        self.durable()
    }

    /// Returns this way to write, or a plain write to InnoDB instead if its storage engine may lose acknowledged writes when the server is
    /// killed.
    pub fn durable(self) -> WritePath {
        if self == WritePath::Engine("MyISAM") { WritePath::Engine("InnoDB") } else { self }
    }
}

/// The values of one counter. Methods may be called by all sessions at once.
#[derive(Default)]
pub struct Register {
    /// The highest value that the writer has tried to write.
    attempted: AtomicI64,
    /// The highest value whose commit the server has acknowledged. In a group, only the member `home` has to show it.
    acknowledged: AtomicI64,
    /// The member of a group that writes the register. 0 outside of groups.
    home: AtomicUsize,
    /// The highest value that every member of a group has to show.
    everywhere: AtomicI64,
    /// For each member of a group. Outside of groups, for member 0.
    seen: Mutex<BTreeMap<usize, Seen>>,
    /// The last acknowledged statement, for the report.
    last_write: Mutex<String>,
}

/// The highest value that a session has read since the server was last killed.
#[derive(Default)]
struct Seen {
    /// The number of times that the server had been killed when the value was read.
    life: u64,
    value: i64,
}

impl Seen {
    /// Returns the highest value seen since the server's start number `life`, for reading and changing. A later start
    /// than the noted one begins at 0.
    fn of(&mut self, life: u64) -> &mut i64 {
        if self.life < life {
            *self = Seen { life, value: 0 };
        }
        &mut self.value
    }
}

impl Register {
    /// Takes the next value to write. It must be called before the write is sent, and only by the register's writer.
    pub fn attempt(&self) -> i64 {
        self.attempted.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Notes that the server has acknowledged the write of this value. `how` is its statement, for reports.
    pub fn acknowledge(&self, value: i64, how: &str) {
        self.acknowledged.fetch_max(value, Ordering::SeqCst);
        *self.last_write.lock().unwrap() = format!("{value} by {how}");
    }

    /// The least value that a read may show on this member. It has to be determined before the read is sent.
    pub fn floor(&self, stage: &Stage, member: usize) -> i64 {
        let seen = *self.seen.lock().unwrap().entry(member).or_default().of(stage.life());
        let is_home = self.home.load(Ordering::SeqCst) == member;
        let known = if is_home { &self.acknowledged } else { &self.everywhere };
        known.load(Ordering::SeqCst).max(seen)
    }

    /// The highest value that was acknowledged, on whatever member. A read that waits for the group shows at least this value.
    fn floor_of_all(&self) -> i64 {
        self.acknowledged.load(Ordering::SeqCst)
    }

    /// Notes that every server of the group shows at least this value from now on.
    fn reached_all(&self, value: i64) {
        self.everywhere.fetch_max(value, Ordering::SeqCst);
    }

    /// Notes a violation if a read may not have shown this value. `floor`: the result of [`Self::floor`] from before the read. `what`: the
    /// read, for reports.
    pub fn check(&self, session: &Session, stage: &Stage, floor: i64, value: i64, what: &str) {
        stage.count("register checks");
        let attempted = self.attempted.load(Ordering::SeqCst);
        if value < floor {
            let acknowledged = self.acknowledged.load(Ordering::SeqCst);
            stage.violation(format!(
                "stale read: {what} answered {value}, but {floor} was acknowledged or seen before the read began \
                 (now acknowledged {acknowledged}, attempted {attempted}; last acknowledged {})",
                self.last_write.lock().unwrap()
            ));
        } else if value > attempted {
            stage.violation(format!("unreal read: {what} answered {value}, but nobody wrote more than {attempted}"));
        } else if let Some(life) = session.present_life() {
            self.saw(session.member, life, value);
        }
    }

    /// Notes a value that was read on this member after the server's start number `life`, unless the server was killed
    /// since.
    fn saw(&self, member: usize, life: u64, value: i64) {
        let mut seen = self.seen.lock().unwrap();
        let seen = seen.entry(member).or_default();
        if seen.life <= life {
            let highest = seen.of(life);
            *highest = value.max(*highest);
        }
    }
}

/// A table of registers, one for each key from 0 to `KEYS` - 1, that is written in one way.
pub struct RegisterTable {
    way: WritePath,
    table: String,
    registers: Vec<Register>,
}

impl RegisterTable {
    pub fn new(way: WritePath) -> Self {
        let table = match way {
            WritePath::Engine(engine) => format!("register_{}", engine.to_lowercase()),
            other => format!("register_{other:?}").to_lowercase(),
        };
        Self { way, table, registers: (0..KEYS).map(|_| Register::default()).collect() }
    }

    /// The statements that create the table with the value 0 for each key, and a view of it.
    pub fn setup(&self) -> Vec<String> {
        let table = &self.table;
        let rows = |value: fn(usize) -> usize| {
            (0..KEYS).map(|key| format!("({key}, {})", value(key))).collect::<Vec<_>>().join(", ")
        };
        let engine = if let WritePath::Engine(engine) = self.way { engine } else { "InnoDB" };
        let create = format!("CREATE TABLE {table} (k INT PRIMARY KEY, v BIGINT NOT NULL) ENGINE={engine}");
        let fill = format!("INSERT INTO {table} VALUES {}", rows(|_| 0));
        let view = format!("CREATE VIEW {table}_view AS SELECT k, v FROM {table}");
        match self.way {
            WritePath::Cascade => vec![
                "CREATE TABLE parent (id BIGINT PRIMARY KEY)".into(),
                format!("INSERT INTO parent VALUES {}", (0..KEYS).map(|key| format!("({})", base(key))).collect::<Vec<_>>().join(", ")),
                "CREATE TABLE child (k INT PRIMARY KEY, id BIGINT, FOREIGN KEY (id) REFERENCES parent (id) ON UPDATE CASCADE)".into(),
                format!("INSERT INTO child VALUES {}", rows(|key| base(key) as usize)),
                format!("CREATE VIEW {table} AS SELECT k, id - k * {SPACE} - {SPACE} v FROM child"),
                view,
            ],
            WritePath::Trigger => vec![
                create,
                fill,
                view,
                "CREATE TABLE nudge (k INT PRIMARY KEY, v BIGINT)".into(),
                format!("CREATE TRIGGER nudged AFTER INSERT ON nudge FOR EACH ROW BEGIN UPDATE {table} SET v = NEW.v WHERE k = NEW.k AND v < NEW.v; {UNLESS_IN_VAIN} END"),
            ],
            WritePath::Inserts => vec![
                "CREATE TABLE entries (k INT, v BIGINT, PRIMARY KEY (k, v))".into(),
                format!("INSERT INTO entries VALUES {}", rows(|_| 0)),
                format!("CREATE VIEW {table} AS SELECT k, MAX(v) v FROM entries GROUP BY k"),
                view,
            ],
            WritePath::Direct => vec![
                create,
                fill,
                view,
                format!("CREATE PROCEDURE bump(key_ INT, value_ BIGINT) BEGIN UPDATE {table} SET v = value_ WHERE k = key_ AND v < value_; {UNLESS_IN_VAIN} END"),
            ],
            WritePath::Engine(_) => vec![create, fill, view],
        }
    }

    /// True if the table's writes can be rolled back.
    fn is_transactional(&self) -> bool {
        !matches!(self.way, WritePath::Engine(_))
    }

    /// A random statement that raises the register of `key` to `value`.
    fn write_statement(&self, session: &mut Session, key: usize, value: i64) -> String {
        let table = &self.table;
        match self.way {
            WritePath::Cascade => {
                let low = base(key);
                format!("UPDATE parent SET id = {} WHERE id >= {low} AND id < {}", low + value, low + value)
            }
            WritePath::Trigger => format!("REPLACE INTO nudge VALUES ({key}, {value})"),
            WritePath::Inserts => format!("INSERT IGNORE INTO entries VALUES ({key}, {value})"),
            WritePath::Direct if session.random.percent(10) => format!("CALL bump({key}, {value})"),
            _ => match session.random.below(4) {
                0 => format!("INSERT INTO {table} VALUES ({key}, 0) ON DUPLICATE KEY UPDATE v = GREATEST(v, {value})"),
                1 => format!("UPDATE {table}_view SET v = {value} WHERE k = {key} AND v < {value}"),
                _ => format!("UPDATE {table} SET v = {value} WHERE k = {key} AND v < {value}"),
            },
        }
    }

    /// Writes random keys of one writer until the run is over. `share` is the number of this writer, from 0, and the number of all
    /// writers: no two of them write the same key.
    pub fn writer(&self, session: &mut Session, stage: &Stage, world: &World, share: (usize, usize)) -> io::Result<()> {
        let keys: Vec<_> = (0..KEYS).filter(|key| key % share.1 == share.0).collect();
        keys.iter().for_each(|key| self.registers[*key].home.store(session.member, Ordering::SeqCst));
        while stage.goes_on() {
            stage.pause(&mut session.random);
            let key = *session.random.pick(&keys);
            let value = self.registers[key].attempt();
            let outcome = if stage.plan.group.is_some() && session.random.percent(15) {
                self.write_on_all(session, stage, world, key, value)
            } else {
                self.write(session, stage, key, value)
            };
            match outcome {
                Ok(Some(how)) => self.registers[key].acknowledge(value, &how),
                Ok(None) => {}
                Err(failure) => session.recover(&failure)?,
            }
        }
        Ok(())
    }

    /// Writes a value with the consistency level AFTER. Once it is acknowledged, every member shows it, and all that
    /// was acknowledged on this member before the write began.
    fn write_on_all(
        &self,
        session: &mut Session,
        stage: &Stage,
        world: &World,
        key: usize,
        value: i64,
    ) -> Outcome<Option<String>> {
        session.text("SET SESSION group_replication_consistency = 'AFTER'")?;
        let is_of_here = |one: &&Register| one.home.load(Ordering::SeqCst) == session.member;
        let earlier: Vec<_> = world
            .boards
            .iter()
            .flat_map(|board| &board.registers)
            .filter(is_of_here)
            .map(|register| (register, register.floor_of_all()))
            .collect();
        let is_xa = self.way == WritePath::Direct && !stage.plan.has_many_primaries() && session.random.percent(30);
        let outcome = if is_xa {
            stage.count("XA transactions that wait for the group");
            self.two_phases(session, stage, key, value)
        } else {
            self.write(session, stage, key, value)
        };
        if let Ok(Some(_)) = outcome {
            stage.count(WAITING_WRITES);
            self.registers[key].reached_all(value);
            earlier.iter().for_each(|(register, value)| register.reached_all(*value));
        }
        // A connection that was lost begins with the default.
        let _ = session.text("SET SESSION group_replication_consistency = DEFAULT");
        outcome
    }

    /// Writes a value in a random way. Returns the statements that were run if the server has acknowledged the value. None if the outcome
    /// is unknown, or a value was rolled back on purpose.
    fn write(&self, session: &mut Session, stage: &Stage, key: usize, value: i64) -> Outcome<Option<String>> {
        let statement = self.write_statement(session, key, value);
        let choice = session.random.below(100);
        let several: Vec<&str> = match choice {
            60..=97 if !self.is_transactional() => vec![&statement],
            60..=79 => vec!["BEGIN", &statement, "COMMIT"],
            // A routine among several statements may have defined anything.
            80..=84 if stage.plan.redefines || !statement.starts_with("CALL") => {
                let text = format!("BEGIN; {statement}; COMMIT");
                return session.text(&text).map(|_| Some(text));
            }
            85..=89 => vec!["SET autocommit = 0", &statement, "COMMIT", "SET autocommit = 1"],
            90..=93 => {
                let unreal = self.write_statement(session, key, UNREAL);
                return session.all(&["BEGIN", &unreal, "ROLLBACK"]).map(|()| None);
            }
            94 => {
                session.all(&["BEGIN", &statement])?;
                return session.send_and_die("COMMIT").map_err(|_| NoResult::Lost).map(|()| None);
            }
            95 => return session.send_and_die(&statement).map_err(|_| NoResult::Lost).map(|()| None),
            // If the server is killed, its prepared XA branch may outlive it, and no session would end the branch.
            // On a group with several primaries, a session may not find the branches of another member.
            96..=97 if self.way == WritePath::Direct && !stage.plan.kills && !stage.plan.has_many_primaries() => {
                return self.two_phases(session, stage, key, value);
            }
            _ => vec![&statement],
        };
        session.all(&several).map(|()| Some(several.join("; ")))
    }

    /// Writes a value in an XA transaction. Half of the time another session commits it than the one that prepared it, which invalidates
    /// everything. Returns what [`Self::write`] returns.
    fn two_phases(&self, session: &mut Session, stage: &Stage, key: usize, value: i64) -> Outcome<Option<String>> {
        let name = format!("'{}-{key}-{value}'", self.table);
        let statement = format!("UPDATE {} SET v = {value} WHERE k = {key} AND v < {value}", self.table);
        let begin = session.text(&format!("XA START {name}")).and_then(|_| session.text(&statement));
        let (end, prepare) = (format!("XA END {name}"), format!("XA PREPARE {name}"));
        if let Err(failure) = begin {
            let _ = session.text(&end).and_then(|_| session.text(&format!("XA ROLLBACK {name}")));
            return Err(failure);
        }
        let prepared = session.text(&end).and_then(|_| session.text(&prepare));
        let is_left = prepared.is_err() || stage.plan.redefines && session.random.percent(50);
        if is_left {
            leave(session, stage)?;
        }
        self.finish(session, stage, &format!("XA COMMIT {name}"))?;
        Ok(prepared.is_ok().then(|| format!("XA transaction {name}, committed elsewhere: {is_left}")))
    }

    /// Commits a prepared XA branch. If its session has ended, waits until the server has noticed that, since the branch cannot be
    /// committed earlier.
    fn finish(&self, session: &mut Session, stage: &Stage, commit: &str) -> Outcome<()> {
        loop {
            match session.text(commit) {
                Err(NoResult::Refused(failure)) if failure.code == 1397 => {
                    let waiting = session.text("XA RECOVER")?;
                    let name = commit.trim_start_matches("XA COMMIT ").trim_matches('\'').as_bytes();
                    if !waiting.iter().any(|row| row[3].as_deref() == Some(name)) {
                        return Err(NoResult::Refused(failure));
                    }
                }
                // A session that is killed here leaves its branch to another one as well.
                Err(NoResult::Lost) => leave(session, stage)?,
                outcome => return outcome.map(drop),
            }
        }
    }

    /// Reads and checks random registers until the run is over.
    pub fn reader(&self, session: &mut Session, stage: &Stage) -> io::Result<()> {
        while stage.goes_on() {
            let outcome = match session.random.below(100) {
                0..15 => self.read_in_transaction(session, stage),
                _ if stage.plan.beside.is_some() => self.read_again_and_again(session, stage),
                _ => self.read(session, stage),
            };
            if let Err(failure) = outcome {
                session.recover(&failure)?;
            }
        }
        Ok(())
    }

    /// Reads in a transaction. Each read sees what is committed: at READ COMMITTED always, at REPEATABLE READ because the transaction has
    /// read nothing before.
    fn read_in_transaction(&self, session: &mut Session, stage: &Stage) -> Outcome<()> {
        let isolation = session.random.word(&["READ COMMITTED", "REPEATABLE READ"]);
        session.run(&format!("SET SESSION TRANSACTION ISOLATION LEVEL {isolation}"))?;
        let is_explicit = isolation == "READ COMMITTED" && session.random.percent(50);
        session.run(if is_explicit { "BEGIN" } else { "SET autocommit = 0" })?;
        for _ in 0..4 {
            self.read(session, stage)?;
            if isolation == "REPEATABLE READ" {
                session.run("COMMIT")?;
            }
        }
        session.all(&["COMMIT", "SET autocommit = 1"])
    }

    /// Repeats a read. A near cache only answers reads that repeat before the next write.
    fn read_again_and_again(&self, session: &mut Session, stage: &Stage) -> Outcome<()> {
        let statement = self.read_statement(session);
        let most = if stage.plan.share.is_some() { 400 } else { 12 };
        (0..=session.random.below(most)).try_for_each(|_| {
            stage.linger(&mut session.random);
            self.check(session, stage, &statement)
        })
    }

    fn read(&self, session: &mut Session, stage: &Stage) -> Outcome<()> {
        let statement = self.read_statement(session);
        self.check(session, stage, &statement)
    }

    /// A random read of one or several registers.
    pub fn read_statement(&self, session: &mut Session) -> String {
        let key = session.random.below(KEYS);
        let source = if session.random.percent(20) { format!("{}_view", self.table) } else { self.table.clone() };
        let condition = match session.random.below(10) {
            0 => String::new(),
            1 => format!(" WHERE k IN ({key}, {})", (key + 1) % KEYS),
            2 => format!(" WHERE k BETWEEN {} AND {key}", key / 2),
            3 => " WHERE v >= 0".into(),
            _ => format!(" WHERE k = {key}"),
        };
        format!("SELECT k, v FROM {source}{condition}")
    }

    /// Runs a read of keys and values, and checks each value.
    pub fn check(&self, session: &mut Session, stage: &Stage, statement: &str) -> Outcome<()> {
        let floors = self.registers.iter().map(|register| register.floor(stage, session.member)).collect();
        self.check_from(session, stage, statement, floors)
    }

    /// Runs a read of keys and values that waits for all members of the group, and checks that each value is at least
    /// the highest one acknowledged on any member.
    pub fn check_all(&self, session: &mut Session, stage: &Stage, statement: &str) -> Outcome<()> {
        let floor = |register: &Register| register.floor_of_all().max(register.floor(stage, session.member));
        let floors = self.registers.iter().map(floor).collect();
        self.check_from(session, stage, statement, floors)
    }

    fn check_from(&self, session: &mut Session, stage: &Stage, statement: &str, floors: Vec<i64>) -> Outcome<()> {
        for row in session.numbers(statement)? {
            let key = row[0] as usize;
            self.registers[key].check(session, stage, floors[key], row[1], &format!("`{statement}` for k = {key}"));
        }
        Ok(())
    }

    /// Notes a violation unless a cached read shows what the table holds, and the table everything that was acknowledged. To be called
    /// after the last write.
    pub fn settle(&self, session: &mut Session, stage: &Stage) -> Outcome<()> {
        let statement = format!("SELECT k, v FROM {} ORDER BY k", self.table);
        let cached = session.text(&statement)?;
        let truth = session.text(&format!("SELECT SQL_NO_CACHE k, v FROM {} ORDER BY k -- truth", self.table))?;
        if cached != truth {
            stage
                .violation(format!("after the last write `{statement}` answers {cached:?}, the table holds {truth:?}"));
        }
        self.look_for_losses(truth, stage);
        Ok(())
    }

    /// Reports acknowledged values that the table does not hold. The server itself has lost them, so they are no stale reads.
    fn look_for_losses(&self, truth: Vec<Row>, stage: &Stage) {
        for row in whole_numbers(truth) {
            let (key, value) = (row[0], row[1]);
            let acknowledged = self.registers[key as usize].acknowledged.load(Ordering::SeqCst);
            if value < acknowledged {
                stage.violation(format!("{} holds {value} for k = {key}: the server lost {acknowledged}", self.table));
            }
        }
    }
}

/// Reconnects, and waits until InnoDB has noticed the end of the old session.
fn leave(session: &mut Session, stage: &Stage) -> Outcome<()> {
    let Some(thread) = session.reconnect().map_err(|_| NoResult::Lost)? else { return Ok(()) };
    while is_known_to_innodb(session, stage, thread)? {}
    Ok(())
}

/// True until InnoDB has noticed the end of the session with this thread id. It does so only after the session has left the list of
/// processes. If another session commits a branch of it before that, the commit is acknowledged and lost, also without the plugin.
fn is_known_to_innodb(session: &mut Session, stage: &Stage, thread: u32) -> Outcome<bool> {
    let product = if stage.product == Product::MySql { "MySQL" } else { "MariaDB" };
    let name = format!("{product} thread id {thread},");
    let status = session.text("SHOW ENGINE INNODB STATUS")?;
    Ok(status[0][2].as_deref().is_some_and(|text| String::from_utf8_lossy(text).contains(&name)))
}

/// The range of parents' ids for the values of one key.
const SPACE: i64 = 10_000_000_000;

/// The lowest parent's id for this key; an id above it by N stands for the value N.
fn base(key: usize) -> i64 {
    (key as i64 + 1) * SPACE
}
