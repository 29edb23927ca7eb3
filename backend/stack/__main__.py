"""The command line: `python -m stack up|down|status|reset|demo|logs --run-dir DIR`."""

import argparse
import json
import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from stack import near_build, report
from stack.demo import demo
from stack.down import down, reset
from stack.layout import RunDir
from stack.problem import Problem
from stack.status import status
from stack.step import progress
from stack.up import UpOptions, up

Command = Callable[[argparse.Namespace], int | None]


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    try:
        command: Command = options.run
        return command(options) or 0
    except Problem as problem:
        print(f"stack: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m stack", description=sys.modules["stack"].__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")

    def add(name: str, run: Command, words: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=words)
        command.set_defaults(run=run)
        command.add_argument("--run-dir", type=Path, required=True, help="where everything of this stack lives")
        return command

    start = add("up", _up, "start it, or what is missing of it")
    start.add_argument(
        "--ports", choices=["fixed", "auto"], default="fixed", help="fixed: FQC_WEB_PORT and so on; auto: free ones"
    )
    start.add_argument("--count", type=int, default=2, help="how many servers")
    start.add_argument("--product", choices=["MariaDB", "MySQL"], default="MariaDB", help="of these servers")
    start.add_argument("--near-build", default="", help="builds fqc-near; it is run in the background")
    start.add_argument("--steps-before", type=int, default=0, help="how many steps of the whole are done")
    start.add_argument("--json", action="store_true")
    build = add(near_build.NAME, _near_build, "what `up` runs in the background")
    build.add_argument("--before", required=True, help="the server that it will run in front of")
    build.add_argument("build", nargs="+", help="the command that builds fqc-near")
    add("down", _down, "stop what it started, and only that")
    add("reset", _reset, "stop it and forget its data")
    add("status", _status, "what runs, and where").add_argument("--json", action="store_true")
    add("logs", _logs, "follow the logs")
    workload = add("demo", _demo, "a read-heavy workload against the fleet")
    workload.add_argument("--seconds", type=float, default=None, help="stop after this long; default: never")
    return parser


def _up(options: argparse.Namespace) -> None:
    run_dir = _run_dir(options)
    command = shlex.split(options.near_build)
    running = up(
        run_dir, UpOptions(options.ports == "auto", options.count, options.product, command, options.steps_before)
    )
    print(json.dumps(asdict(running), indent=2) if options.json else report.started(running, run_dir))


def _near_build(options: argparse.Namespace) -> None:
    near_build.build(_run_dir(options), options.before, options.build)


def _down(options: argparse.Namespace) -> None:
    down(_run_dir(options))
    progress("stopped")


def _reset(options: argparse.Namespace) -> None:
    reset(_run_dir(options))
    progress("stopped; its data was deleted")


def _status(options: argparse.Namespace) -> int:
    found = status(_run_dir(options))
    print(json.dumps(asdict(found), indent=2) if options.json else report.state(found))
    return 0 if found.is_running else 3


def _logs(options: argparse.Namespace) -> None:
    logs = sorted(_run_dir(options).logs.glob("*.log"))
    if not logs:
        raise Problem(f"there are no logs in {_run_dir(options).logs} yet; start the stack with: make up")
    os.execvp("tail", ["tail", "--lines=20", "--follow=name", *map(str, logs)])


def _demo(options: argparse.Namespace) -> None:
    demo(_run_dir(options), options.seconds)


def _run_dir(options: argparse.Namespace) -> RunDir:
    return RunDir(options.run_dir.resolve())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
