//! The random stream of statements. The seed and the answers so far determine the next one.
//!
//! Methods that write a statement draw tables, columns and values at random, and send nothing.

mod connections;
mod definitions;
mod expressions;
mod model;
mod mysql;
mod reads;
mod routines;
mod rows;
mod scenes;
mod settings;
mod spelling;
mod transactions;
mod types;
mod values;
mod writes;

use std::collections::VecDeque;
use std::fmt;

use super::action::{Account, Action, Commands, Kind};
use crate::client::{Param, Response, Row};
use crate::random::Random;
use crate::server::Product;
use model::{Model, Table};

pub use model::LISTING;

/// Translates a statement that was written for MariaDB for this product. The result may be several statements, to be sent in order.
pub fn in_words_of(product: Product, text: &str) -> Vec<String> {
    match product {
        Product::MariaDb => vec![text.to_owned()],
        Product::MySql => mysql::translated(text),
    }
}

/// The status flag "in a transaction".
const IN_TRANSACTION: u16 = 0x0001;
/// The number of reads that are remembered for repetition.
const REMEMBERED: usize = 40;
/// The percentage of steps that reset a session's connection, where a near cache follows the log. It may have stopped serving the session,
/// for example because that has prepared a SET.
const FRESH: u64 = 8;

/// Remembered reads of all sessions. Any session may repeat them byte for byte.
#[derive(Default)]
struct Memory(Vec<Commands>);

impl Memory {
    /// Remembers a read, instead of a random one if there are too many.
    fn keep(&mut self, random: &mut Random, commands: &Commands) {
        if self.0.len() == REMEMBERED {
            self.0.remove(random.below(REMEMBERED));
        }
        self.0.push(commands.clone());
    }

    fn forget(&mut self, commands: &Commands) {
        self.0.retain(|one| one != commands);
    }

    /// A remembered read. None if there are none.
    fn pick(&self, random: &mut Random) -> Option<Commands> {
        // The latest reads are repeated most often, because their tables are probably still unchanged.
        let latest = &self.0[self.0.len().saturating_sub(4)..];
        let choices = if random.percent(60) { latest } else { &self.0[..] };
        if choices.is_empty() { None } else { Some(random.pick(choices).clone()) }
    }
}

/// The purpose of a run: which statements are frequent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Aim {
    #[default]
    Everything,
    /// Mostly statements that name rows, to test that the engine distinguishes rows as the server does.
    Rows,
}

impl fmt::Display for Aim {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(match self {
            Aim::Everything => "everything",
            Aim::Rows => "rows",
        })
    }
}

/// The generator's assumptions about the state of a session.
#[derive(Clone, Debug)]
struct SessionAssumptions {
    database: String,
    in_transaction: bool,
    /// The connection was lost, so the session has to reconnect.
    is_lost: bool,
}

/// Writes the steps of one history. After each step that was run, [`Self::observe`] must get its answer.
pub struct Generator {
    random: Random,
    aim: Aim,
    model: Model,
    memory: Memory,
    assumptions: Vec<SessionAssumptions>,
    /// Steps that have been generated and come next.
    queue: VecDeque<Action>,
    /// The parameters so far of a statement that is being generated for the binary protocol. None if it is generated as text.
    bound: Option<Vec<Param>>,
    /// The index of the session whose statement is being written.
    session: usize,
    /// Statements that invalidate everything are rare, so that most repeated reads are hits.
    is_calm: bool,
    /// The statements that every history begins with have been generated.
    is_begun: bool,
    /// Names are written in random upper and lower case.
    is_any_case: bool,
    /// No stored functions or triggers are created. The engine never enters light mode where they exist.
    makes_no_programs: bool,
    /// A near cache follows the binary log. It serves nothing after an XA transaction and nothing of tables of other engines, and it stops
    /// serving some sessions.
    is_followed: bool,
    /// The product that statements are written for.
    product: Product,
}

/// True if the step creates a stored function or a trigger.
fn makes_program(action: &Action) -> bool {
    let (Commands::Query(text) | Commands::Run(text, _)) = &action.commands else { return false };
    text.contains("CREATE") && (text.contains(" FUNCTION ") || text.contains(" TRIGGER "))
}

/// Indices, in the list of weights in [`Generator::step`], of statements that invalidate everything or end caching for a session.
const DISTURBING: [usize; 9] = [4, 5, 6, 7, 8, 9, 10, 13, 16];

