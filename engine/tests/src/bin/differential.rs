//! Runs the differential tester: `differential --plugin ../dist/fqc.so --seed 1 --seconds 60`.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use fqc_tests::arguments::Arguments;
use fqc_tests::differential::{self, Aim, Plan};
use fqc_tests::near::{self, Near};
use fqc_tests::server::{Options, Server};

const USAGE: &str = "differential [--seed N] [--aim everything|rows] [--any-case 0|1] [--dozes 0|1] [--statements N] [--seconds S] [--epoch N] [--shrink-seconds S] \
    [--adaptation 0|1] [--plugin PATH] [--beside PATH_OF_FQC_NEAR] [--follows 0|1] [--product mariadb|mysql] [--mariadbd PATH] [--option k=v]...";

fn main() -> ExitCode {
    match judge() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error}\nusage: {USAGE}");
            ExitCode::from(2)
        }
    }
}

/// The aim that `--aim` names, by default all statements.
fn aim(arguments: &Arguments) -> io::Result<Aim> {
    match arguments.all("aim").last() {
        None | Some("everything") => Ok(Aim::Everything),
        Some("rows") => Ok(Aim::Rows),
        Some(other) => Err(io::Error::other(format!("--aim is everything or rows, not {other}"))),
    }
}

/// Runs the tester. Fails the process if there is a difference, or so few hits that the run has proved nothing. `Err` is a fault of the
/// arguments or the environment.
fn judge() -> io::Result<ExitCode> {
    let arguments = Arguments::read(USAGE)?;
    let default = Plan::default();
    let mut plan = Plan {
        seed: arguments.number("seed", default.seed)?,
        aim: aim(&arguments)?,
        is_any_case: arguments.number("any-case", 0)? == 1,
        dozes: arguments.number("dozes", 0)? == 1,
        statements: arguments.number("statements", default.statements)?,
        time: Duration::from_secs(arguments.number("seconds", default.time.as_secs())?),
        epoch: arguments.number("epoch", default.epoch)?,
        shrink_time: Duration::from_secs(arguments.number("shrink-seconds", default.shrink_time.as_secs())?),
        ..default
    };
    let product = arguments.product()?;
    let mut options = Options { product, program: arguments.path("mariadbd"), ..Options::default() };
    options.arguments.extend(differential::ARGUMENTS.iter().map(|one| one.to_string()));
    options.arguments.extend(plan.is_any_case.then(|| differential::IN_ANY_CASE.to_string()));
    let beside = arguments.path("beside");
    if arguments.number("follows", 0)? == 1 {
        plan.follower = Some(beside.clone().ok_or_else(|| io::Error::other("--follows 1 needs --beside"))?);
        options.arguments.extend(differential::logging(product));
    }
    options.arguments.extend(arguments.all("option").map(|option| format!("--{option}")));
    let mut plain = Server::start(options.clone())?;
    let plugin: Option<PathBuf> = arguments.path("plugin");
    let adapts = arguments.number("adaptation", 0)? == 1;
    if adapts {
        options.arguments.push("--loose-fqc-adaptation=ON".into());
    }
    options.arguments.extend(plan.dozes.then(|| "--loose-fqc-doze=ON".into()));
    options.environment.extend(plan.dozes.then(|| ("FQC_FAULT".to_owned(), "doze:random".to_owned())));
    let mut cached = Server::start(Options { plugin, ..options })?;
    if adapts {
        cached.admin()?.must("SET GLOBAL fqc_adaptation = ON")?;
    }
    if plan.dozes {
        cached.admin()?.must("SET GLOBAL fqc_doze = ON")?;
    }
    let near = beside
        .filter(|_| plan.follower.is_none())
        .map(|program| Near::start(program, &cached, cached.port(), "root", "near"))
        .transpose()?;
    plan.cached_endpoint = near.as_ref().map(Near::endpoint);
    let outcome = differential::run(&mut plain, &mut cached, &plan);
    let told =
        |error| io::Error::other(format!("{error}\nplain:\n{}cached:\n{}", plain.error_log(), cached.error_log()));
    let (summary, difference) = outcome.map_err(told)?;
    print!("{summary}not kept:\n{}", cached.reasons());
    if let Some(difference) = difference {
        println!("{difference}");
        return Ok(ExitCode::FAILURE);
    }
    if plan.dozes && !cached.error_log().contains("it dozes until") {
        println!("it has never dozed, so this run has proved nothing");
        return Ok(ExitCode::FAILURE);
    }
    if let Some(near) = &near {
        let hits = near::hits(&cached)?;
        let inside = near.told("Hits in transactions").unwrap_or(0);
        println!("answered beside the server: {hits}, of these {inside} in transactions");
        if hits == 0 {
            println!("no hit beside the server: this run has proved nothing of that");
            return Ok(ExitCode::FAILURE);
        }
    }
    if plan.follower.is_some() && !summary.proves_something_beside() {
        println!("so few answers beside the server prove nothing");
        return Ok(ExitCode::FAILURE);
    }
    if cached.has_plugin() && summary.hits.unwrap_or(0) == 0 {
        println!("no hit at all: this run has proved nothing");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
