//! One table of all options. Their values come from the command line, the environment and a TOML file, in this order of precedence.
//!
//! `--help`, the man page and the reference are made from the same table.

use crate::import::SourceProduct;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// One option, as the command line, the environment, the configuration file, the help and the reference know it.
pub struct OptionDefinition {
    /// The option's key in the TOML file; on the command line it follows `--`.
    pub name: &'static str,
    /// The placeholder for the option's value in the help, such as FILE.
    pub value: &'static str,
    /// The value of an option that is not set anywhere. None and an empty text both mean that it has no value then.
    pub default: Option<&'static str>,
    pub help: &'static str,
    /// True if a reload (SIGHUP) applies a changed value; otherwise a restart is needed.
    pub reloads: bool,
}

macro_rules! options {
    ($($name:literal $value:literal = $default:expr, $reloads:literal, $help:literal;)*) => {
        pub const OPTIONS: &[OptionDefinition] = &[$(OptionDefinition {
            name: $name, value: $value, default: $default, help: $help, reloads: $reloads,
        }),*];
    };
}

options! {
    "server" "ADDRESS" = None, true,
        "The server: HOST:PORT, or the path of its unix socket. Must be given.";
    "listen" "ADDRESSES" = Some("127.0.0.1:3307"), false,
        "Where clients connect: IP:PORT or the path of a unix socket; several with commas between them.";
    "socket-mode" "MODE" = Some("0660"), false,
        "The permissions of these unix sockets, in octal. Whoever may write to one may try to log in.";
    "share" "PATH" = Some(""), false,
        "With feed-user, binlog-user, rules or hints: a unix socket where programs of this machine get the results to read them in their own memory (see fqc-run). Whoever may write to the socket can read every result, of all accounts. It takes up to as much memory as size once more.";
    "share-mode" "MODE" = Some("0600"), false,
        "The permissions of that socket, in octal.";
    "share-group" "GROUP" = Some(""), false,
        "The group that the socket belongs to, by its name or number. Needs a share-mode such as 0660 to count.";
    "max-connections" "NUMBER" = Some("2000"), true,
        "Clients at the same time. One more gets the error 1040, \"too many connections\".";
    "connect-timeout-seconds" "SECONDS" = Some("10"), true,
        "How long a connection may take from its beginning until the client has said who it is.";
    "drain-timeout-seconds" "SECONDS" = Some("30"), true,
        "After SIGTERM, connections end as soon as they are idle and outside a transaction; after this time all end.";
    "proxy-protocol" "off|v1|v2" = Some("off"), true,
        "Tell the server the client's address by a PROXY header. The server must expect it (proxy_protocol_networks in MariaDB).";
    "tls-certificate" "FILE" = Some(""), true,
        "PEM file with the certificate, and its chain, that clients are shown. With it, clients may use TLS.";
    "tls-key" "FILE" = Some(""), true,
        "PEM file with the certificate's private key.";
    "tls-required" "yes|no" = Some("no"), true,
        "Refuse clients that come by TCP and do not use TLS.";
    "server-tls" "off|ca|name" = Some("off"), true,
        "TLS to the server. ca: its certificate must come from the authority in server-ca; name: it must also be for server-name.";
    "server-ca" "FILE" = Some(""), true,
        "PEM file with the certificates of the authorities that the server's certificate may come from.";
    "server-name" "NAME" = Some(""), true,
        "The name that the server's certificate must be for. Default: the host in server.";
    "size" "BYTES" = Some("64M"), false,
        "Memory for results that are answered from here, with K, M or G.";
    "feed-user" "NAME" = Some(""), true,
        "The account that attaches to the server's cache, where the server runs Fast Query Cache.";
    "feed-password-file" "FILE" = Some(""), true,
        "File with that account's password, in one line.";
    "rules" "FILE" = Some(""), true,
        "File with rules, in TOML or in JSON, that say which results may be served outdated, and for how long. For servers that cannot run the plugin: not together with feed-user.";
    "hints" "yes|no" = Some("no"), true,
        "Statements may say themselves for how many milliseconds their result may be served: /* cache_ttl=1000 */. Not together with feed-user, either.";
    "memcached" "ADDRESSES" = Some(""), false,
        "Servers of memcached, in which near caches share results that rules, hints or the binary log allow: HOST:PORT or the path of a unix socket; several with commas between them.";
    "valkey" "ADDRESSES" = Some(""), false,
        "The same in Valkey, or Redis 7.0 or later, instead. Several servers share the results; of a cluster, some of its members: the others are found.";
    "valkey-password-file" "FILE" = Some(""), false,
        "File with the password that these servers ask for, in one line.";
    "valkey-user" "NAME" = Some(""), false,
        "The account on these servers (ACL). Without it, the password is that of their account \"default\".";
    "store-tls" "off|ca|name" = Some("off"), false,
        "TLS to memcached or Valkey. ca: certificates must come from the authority in store-ca; name: they must also be for the host that is connected to.";
    "store-ca" "FILE" = Some(""), false,
        "PEM file with the certificates of the authorities that these may come from. Default, with store-tls = name: the system's.";
    "store-tls-name" "NAME" = Some(""), false,
        "The name that they must all be for. Default: for each server the host in its address, or by which its cluster tells of it.";
    "store-name" "NAME" = Some(""), false,
        "Near caches share results only under the same name. Give one to each if servers that are not the same have the same address, number, host, port and folder.";
    "store-timeout-ms" "MILLISECONDS" = Some("10"), false,
        "How long a read waits for memcached or Valkey at most. A server that does not answer in time is not asked for a second.";
    "binlog-user" "NAME" = Some(""), false,
        "The account that reads the server's binary log. With it, reads that repeat are answered from memory, and are never older than max-staleness-ms. For servers that cannot run the plugin: not together with feed-user, rules or hints.";
    "binlog-password-file" "FILE" = Some(""), false,
        "File with that account's password, in one line.";
    "max-staleness-ms" "MILLISECONDS" = Some("1000"), false,
        "How old an answer may be that is given with the help of the binary log.";
    "in-transactions" "yes|no" = Some("no"), true,
        "With binlog-user: reads in a transaction that has written nothing are answered from memory, too. Such a transaction gives up repeatable reads. Rules have a key of their own for it.";
    "observe" "yes|no" = Some("no"), true,
        "Answer nothing from memory: send each read to the server, count those that memory would have answered, and compare the answers. Needs binlog-user, rules or hints.";
    "name" "NAME" = Some(""), true,
        "How SHOW FQC NEAR on the server, or the control plane, calls this program: letters, digits and -._: alone. Default: the machine's name.";
    "control-plane" "URL" = Some(""), true,
        "The control plane, such as https://fqc.internal: it is told what is answered from memory. For servers that cannot run the plugin; of programs with feed-user the server tells it.";
    "control-plane-token-file" "FILE" = Some(""), true,
        "File with the token that lets this program report, in one line. It is read again for each report.";
    "control-plane-ca" "FILE" = Some(""), true,
        "PEM file with the certificates of the authorities that the control plane's certificate may come from. Default: the system's.";
    "metrics" "ADDRESS|off" = Some("127.0.0.1:9308"), false,
        "Where /metrics and /healthz are, on a loopback address.";
    "threads" "NUMBER" = Some("0"), false,
        "Threads that move bytes. 0: one for each processor.";
}

