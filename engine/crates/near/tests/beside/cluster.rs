//! A real cluster of Valkey or Redis processes: primaries, and replicas of some of them.

use super::store::Kind;
use super::{Certificates, Folder, Near, stepping, wait_until};
use fqc_tests::server::free_port;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The password that all nodes ask for.
pub const PASSWORD: &str = "cluster";
const SLOTS: usize = 16_384;

/// A process of a Valkey cluster. It is killed when this is dropped.
pub struct Node {
    /// The node's TCP port for connections without TLS.
    port: u16,
    /// The node's TCP port for connections with TLS; none if the node has no certificate.
    tls_port: Option<u16>,
    /// The node's port of the cluster bus, where the nodes connect to each other.
    bus: u16,
    child: Child,
    _folder: Folder,
}

/// A running cluster of Valkey. All keys are spread evenly over its primaries.
pub struct Cluster {
    pub primaries: Vec<Node>,
    /// One replica of each of the first primaries, in their order.
    pub replicas: Vec<Node>,
}

impl Node {
    /// Starts a node that belongs to no cluster yet, and waits until it answers. Its wall clock is `behind` seconds behind. With
    /// certificates it uses TLS towards the other nodes, and offers it at a port of its own.
    fn start(program: &Path, behind: u32, certificates: Option<&Certificates>) -> Node {
        const TRIES: usize = 5;
        for _ in 0..TRIES {
            let [port, bus, further] = [(); 3].map(|()| free_port().expect("a port"));
            let (folder, tls_port) = (Folder::fresh(), certificates.map(|_| further));
            let mut command = Command::new(program);
            command
                .arg0("redis-server")
                .args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--cluster-port", &bus.to_string()])
                .args(["--save", "", "--appendonly", "no", "--maxmemory", "64mb", "--dir", &folder.file("")])
                .args(["--requirepass", PASSWORD, "--masterauth", PASSWORD, "--repl-diskless-sync-delay", "0"])
                .args(["--cluster-enabled", "yes", "--cluster-node-timeout", "1500"])
                .args(["--cluster-replica-validity-factor", "0"])
                .stdin(Stdio::null())
                .stdout(Stdio::null());
            if let Some(certificates) = certificates {
                command.args(["--tls-port", &further.to_string(), "--tls-cluster", "yes", "--tls-replication", "yes"]);
                command.args(Kind::Valkey.of_tls(certificates));
            }
            if behind > 0 {
                command.envs([stepping(&folder, &[&format!("-DBEHIND={behind}")])]);
            }
            let child = command.spawn().expect("it starts");
            let mut node = Node { port, tls_port, bus, child, _folder: folder };
            let mut is_running = true;
            // Another program that has taken the port in between would not give this answer.
            wait_until("the node", || {
                is_running = node.child.try_wait().expect("a state").is_none();
                !is_running || node.try_ask("PING").is_ok_and(|said| said == "+PONG")
            });
            if is_running {
                return node;
            }
        }
        panic!("no node of a cluster starts");
    }

