//! Makes `--help`, the man page and the reference's table of options, all from the one table of options.

use crate::options::{CONFIG, OPTIONS, OptionDefinition};
use std::fmt::Write;

const PURPOSE: &str = "Stands beside an application and passes its MySQL connections on to one server, each with a connection of its \
    own. Where the server runs Fast Query Cache, it answers repeated reads from memory, and never with an outdated result. \
    Elsewhere it follows the server's binary log, so that no answer is older than a bound, or it answers by rules that say which \
    results may be outdated, and for how long.";
const PRECEDENCE: &str = "Every option can be a flag, a variable of the environment, or a key of the file that --config names; the \
    first of these that says it counts.";
const SIGNALS: &[(&str, &str)] = &[
    (
        "SIGHUP",
        "Read the file, the rules and the certificates again. What is wrong is told in the log, and the old values stay.",
    ),
    (
        "SIGTERM, SIGINT",
        "Take no new clients, end each connection once it is idle, then exit. Sent twice: exit at once.",
    ),
];
const OTHERS: &[(&str, &str)] = &[
    ("--check", "Say whether the configuration is valid, and exit."),
    ("--help", "This text."),
    ("--man", "The man page, for man(1)."),
    ("--version", "The version."),
    (
        "import proxysql|maxscale FILE",
        "Write the rules of their configuration file as rules of ours, say on standard error what cannot be carried over, and exit.",
    ),
];

/// Returns all options, in the order of the table, and the one that names the file at the end.
fn all() -> impl Iterator<Item = &'static OptionDefinition> {
    OPTIONS.iter().chain([&CONFIG])
}

/// Returns the help of an option, followed by its default value if it has one.
fn help_of(option: &OptionDefinition) -> String {
    match option.default {
        Some("") | None => option.help.into(),
        Some(default) => format!("{} Default: {default}.", option.help),
    }
}

/// Returns the text of `--help`.
pub fn help() -> String {
    let mut out = String::from("usage: fqc-near --server ADDRESS [options]\n\n");
    push_wrapped(&mut out, "", PURPOSE);
    out.push_str("\noptions:\n");
    for option in all() {
        let _ = writeln!(out, "  --{} {}", option.name, option.value);
        push_wrapped(&mut out, "      ", &help_of(option));
    }
    for (name, meaning) in OTHERS {
        let _ = writeln!(out, "  {name}");
        push_wrapped(&mut out, "      ", meaning);
    }
    out.push('\n');
    push_wrapped(&mut out, "", &format!("{PRECEDENCE} The variable of --max-connections is FQC_NEAR_MAX_CONNECTIONS."));
    out.push_str("\nsignals:\n");
    for (name, meaning) in SIGNALS {
        let _ = writeln!(out, "  {name}");
        push_wrapped(&mut out, "      ", meaning);
    }
    out
}

/// Returns the man page as roff source.
pub fn man() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut out = format!(
        ".TH FQC-NEAR 8 \"\" \"fqc-near {version}\"\n.SH NAME\nfqc-near \\- query cache beside an application\n"
    );
    out.push_str(".SH SYNOPSIS\n.B fqc-near\n\\-\\-server\n.I ADDRESS\n[options]\n");
    let _ = writeln!(out, ".SH DESCRIPTION\n{}\n.SH OPTIONS\n{}", roff(PURPOSE), roff(PRECEDENCE));
    for option in all() {
        let (name, value) = (roff(option.name), roff(option.value));
        let _ = writeln!(out, ".TP\n\\fB\\-\\-{name}\\fR \\fI{value}\\fR\n{}", roff(&help_of(option)));
        let _ = writeln!(out, "Environment: {}.", option.variable());
    }
    for (name, meaning) in OTHERS {
        let _ = writeln!(out, ".TP\n\\fB{}\\fR\n{}", roff(name), roff(meaning));
    }
    out.push_str(".SH SIGNALS\n");
    for (name, meaning) in SIGNALS {
        let _ = writeln!(out, ".TP\n{}\n{}", roff(name), roff(meaning));
    }
    out.push_str(".SH EXIT STATUS\n0 after a drain, 1 when it could not go on, 2 when the configuration is wrong.\n");
    out
}

/// Returns the table of all options for the reference, in Markdown.
pub fn table() -> String {
    let mut out = String::from("| Option | Value | Default | Reload | Meaning |\n|---|---|---|---|---|\n");
    for option in all() {
        let default =
            option.default.filter(|value| !value.is_empty()).map_or(String::new(), |value| format!("`{value}`"));
        let reloads = if option.reloads { "yes" } else { "no" };
        let value = option.value.replace('|', "\\|");
        let _ = writeln!(out, "| `{}` | {value} | {default} | {reloads} | {} |", option.name, option.help);
    }
    out
}

/// Escapes a text for roff, the format of man pages.
fn roff(text: &str) -> String {
    text.replace('\\', "\\\\").replace('-', "\\-")
}

/// Appends a paragraph to `out`, wrapped to 79 columns, with `indent` before each line.
fn push_wrapped(out: &mut String, indent: &str, text: &str) {
    const WIDTH: usize = 79;
    let mut line = indent.to_owned();
    for word in text.split_whitespace() {
        if line.len() + word.len() + 1 > WIDTH {
            let _ = writeln!(out, "{}", line.trim_end());
            line = indent.to_owned();
        }
        line.push_str(word);
        line.push(' ');
    }
    let _ = writeln!(out, "{}", line.trim_end());
}