/// The option that names the configuration file. It can only be set by a flag or the environment, and is not in `OPTIONS`.
pub const CONFIG: OptionDefinition = OptionDefinition {
    name: "config",
    value: "FILE",
    default: None,
    help: "TOML file with these options as keys, such as `max-connections = 500`.",
    reloads: false,
};

impl OptionDefinition {
    /// Returns the name of the environment variable that sets this option, such as `FQC_NEAR_MAX_CONNECTIONS`.
    pub fn variable(&self) -> String {
        format!("FQC_NEAR_{}", self.name.to_uppercase().replace('-', "_"))
    }
}

/// The value of an option as text, and the place where it was set: the flag (`--name`), the variable's name, or the file's path. The place
/// of a default is empty.
struct OptionValue {
    value: String,
    source: String,
}

/// The values of all options as text: the defaults, overridden by the file, the environment and the flags. The values are not checked yet.
pub struct Options {
    values: BTreeMap<&'static str, OptionValue>,
}

/// The task that the command line asks for: to serve, or something that ends at once.
pub enum Task {
    /// Serve connections with this configuration.
    Run(Invocation),
    Help,
    Man,
    Version,
    /// Only check the configuration, and say whether it is valid.
    Check(Invocation),
    /// Convert the rules in this configuration file of another product, and print them.
    Import(SourceProduct, PathBuf),
}

