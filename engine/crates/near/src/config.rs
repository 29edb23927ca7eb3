//! The checked configuration: every value is valid, and certificates are loaded.

use crate::account::Account;
use crate::control_plane::ControlPlane;
use crate::options::Options;
use crate::os;
use crate::server::{Connector, Server};
use crate::store::{self, Dialect};
use crate::tls;
use near_core::memory::Settings;
use near_core::processes::MOST_PROCESSES;
use near_core::rules::Rules;
use std::fmt::Display;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::TlsAcceptor;
use wire::proxy::Version;

/// The number of open files of a connection: the sockets to the client and to the server.
const FILES_PER_CONNECTION: u64 = 2;
/// The number of open files for everything else: listeners, certificates while they are read, the log.
const FILES_BESIDE: u64 = 100;
/// The number of open files of a process that reads the shared memory: its connection and its counters.
const FILES_PER_PROCESS: u64 = 2;

/// An address where this program listens for clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    Ip(SocketAddr),
    Unix(PathBuf),
}

/// The values of the options whose change needs a restart. A reload logs that they differ, and does not apply them.
#[derive(Clone, PartialEq, Eq)]
pub struct FixedOptions {
    /// The addresses where clients connect.
    pub listen: Vec<ListenAddress>,
    /// The permission bits of the unix sockets in `listen`.
    pub socket_mode: u32,
    /// The loopback address of `/metrics` and `/healthz`; none if they are switched off.
    pub metrics: Option<SocketAddr>,
    /// The number of threads that serve connections; 0: one for each processor.
    pub threads: usize,
    /// The memory for results, in bytes.
    pub size: u64,
    /// The account for the server's binary log; none unless the log decides which results may be served.
    pub follows: Option<BinlogOptions>,
    /// The memcached or Valkey servers in which several near caches share results; none if they share none.
    pub store: Option<store::StoreOptions>,
    /// The socket where other processes of this machine get the memory with the results, to read them without a request; none if they may
    /// not.
    pub share: Option<ShareSocket>,
}

/// The unix socket where other processes of this machine get the memory with the results, read-only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareSocket {
    pub path: PathBuf,
    /// The permission bits of the socket.
    pub mode: u32,
    /// The group id that the socket file is given; none leaves it with the group of this process.
    pub group: Option<u32>,
}

/// The account that `fqc-near` follows the server's binary log with, and the staleness bound.
#[derive(Clone, PartialEq, Eq)]
pub struct BinlogOptions {
    pub account: Account,
    /// The staleness bound: no result is served that has been stale for longer.
    pub max_staleness: Duration,
}

/// A valid configuration, with its certificates, rules and passwords loaded. Options that a reload applies are fields here; those that need
/// a restart are in `fixed`.
pub struct Config {
    /// The options that need a restart. After a reload it has the new values, but listeners, threads, memory and store stay as they were
    /// started.
    pub fixed: FixedOptions,
    /// The database server that all connections are passed on to.
    pub server: Server,
    /// The number of clients that may be connected at the same time.
    pub max_connections: usize,
    /// The limit for connecting to the server, and once more for exchanging the server's greeting and the client's hello.
    pub connect_timeout: Duration,
    /// How long the end of the process waits for open connections after SIGTERM.
    pub drain_timeout: Duration,
    /// The version of the PROXY header with the client's address that each connection to the server begins with; none if no header is sent.
    pub proxy: Option<Version>,
    /// TLS to clients; none if TLS is not offered to them.
    pub acceptor: Option<TlsAcceptor>,
    /// If true, clients that come by TCP and do not use TLS are refused.
    pub is_tls_required: bool,
    /// TLS to the server; none if connections to the server are not encrypted.
    pub connector: Option<Connector>,
    /// The account that attaches to the query cache inside the server, as a feed of invalidations; none if the server has none, or it is
    /// not used.
    pub feed: Option<Account>,
    /// If true, the binary log also lets reads be answered from memory in transactions that have written nothing. Without the log it is
    /// false.
    pub in_transactions: bool,
    /// If true, nothing is answered from memory. Reads that would be are sent to the server and counted, and the server's answer is
    /// compared with the result in memory.
    pub observes: bool,
    /// The rules and hints that say which results may be served, and for how long, although they may be stale. None if neither option is
    /// set.
    pub rules: Option<Arc<Rules>>,
    /// The control plane that this program reports to, if set.
    pub control_plane: Option<ControlPlane>,
    /// The name of this `fqc-near` in the server's list of near caches and in the control plane.
    pub name: String,
}

