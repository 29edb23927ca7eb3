//! Tests many concurrent sessions on one cached server, with injected faults. Acknowledged writes are visible, reads never go back in time,
//! sums hold inside of snapshots, and a session sees its own writes.
//!
//! Invariant: every verdict rests on what was known before a statement was sent and after its answer came. So a slow machine makes a check
//! weaker, never wrong.

mod bank;
mod chaos;
mod definitions;
mod members;
mod near_caches;
mod own;
mod register;
mod session;
mod stage;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use crate::client::Endpoint;
use crate::differential::generate::in_words_of;
use crate::group;
use crate::near::{self, hits_told};
use crate::server::Server;
use definitions::Definitions;
use members::{WAITING_READS, WAITING_WRITES};
use near_caches::NearCaches;
use register::{KEYS, RegisterTable, WAYS, WritePath};
use session::{NoResult, Session};
use stage::Stage;

/// Arguments for the tested server. Deadlocks and lock waits must end well before a client gives up, and a killed server must not find
/// half-written pages.
pub const ARGUMENTS: &[&str] = &["--innodb-lock-wait-timeout=2", "--lock-wait-timeout=2", "--innodb-doublewrite=1"];

/// The longest wait, after the run, for sessions that were cut off.
const END_LIMIT: Duration = Duration::from_secs(120);

/// The number of near-cache hits below which a run without a stale read proves little.
const ENOUGH_HITS: u64 = 100;
/// The number of hits of each member of a group below which a run proves little.
const ENOUGH_HITS_OF_MEMBER: u64 = 100;
/// The counter of reinstallations after which near caches have answered `ENOUGH_HITS` reads.
const SERVED_ANEW: &str = "reinstallations, with near caches that served afterwards";
/// The counter of server kills after which near caches have answered `ENOUGH_HITS` reads.
const SERVED_AGAIN: &str = "server kills, with near caches that served afterwards";

/// The name of a count in [`Report::counts`]: reads answered from shared memory in this process. They are a part of the near caches' hits.
pub const ANSWERED_HERE: &str = "reads answered in this process";

/// How to run the test: how long, with how many sessions, and with which faults.
#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    /// How long the sessions work.
    pub time: Duration,
    /// The longest extension of `time`. It is used only with near caches, until they have answered enough reads to prove something.
    pub patience: Duration,
    /// The least number of concurrent sessions. Every kind of worker gets one even if that makes more.
    pub threads: usize,
    /// Whether the plugin is unloaded and loaded again during the run.
    pub reinstalls: bool,
    /// Whether the server is killed and restarted during the run. The plan must then have near caches.
    pub kills: bool,
    /// Whether tables, views and routines change during the run, and statements may hide such changes. Then few results stay cached.
    pub redefines: bool,
    /// Whether the engine is suspended and resumed during the run. It no longer tracks sessions that worked in between.
    pub naps: bool,
    /// Whether the engine is to enter light mode (`fqc_doze`, in which it follows statements only coarsely and serves nothing) during the
    /// run. It does so only where no stored functions and triggers exist, so the run creates none.
    pub dozes: bool,
    /// The endpoint that sessions connect to instead of the server itself.
    pub through: Option<Endpoint>,
    /// The path of the program `fqc-near`. If given, sessions also connect through two near caches, which are subject to faults.
    pub beside: Option<PathBuf>,
    /// The path of the socket at which the first near cache hands its results to processes. This process must have been started with the
    /// library that reads them (`LD_PRELOAD`).
    pub share: Option<PathBuf>,
    /// The servers are members of a replication group: see [`run_in_group`].
    pub group: Option<Primaries>,
}

/// The members of a replication group that accept writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primaries {
    First,
    All,
}

impl Plan {
    /// True for a group in which every member accepts writes.
    fn has_many_primaries(&self) -> bool {
        self.group == Some(Primaries::All)
    }
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            seed: 1,
            time: Duration::from_secs(60),
            patience: Duration::ZERO,
            threads: 40,
            reinstalls: false,
            kills: false,
            redefines: true,
            naps: false,
            dozes: false,
            through: None,
            beside: None,
            share: None,
            group: None,
        }
    }
}

/// The findings of a run.
#[derive(Debug)]
pub struct Report {
    /// Wrong answers and died processes, as texts. Empty if the run has passed.
    pub violations: Vec<String>,
    /// How often each check and each fault happened, by its name.
    pub counts: BTreeMap<&'static str, u64>,
    /// Hits of the server's plugin, since it was last loaded or the server was started. None if the server reports none.
    pub hits: Option<u64>,
    /// Hits of each member of a group. Empty outside of groups.
    pub hits_of_members: Vec<u64>,
    /// Hits of near caches, over the whole run. None if there were no near caches.
    pub hits_beside: Option<u64>,
}

