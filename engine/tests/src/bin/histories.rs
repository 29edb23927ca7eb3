//! Runs the concurrent checkers: `histories --plugin ../dist/fqc.so --seconds 60 --threads 40`.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use fqc_tests::arguments::Arguments;
use fqc_tests::histories::{self, Plan};
use fqc_tests::server::{Options, Server};

const USAGE: &str = "histories [--seed N] [--seconds S] [--threads N] [--reinstalls 0|1] [--kills 0|1] [--redefines 0|1] \
    [--naps 0|1] [--dozes 0|1] [--plugin PATH] [--beside PATH_OF_FQC_NEAR] [--share SOCKET] [--product mariadb|mysql] [--mariadbd PATH] \
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
    };
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