impl Display for ListenAddress {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ListenAddress::Ip(address) => address.fmt(formatter),
            ListenAddress::Unix(path) => path.display().fmt(formatter),
        }
    }
}

impl Config {
    /// Returns the part of the configuration that the memory with the results needs, for
    /// [`Memory::change_settings`](near_core::memory::Memory).
    pub fn settings(&self) -> Settings {
        Settings {
            rules: self.rules.clone(),
            in_transactions: self.in_transactions,
            observes: self.observes,
            ..Settings::default()
        }
    }

    /// Checks all options, alone and together, and reads the files that they name: certificates, rules and passwords. Also raises this
    /// process's limit of open files to what `max-connections` needs, and fails if it cannot. The error says which option is wrong and what
    /// to do.
    pub fn from_options(options: &Options) -> Result<Config, String> {
        let server = options.value("server", |text| server(text, 3306))?;
        let acceptor = acceptor(options)?;
        let connector = connector(options, &server)?;
        let config = Config {
            fixed: FixedOptions {
                listen: options.value("listen", |text| text.split(',').map(address).collect::<Result<_, _>>())?,
                socket_mode: options.value("socket-mode", mode)?,
                metrics: options.value("metrics", metrics)?,
                threads: options.value("threads", |text| number(text, 0..=1024))? as usize,
                size: options.value("size", size)?,
                follows: follows(options)?,
                store: store(options)?,
                share: share(options)?,
            },
            server,
            max_connections: options.value("max-connections", |text| number(text, 1..=100_000))? as usize,
            connect_timeout: options.value("connect-timeout-seconds", seconds)?,
            drain_timeout: options.value("drain-timeout-seconds", seconds)?,
            proxy: options.value("proxy-protocol", proxy)?,
            acceptor,
            is_tls_required: options.value("tls-required", yes_or_no)?,
            connector,
            feed: account(options, "feed-user", "feed-password-file")?,
            in_transactions: options.value("in-transactions", yes_or_no)?,
            observes: options.value("observe", yes_or_no)?,
            rules: rules(options)?,
            control_plane: ControlPlane::of(options)?,
            name: options.value("name", name)?,
        };
        config.check(options)?;
        Ok(config)
    }

    /// Replaces this configuration's options about following the binary log by those in `fixed`, with which the process was started: a
    /// reload cannot change them. If the log is followed, also drops the rules and the feed's account, because then only the log decides
    /// what may be served.
    pub fn keep_following(&mut self, fixed: &FixedOptions) {
        self.fixed.follows = fixed.follows.clone();
        if self.fixed.follows.is_some() {
            (self.rules, self.feed) = (None, None);
        }
    }

    /// Takes over the counters of rules from the configuration before a reload, for rules whose name is in both. Must be called before the
    /// rules of this configuration are shared with anybody else; otherwise it does nothing.
    pub fn continue_counts(&mut self, before: &Config) {
        if let (Some(rules), Some(before)) = (self.rules.as_mut().and_then(Arc::get_mut), &before.rules) {
            rules.continue_counts(before);
        }
    }

    /// Returns the account that this program itself logs in with, for the feed or the binary log. None if there is none, as with rules.
    pub fn account(&self) -> Option<&Account> {
        self.feed.as_ref().or_else(|| self.fixed.follows.as_ref().map(|follows| &follows.account))
    }

    /// Returns true if the configuration lets reads be answered from memory: by the feed, rules, hints or the binary log.
    pub fn can_answer(&self) -> bool {
        self.feed.is_some() || self.rules.is_some() || self.fixed.follows.is_some()
    }

    /// Returns the number of files that clients' connections and everything else may open, without processes that read the shared memory.
    fn open_files(&self) -> u64 {
        self.max_connections as u64 * FILES_PER_CONNECTION + FILES_BESIDE
    }