impl Report {
    /// True if each member of a group has answered enough reads from its cache for the absence of stale reads to mean something, and sessions
    /// have waited for the group. False outside of groups.
    pub fn proves_something_in_group(&self) -> bool {
        let has_hits = self.hits_of_members.iter().all(|hits| *hits >= ENOUGH_HITS_OF_MEMBER);
        let has_waited = [WAITING_READS, WAITING_WRITES].iter().all(|what| self.counts.contains_key(what));
        !self.hits_of_members.is_empty() && has_hits && has_waited
    }

    /// True if near caches have answered enough reads for the absence of stale reads to mean something: also after the plugin or the server
    /// came back, where the plan injects that. False without near caches.
    pub fn proves_something_beside(&self, plan: &Plan) -> bool {
        self.hits_beside.is_some_and(|hits| proves_something(plan, hits, |what| self.counts.contains_key(what)))
    }
}

/// The rule of [`Report::proves_something_beside`], for `hits` of near caches. `has_counted` says whether a count of this name is above 0.
fn proves_something(plan: &Plan, hits: u64, has_counted: impl Fn(&str) -> bool) -> bool {
    let is_served_again = |failure: bool, what| !failure || has_counted(what);
    hits >= ENOUGH_HITS && is_served_again(plan.reinstalls, SERVED_ANEW) && is_served_again(plan.kills, SERVED_AGAIN)
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        for (what, count) in &self.counts {
            writeln!(out, "  {what}: {count}")?;
        }
        if !self.hits_of_members.is_empty() {
            writeln!(out, "hits of the members: {:?}", self.hits_of_members)?;
        }
        writeln!(out, "{}, {} violations", hits_told(self.hits, self.hits_beside), self.violations.len())?;
        self.violations.iter().try_for_each(|violation| writeln!(out, "VIOLATION {violation}"))
    }
}

/// The tables and definitions that the workers use.
struct World {
    boards: Vec<RegisterTable>,
    definitions: Definitions,
}

/// The work of one session.
#[derive(Clone, Copy)]
enum Role {
    /// Writes registers: the index of their board, then the number of this writer and how many writers the board has.
    RegisterWriter(usize, (usize, usize)),
    RegisterReader(usize),
    BankWriter,
    BankReader,
    Own,
    /// Reads all registers of one member of a group.
    MemberReader,
    /// Holds tables back from the appliers of one member of a group.
    Holder,
    DefinitionWriter,
    DefinitionReader,
    Chaos,
}

/// Runs the plan on a running server, whose database `h` it replaces. An `Err` is a fault of the environment, such as a failed start or
/// connection; wrong answers are in the report.
pub fn run(server: &mut Server, plan: Plan) -> io::Result<Report> {
    let ways = WAYS.map(|way| match &plan {
        Plan { dozes: true, .. } => way.unprogrammed(),
        Plan { kills: true, .. } => way.durable(),
        _ => way,
    });
    let world = World { boards: ways.map(RegisterTable::new).into(), definitions: Definitions::default() };
    prepare(server, &world, Definitions::setup(), plan.redefines)?;
    if plan.dozes {
        let mut admin = server.admin()?;
        admin.must("DROP FUNCTION h.defined")?;
        admin.must("SET GLOBAL fqc_doze = ON")?;
    }
    let mut beside =
        plan.beside.as_ref().map(|program| NearCaches::start(server, program, plan.share.as_deref())).transpose()?;
    let mut endpoints = match &plan.through {
        Some(endpoint) => vec![endpoint.clone()],
        None => vec![server.unix_endpoint(), server.endpoint()],
    };
    // Most sessions connect through the near cache whose results they read in this process.
    let sharing = beside.iter().filter(|_| plan.share.is_some()).flat_map(|beside| beside.endpoints().next());
    endpoints.extend(sharing.flat_map(|endpoint| vec![endpoint; 4]));
    endpoints.extend(beside.iter().flat_map(NearCaches::endpoints));
    let stage = Stage::new(vec![endpoints], plan, server.product());
    let outcomes: Vec<io::Result<()>> = thread::scope(|scope| {
        let (stage, world, server) = (&stage, &world, &mut *server);
        let failure = beside.as_mut().map(|beside| {
            scope.spawn(move || {
                let outcome = beside.failure(stage, server);
                stage.end_patience();
                outcome
            })
        });
        let started: Vec<_> = roles(&stage.plan)
            .into_iter()
            .enumerate()
            .map(|(index, role)| scope.spawn(move || work(stage, world, index, role, 0)))
            .collect();
        let started = started.into_iter().chain(failure);
        started.map(|worker| worker.join().expect("a worker panicked")).collect()
    });
    if !server.is_running() {
        stage.violation(format!("the server died; its error log:\n{}", server.error_log()));
    } else {
        outcomes.into_iter().collect::<io::Result<()>>()?;
        await_the_last_session(server)?;
        settle(&stage, &world, 0)?;
    }
    let hits = hits(server);
    let hits_beside = beside.as_ref().map(NearCaches::hits);
    let hits_inside = beside.as_ref().map(NearCaches::hits_inside);
    let in_applications = beside.as_ref().filter(|_| stage.plan.share.is_some()).map(NearCaches::hits_in_applications);
    let (violations, mut counts) = stage.into_outcome();
    counts.extend(in_applications.map(|hits| (ANSWERED_HERE, hits)));
    counts.extend(hits_inside.map(|hits| ("reads in transactions, answered by near caches", hits)));
    Ok(Report { violations, counts, hits, hits_of_members: Vec::new(), hits_beside })
}

