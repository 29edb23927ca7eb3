"""The command line: measures, or writes the summary and plots of kept raw data again."""

from __future__ import annotations

import argparse
import dataclasses
import os
import shutil
import signal
import sys
import time
from pathlib import Path

from driver import bench, ideal, instructions, machine, near, near_instructions, plots, summary, traces
from driver.configuration import PLUGIN
from driver.kept import read_folder
from driver.product import PRODUCTS, Product
from driver.workload import FOLDER, BadWorkload, read_profile, read_workload

RUN_DIR = Path(os.environ.get("RUN_DIR", FOLDER.parents[1] / ".run"))


def main() -> int:
    arguments = parse()
    # On SIGTERM, exit normally, so that the servers are stopped first.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if arguments.what == "report":
        return report(arguments.folder)
    if arguments.what == "traces":
        traces.record(arguments.folder)
        return 0
    if arguments.what == "instructions":
        return count(PRODUCTS[arguments.product], arguments.only or list(instructions.SCRIPTS))
    if arguments.what == "near-instructions":
        return count_near()
    programs = {PLUGIN: "engine", ideal.PROGRAM: "listeners"}
    if arguments.what in ("near", "away", "rules", "rules-away"):
        programs |= {near.PROGRAM: "near", near.DISTANCE: "listeners"}
    for path, target in programs.items():
        if not path.exists():
            print(f"{path} is not there; run `make {target}` first", file=sys.stderr)
            return 2
    try:
        return measure(arguments)
    except BadWorkload as error:
        print(error, file=sys.stderr)
        return 2


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run", description=__doc__)
    commands = parser.add_subparsers(dest="what", required=True, metavar="COMMAND")
    for name, purpose in {
        "quick": "the published tables in less than ten minutes",
        "standard": "the published tables and all beside them at fewer points; half an hour",
        "full": "the published tables and all beside them; hours",
        "mysql": "a quick run on MySQL 9.7, which `scripts/fetch-server MySQL tested` brings",
        "near": "near caches: hits and misses, against the server's own and against none",
        "away": "the same with the servers half a millisecond away",
        "rules": "near caches by rules, alone and with memcached, from a cold start; wants memcached, or FQC_MEMCACHED",
        "rules-away": "the same with the server half a millisecond away",
        "pgpool": "another server's query cache: pgpool-II before PostgreSQL",
        "smoke": "show that everything works; the figures mean nothing",
    }.items():
        profile = commands.add_parser(name, help=purpose)
        profile.add_argument("--only", type=lambda text: text.split(","), help="these workloads, separated by commas")
        profile.add_argument("--seconds", type=int, help="length of a run, instead of the profile's")
        profile.add_argument("--rounds", type=int, help="runs of each point, instead of those of profile and workload")
        profile.add_argument("--out", type=Path, help="folder for the results")
    again = commands.add_parser("report", help="write summary and plots of a folder below runs/ again")
    again.add_argument("folder", type=Path)
    recording = commands.add_parser("traces", help="record which reads the published workloads ask for")
    recording.add_argument("folder", type=Path)
    commands.add_parser("near-instructions", help="count the instructions of a near cache for a read, in each mode")
    counting = commands.add_parser("instructions", help="count instead of timing: instructions, kernel calls, locks")
    counting.add_argument("--product", choices=PRODUCTS, default="MariaDB")
    scripts = ", ".join(instructions.SCRIPTS)
    counting.add_argument("--only", type=lambda text: text.split(","), help=f"of these, separated by commas: {scripts}")
    return parser.parse_args()


def count(product: Product, scripts: list[str]) -> int:
    missing = [tool for tool in (*instructions.TOOLS, product.program) if not shutil.which(tool)]
    if missing or not PLUGIN.exists():
        print(f"not there: {', '.join(missing) or PLUGIN}; run `make ready-bench engine` first", file=sys.stderr)
        return 2
    if unknown := set(scripts) - set(instructions.SCRIPTS):
        print(f"no such script: {', '.join(unknown)}", file=sys.stderr)
        return 2
    print(instructions.measure(product, scripts, lambda line: print(line, file=sys.stderr, flush=True)))
    return 0


def count_near() -> int:
    missing = [tool for tool in near_instructions.TOOLS if not shutil.which(tool)]
    missing += [str(path) for path in (PLUGIN, near.PROGRAM) if not path.exists()]
    if missing:
        print(f"not there: {', '.join(missing)}; run `make ready-bench engine near` first", file=sys.stderr)
        return 2
    print(near_instructions.measure(lambda line: print(line, file=sys.stderr, flush=True)))
    return 0


def measure(arguments: argparse.Namespace) -> int:
    profile = read_profile(arguments.what)
    given = {"seconds": arguments.seconds, "rounds": arguments.rounds, "workloads": arguments.only}
    profile = dataclasses.replace(profile, **{key: value for key, value in given.items() if value})
    workloads = [read_workload(name, profile.like, profile.name) for name in profile.workloads]
    if arguments.rounds:
        workloads = [dataclasses.replace(workload, rounds=None) for workload in workloads]
    facts = machine.describe(bench.STAGES[profile.stage].programs(), PLUGIN)
    folder = arguments.out or fresh_folder(profile.is_kept, machine.slug(facts))
    bench.write_json(folder / "machine.json", facts)
    bench.run_all(profile, workloads, folder, lambda line: print(line, flush=True))
    return report(folder)


def fresh_folder(is_kept: bool, name: str) -> Path:
    parent = FOLDER / "runs" if is_kept else RUN_DIR / "bench"
    base = f"{time.strftime('%Y-%m-%d')}-{name}"
    tries = [base, *(f"{base}-{number}" for number in range(2, 1000))]
    return next(parent / one for one in tries if not (parent / one).exists())


def report(folder: Path) -> int:
    kept = read_folder(folder)
    plots.draw_all(kept, folder / "plots")
    (folder / "summary.md").write_text(summary.render(kept))
    print(f"results: {folder / 'summary.md'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