    /// Returns the number of processes whose reads of the shared memory can be counted: what this process's limit of open files leaves
    /// for them.
    pub fn most_processes(&self) -> usize {
        let spare = os::raise_open_files(0).saturating_sub(self.open_files());
        MOST_PROCESSES.min((spare / FILES_PER_PROCESS) as usize)
    }

    /// Checks that the options fit together, and raises this process's limit of open files. `options`: the texts that this configuration
    /// was made of, for the error.
    fn check(&self, options: &Options) -> Result<(), String> {
        if self.fixed.share.is_some() && !self.can_answer() {
            return Err(options.error("share", "needs feed-user, binlog-user, rules or hints"));
        }
        let has_secure_server = self.connector.is_some() || matches!(self.server, Server::Unix(_));
        if self.acceptor.is_some() && !has_secure_server {
            let why = "clients that use TLS may send a password in clear text; set server-tls, too, so that it is not passed on readable";
            return Err(options.error("tls-certificate", why));
        }
        if self.is_tls_required && self.acceptor.is_none() {
            return Err(options.error("tls-required", "needs tls-certificate and tls-key"));
        }
        if matches!(self.server, Server::Unix(_)) && os::is_root() {
            let why = "a server asks a unix socket who its peer is, and accounts such as root@localhost may log in by that alone; \
                run fqc-near under an account of its own, or use HOST:PORT";
            return Err(options.error("server", why));
        }
        if self.rules.is_some() && self.feed.is_some() {
            let why = "its results are never outdated, and those by rules and hints may be; choose one of the two";
            return Err(options.error("feed-user", why));
        }
        let others = self.feed.is_some() || self.rules.is_some();
        if self.fixed.follows.is_some() && others {
            let why = "its results may be as old as max-staleness-ms, and those of feed-user, rules and hints differ in that; choose one";
            return Err(options.error("binlog-user", why));
        }
        if self.in_transactions && self.fixed.follows.is_none() {
            let why = "goes with binlog-user; a rule says in_transactions = true for its own reads, and with feed-user they are exact";
            return Err(options.error("in-transactions", why));
        }
        if self.observes && self.feed.is_some() {
            let why = "goes with binlog-user, rules or hints; with feed-user, let the server's own cache observe: SET GLOBAL fqc_observe = ON";
            return Err(options.error("observe", why));
        }
        if self.observes && !self.can_answer() {
            return Err(options.error("observe", "needs binlog-user, rules or hints, which say what may be answered"));
        }
        if self.observes && self.fixed.share.is_some() {
            return Err(
                options.error("observe", "goes without share: programs would answer from the memory that they share")
            );
        }
        if self.control_plane.is_some() && self.feed.is_some() {
            let why = "the server tells the control plane of a near cache with feed-user; leave this out";
            return Err(options.error("control-plane", why));
        }
        if self.control_plane.is_some() && !self.can_answer() {
            let why = "needs rules, hints or binlog-user: nothing is answered from memory that could be told";
            return Err(options.error("control-plane", why));
        }
        if self.fixed.store.is_some() && self.rules.is_none() && self.fixed.follows.is_none() {
            let why = "needs rules, hints or binlog-user: results of other kinds are not shared";
            return Err(options.error(if options.text("memcached").is_empty() { "valkey" } else { "memcached" }, why));
        }
        let wanted = self.open_files();
        let of_processes = if self.fixed.share.is_some() { MOST_PROCESSES as u64 * FILES_PER_PROCESS } else { 0 };
        let limit = os::raise_open_files(wanted + of_processes);
        if limit < wanted {
            let why = format!(
                "needs {wanted} open files, but this process may have {limit}; raise LimitNOFILE or `ulimit -n`"
            );
            return Err(options.error("max-connections", why));
        }
        Ok(())
    }
}

/// Parses HOST, HOST:PORT, or the path of a unix socket. `usual_port`: the port if the text has none. The error says what is wrong with the
/// text; the caller puts the option's name before it.
fn server(text: &str, usual_port: u16) -> Result<Server, String> {
    if text.is_empty() {
        return Err("must be given: HOST:PORT, or the path of a unix socket".into());
    }
    if text.starts_with('/') {
        return Ok(Server::Unix(text.into()));
    }
    let usual = usual_port.to_string();
    let (host, port) = text.rsplit_once(':').unwrap_or((text, &usual));
    let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let port = number(port, 1..=65_535).map_err(|_| format!("`{port}` is no port; write HOST:PORT"))? as u16;
    match bracketed.unwrap_or(host) {
        "" => Err("has no host; write HOST:PORT".into()),
        host if bracketed.is_none() && host.contains(':') => {
            Err("has more than one colon; write HOST:PORT, and an address of IPv6 in brackets".into())
        }
        host => Ok(Server::Tcp { host: host.into(), port }),
    }
}