/// Runs the plan on the members of a replication group. The first one accepts writes, or all of them (`Plan::group`). Replaces the database
/// `h`. Besides what [`run`] expects, it expects of each member that it never takes back what it has shown, and that reads and writes that
/// wait for the group do so.
pub fn run_in_group(members: &mut [Server], plan: Plan) -> io::Result<Report> {
    let ways = WAYS.map(WritePath::in_group);
    let world = World { boards: ways.map(RegisterTable::new).into(), definitions: Definitions::default() };
    prepare(&members[0], &world, Vec::new(), false)?;
    members::catch_up(members)?;
    let endpoints = members.iter().map(|member| vec![member.unix_endpoint(), member.endpoint()]).collect();
    let stage = Stage::new(endpoints, plan, members[0].product());
    let outcomes: Vec<io::Result<()>> = thread::scope(|scope| {
        let (stage, world) = (&stage, &world);
        let started: Vec<_> = roles_in_group(&stage.plan, members.len())
            .into_iter()
            .enumerate()
            .map(|(index, (role, member))| scope.spawn(move || work(stage, world, index, role, member)))
            .collect();
        started.into_iter().map(|worker| worker.join().expect("a worker panicked")).collect()
    });
    for (number, member) in members.iter_mut().enumerate() {
        if !member.is_running() {
            stage.violation(format!("member {number} died; its error log:\n{}", member.error_log()));
        }
    }
    if members.iter_mut().all(Server::is_running) {
        outcomes.into_iter().collect::<io::Result<()>>()?;
        members.iter().try_for_each(await_the_last_session)?;
        members::catch_up(members)?;
        (0..members.len()).try_for_each(|member| settle(&stage, &world, member))?;
    }
    let hits_of_members: Vec<_> = members.iter().map(|member| hits(member).unwrap_or(0)).collect();
    let (violations, counts) = stage.into_outcome();
    let hits = Some(hits_of_members.iter().sum());
    Ok(Report { violations, counts, hits, hits_of_members, hits_beside: None })
}

/// The roles of the sessions of a group, each with its member. Those that write are on members that accept writes.
fn roles_in_group(plan: &Plan, members: usize) -> Vec<(Role, usize)> {
    let mut writers = Vec::new();
    for board in 0..WAYS.len() {
        let shares = if board == 0 { 3 } else { 1 };
        writers.extend((0..shares).map(|share| Role::RegisterWriter(board, (share, shares))));
    }
    writers.extend([Role::BankWriter, Role::BankWriter, Role::Own, Role::Own]);
    let home = |number: usize| if plan.has_many_primaries() { number % members } else { 0 };
    let mut roles: Vec<_> = writers.into_iter().enumerate().map(|(number, role)| (role, home(number))).collect();
    for member in 0..members {
        let of_member = [Role::MemberReader, Role::MemberReader, Role::BankReader, Role::Chaos];
        roles.extend(of_member.map(|role| (role, member)));
        if home(member) == member && !plan.has_many_primaries() {
            continue;
        }
        roles.push((Role::Holder, member));
    }
    roles
}

/// Creates the database `h` with the data of all workers. `definitions`: the statements that create what [`Definitions`] uses, whose tables
/// have no primary key, which a group requires. `with_event`: also an event that writes each second.
fn prepare(server: &Server, world: &World, definitions: Vec<String>, with_event: bool) -> io::Result<()> {
    let mut admin = server.admin()?;
    let mut statements: Vec<String> = vec!["CREATE OR REPLACE DATABASE h".into(), "USE h".into()];
    statements.extend(world.boards.iter().flat_map(RegisterTable::setup));
    statements.extend(definitions);
    statements.extend(bank::setup());
    statements.extend(own::setup());
    statements.extend(chaos::setup(with_event));
    let product = server.product();
    let mut told = statements.iter().flat_map(|statement| in_words_of(product, statement));
    told.try_for_each(|statement| admin.must(&statement).map(drop))
}