impl Generator {
    /// A generator for MariaDB, with the steps of the prelude queued: they create databases, accounts, tables and routines. `is_calm`:
    /// statements that invalidate everything are rare. `is_followed`: a near cache follows the binary log.
    pub fn new(random: Random, sessions: usize, aim: Aim, is_calm: bool, is_followed: bool) -> Self {
        let assumed = SessionAssumptions { database: "d0".into(), in_transaction: false, is_lost: false };
        let mut generator = Self {
            random,
            aim,
            model: Model::default(),
            memory: Memory::default(),
            assumptions: vec![assumed; sessions],
            queue: VecDeque::new(),
            bound: None,
            session: 0,
            is_calm,
            is_begun: false,
            is_any_case: false,
            makes_no_programs: false,
            is_followed,
            product: Product::default(),
        };
        generator.prelude();
        generator.is_begun = true;
        generator
    }

    /// Makes the generator spell names in random upper and lower case, for servers that take `T0` and `t0` for the same table.
    pub fn in_any_case(self, is_any_case: bool) -> Self {
        Self { is_any_case, ..self }
    }

    /// Makes the generator create no stored functions and triggers, also not in the prelude, for an engine that is to enter light mode.
    pub fn without_programs(mut self, makes_no_programs: bool) -> Self {
        self.queue.retain(|action| !makes_no_programs || !makes_program(action));
        Self { makes_no_programs, ..self }
    }

    /// Makes the generator write statements for this product.
    pub fn speaking(mut self, product: Product) -> Self {
        self.product = product;
        if product == Product::MySql {
            // These statements come after those of the common prelude that create tables, and before any session works.
            let place = self.queue.iter().position(|action| action.kind == Kind::Routine).unwrap_or(0);
            for text in mysql::PRELUDE.iter().rev() {
                let commands = Commands::Query(text.to_string());
                self.queue.insert(place, Action { session: 0, kind: Kind::Definition, commands });
            }
        }
        self
    }

    pub fn aim(&self) -> Aim {
        self.aim
    }

    fn prelude(&mut self) {
        let mut statements: Vec<String> =
            ["CREATE DATABASE d0", "CREATE DATABASE d1", "CREATE SEQUENCE d0.s0", "CREATE ROLE r0"]
                .map(String::from)
                .into();
        for (user, grant) in [("u0", "ALL ON d0.*"), ("u1", "SELECT ON d0.*"), ("u2", "SELECT ON d0.t1")] {
            statements.push(format!("CREATE USER {user}@'%' IDENTIFIED BY 'pw'"));
            statements.push(format!("GRANT {grant} TO {user}"));
        }
        match self.aim {
            Aim::Rows => statements.extend(self.rows_prelude()),
            Aim::Everything => {
                for name in ["d0.t0", "d0.t1", "d0.t2", "d0.t3", "d0.t4", "d1.t0", "d1.t1"] {
                    statements.push(self.create_table(name).replacen("OR REPLACE ", "", 1));
                }
            }
        }
        for text in statements {
            self.later(0, Kind::Definition, Commands::Query(text));
        }
        for (create, count) in [(Self::function as fn(&mut Self) -> String, 3), (Self::view, 4), (Self::procedure, 7)] {
            for _ in 0..count {
                let text = create(self);
                self.later(0, Kind::Routine, Commands::Query(text));
            }
        }
        if self.aim == Aim::Rows {
            self.rows_filling();
        }
        for session in 0..self.assumptions.len() {
            // Sessions reconnect because a near cache that follows the log shares results only among sessions that began after the last
            // change of privileges.
            let begin = match self.is_followed {
                true => Commands::Reconnect(Account::root().in_database("d0"), false),
                false => Commands::InitDb("d0".into()),
            };
            self.later(session, Kind::Connection, begin);
            self.settle(session);
        }
    }

    /// The next step. It has to be run, and its answer given to [`Self::observe`], before the following one is taken.
    pub fn next_action(&mut self) -> Action {
        let mut action = self.translated();
        while self.makes_no_programs && makes_program(&action) {
            action = self.translated();
        }
        // Only some statements are respelled, because most repeated reads must have the same bytes to be hits.
        if self.is_any_case
            && let Commands::Query(text) | Commands::Run(text, _) = &mut action.commands
            && self.random.percent(30)
        {
            *text = spelling::respelled(&mut self.random, text);
        }
        action
    }