/// Parses an address to listen on: IP:PORT, or the path of a unix socket, which begins with a slash. The error says which text is neither.
fn address(text: &str) -> Result<ListenAddress, String> {
    let text = text.trim();
    if text.starts_with('/') {
        return Ok(ListenAddress::Unix(text.into()));
    }
    let wrong = |_| format!("`{text}` is neither IP:PORT nor the path of a unix socket");
    text.parse().map(ListenAddress::Ip).map_err(wrong)
}

/// Parses the loopback address of the metrics; None for `off`. An error for any other text, and for an address that is not loopback,
/// because clients of the metrics do not log in.
fn metrics(text: &str) -> Result<Option<SocketAddr>, String> {
    if text == "off" {
        return Ok(None);
    }
    let address = SocketAddr::from_str(text).map_err(|_| "is neither IP:PORT nor off".to_owned())?;
    if address.ip().is_loopback() {
        Ok(Some(address))
    } else {
        Err("must be a loopback address: nobody logs in there".into())
    }
}

/// Parses permission bits in octal, such as 0660. An error for any other text, and above 0777.
fn mode(text: &str) -> Result<u32, String> {
    let mode = u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o777);
    mode.ok_or_else(|| "is no mode in octal, such as 0660".into())
}

/// Parses the version of the PROXY header, `v1` or `v2`; None for `off`. An error for any other text.
fn proxy(text: &str) -> Result<Option<Version>, &'static str> {
    match text {
        "off" => Ok(None),
        "v1" => Ok(Some(Version::Text)),
        "v2" => Ok(Some(Version::Binary)),
        _ => Err("must be off, v1 or v2"),
    }
}

fn yes_or_no(text: &str) -> Result<bool, &'static str> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("must be yes or no"),
    }
}

/// Parses a number of seconds, from one to a day. An error for any other text.
fn seconds(text: &str) -> Result<Duration, String> {
    number(text, 1..=86_400).map(Duration::from_secs)
}

/// Parses a whole number in this range. The error, for any other text, says what the range is.
fn number(text: &str, range: std::ops::RangeInclusive<u64>) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("must be a number from {} to {}", range.start(), range.end()))
}