/// The roles of the sessions. The number of writers is fixed, each with keys of its own; the other sessions read.
fn roles(plan: &Plan) -> Vec<Role> {
    let mut roles = Vec::new();
    for board in 0..WAYS.len() {
        let writers = if board == 0 { 3 } else { 1 };
        roles.extend((0..writers).map(|writer| Role::RegisterWriter(board, (writer, writers))));
        roles.push(Role::RegisterReader(board));
    }
    roles.extend([Role::BankWriter, Role::BankWriter, Role::BankReader, Role::BankReader]);
    roles.extend([Role::Own, Role::Own, Role::DefinitionWriter, Role::DefinitionReader, Role::Chaos]);
    if plan.beside.is_some() {
        // Several sessions of one near cache must read the same rows.
        roles.extend([Role::BankReader; 8]);
    }
    let more = [
        Role::RegisterReader(0),
        Role::BankReader,
        Role::RegisterReader(1),
        Role::Own,
        Role::RegisterReader(2),
        Role::BankWriter,
    ];
    roles.extend(more.into_iter().cycle().take(plan.threads.saturating_sub(roles.len())));
    roles
}

fn work(stage: &Stage, world: &World, index: usize, role: Role, member: usize) -> io::Result<()> {
    let seed = stage.plan.seed.wrapping_mul(1000) + index as u64;
    let session = |name| Session::new(stage, member, name, seed);
    match role {
        Role::RegisterWriter(board, share) => {
            debug_assert_eq!(KEYS % share.1, 0);
            world.boards[board].writer(&mut session("register writes")?, stage, world, share)
        }
        Role::RegisterReader(board) => world.boards[board].reader(&mut session("register reads")?, stage),
        Role::BankWriter => bank::writer(&mut session("bank writes")?, stage),
        Role::BankReader => bank::reader(&mut session("bank reads")?, stage),
        Role::MemberReader => members::reader(&mut session("register reads")?, stage, world),
        Role::Holder => members::holder(&mut session("holds")?, stage),
        Role::Own => own::worker(&mut session("own statements")?, stage, index),
        Role::DefinitionWriter if !stage.plan.redefines => Ok(()),
        Role::DefinitionWriter => world.definitions.writer(&mut session("definition writes")?, stage),
        // These include a function, which would prevent light mode.
        Role::DefinitionReader if stage.plan.dozes => Ok(()),
        Role::DefinitionReader => world.definitions.reader(&mut session("definition reads")?, stage),
        Role::Chaos => chaos::worker(&mut session("chaos statements")?, stage),
    }
}

/// Waits until all sessions have ended: one that was cut off may still be running its last write. Fails after `END_LIMIT`.
fn await_the_last_session(server: &Server) -> io::Result<()> {
    let mut admin = server.admin()?;
    let others = format!(
        "SELECT COUNT(*) FROM information_schema.processlist \
         WHERE id <> CONNECTION_ID() AND command <> 'Daemon' AND user NOT IN ('{}', '{}', 'system user')",
        near::USER,
        group::ACCOUNT
    );
    let begun = Instant::now();
    while admin.scalar(&others)?.as_deref() != Some("0") {
        if begun.elapsed() > END_LIMIT {
            return Err(io::Error::other(format!("sessions that were cut off still run after {END_LIMIT:?}")));
        }
        thread::yield_now();
    }
    Ok(())
}

/// Compares cached reads with the tables after the last write.
fn settle(stage: &Stage, world: &World, member: usize) -> io::Result<()> {
    let mut session = Session::new(stage, member, "last reads", 0)?;
    for board in &world.boards {
        match board.settle(&mut session, stage) {
            Ok(()) => {}
            Err(NoResult::MatchedNoRow) => {}
            Err(NoResult::Lost) => return Err(io::Error::other("the connection of the last reads was lost")),
            Err(NoResult::Refused(failure)) => return Err(io::Error::other(format!("a last read failed: {failure}"))),
        }
    }
    Ok(())
}

/// The server's count of hits. None if it does not answer.
fn hits(server: &Server) -> Option<u64> {
    let rows = server.admin().ok()?.must("SHOW GLOBAL STATUS LIKE 'Qcache_hits'").ok()?.rows(false);
    String::from_utf8_lossy(rows.first()?[1].as_deref()?).parse().ok()
}
