//! Runs the search for leaks: `churn --plugin ../dist/fqc.so --seconds 600`. Without `--plugin` it shows what the server
//! itself keeps.

use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use fqc_tests::arguments::Arguments;
use fqc_tests::churn;
use fqc_tests::server::{Options, Server};

const USAGE: &str = "churn [--seed N] [--seconds S] [--plugin PATH] [--mariadbd PATH] [--option k=v]...";

fn main() -> ExitCode {
    match watch() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}\nusage: {USAGE}");
            ExitCode::from(2)
        }
    }
}

fn watch() -> io::Result<()> {
    let arguments = Arguments::read(USAGE)?;
    let time = Duration::from_secs(arguments.number("seconds", 600)?);
    let mut options =
        Options { program: arguments.path("mariadbd"), plugin: arguments.path("plugin"), ..Options::default() };
    options.arguments.extend(churn::ARGUMENTS.iter().map(|one| one.to_string()));
    options.arguments.extend(arguments.all("option").map(|option| format!("--{option}")));
    options.environment.push(churn::environment());
    let server = Server::start(options)?;
    let begun = Instant::now();
    let course = churn::run(&server, arguments.number("seed", 1)?, |_| begun.elapsed() < time)?;
    print!("{course}");
    Ok(())
}