/// Parses a number of bytes, with K, M or G for its binary multiples, from 1 MiB to 1 TiB. An error for any other text.
fn size(text: &str) -> Result<u64, String> {
    const LEAST: u64 = 1 << 20;
    const MOST: u64 = 1 << 40;
    let (digits, shift) = match text.as_bytes().last().map(u8::to_ascii_uppercase) {
        Some(b'K') => (&text[..text.len() - 1], 10),
        Some(b'M') => (&text[..text.len() - 1], 20),
        Some(b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    let bytes = bytes.filter(|bytes| (LEAST..=MOST).contains(bytes));
    bytes.ok_or_else(|| "must be from 1M to 1024G, such as 64M".into())
}

/// Checks the name of this program in reports: 1 to [`feed::LONGEST_NAME`] letters, digits and `-._:`. An error for any other text, except
/// that an empty one stands for the machine's name, or `fqc-near` if that is not a valid name.
fn name(text: &str) -> Result<String, String> {
    let fits = |name: &str| {
        let is_fit = |one: char| one.is_ascii_alphanumeric() || "-._:".contains(one);
        (1..=feed::LONGEST_NAME).contains(&name.len()) && name.chars().all(is_fit)
    };
    if text.is_empty() {
        let own = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        return Ok(Some(own.trim().to_owned()).filter(|own| fits(own)).unwrap_or_else(|| "fqc-near".into()));
    }
    let wrong = || format!("must be 1 to {} letters, digits and -._:", feed::LONGEST_NAME);
    fits(text).then(|| text.to_owned()).ok_or_else(wrong)
}

/// Returns the first line of the file at this path. An empty path stands for an option that is not set, and returns an empty password.
fn password(file: &str) -> std::io::Result<String> {
    if file.is_empty() {
        return Ok(String::new());
    }
    std::fs::read_to_string(file).map(|text| text.lines().next().unwrap_or_default().to_owned())
}

/// Reads an account. `user` and `file`: the names of the options for its name and for the file with its password. None if neither is set;
/// an account without a file has an empty password. An error if only the file is set, or cannot be read.
fn account(options: &Options, user: &'static str, file: &'static str) -> Result<Option<Account>, String> {
    let (name, path) = (options.text(user), options.text(file));
    if name.is_empty() {
        return if path.is_empty() { Ok(None) } else { Err(format!("{file}: needs {user}")) };
    }
    let password = options.value(file, password)?;
    Ok(Some(Account { user: name.into(), password }))
}

/// Reads the options of the binary log. None if `binlog-user` is not set. An error if an option is invalid, also `max-staleness-ms` without
/// `binlog-user`.
fn follows(options: &Options) -> Result<Option<BinlogOptions>, String> {
    const MOST: u64 = 3_600_000;
    let max_staleness = options.value("max-staleness-ms", |text| number(text, 10..=MOST).map(Duration::from_millis))?;
    let account = account(options, "binlog-user", "binlog-password-file")?;
    Ok(account.map(|account| BinlogOptions { account, max_staleness }))
}

/// Reads the options of the socket that hands the memory to other processes. None if `share` is not set. An error if the path is not
/// absolute or the group does not exist.
fn share(options: &Options) -> Result<Option<ShareSocket>, String> {
    let path = options.text("share");
    if path.is_empty() {
        return Ok(None);
    }
    if !path.starts_with('/') {
        return Err(options.error("share", "must be the path of a unix socket, from the root"));
    }
    let group = options.value("share-group", |text| match text {
        "" => Ok(None),
        _ => os::group_id(text).map(Some).ok_or("is no group of this machine"),
    })?;
    Ok(Some(ShareSocket { path: path.into(), mode: options.value("share-mode", mode)?, group }))
}

/// Reads the options of the store that near caches share. None if neither `memcached` nor `valkey` is set. An error if both are set, or an
/// option is invalid.
fn store(options: &Options) -> Result<Option<store::StoreOptions>, String> {
    let timeout = options.value("store-timeout-ms", |text| number(text, 1..=1000).map(Duration::from_millis))?;
    let known = [("memcached", 11_211, Dialect::Memcached), ("valkey", 6379, Dialect::Valkey)];
    let mut wanted = known.into_iter().filter(|(name, ..)| !options.text(name).is_empty());
    let Some((name, port, dialect)) = wanted.next() else { return Ok(None) };
    if wanted.next().is_some() {
        return Err(options.error("valkey", "is in place of memcached; choose one"));
    }
    let read = |text: &str| text.split(',').map(|one| server(one.trim(), port)).collect::<Result<Vec<_>, _>>();
    let (servers, password) = (options.value(name, read)?, options.value("valkey-password-file", password)?);
    let (user, tls) = (options.text("valkey-user").to_owned(), store_tls(options, &servers)?);
    if !user.is_empty() && password.is_empty() {
        return Err(options.error("valkey-user", "needs valkey-password-file"));
    }
    Ok(Some(store::StoreOptions {
        dialect,
        servers,
        timeout,
        name: options.text("store-name").into(),
        user,
        password,
        tls,
    }))
}

/// Reads the options of TLS to the servers of the store. None if `store-tls` is off. An error if an option is invalid or missing, or one of
/// the servers is a unix socket.
fn store_tls(options: &Options, servers: &[Server]) -> Result<Option<store::Tls>, String> {
    let options_used = ["store-tls", "store-ca", "store-tls-name"].map(|name| options.text(name).to_owned());
    let [kind, authorities, name] = &options_used;
    let is_named = match kind.as_str() {
        "ca" => false,
        "name" => true,
        "off" if authorities.is_empty() && name.is_empty() => return Ok(None),
        "off" => return Err(options.error("store-tls", "must be ca or name for store-ca and store-tls-name to count")),
        _ => return Err(options.error("store-tls", "must be off, ca or name")),
    };
    if servers.iter().any(|server| matches!(server, Server::Unix(_))) {
        return Err(options.error("store-tls", "no server of a store speaks TLS on a unix socket; use HOST:PORT"));
    }
    let connector = match authorities.as_str() {
        "" if !is_named => return Err(options.error("store-tls", "needs store-ca")),
        "" => tls::system_connector("store-ca").map_err(|error| options.error("store-tls", error))?,
        _ => options.value("store-ca", |file| tls::connector(file, is_named))?,
    };
    let name = Some(name.clone()).filter(|name| !name.is_empty());
    if let Some(name) = &name {
        tls::name(name).map_err(|error| options.error("store-tls-name", error))?;
    }
    Ok(Some(store::Tls { connector, options_used, name }))
}

/// Reads the file that the option `rules` names. None if the option is not set and `hints` is off; with `hints` alone there are no rules in
/// the result. An error if the file cannot be read, or has an invalid rule.
fn rules(options: &Options) -> Result<Option<Arc<Rules>>, String> {
    let has_hints = options.value("hints", yes_or_no)?;
    let read = |file: &str| match file {
        "" => Rules::parse("", has_hints),
        file => {
            let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
            Rules::parse(&text, has_hints)
        }
    };
    let rules = options.value("rules", read)?;
    let is_wanted = has_hints || !options.text("rules").is_empty();
    Ok(is_wanted.then(|| Arc::new(rules)))
}

/// Loads the certificate for clients. None if neither `tls-certificate` nor `tls-key` is set. An error if only one of them is set, or a
/// file is invalid.
fn acceptor(options: &Options) -> Result<Option<TlsAcceptor>, String> {
    let (certificate, key) = (options.text("tls-certificate"), options.text("tls-key"));
    match (certificate.is_empty(), key.is_empty()) {
        (true, true) => Ok(None),
        (false, false) => options.value("tls-certificate", |file| tls::acceptor(file, key)).map(Some),
        (true, false) => Err("tls-key: needs tls-certificate".into()),
        (false, true) => Err("tls-certificate: needs tls-key".into()),
    }
}

/// Makes the TLS to the database server. None if `server-tls` is off. An error if an option is invalid, or another one that it needs is not
/// set.
fn connector(options: &Options, server: &Server) -> Result<Option<Connector>, String> {
    let is_named = match options.text("server-tls") {
        "off" => return Ok(None),
        "ca" => false,
        "name" => true,
        _ => return Err(options.error("server-tls", "must be off, ca or name")),
    };
    if options.text("server-ca").is_empty() {
        return Err(options.error("server-tls", "needs server-ca"));
    }
    let tls = options.value("server-ca", |file| tls::connector(file, is_named))?;
    let server_name = options.text("server-name");
    let name = match (server_name.is_empty(), is_named) {
        (false, _) => server_name,
        (true, _) if !server.host().is_empty() => server.host(),
        (true, false) => "localhost",
        (true, true) => return Err("server-name: must be given where the server is a unix socket".into()),
    };
    let name = tls::name(name).map_err(|error| options.error("server-name", error))?;
    Ok(Some(Connector { tls, name }))
}

#[cfg(test)]
mod tests {
    use crate::options::{Options, Task};
    use std::collections::BTreeMap;
    use std::ffi::OsString;

    /// Reads a command line and an environment, and returns the values of all options; an error if one is not known or malformed, or the
    /// command line asks for something else than to run.
    fn options(flags: &[&str], environment: &[(&str, &str)]) -> Result<Options, String> {
        let environment: BTreeMap<_, _> = environment.iter().copied().collect();
        let flags = flags.iter().map(OsString::from);
        match Task::read(flags, |name| environment.get(name).map(OsString::from))? {
            Task::Run(invocation) => invocation.options(),
            _ => Err("no run".into()),
        }
    }

    /// Returns the error of a configuration that consists of these flags alone. Panics if the configuration is valid.
    fn error(flags: &[&str]) -> String {
        let config = options(flags, &[]).and_then(|options| super::Config::from_options(&options).map(drop));
        config.expect_err("it is refused")
    }

    #[test]
    fn a_flag_counts_before_the_environment_and_that_before_the_file() {
        let file = std::env::temp_dir().join(format!("fqc-near-{}.toml", std::process::id()));
        std::fs::write(&file, "server = 'file:1'\nthreads = 1\nmax-connections = 1\ntls-required = false\n").unwrap();
        let file_name = file.to_str().unwrap();
        let environment = [("FQC_NEAR_THREADS", "2"), ("FQC_NEAR_MAX_CONNECTIONS", "2")];
        let options = options(&["--config", file_name, "--max-connections=3"], &environment);
        std::fs::remove_file(&file).unwrap();
        let options = options.unwrap();
        let values = ["server", "threads", "max-connections", "tls-required", "listen"].map(|name| options.text(name));
        assert_eq!(values, ["file:1", "2", "3", "no", "127.0.0.1:3307"]);
    }

    #[test]
    fn an_error_says_which_value_is_wrong_and_what_to_do() {
        let cases: [(&[&str], &str); 22] = [
            (
                &["--server=db", "--share=/s"],
                "share = \"/s\" (from --share): needs feed-user, binlog-user, rules or hints",
            ),
            (&["--server=db", "--share=s"], "must be the path of a unix socket, from the root"),
            (&["--server=db", "--share=/s", "--share-group=no such"], "is no group of this machine"),
            (&[], "server: must be given: HOST:PORT, or the path of a unix socket"),
            (&["--server", "db:x"], "server = \"db:x\" (from --server): `x` is no port; write HOST:PORT"),
            (&["--server=:1"], "server = \":1\" (from --server): has no host; write HOST:PORT"),
            (&["--server=db:33:06"], "has more than one colon; write HOST:PORT, and an address of IPv6 in brackets"),
            (&["--srever=db"], "unknown option --srever; see --help"),
            (&["db"], "unexpected argument `db`; options are written --name value"),
            (&["--server"], "--server needs a value"),
            (&["--server=db", "--server=db"], "--server is given twice"),
            (&["--server=db", "--metrics=10.0.0.1:1"], "must be a loopback address: nobody logs in there"),
            (&["--server=db", "--threads=-1"], "must be a number from 0 to 1024"),
            (&["--server=db", "--tls-key=/k"], "tls-key: needs tls-certificate"),
            (&["--server=db", "--server-tls=ca"], "needs server-ca"),
            (&["--server=db", "--tls-required=yes"], "needs tls-certificate and tls-key"),
            (&["--server=db", "--valkey=a", "--store-tls=yes"], "must be off, ca or name"),
            (&["--server=db", "--valkey=a", "--store-tls=ca"], "needs store-ca"),
            (
                &["--server=db", "--valkey=a", "--store-ca=/f"],
                "must be ca or name for store-ca and store-tls-name to count",
            ),
            (
                &["--server=db", "--memcached=/s", "--store-tls=name"],
                "no server of a store speaks TLS on a unix socket; use HOST:PORT",
            ),
            (
                &["--server=db", "--valkey=a", "--store-tls=name", "--store-tls-name=a b"],
                "`a b` is no name that a certificate could have",
            ),
            (&["--server=db", "--valkey=a", "--valkey-user=me"], "needs valkey-password-file"),
        ];
        for (flags, expected) in cases {
            let error = error(flags);
            assert!(error.ends_with(expected), "{flags:?}: {error}");
        }
    }

    #[test]
    fn a_file_with_an_unknown_key_or_another_kind_of_value_is_refused() {
        for (text, expected) in [("serverr = 'x'", "unknown option `serverr`"), ("server = 1.5", "not a float")] {
            let file = std::env::temp_dir().join(format!("fqc-near-{}-{}.toml", std::process::id(), text.len()));
            std::fs::write(&file, text).unwrap();
            let refused = options(&["--config", file.to_str().unwrap()], &[]).err().expect("it is refused");
            std::fs::remove_file(&file).unwrap();
            assert!(refused.contains(expected), "{refused}");
        }
    }

    #[test]
    fn addresses_are_read_in_every_form() {
        let read = |text: &str| super::server(text, 3306).map(|server| server.to_string());
        assert_eq!(read("db.internal").as_deref(), Ok("db.internal:3306"));
        assert_eq!(read("[::1]:3307").as_deref(), Ok("[::1]:3307"));
        assert_eq!(read("/run/mysqld.sock").as_deref(), Ok("/run/mysqld.sock"));
    }
}
