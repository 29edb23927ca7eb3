//! A replication group (MySQL Group Replication) of three servers on one machine.

use std::io;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::server::{Options, Product, Server};

/// The number of members of a group.
pub const MEMBERS: usize = 3;
/// The account with which members connect to each other.
pub const ACCOUNT: &str = "member";
/// The statement that makes a configured member join the group.
pub const JOIN: &str = "START GROUP_REPLICATION";
/// The statement that makes a member leave the group.
pub const LEAVE: &str = "STOP GROUP_REPLICATION";

const NAME: &str = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa";
const LIBRARY: &str = "group_replication.so";
/// The longest wait for a state. Only a fault exceeds it.
const PATIENCE: Duration = Duration::from_secs(300);
const POLL: Duration = Duration::from_millis(20);

const ARGUMENTS: &[&str] = &[
    // The plugin writes notes to the log, which the server suppresses at a lower verbosity.
    "--log-error-verbosity=3",
    "--log-bin=binlog",
    "--gtid-mode=ON",
    "--enforce-gtid-consistency=ON",
    "--report-host=127.0.0.1",
    "--replica-parallel-workers=4",
    "--sync-binlog=0",
    "--innodb-flush-log-at-trx-commit=0",
];

/// How a group is started.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// One member accepts writes, and not all of them.
    pub is_single_primary: bool,
    /// The path of the plugin's library. None: plain servers.
    pub plugin: Option<PathBuf>,
    /// Further arguments of all servers.
    pub arguments: Vec<String>,
    /// Variables that are added to the environment of all servers.
    pub environment: Vec<(String, String)>,
}

/// Starts a group and waits until all members are online. The first one is the primary, and the second one the next primary. None if the
/// server comes without Group Replication.
pub fn start(setup: &Setup) -> io::Result<Option<Vec<Server>>> {
    let members = (1..=MEMBERS).map(|id| member(id, setup)).collect::<io::Result<Vec<_>>>()?;
    if !members.iter().all(|one| one.bring(LIBRARY)) {
        return Ok(None);
    }
    for (number, member) in members.iter().enumerate() {
        let mut admin = member.admin()?;
        admin.must(&format!("INSTALL PLUGIN group_replication SONAME '{LIBRARY}'"))?;
        configure(&mut admin, &members, number)?;
        let switch = |is_on| if is_on { "ON" } else { "OFF" };
        // Foreign keys that cascade are refused where updates everywhere are checked.
        for (name, value) in [
            ("single_primary_mode", switch(setup.is_single_primary)),
            ("enforce_update_everywhere_checks", "OFF"),
            ("member_weight", if number == 1 { "90" } else { "50" }),
        ] {
            admin.must(&format!("SET GLOBAL group_replication_{name} = {value}"))?;
        }
    }
    let mut first = members[0].admin()?;
    for statement in [
        "SET GLOBAL group_replication_bootstrap_group = ON",
        JOIN,
        "SET GLOBAL group_replication_bootstrap_group = OFF",
    ] {
        first.must(statement)?;
    }
    members[1..].iter().try_for_each(|member| member.admin()?.must(JOIN).map(drop))?;
    members.iter().try_for_each(|member| await_online(member, MEMBERS))?;
    Ok(Some(members))
}

/// Sets what a member that has started has to know before it joins: its address, and those of all.
pub fn configure(admin: &mut Client, members: &[Server], number: usize) -> io::Result<()> {
    let seeds = members.iter().map(|one| format!("127.0.0.1:{}", one.port())).collect::<Vec<_>>().join(",");
    for (name, value) in [
        ("group_name", format!("'{NAME}'")),
        ("communication_stack", "'MYSQL'".into()),
        ("local_address", format!("'127.0.0.1:{}'", members[number].port())),
        ("ip_allowlist", "'127.0.0.1/8'".into()),
        ("group_seeds", format!("'{seeds}'")),
        ("recovery_get_public_key", "ON".into()),
        ("member_expel_timeout", "0".into()),
    ] {
        admin.must(&format!("SET GLOBAL group_replication_{name} = {value}"))?;
    }
    Ok(())
}

/// Starts a server that has not joined yet. Its self-test has passed, and it has no transactions of its own.
fn member(id: usize, setup: &Setup) -> io::Result<Server> {
    let own = [format!("--server-id={id}")];
    let arguments = ARGUMENTS.iter().map(|one| one.to_string()).chain(own).chain(setup.arguments.iter().cloned());
    let server = Server::start(Options {
        product: Product::MySql,
        plugin: setup.plugin.clone(),
        arguments: arguments.collect(),
        environment: setup.environment.clone(),
        ..Options::default()
    })?;
    await_ready(&server)?;
    let mut admin = server.admin()?;
    for statement in [
        "SET sql_log_bin = OFF",
        &format!("CREATE USER {ACCOUNT}@'%' IDENTIFIED BY '{ACCOUNT}'"),
        &format!(
            "GRANT REPLICATION SLAVE, CONNECTION_ADMIN, BACKUP_ADMIN, GROUP_REPLICATION_STREAM ON *.* TO {ACCOUNT}@'%'"
        ),
        "SET sql_log_bin = ON",
        "RESET BINARY LOGS AND GTIDS",
        &format!(
            "CHANGE REPLICATION SOURCE TO SOURCE_USER = '{ACCOUNT}', SOURCE_PASSWORD = '{ACCOUNT}' \
             FOR CHANNEL 'group_replication_recovery'"
        ),
    ] {
        admin.must(statement)?;
    }
    Ok(server)
}

/// Waits until nothing keeps the plugin of this server from serving. Returns at once without a plugin.
pub fn await_ready(server: &Server) -> io::Result<()> {
    if !server.has_plugin() {
        return Ok(());
    }
    await_that(server, "nothing in the way of serving", |admin| {
        let rows = admin.must("SHOW GLOBAL STATUS LIKE 'Fqc_obstacle'")?.rows(false);
        Ok(rows.first().is_some_and(|row| row[1].as_deref() == Some(b"")))
    })
}

/// Waits until this member is online in a group of so many online members, and may serve.
pub fn await_online(server: &Server, members: usize) -> io::Result<()> {
    await_that(server, "the members", |admin| {
        let states = admin.must("SELECT MEMBER_STATE FROM performance_schema.replication_group_members")?.rows(false);
        Ok(states.len() == members && states.iter().all(|row| row[0].as_deref() == Some(b"ONLINE")))
    })?;
    await_ready(server)
}

/// Waits until this member has applied everything that the group has agreed on before.
pub fn await_all(server: &Server) -> io::Result<()> {
    let mut admin = server.admin()?;
    admin.set_timeout(Some(PATIENCE))?;
    admin.must("SET SESSION group_replication_consistency = 'BEFORE'")?;
    admin.must("SELECT COUNT(*) FROM mysql.component").map(drop)
}

fn await_that(server: &Server, what: &str, holds: impl Fn(&mut Client) -> io::Result<bool>) -> io::Result<()> {
    let mut admin = server.admin()?;
    admin.set_timeout(Some(PATIENCE))?;
    let begun = Instant::now();
    while !holds(&mut admin)? {
        if begun.elapsed() > PATIENCE {
            return Err(io::Error::other(format!("in vain waited for {what}\n{}", server.error_log())));
        }
        thread::sleep(POLL);
    }
    Ok(())
}
