"""The command line: measure applications, or show in short that their pages are the same with the cache."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from pathlib import Path

from driver import machine
from driver.configuration import PLUGIN
from driver.near import PROGRAM as NEAR
from driver.product import MARIADB
from lab import summary
from lab.application import Application, Extent
from lab.floors import complaints
from lab.measure import Result, measure
from lab.mediawiki import MediaWiki
from lab.packages import Unavailable
from lab.stage import MODES, staged
from lab.wagtail import Wagtail
from lab.wordpress import WordPress

APPLICATIONS = {one.name: one for one in (WordPress, MediaWiki, Wagtail)}
FOLDER = Path(__file__).resolve().parents[1]
SLICE_MODES = ("off", "plugin", "exact", "binlog")
WHOLE, SMALL = Extent(200, 10, 3), Extent(20, 3, 2)


def main() -> int:
    arguments = _parse()
    # Asked to end, it ends its servers first.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for path, target in {PLUGIN: "engine", NEAR: "near"}.items():
        if not path.exists():
            print(f"{path} is not there; run `make {target}` first", file=sys.stderr)
            return 2
    results = _run(arguments, WHOLE if arguments.what == "lab" else SMALL)
    if arguments.what == "slice":
        told = [line for name, result in results.items() for line in complaints(name, result)]
        print("\n".join(_hits(name, result) for name, result in results.items()))
        print("\n".join(told or ["all pages are the same with the cache"]))
        return 1 if told else 0
    if results:
        facts = machine.describe([MARIADB.program], PLUGIN)
        _keep(arguments.out or _fresh_folder(machine.slug(facts)), facts, results)
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run", description=__doc__)
    commands = parser.add_subparsers(dest="what", required=True, metavar="COMMAND")
    lab = commands.add_parser("lab", help="measure; results are kept below runs/")
    short = commands.add_parser("slice", help="one round of small applications; fails if a page differs")
    for command, modes, rounds in ((lab, MODES, 5), (short, SLICE_MODES, 1)):
        command.add_argument("--apps", type=str.split, default=list(APPLICATIONS), help="such as 'wordpress mediawiki'")
        command.add_argument("--modes", type=str.split, default=modes, help=f"of these: {' '.join(MODES)}")
        command.add_argument("--rounds", type=int, default=rounds)
    lab.add_argument("--out", type=Path, help="folder for the results")
    arguments = parser.parse_args()
    unknown = {*arguments.apps} - {*APPLICATIONS} | {*arguments.modes} - {*MODES}
    if unknown:
        parser.error(f"not known: {' '.join(sorted(unknown))}")
    # Pages are compared with those of this mode.
    arguments.modes = [mode for mode in MODES if mode in arguments.modes or mode == "off"]
    return arguments


def _run(arguments: argparse.Namespace, extent: Extent) -> dict[str, Result]:
    results = {}
    for name in arguments.apps:
        application: Application = APPLICATIONS[name]()
        _tell(f"{name} ...")
        try:
            with staged(application, arguments.modes, extent) as settings:
                _tell(f"{name}: installed, and served in {len(settings)} modes")
                results[name] = measure(application, settings, arguments.rounds, extent, _tell)
        except Unavailable as error:
            print(f"SKIPPED: {name.upper()} COULD NOT BE HAD: {error}", flush=True)
    return results


def _hits(name: str, result: Result) -> str:
    figures = (f"{mode} {min(result.hits(mode)):.0f} %" for mode in result.rounds if mode != "off")
    return f"{name}: hits, in percent of reads: {', '.join(figures)}"


def _tell(line: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {line}", flush=True)


def _fresh_folder(name: str) -> Path:
    base = f"{time.strftime('%Y-%m-%d')}-{name}"
    tries = [base, *(f"{base}-{number}" for number in range(2, 1000))]
    return next(FOLDER / "runs" / one for one in tries if not (FOLDER / "runs" / one).exists())


def _keep(folder: Path, facts: dict[str, object], results: dict[str, Result]) -> None:
    folder.mkdir(parents=True)
    document = {"machine": facts, "applications": results}
    (folder / "results.json").write_text(json.dumps(document, indent=1, default=vars) + "\n")
    (folder / "summary.md").write_text(summary.render(facts, results))
    print((folder / "summary.md").read_text())
    print(f"results: {os.path.relpath(folder / 'summary.md')}")


if __name__ == "__main__":
    sys.exit(main())