    /// Takes a step and translates it for the product. If it becomes several, the others are queued.
    fn translated(&mut self) -> Action {
        let mut action = self.action();
        if self.product == Product::MariaDb {
            return action;
        }
        match &mut action.commands {
            Commands::Query(text) => {
                let mut steps = mysql::translated(text).into_iter();
                *text = steps.next().unwrap_or_default();
                let (session, kind) = (action.session, action.kind);
                let rest = steps.map(|text| Action { session, kind, commands: Commands::Query(text) });
                rest.rev().for_each(|action| self.queue.push_front(action));
            }
            Commands::Run(text, _) | Commands::Load(text, _) => *text = mysql::translated(text).swap_remove(0),
            Commands::Pipeline(texts) => {
                texts.iter_mut().for_each(|text| *text = mysql::translated(text).swap_remove(0));
            }
            _ => {}
        }
        action
    }

    /// Decides at random, with this probability, whether a statement follows that only MySQL has. Never for MariaDB.
    fn is_own(&mut self, percent: u64) -> bool {
        self.product == Product::MySql && self.random.percent(percent)
    }

    /// Takes the next queued step, or writes one for a random session.
    fn action(&mut self) -> Action {
        if let Some(action) = self.queue.pop_front() {
            return action;
        }
        let session = self.random.below(self.assumptions.len());
        self.session = session;
        if self.assumptions[session].is_lost {
            self.settle(session);
            return Action {
                session,
                kind: Kind::Connection,
                commands: Commands::Reconnect(Account::root().in_database("d0"), true),
            };
        }
        let (kind, commands) = self.step(session);
        let commands = self.prepared_at_times(kind, commands);
        if matches!(kind, Kind::Read | Kind::Repeat) {
            self.asks_for_count(session, &commands);
            self.aftermath(session);
        }
        Action { session, kind, commands }
    }

    /// A repeated read. In a transaction further repeated reads are often queued, because only after its first read is it known what may be
    /// served.
    fn repeats(&mut self, session: usize) -> (Kind, Commands) {
        if self.assumptions[session].in_transaction && self.random.percent(40) {
            for _ in 0..1 + self.random.below(5) {
                let again = self.repeat();
                self.later(session, Kind::Repeat, again);
            }
        }
        (Kind::Repeat, self.repeat())
    }

    /// Writes a random step of this session, which begins a transaction or a scene of several queued steps at times.
    fn step(&mut self, session: usize) -> (Kind, Commands) {
        if self.assumptions[session].in_transaction && self.random.percent(12) {
            return (Kind::Transaction, Commands::Query(self.ending()));
        }
        if self.is_followed && self.random.percent(FRESH) {
            self.settle(session);
            return (Kind::Connection, Commands::ResetConnection);
        }
        if self.aim == Aim::Rows && !self.random.per_mille(4) {
            return match self.random.weighted(&[5600, 1300, 2400, 450, 20, 8, 8, 8, 120, 30, 80]) {
                0 => self.repeats(session),
                1 => (Kind::Read, self.fresh_read()),
                2 => (Kind::Write, self.prepared_or_text(Self::row_write)),
                3 => (Kind::Transaction, Commands::Query(self.row_transaction(session))),
                4 => (Kind::Setting, Commands::Query(self.row_setting())),
                5 => (Kind::Definition, Commands::Query(self.row_definition())),
                6 => (Kind::Prepared, Commands::Query(self.text_prepared(session))),
                7 => (Kind::Several, self.several()),
                8 => self.types_scene(session),
                9 => self.row_watch(session),
                _ => self.row_snapshot(session),
            };
        }
        // Only the last two sessions get many disturbing statements. The others must share entries, or there would be no hits. The
        // weights are in the order of the match below.
        let restless = if session + 2 >= self.assumptions.len() { 8 } else { 1 };
        let weights = [
            600,
            110,
            120,
            20 + 5 * restless,
            if self.is_followed { 0 } else { 2 },
            2,
            2 * restless,
            4,
            3,
            restless - 1,
            2,
            6 + 2 * restless,
            restless,
            6,
            8,
            3,
            1,
            2,
            2,
            self.scenes(),
        ];
        let mut chosen = self.random.weighted(&weights);
        while self.is_calm && DISTURBING.contains(&chosen) && !self.random.percent(4) {
            chosen = self.random.weighted(&weights);
        }
        match chosen {
            0 => (Kind::Repeat, self.repeat()),
            1 => (Kind::Read, self.fresh_read()),
            2 => (Kind::Write, self.prepared_or_text(Self::write)),
            3 => (Kind::Transaction, Commands::Query(self.transaction(session))),
            4 => (Kind::Xa, Commands::Query(self.xa(session))),
            5 => (Kind::Lock, Commands::Query(self.lock(session))),
            6 => (Kind::Setting, Commands::Query(self.set())),
            7 => (Kind::Definition, Commands::Query(self.definition())),
            8 => (Kind::Routine, Commands::Query(self.routine())),
            9 => (Kind::Temporary, Commands::Query(self.temporary())),
            10 => (Kind::Account, Commands::Query(self.privilege())),
            11 => (Kind::Connection, self.connection(session)),
            12 => (Kind::Variable, self.prepared_or_text(Self::variable)),
            13 => (Kind::Prepared, Commands::Query(self.text_prepared(session))),
            14 => (Kind::Several, self.several()),
            15 => (Kind::Call, self.prepared_or_text(Self::call)),
            16 => (Kind::Flush, Commands::Query(self.flush())),
            17 => (Kind::Big, self.prepared_or_text(Self::big)),
            18 => (Kind::Write, self.load()),
            _ => self.scene(session),
        }
    }

