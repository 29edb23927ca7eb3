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
from driver.near import DISTANCE
from driver.near import PROGRAM as NEAR
from driver.product import MARIADB, PRODUCTS, Product
from lab import suites, summary
from lab.application import Application, Extent
from lab.floors import complaints
from lab.frameworks.doctrine import Doctrine
from lab.frameworks.loopback import LoopBack
from lab.frameworks.openjpa import OpenJpa
from lab.frameworks.python import COMMITTED, DJANGO, SQLALCHEMY
from lab.ghost import Ghost
from lab.keycloak import Keycloak
from lab.measure import Result, measure
from lab.mediawiki import MediaWiki
from lab.packages import Unavailable
from lab.stage import MODES, staged
from lab.wagtail import Wagtail
from lab.wordpress import WordPress

APPLICATIONS = {one.name: one for one in (WordPress, MediaWiki, Wagtail, Ghost, Keycloak)}
SUITES = {one.name: one for one in (DJANGO, COMMITTED, SQLALCHEMY, LoopBack(), OpenJpa(), Doctrine())}
FOLDER = Path(__file__).resolve().parents[1]
# The applications of the short run. The others take too long for every run of all tests.
OF_SLICE = (WordPress.name, MediaWiki.name, Wagtail.name)
SLICE_MODES = ("off", "plugin", "exact", "binlog")
WHOLE, SMALL = Extent(200, 10, 3), Extent(20, 3, 2)


def main() -> int:
    arguments = _parse()
    # Asked to end, it ends its servers first.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    needed = {PLUGIN: "engine", NEAR: "near"} | (
        {DISTANCE: "listeners"} if arguments.what != "suites" and arguments.distance else {}
    )
    for path, target in needed.items():
        if not path.exists():
            print(f"{path} is not there; run `make {target}` first", file=sys.stderr)
            return 2
    if arguments.what == "suites":
        chosen = [SUITES[name] for name in arguments.suites]
        return min(1, suites.run(chosen, arguments.modes, arguments.product, arguments.tests, _tell))
    results = _run(arguments, WHOLE if arguments.what == "lab" else SMALL)
    if arguments.what == "slice":
        told = [line for name, result in results.items() for line in complaints(name, result)]
        print("\n".join(_hits(name, result) for name, result in results.items()))
        print("\n".join(told or ["all pages are the same with the cache"]))
        return 1 if told else 0
    if results:
        programs = {PRODUCTS[one.product].program for one in results.values()}
        facts = machine.describe(sorted(programs), PLUGIN)
        _keep(arguments.out or _fresh_folder(machine.slug(facts)), facts, results, arguments.distance)
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run", description=__doc__)
    commands = parser.add_subparsers(dest="what", required=True, metavar="COMMAND")
    lab = commands.add_parser("lab", help="measure; results are kept below runs/")
    short = commands.add_parser("slice", help="one round of small applications; fails if a page differs")
    tests = commands.add_parser("suites", help="tests of frameworks; fails if one ends in another way with the cache")
    for command, modes, rounds, usual in ((lab, MODES, 5, APPLICATIONS), (short, SLICE_MODES, 1, OF_SLICE)):
        command.add_argument("--apps", type=str.split, default=list(usual), help=f"of these: {' '.join(APPLICATIONS)}")
        command.add_argument("--modes", type=str.split, default=modes, help=f"of these: {' '.join(MODES)}")
        command.add_argument("--rounds", type=int, default=rounds)
        command.add_argument("--product", type=_product, help="MariaDB or MySQL, other than usual")
        command.add_argument("--distance", type=_microseconds, default=0, help="of the server, each way, such as 0.5ms")
    lab.add_argument("--out", type=Path, help="folder for the results")
    tests.add_argument("--suites", type=str.split, default=list(SUITES), help=f"of these: {' '.join(SUITES)}")
    tests.add_argument("--modes", type=str.split, default=suites.MODES, help=f"of these: {' '.join(suites.MODES)}")
    tests.add_argument("--product", type=_product, default=MARIADB, help="MariaDB or MySQL")
    tests.add_argument("--tests", type=str.split, default=[], help="others than usual, by the names that the suite has")
    arguments = parser.parse_args()
    known = {"apps": APPLICATIONS, "suites": SUITES, "modes": MODES}
    unknown = {
        word for name, all_known in known.items() for word in getattr(arguments, name, ()) if word not in all_known
    }
    if unknown:
        parser.error(f"not known: {' '.join(sorted(unknown))}")
    # Pages and tests are compared with those of this mode.
    arguments.modes = [mode for mode in MODES if mode in arguments.modes or mode == "off"]
    return arguments


def _product(text: str) -> Product:
    return {name.lower(): product for name, product in PRODUCTS.items()}[text.lower()]


def _microseconds(text: str) -> int:
    """Parses a time in milliseconds, such as `0.5ms`, and returns it in microseconds."""
    return round(float(text.removesuffix("ms")) * 1000)


def _run(arguments: argparse.Namespace, extent: Extent) -> dict[str, Result]:
    results = {}
    for name in arguments.apps:
        application: Application = APPLICATIONS[name]()
        try:
            product = _chosen(application, arguments.product)
            _tell(f"{name} on {product.name}, in the modes {' '.join(arguments.modes)} ...")
            with staged(application, product, arguments.modes, extent, arguments.distance) as settings:
                _tell(f"{name}: installed, and served in {len(settings)} modes")
                results[name] = measure(application, settings, arguments.rounds, extent, _tell)
        except Unavailable as error:
            print(f"SKIPPED: {name.upper()} COULD NOT BE HAD: {error}", flush=True)
    return results


def _chosen(application: Application, wanted: Product | None) -> Product:
    """Returns the product whose servers this application gets. Raises Unavailable if it cannot run here."""
    product = wanted or application.products[0]
    if product not in application.products:
        raise Unavailable(f"it does not run on {product.name}")
    if not Path(product.program).exists():
        raise Unavailable(f"there is no {product.program}; run `scripts/fetch-server MySQL 9.7`")
    return product


def _hits(name: str, result: Result) -> str:
    figures = (f"{mode} {min(result.hits(mode)):.0f} %" for mode in result.rounds if mode != "off")
    return f"{name}: hits, in percent of reads: {', '.join(figures)}"


def _tell(line: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {line}", flush=True)


def _fresh_folder(name: str) -> Path:
    base = f"{time.strftime('%Y-%m-%d')}-{name}"
    tries = [base, *(f"{base}-{number}" for number in range(2, 1000))]
    return next(FOLDER / "runs" / one for one in tries if not (FOLDER / "runs" / one).exists())


def _keep(folder: Path, facts: dict[str, object], results: dict[str, Result], each_way_us: int) -> None:
    folder.mkdir(parents=True)
    document = {"machine": facts, "each_way_us": each_way_us, "applications": results}
    (folder / "results.json").write_text(json.dumps(document, indent=1, default=vars) + "\n")
    (folder / "summary.md").write_text(summary.render(facts, results, each_way_us))
    print((folder / "summary.md").read_text())
    print(f"results: {os.path.relpath(folder / 'summary.md')}")


if __name__ == "__main__":
    sys.exit(main())
