//! Runs the ideal cache: `ideal --port 3306`. With `--record trace` it also writes down which reads it was asked for.

use std::io;
use std::process::ExitCode;

use fqc_tests::arguments::Arguments;
use fqc_tests::ideal::{Recorder, listen};

const USAGE: &str = "ideal [--port N] [--record PATH]";

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}\nusage: {USAGE}");
            ExitCode::from(2)
        }
    }
}

fn serve() -> io::Result<()> {
    let arguments = Arguments::read(USAGE)?;
    let port = arguments.number("port", 0)?.try_into().map_err(|_| io::Error::other("no such port"))?;
    let recorder = arguments.path("record").map(|path| Recorder::create(&path)).transpose()?;
    listen(port, recorder)
}
