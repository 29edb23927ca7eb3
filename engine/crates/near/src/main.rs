//! The program `fqc-near`.

use near::options::Task;
use near::{import, manual, run, service};
use std::process::ExitCode;

/// The exit status for a wrong configuration or command line.
const WRONG: u8 = 2;

fn main() -> ExitCode {
    match Task::read(std::env::args_os().skip(1), |name| std::env::var_os(name)) {
        Ok(Task::Help) => say(&manual::help()),
        Ok(Task::Man) => say(&manual::man()),
        Ok(Task::Version) => say(&format!("fqc-near {}\n", env!("CARGO_PKG_VERSION"))),
        Ok(Task::Check(invocation)) => match service::read_config(&invocation) {
            Ok(_) => say("the configuration is valid\n"),
            Err(error) => fail(&error, WRONG),
        },
        Ok(Task::Import(product, file)) => match import::convert_file(product, &file) {
            Ok(imported) => {
                imported.notes.iter().for_each(|note| eprintln!("{}: {note}", file.display()));
                say(&imported.rules)
            }
            Err(error) => fail(&error, WRONG),
        },
        Ok(Task::Run(invocation)) => match service::read_config(&invocation) {
            Ok(config) => {
                run(&invocation, config).map_or_else(|error| fail(&error.to_string(), 1), |()| ExitCode::SUCCESS)
            }
            Err(error) => fail(&error, WRONG),
        },
        Err(error) => fail(&error, WRONG),
    }
}

fn say(text: &str) -> ExitCode {
    print!("{text}");
    ExitCode::SUCCESS
}

fn fail(error: &str, code: u8) -> ExitCode {
    eprintln!("fqc-near: {error}");
    ExitCode::from(code)
}
