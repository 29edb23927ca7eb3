//! Near caches next to the server, and faults injected into them. They are stopped for longer than their lease and continued, killed and
//! restarted, and cut off from the server in one direction or in both. Their feeds are ended and reset, and the server itself is killed
//! and restarted.

use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::stage::Stage;
use super::{ENOUGH_HITS, SERVED_AGAIN, proves_something};
use crate::client::Endpoint;
use crate::near::{self, Near};
use crate::random::Random;
use crate::server::Server;
use crate::wire::{Direction, Wire};

/// A time for which a near cache is stopped: three times as long as a lease.
const LONG_STOP: Duration = Duration::from_millis(300);
const COUNT: usize = 2;

/// The near caches of a run, each behind a forwarder that can cut it off from the server.
pub struct NearCaches {
    /// Each near cache, with the forwarder between it and the server.
    nears: Vec<(Near, Wire)>,
    /// Hits of near caches that have been killed since the start of the run.
    hits: u64,
    hits_inside: u64,
    hits_in_applications: u64,
    life: NearWork,
}

/// The work of near caches since the server was last killed.
#[derive(Default)]
struct NearWork {
    /// All hits of near caches when the server was last started.
    hits_before: u64,
    /// Near caches have answered `ENOUGH_HITS` reads since.
    has_served: bool,
}

impl NearCaches {
    /// Starts the near caches. `program` is the path of `fqc-near`. `share`: the path of the socket at which the first near cache hands its
    /// results to processes.
    pub fn start(server: &Server, program: &Path, share: Option<&Path>) -> io::Result<NearCaches> {
        near::prepare(server)?;
        let start = |number| {
            let wire = Wire::to(server.port())?;
            let share = share.filter(|_| number == 0);
            let name = format!("near{number}");
            let near = Near::sharing(program.into(), server, wire.port(), near::USER, &name, share)?;
            Ok((near, wire))
        };
        Ok(NearCaches {
            nears: (0..COUNT).map(start).collect::<io::Result<_>>()?,
            hits: 0,
            hits_inside: 0,
            hits_in_applications: 0,
            life: NearWork::default(),
        })
    }

    /// The sockets at which the near caches accept clients.
    pub fn endpoints(&self) -> impl Iterator<Item = Endpoint> {
        self.nears.iter().map(|(near, _)| near.endpoint())
    }

    /// The number of hits of all near caches since the start of the run, including those that were killed.
    pub fn hits(&self) -> u64 {
        self.hits + self.nears.iter().filter_map(|(near, _)| near.hits()).sum::<u64>()
    }

    /// The number of reads in transactions that near caches have answered from memory.
    pub fn hits_inside(&self) -> u64 {
        self.hits_inside + self.nears.iter().map(|(near, _)| hits_inside(near)).sum::<u64>()
    }

    /// The number of reads that sessions have answered in their own process.
    pub fn hits_in_applications(&self) -> u64 {
        self.hits_in_applications + self.nears.iter().map(|(near, _)| hits_in_applications(near)).sum::<u64>()
    }

    /// Injects faults until the run is over or the server has died. A near cache that ends by itself is a violation.
    pub fn failure(&mut self, stage: &Stage, server: &mut Server) -> io::Result<()> {
        let mut random = Random::new(stage.plan.seed ^ 0x6e65_6172);
        while stage.goes_on() && server.is_running() {
            // The time without faults is random. The server keeps a near cache detached for long if it fails often.
            let longest_ms = if stage.plan.share.is_some() { 5000 } else { 1500 };
            thread::sleep(Duration::from_millis(random.below(longest_ms) as u64));
            if stage.plan.kills && self.has_served(stage) && random.percent(25) {
                self.kill(stage, server)?;
            }
            let index = random.below(COUNT);
            let (near, wire) = &mut self.nears[index];
            let time = if random.percent(66) { LONG_STOP } else { Duration::from_millis(random.below(120) as u64) };
            match random.below(16) {
                0..=4 => stop(near, stage, time),
                5..=6 => {
                    self.hits += near.hits().unwrap_or(0);
                    self.hits_inside += hits_inside(near);
                    self.hits_in_applications += hits_in_applications(near);
                    near.replace()?;
                    stage.count("near caches killed");
                }
                7..=8 => end_feed(stage, server)?,
                9..=10 => {
                    wire.reset();
                    stage.count("near caches' connections reset");
                }
                11..=12 => cut_off(wire, stage, &[Direction::There, Direction::Back], time),
                13 => cut_off(wire, stage, &[Direction::There], time),
                _ => cut_off(wire, stage, &[Direction::Back], time),
            }
            if !near.is_running() {
                stage.violation(format!("a near cache died; its log:\n{}", near.log()));
            }
            if proves_something(&stage.plan, self.hits(), |what| stage.has_counted(what)) {
                stage.end_patience();
            }
        }
        Ok(())
    }
}

impl NearCaches {
    /// True if near caches have answered at least `ENOUGH_HITS` reads since the server was last killed. Killing it earlier would prove
    /// nothing.
    fn has_served(&mut self, stage: &Stage) -> bool {
        if !self.life.has_served && self.hits() >= self.life.hits_before + ENOUGH_HITS {
            self.life.has_served = true;
            if stage.life() > 0 {
                stage.count(SERVED_AGAIN);
            }
        }
        self.life.has_served
    }

    /// Kills the server, starts it again and waits until it accepts connections.
    fn kill(&mut self, stage: &Stage, server: &mut Server) -> io::Result<()> {
        server.kill9()?;
        stage.begin_life();
        server.restart()?;
        self.life = NearWork { hits_before: self.hits(), has_served: false };
        stage.count("server kills");
        Ok(())
    }
}

fn hits_inside(near: &Near) -> u64 {
    near.told("Hits in transactions").unwrap_or(0)
}

fn hits_in_applications(near: &Near) -> u64 {
    near.told("Hits in applications").unwrap_or(0)
}

/// Stops the process for this time with SIGSTOP.
fn stop(near: &Near, stage: &Stage, time: Duration) {
    near.signal(libc::SIGSTOP);
    thread::sleep(time);
    near.signal(libc::SIGCONT);
    stage.count("near caches stopped");
}

/// Holds back what is sent in these directions for this time.
fn cut_off(wire: &Wire, stage: &Stage, ways: &[Direction], time: Duration) {
    wire.hold(ways);
    thread::sleep(time);
    wire.hold(&[]);
    stage.count("near caches cut off");
}

/// Kills the connection over which the plugin informs one of the near caches of changes.
fn end_feed(stage: &Stage, server: &Server) -> io::Result<()> {
    let mut admin = server.admin()?;
    let feeds =
        format!("SELECT id FROM information_schema.processlist WHERE user = '{}' ORDER BY RAND() LIMIT 1", near::USER);
    if let Some(feed) = admin.scalar(&feeds)? {
        // The feed may have ended already.
        let _ = admin.query(format!("KILL {feed}"))?;
        stage.count("feeds ended");
    }
    Ok(())
}
