//! Runs the concurrent checkers: `histories --plugin ../dist/fqc.so --seconds 60 --threads 40`.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use fqc_tests::arguments::Arguments;
use fqc_tests::group::{self, Setup};
use fqc_tests::histories::{self, Plan, Primaries};
use fqc_tests::server::{Options, Server};

const USAGE: &str = "histories [--seed N] [--seconds S] [--threads N] [--reinstalls 0|1] [--kills 0|1] [--redefines 0|1] \
    [--naps 0|1] [--dozes 0|1] [--group one-primary|all-primaries] [--plugin PATH] [--beside PATH_OF_FQC_NEAR] [--share SOCKET] [--product mariadb|mysql] [--mariadbd PATH] \
    [--option k=v]...";

fn main() -> ExitCode {
    match judge() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error}\nusage: {USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Runs the test. Fails the process if there is a violation, or so few hits that the run has proved nothing. `Err` is a fault of the
/// arguments or the environment.
fn judge() -> io::Result<ExitCode> {
    let arguments = Arguments::read(USAGE)?;
    let default = Plan::default();
    let plan = Plan {
        seed: arguments.number("seed", default.seed)?,
        time: Duration::from_secs(arguments.number("seconds", default.time.as_secs())?),
        patience: default.patience,
        threads: arguments.number("threads", default.threads as u64)? as usize,
        reinstalls: arguments.number("reinstalls", 0)? == 1,
        kills: arguments.number("kills", 0)? == 1,
        redefines: arguments.number("redefines", 1)? == 1,
        naps: arguments.number("naps", 0)? == 1,
        dozes: arguments.number("dozes", 0)? == 1,
        through: None,
        beside: arguments.path("beside"),
        share: arguments.path("share"),
        group: match arguments.all("group").last() {
            None => None,
            Some("one-primary") => Some(Primaries::First),
            Some("all-primaries") => Some(Primaries::All),
            Some(other) => {
                return Err(io::Error::other(format!("--group is one-primary or all-primaries, not {other}")));
            }
        },
    };
    if let Some(primaries) = plan.group {
        return judge_group(&arguments, Plan { redefines: false, ..plan }, primaries);
    }
    let has_counter = !plan.reinstalls && !plan.kills;
    let mut options = Options {
        product: arguments.product()?,
        program: arguments.path("mariadbd"),
        plugin: arguments.path("plugin"),
        ..Options::default()
    };
    options.environment.extend(plan.dozes.then(|| ("FQC_FAULT".to_owned(), "doze:random".to_owned())));
    options.arguments.extend(histories::ARGUMENTS.iter().map(|one| one.to_string()));
    options.arguments.extend(arguments.all("option").map(|option| format!("--{option}")));
    let mut server = Server::start(options)?;
    let report = histories::run(&mut server, plan.clone())?;
    print!("not kept:\n{}{report}", server.reasons());
    let is_idle = has_counter && report.hits.unwrap_or(0) == 0;
    let is_idle_beside = plan.beside.is_some() && !report.proves_something_beside(&plan);
    let proves_nothing = server.has_plugin() && (is_idle || is_idle_beside);
    if proves_nothing {
        println!("too few reads were answered from memory: this run has proved nothing");
    }
    Ok(if report.violations.is_empty() && !proves_nothing { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the test on a replication group of MySQL. Fails the process if there is a violation, or if a member had too few hits.
fn judge_group(arguments: &Arguments, plan: Plan, primaries: Primaries) -> io::Result<ExitCode> {
    let own = histories::ARGUMENTS.iter().map(|one| one.to_string());
    let setup = Setup {
        is_single_primary: primaries == Primaries::First,
        plugin: arguments.path("plugin"),
        arguments: own.chain(arguments.all("option").map(|option| format!("--{option}"))).collect(),
        environment: Vec::new(),
    };
    let mut members = group::start(&setup)?.ok_or_else(|| io::Error::other("this server has no Group Replication"))?;
    let report = histories::run_in_group(&mut members, plan)?;
    print!("not kept:\n{}{report}", members.iter().map(Server::reasons).collect::<Vec<_>>().join("\n"));
    let is_idle = setup.plugin.is_some() && !report.proves_something_in_group();
    if is_idle {
        println!(
            "too few reads of a member were answered from memory, or no session has waited for the group: this run has proved nothing"
        );
    }
    Ok(if report.violations.is_empty() && !is_idle { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