/// The flags, the environment and the path of the configuration file, as the process was started with them. A reload uses them again, and
/// only reads the file once more.
pub struct Invocation {
    flags: BTreeMap<&'static str, OptionValue>,
    environment: BTreeMap<&'static str, OptionValue>,
    file: Option<PathBuf>,
}

impl Task {
    /// Reads the command line and the environment. `arguments`: without the program's name. `variable`: returns an environment variable, or
    /// none if it is not set. The file is not read, and values are not checked. The error is a line for the user: an unknown or repeated
    /// option, a missing value, or text that is not UTF-8.
    pub fn read(
        arguments: impl Iterator<Item = OsString>,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Task, String> {
        let mut flags = BTreeMap::new();
        let mut is_check = false;
        let mut arguments = arguments.map(|argument| text(argument, "an argument"));

        while let Some(argument) = arguments.next() {
            let argument = argument?;
            match argument.as_str() {
                "--help" | "-h" => return Ok(Task::Help),
                "--version" | "-V" => return Ok(Task::Version),
                "--man" => return Ok(Task::Man),
                "--check" => {
                    is_check = true;
                    continue;
                }
                _ => {}
            }
            if argument == "import" && flags.is_empty() && !is_check {
                return import(arguments);
            }
            let Some(flag) = argument.strip_prefix("--") else {
                return Err(format!("unexpected argument `{argument}`; options are written --name value"));
            };
            let (name, given) = flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value.into())));
            let name = known(name).ok_or_else(|| format!("unknown option --{name}; see --help"))?;
            let value = match given {
                Some(value) => value,
                None => arguments.next().ok_or_else(|| format!("--{name} needs a value"))??,
            };
            if flags.insert(name, OptionValue { value, source: format!("--{name}") }).is_some() {
                return Err(format!("--{name} is given twice"));
            }
        }
        let mut environment = BTreeMap::new();
        for option in OPTIONS.iter().chain([&CONFIG]) {
            let source = option.variable();
            if let Some(value) = variable(&source) {
                environment.insert(option.name, OptionValue { value: text(value, &source)?, source });
            }
        }
        let file = flags.remove(CONFIG.name).or(environment.remove(CONFIG.name)).map(|option| option.value.into());
        let invocation = Invocation { flags, environment, file };
        Ok(if is_check { Task::Check(invocation) } else { Task::Run(invocation) })
    }
}

/// Reads the two arguments that follow `import` on the command line: the product and the file. The error explains the usage.
fn import(mut arguments: impl Iterator<Item = Result<String, String>>) -> Result<Task, String> {
    const USAGE: &str = "usage: fqc-near import proxysql|maxscale FILE";
    let mut next = || arguments.next().ok_or(USAGE)?;
    let product = SourceProduct::of(&next()?).ok_or(USAGE)?;
    let file = next()?;
    if arguments.next().is_some() { Err(USAGE.into()) } else { Ok(Task::Import(product, file.into())) }
}

