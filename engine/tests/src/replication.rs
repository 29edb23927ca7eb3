//! MariaDB servers that replicate from others.

use std::io;
use std::path::PathBuf;

use crate::client::Endpoint;
use crate::server::{Options, Server};

/// Starts a MariaDB server without the plugin that others can replicate from. `id` must differ among the servers of a test.
pub fn source(id: u32, arguments: &[&str]) -> io::Result<Server> {
    Server::start(Options { arguments: with_log(id, arguments), ..Options::default() })
}

/// Starts a MariaDB server with the plugin that can replicate from others, and others from it. `id` must differ among the servers of a
/// test.
pub fn replica(plugin: PathBuf, id: u32, arguments: &[&str]) -> io::Result<Server> {
    Server::start(Options { plugin: Some(plugin), arguments: with_log(id, arguments), ..Options::default() })
}

fn with_log(id: u32, arguments: &[&str]) -> Vec<String> {
    let own = [format!("--server-id={id}"), format!("--gtid-domain-id={id}"), "--log-bin=log".into()];
    own.into_iter().chain(arguments.iter().map(|one| one.to_string())).collect()
}

/// Makes the replica apply this source's changes from the beginning of its binary log. `name`: the name of the replication connection,
/// empty for the default one. Does not wait for the changes.
pub fn follow(replica: &Server, source: &Server, name: &str) -> io::Result<()> {
    point_at(replica, source, name)?;
    replica.admin()?.must(&format!("START SLAVE '{name}'")).map(drop)
}

/// Configures where the replica's source is, without starting replication. `name` as in [`follow`]. TLS is switched off, because servers of
/// the tests have none and replicas require it by default since 11.4.
pub fn point_at(replica: &Server, source: &Server, name: &str) -> io::Result<()> {
    let Endpoint::Tcp(port) = source.endpoint() else { unreachable!("servers listen on TCP") };
    let change = format!(
        "CHANGE MASTER '{name}' TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {port}, MASTER_USER = 'root', \
         MASTER_USE_GTID = slave_pos, MASTER_SSL = 0"
    );
    replica.admin()?.must(&change).map(drop)
}

/// Waits until the replica has applied everything that the source's binary log holds now. Fails after two minutes.
pub fn catch_up(replica: &Server, source: &Server) -> io::Result<()> {
    let position = source.admin()?.scalar("SELECT @@GLOBAL.gtid_binlog_pos")?.unwrap_or_default();
    let waited = replica.admin()?.scalar(&format!("SELECT MASTER_GTID_WAIT('{position}', 120)"))?;
    if waited.as_deref() == Some("0") {
        return Ok(());
    }
    let status = replica.admin()?.must("SHOW ALL SLAVES STATUS")?;
    Err(io::Error::other(format!("the replica does not reach {position}: {:?}", status.rows(false))))
}
