//! Checks a source and its replica: `replicas --plugin dist/fqc.so --seconds 600`. With `--rate 1000` it measures how many reads are
//! served while 1000 rows a second are replicated.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use fqc_tests::arguments::Arguments;
use fqc_tests::replicas::{self, Plan};

const USAGE: &str = "replicas [--plugin PATH] [--seed N] [--seconds S] [--rate N] [--source k=v]... [--replica k=v]...";

/// The least share of reads that a replica has to serve from the cache, among those of tables that its applier does not write.
const WANTED: f64 = 0.95;

fn main() -> ExitCode {
    match judge() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error}\nusage: {USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Runs the test or, with `--rate`, the measurement. Fails the process at a violation, without hits, or if fewer reads were served than
/// wanted. `Err` is a fault of the arguments or the environment.
fn judge() -> io::Result<ExitCode> {
    let arguments = Arguments::read(USAGE)?;
    let options = |name| arguments.all(name).map(|option| format!("--{option}")).collect();
    let plan = Plan {
        seed: arguments.number("seed", 1)?,
        time: Duration::from_secs(arguments.number("seconds", 60)?),
        plugin: arguments.path("plugin").ok_or_else(|| io::Error::other("--plugin is missing"))?,
        of_source: options("source"),
        of_replica: options("replica"),
    };
    let rate = arguments.number("rate", 0)?;
    if rate > 0 {
        let [table, rows] = replicas::share_served(&plan, rate)?;
        println!("served: {:.1} % of a table, {:.1} % of rows left alone", 100.0 * table, 100.0 * rows);
        return Ok(if table.min(rows) >= WANTED { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let report = replicas::run(&plan)?;
    println!("{report}");
    let is_proof = report.violations.is_empty() && report.hits.iter().all(|hits| *hits > 0);
    Ok(if is_proof { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
