//! Near caches beside the server, and trouble for them: stopped for longer than their lease and continued, killed and started
//! again, their feeds cut.

use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::stage::Stage;
use crate::client::Endpoint;
use crate::near::{self, Near};
use crate::random::Random;
use crate::server::Server;

/// Three leases.
const LONG_STOP: Duration = Duration::from_millis(300);
const COUNT: usize = 2;

pub struct Beside {
    nears: Vec<Near>,
    /// The most that were seen at once: whoever is killed takes its own along.
    pub hits: u64,
}

impl Beside {
    pub fn start(server: &Server, program: &Path) -> io::Result<Beside> {
        near::prepare(&mut server.admin()?)?;
        let nears =
            (0..COUNT).map(|number| Near::start(program.to_path_buf(), server, near::USER, &format!("near{number}")));
        Ok(Beside { nears: nears.collect::<io::Result<_>>()?, hits: 0 })
    }

    pub fn endpoints(&self) -> impl Iterator<Item = Endpoint> {
        self.nears.iter().map(Near::endpoint)
    }

    /// Until the run is over.
    pub fn trouble(&mut self, stage: &Stage, server: &Server) -> io::Result<()> {
        let mut random = Random::new(stage.plan.seed ^ 0x6e65_6172);
        while stage.goes_on() {
            // How long there is no trouble is part of the plan.
            thread::sleep(Duration::from_millis(random.below(1500) as u64));
            let index = random.below(COUNT);
            let near = &mut self.nears[index];
            match random.below(10) {
                0..=3 => stop(near, stage, LONG_STOP),
                4..=5 => stop(near, stage, Duration::from_millis(random.below(120) as u64)),
                6..=7 => {
                    self.hits = self.hits.max(near::hits(server)?);
                    near.replace()?;
                    stage.count("near caches killed");
                }
                _ => cut(stage, server)?,
            }
            if !near.is_running() {
                stage.violation(format!("a near cache died; its log:\n{}", near.log()));
            }
        }
        Ok(())
    }
}

fn stop(near: &Near, stage: &Stage, time: Duration) {
    near.signal(libc::SIGSTOP);
    thread::sleep(time);
    near.signal(libc::SIGCONT);
    stage.count("near caches stopped");
}

fn cut(stage: &Stage, server: &Server) -> io::Result<()> {
    let mut admin = server.admin()?;
    let feeds =
        format!("SELECT id FROM information_schema.processlist WHERE user = '{}' ORDER BY RAND() LIMIT 1", near::USER);
    if let Some(feed) = admin.scalar(&feeds)? {
        // It may have ended already.
        let _ = admin.query(format!("KILL {feed}"))?;
        stage.count("feeds cut");
    }
    Ok(())
}