    /// Returns the address that the cluster reports to near caches for this node: that of TLS, if the node has it.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.tls_port.unwrap_or(self.port))
    }

    /// Sends a command and returns the answer: the text of a string, or the whole line of another answer, with its first character such as
    /// `+` or `:`. Panics if the node does not answer.
    pub fn ask(&self, command: &str) -> String {
        self.try_ask(command).expect("an answer")
    }

    /// Sends a command and returns the answer: the text of a string, or the whole line of another answer. An error if the node does not
    /// answer, or refuses the password.
    fn try_ask(&self, command: &str) -> io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.write_all(format!("AUTH {PASSWORD}\r\n{command}\r\n").as_bytes())?;
        let mut answers = BufReader::new(stream);
        let mut line = || -> io::Result<String> {
            let mut line = String::new();
            answers.read_line(&mut line)?;
            Ok(line.trim_end().to_owned())
        };
        let login = line()?;
        if login != "+OK" {
            return Err(io::Error::other(login));
        }
        let said = line()?;
        let Some(size) = said.strip_prefix('$') else { return Ok(said) };
        let mut text = vec![0; size.parse().unwrap_or(0)];
        answers.read_exact(&mut text)?;
        String::from_utf8(text).map_err(io::Error::other)
    }

    /// Sends a command, and panics if the answer is not OK.
    pub fn must(&self, command: &str) {
        let said = self.ask(command);
        assert!(said.starts_with("+OK"), "{command}: {said}");
    }

    /// Sends a command, and returns true if the answer contains these words.
    fn says(&self, command: &str, words: &str) -> bool {
        self.ask(command).contains(words)
    }

    /// Returns the node's id in the cluster.
    pub fn id(&self) -> String {
        self.ask("CLUSTER MYID")
    }

    /// Returns true if the node is a primary now, and false if it is a replica.
    pub fn is_primary(&self) -> bool {
        self.says("INFO replication", "role:master")
    }

    /// Returns the number of keys that the node has.
    pub fn keys(&self) -> u64 {
        self.ask("DBSIZE").trim_start_matches(':').parse().expect("a number")
    }

    /// Returns how many times the node was asked for a value that it had.
    pub fn hits(&self) -> u64 {
        let said = self.ask("INFO stats");
        let value = said.lines().find_map(|line| line.strip_prefix("keyspace_hits:"));
        value.unwrap_or_else(|| panic!("no hits in {said}")).trim().parse().expect("a number")
    }

    /// Waits until the replica of this primary has received all writes that the primary has done so far.
    pub fn wait_for_replica(&self) {
        wait_until("the replica", || self.ask("WAIT 1 1000") == ":1");
    }

    /// Returns the name and labels of a near cache's metric about this node. `name`: such as `answers`, without the prefix `store_`.
    pub fn metric(&self, name: &str) -> String {
        format!("store_{name}{{server=\"{}\"}}", self.address())
    }

    /// Returns true if the near cache has found this node of the cluster, and the node answers it.
    pub fn is_found_by(&self, near: &Near) -> bool {
        let answers = format!("fqc_near_{} 1", self.metric("answers"));
        near.get("/metrics").lines().any(|line| line == answers)
    }

    /// Waits until the near cache knows this node and gets answers from it.
    pub fn wait_until_found(&self, near: &Near) {
        wait_until("a member of the cluster", || self.is_found_by(near));
    }

    /// Kills the node's process, and waits for its end.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Cluster {
    /// Starts a cluster of this number of primaries, and waits until it is ready. `behind`: one replica is started for each number, with a
    /// clock that is so many seconds behind; they belong to the first primaries. Returns none if Valkey is not installed: then a message
    /// says that the test is skipped.
    pub fn start(primaries: usize, behind: &[u32]) -> Option<Cluster> {
        let program = Kind::Valkey.program()?;
        let primaries: Vec<_> = (0..primaries).map(|_| Node::start(&program, 0, None)).collect();
        let replicas: Vec<_> = behind.iter().map(|behind| Node::start(&program, *behind, None)).collect();
        Some(Cluster::of(primaries, replicas))
    }

    /// Starts a cluster with one primary for each of these certificates, which must all come from one authority. None if Valkey is not
    /// installed.
    pub fn with_tls(certificates: &[Certificates]) -> Option<Cluster> {
        let program = Kind::Valkey.program()?;
        let primaries = certificates.iter().map(|own| Node::start(&program, 0, Some(own))).collect();
        Some(Cluster::of(primaries, Vec::new()))
    }

    /// Joins nodes to a cluster, and waits until all of them are ready.
    fn of(primaries: Vec<Node>, replicas: Vec<Node>) -> Cluster {
        let cluster = Cluster { primaries, replicas };
        for (number, node) in cluster.nodes().enumerate() {
            node.must(&format!("CLUSTER SET-CONFIG-EPOCH {}", number + 1));
        }
        let count = cluster.primaries.len();
        for (number, node) in cluster.primaries.iter().enumerate() {
            let [first, next] = [number, number + 1].map(|number| number * SLOTS / count);
            node.must(&format!("CLUSTER ADDSLOTSRANGE {first} {}", next - 1));
        }
        for node in cluster.nodes().skip(1) {
            cluster.primaries[0].must(&format!("CLUSTER MEET 127.0.0.1 {} {}", node.port, node.bus));
        }
        let known = format!("cluster_known_nodes:{}", cluster.nodes().count());
        cluster.wait_for("CLUSTER INFO", &known);
        for (replica, primary) in cluster.replicas.iter().zip(&cluster.primaries) {
            // The replica may still know the primary by a temporary id.
            let command = format!("CLUSTER REPLICATE {}", primary.id());
            wait_until("a replica", || replica.ask(&command).starts_with("+OK"));
        }
        cluster.wait_for("CLUSTER INFO", "cluster_state:ok");
        for replica in &cluster.replicas {
            wait_until("the replica", || replica.says("INFO replication", "master_link_status:up"));
        }
        cluster
    }

    fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.primaries.iter().chain(&self.replicas)
    }

    /// Waits until the answer of every node to this command contains these words.
    fn wait_for(&self, command: &str, words: &str) {
        wait_until(words, || self.nodes().all(|node| node.says(command, words)));
    }
}