    /// A remembered read, sometimes with another value; a fresh one if there is none.
    fn repeat(&mut self) -> Commands {
        let Some(commands) = self.memory.pick(&mut self.random) else { return self.fresh_read() };
        let other = if self.random.percent(15) { self.revalued(&commands) } else { None };
        if let Some(other) = &other {
            self.memory.keep(&mut self.random, other);
        }
        other.unwrap_or(commands)
    }

    /// A new read, which is remembered.
    fn fresh_read(&mut self) -> Commands {
        let read = if self.aim == Aim::Rows { Self::row_read } else { Self::read };
        let commands = self.prepared_or_text(read);
        self.memory.keep(&mut self.random, &commands);
        commands
    }

    /// Writes a statement with `write`, as text or with bound parameters for the binary protocol.
    fn prepared_or_text(&mut self, write: fn(&mut Self) -> String) -> Commands {
        if !self.random.percent(30) {
            return Commands::Query(write(self));
        }
        self.bound = Some(Vec::new());
        let text = write(self);
        let params = self.bound.take().unwrap_or_default();
        // If the pattern had no place for a condition, its parameters cannot be bound.
        if text.matches('?').count() == params.len() {
            Commands::Run(text, params)
        } else {
            Commands::Query(write(self))
        }
    }

    /// Turns some statements without parameters into prepared ones, since that has the same effect. Definitions are excluded: they are
    /// retried, which works for texts only.
    fn prepared_at_times(&mut self, kind: Kind, commands: Commands) -> Commands {
        let kinds = [Kind::Transaction, Kind::Xa, Kind::Setting, Kind::Temporary, Kind::Connection, Kind::Account];
        match commands {
            Commands::Query(text) if kinds.contains(&kind) && self.random.percent(25) => {
                Commands::Run(text, Vec::new())
            }
            commands => commands,
        }
    }

    /// Writes a PREPARE as text, and queues one or two EXECUTEs.
    fn text_prepared(&mut self, session: usize) -> String {
        let body = if self.random.percent(60) { self.read() } else { self.write() };
        let text = format!("PREPARE q FROM '{}'", body.replace('\\', "\\\\").replace('\'', "''"));
        for _ in 0..1 + self.random.below(2) {
            self.later(session, Kind::Prepared, Commands::Query("EXECUTE q".into()));
        }
        text
    }

    fn several(&mut self) -> Commands {
        let count = 2 + self.random.below(2);
        let mut texts = Vec::new();
        for _ in 0..count {
            texts.push(match self.memory.pick(&mut self.random) {
                Some(Commands::Query(text)) if self.random.percent(60) => text,
                _ if self.random.percent(50) => self.read(),
                _ => self.write(),
            });
        }
        if self.random.percent(50) { Commands::Pipeline(texts) } else { Commands::Query(texts.join("; ")) }
    }