impl Invocation {
    /// Returns the values of all options. The file is read at each call, so a call after a change of the file returns the new values. An
    /// error if the file cannot be read, is no TOML, or has an unknown key.
    pub fn options(&self) -> Result<Options, String> {
        let mut values: BTreeMap<_, _> =
            OPTIONS.iter().filter_map(|option| Some((option.name, default(option.default?)))).collect();
        if let Some(file) = &self.file {
            values.extend(read_file(file)?);
        }
        for (name, from) in self.environment.iter().chain(&self.flags) {
            values.insert(name, OptionValue { value: from.value.clone(), source: from.source.clone() });
        }
        Ok(Options { values })
    }
}

impl Options {
    /// Returns the value of an option as text, without spaces around it. Empty if the option is not set and has no default, or does not
    /// exist.
    pub fn text(&self, name: &'static str) -> &str {
        self.values.get(name).map_or("", |option| option.value.trim())
    }

    /// Returns the value of an option, parsed by `read`, which gets an empty text if the option is not set. The error of `read` is
    /// completed with the option's name, its value, and where it was set.
    pub fn value<T, E: Display>(
        &self,
        name: &'static str,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, String> {
        read(self.text(name)).map_err(|error| self.error(name, error))
    }

    /// Returns the message `error` with the name of the option that it is about, and, unless the option has its default, its value and the
    /// place where it was set.
    pub fn error(&self, name: &'static str, error: impl Display) -> String {
        match self.values.get(name) {
            Some(option) if !option.source.is_empty() => {
                format!("{name} = \"{}\" (from {}): {error}", option.value, option.source)
            }
            _ => format!("{name}: {error}"),
        }
    }
}

/// Returns the default of an option, marked as set nowhere (its source is empty).
fn default(value: &str) -> OptionValue {
    OptionValue { value: value.into(), source: String::new() }
}

/// Returns the name of the option called `name`, from the table of options. None if there is no such option.
fn known(name: &str) -> Option<&'static str> {
    OPTIONS.iter().chain([&CONFIG]).map(|option| option.name).find(|known| *known == name)
}

/// Converts a text of the operating system. `source`: where it is from, for the error if it is not UTF-8.
fn text(value: OsString, source: &str) -> Result<String, String> {
    value.into_string().map_err(|value| format!("{source} is not UTF-8: {}", value.to_string_lossy()))
}

/// Reads the TOML file's keys and values. An error if the file cannot be read or parsed, or has a key that is no option.
fn read_file(path: &Path) -> Result<BTreeMap<&'static str, OptionValue>, String> {
    let source = path.display().to_string();
    let read = std::fs::read_to_string(path).map_err(|error| format!("cannot read {source}: {error}"))?;
    let table: toml::Table =
        read.parse().map_err(|error: toml::de::Error| format!("{source}: {}", error.to_string().trim_end()))?;
    let mut values = BTreeMap::new();
    for (key, value) in table {
        let name = known(&key).filter(|name| *name != CONFIG.name);
        let name = name.ok_or_else(|| format!("{source}: unknown option `{key}`"))?;
        values.insert(name, OptionValue { value: plain(&key, value, &source)?, source: source.clone() });
    }
    Ok(values)
}

/// Converts a value in TOML to the text that a flag would have: true and false become yes and no, and a list's values are joined with
/// commas. An error for floats, dates and tables.
fn plain(key: &str, value: toml::Value, source: &str) -> Result<String, String> {
    match value {
        toml::Value::String(text) => Ok(text),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Boolean(flag) => Ok(if flag { "yes" } else { "no" }.into()),
        toml::Value::Array(values) => {
            let parts: Result<Vec<_>, _> = values.into_iter().map(|value| plain(key, value, source)).collect();
            Ok(parts?.join(","))
        }
        other => Err(format!("{source}: {key} must be a text, a number, true or false, not a {}", other.type_str())),
    }
}
