//! The members of a replication group. Each register is written on one member and read on all of them. A member may lag behind the others,
//! but what it has shown once, cached or not, it never takes back.
//!
//! Three things are expected of all members at once: what was acknowledged before a read with the level BEFORE; what was acknowledged with
//! the level AFTER; and whatever the same member had acknowledged before such a write began, since it was applied in that order.

use std::io;
use std::thread;
use std::time::Duration;

use super::World;
use super::session::{Outcome, Session};
use super::stage::Stage;
use crate::client::{Client, Login};
use crate::group;
use crate::server::Server;

/// The name of the count of reads with the consistency level BEFORE, which wait until the member has applied all
/// earlier transactions of the group.
pub const WAITING_READS: &str = "reads that wait for the group";
/// The name of the count of acknowledged writes with the consistency level AFTER, which wait until all members have
/// applied them.
pub const WAITING_WRITES: &str = "writes that wait for the group";

/// The tables that are locked for a moment, so that appliers of other tables overtake those that write them.
const LOCKED: [&str; 3] = ["register_direct", "register_innodb", "entries"];

/// Reads registers of all tables, until the run is over: without the cache, with it, or after a wait for the other members.
pub fn reader(session: &mut Session, stage: &Stage, world: &World) -> io::Result<()> {
    while stage.goes_on() {
        if let Err(failure) = read(session, stage, world) {
            session.recover(&failure)?;
        }
    }
    Ok(())
}

fn read(session: &mut Session, stage: &Stage, world: &World) -> Outcome<()> {
    let table = session.random.pick(&world.boards);
    let statement = table.read_statement(session);
    let uncached = statement.replacen("SELECT", "SELECT SQL_NO_CACHE", 1);
    match session.random.below(10) {
        0 => {
            session.text("SET SESSION group_replication_consistency = 'BEFORE'")?;
            stage.count(WAITING_READS);
            let outcome = table.check_all(session, stage, &statement);
            session.text("SET SESSION group_replication_consistency = DEFAULT")?;
            outcome
        }
        1..=4 => {
            stage.count("uncached reads");
            table.check(session, stage, &uncached)?;
            table.check(session, stage, &statement)
        }
        _ => (0..=session.random.below(3)).try_for_each(|_| table.check(session, stage, &statement)),
    }
}

/// Holds one table of this member back from its appliers for a moment, again and again.
pub fn holder(session: &mut Session, stage: &Stage) -> io::Result<()> {
    while stage.goes_on() {
        let login = Login { database: Some("h".into()), ..Login::default() };
        let mut client = Client::connect(stage.endpoint(session.member), &login)?;
        let table = session.random.word(&LOCKED);
        if client.query(format!("LOCK TABLES {table} READ"))?.failure().is_none() {
            stage.count("tables held back");
        }
        // The length of this pause is part of the plan. The connection is cut then, because a group may hold a statement back.
        thread::sleep(Duration::from_millis(20 + session.random.below(200) as u64));
        client.abort();
        thread::sleep(Duration::from_millis(session.random.below(400) as u64));
    }
    Ok(())
}

/// Waits until every member has applied what was written on any of them.
pub fn catch_up(members: &[Server]) -> io::Result<()> {
    members.iter().try_for_each(group::await_all)
}