    /// Queues, after most reads that count all rows found, the question for that number.
    fn asks_for_count(&mut self, session: usize, commands: &Commands) {
        let counts = matches!(commands, Commands::Query(text) if text.contains("SQL_CALC_FOUND_ROWS"));
        if counts && self.random.percent(60) {
            self.later(session, Kind::Aftermath, Commands::Query("SELECT FOUND_ROWS()".into()));
        }
    }

    /// Queues at times a question that a client may ask about the statement before.
    fn aftermath(&mut self, session: usize) {
        if self.random.percent(7) {
            let text = self.random.word(&[
                "SELECT FOUND_ROWS()",
                "SELECT ROW_COUNT()",
                "SHOW WARNINGS",
                "SELECT @@warning_count, @@error_count",
                "SELECT LAST_INSERT_ID()",
                "SELECT ROW_COUNT(), LAST_INSERT_ID(), @@identity",
                "SHOW COUNT(*) WARNINGS",
                "SHOW ERRORS",
                "SELECT @@in_transaction",
                "SELECT @@last_insert_id, @u",
                "SELECT DATABASE(), CURRENT_USER(), CURRENT_ROLE()",
                "GET DIAGNOSTICS @u = NUMBER",
                "SHOW SESSION STATUS LIKE 'nothing'",
                "SELECT QUERY FROM information_schema.OPTIMIZER_TRACE",
                "GET DIAGNOSTICS CONDITION 1 @u = MESSAGE_TEXT",
                "SET @u = FOUND_ROWS() + @@warning_count",
                "SHOW WARNINGS LIMIT 1",
                "SHOW COUNT(*) ERRORS",
                "SIGNAL SQLSTATE '01000' SET MESSAGE_TEXT = 'told'",
                "EXECUTE IMMEDIATE 'SHOW WARNINGS'",
                "BEGIN NOT ATOMIC DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SHOW WARNINGS; SELECT FOUND_ROWS(); END",
            ]);
            self.later(session, Kind::Aftermath, Commands::Query(text.into()));
        }
    }

    /// Queues a step, to be run after those that are queued already.
    fn later(&mut self, session: usize, kind: Kind, commands: Commands) {
        let commands = if self.is_begun { self.prepared_at_times(kind, commands) } else { commands };
        self.queue.push_back(Action { session, kind, commands });
    }

    /// A random table, mostly of the session's database.
    fn table(&mut self, with_views: bool) -> Table {
        let database = self.assumptions[self.session].database.clone();
        self.model.pick(&mut self.random, &database, with_views)
    }

    /// The table's name as a statement may write it: with or without its database.
    fn reference(&mut self, table: &Table) -> String {
        let is_near = table.database == self.assumptions[self.session].database;
        match self.random.below(20) {
            0..=12 if is_near => table.name.clone(),
            0 | 1 => format!("`{}`.`{}`", table.database, table.name),
            _ => format!("{}.{}", table.database, table.name),
        }
    }

    /// Updates the assumptions about a session after the answer to its step. `is_lost`: the connection was lost. Returns true if the schema
    /// may have changed; then call [`Self::learn`].
    pub fn observe(&mut self, action: &Action, responses: &[Response], is_lost: bool) -> bool {
        let assumed = &mut self.assumptions[action.session];
        assumed.is_lost = is_lost;
        if let Some(status) = responses.last().and_then(Response::status) {
            assumed.in_transaction = status & IN_TRANSACTION != 0;
        }
        let has_failed = responses.last().is_some_and(|last| last.failure().is_some());
        if has_failed && matches!(action.kind, Kind::Read | Kind::Repeat) && self.random.percent(70) {
            self.memory.forget(&action.commands);
        }
        match &action.commands {
            Commands::InitDb(database) if database != "nowhere" => assumed.database = database.clone(),
            Commands::Query(text) | Commands::Run(text, _)
                if ["USE d", "USE D"].contains(&text.get(..5).unwrap_or_default()) =>
            {
                assumed.database = text[4..].to_lowercase();
            }
            Commands::ChangeUser(account) | Commands::Reconnect(account, _) => {
                assumed.database = account.database.clone().unwrap_or("d0".into());
                assumed.in_transaction = false;
            }
            _ => {}
        }
        matches!(action.kind, Kind::Definition | Kind::Routine)
    }

    /// Replaces the known schema by these rows, the result of [`LISTING`].
    pub fn learn(&mut self, rows: Vec<Row>) {
        self.model.learn(rows);
    }
}
