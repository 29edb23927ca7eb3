"""Runs test suites of frameworks, with the cache and without it: each test must end in the same way.

The tests come from where a package manager has them. They check results on tables that live longer than one test, in
transactions that are rolled back, and between tables that are created and dropped. A proxy sends each read twice, so
that the second result comes from the cache wherever that may be.
"""

from __future__ import annotations

import os
import subprocess
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from driver import configuration
from driver.certificates import make_certificates
from driver.product import Product
from driver.server import USER, Server
from lab import servers
from lab.packages import Unavailable
from lab.stage import ALWAYS_SAME, CACHE_MB, WITH_PLUGIN
from lab.twice import Twice

FILES = Path(__file__).resolve().parents[1] / "suites"
MODES = ("off", *ALWAYS_SAME)
SCHEMAS = ("main", "other", "test", "test_schema")
MOST_SHOWN = 40
# Names of elements in JUnit's XML for a test that has not passed.
NOT_PASSED = ("failure", "error", "skipped", "warning")
Outcomes = Mapping[str, str]


@dataclass(frozen=True)
class Target:
    """The port of the server that the tests use, and an empty folder for their outcomes: files of JUnit's XML, or
    outcomes.tsv."""

    port: int
    product: Product
    folder: Path


@dataclass(frozen=True)
class Command:
    words: Sequence[str | Path]
    folder: Path
    # Variables in addition to those that every suite gets.
    environment: Mapping[str, str] = field(default_factory=dict)


class Suite(Protocol):
    name: str
    # The tests to run if none are named.
    tests: Sequence[str]

    def prepare(self) -> None:
        """Fetches what the suite consists of. Must be called first. Raises Unavailable if this machine cannot do
        that."""

    def command(self, target: Target, tests: Sequence[str]) -> Command: ...


@dataclass
class Ran:
    outcomes: Outcomes
    hits: int


def run(
    suites: Sequence[Suite], modes: Sequence[str], product: Product, tests: Sequence[str], tell: Callable[[str], None]
) -> int:
    """Runs all suites and prints faults. Returns the number of faults: tests that end in another way than without
    the cache, and runs without a hit."""
    faults = 0
    for suite in suites:
        try:
            suite.prepare()
        except Unavailable as error:
            print(f"SKIPPED: THE TESTS OF {suite.name.upper()} COULD NOT BE HAD: {error}", flush=True)
            continue
        ended = _in_all_modes(suite, modes, product, tests or suite.tests, tell)
        complaints = list(_complaints(suite.name, ended))
        print("\n".join(complaints or [f"{suite.name}: {len(ended['off'].outcomes)} tests end as without the cache"]))
        faults += len(complaints)
    return faults


def _in_all_modes(
    suite: Suite,
    modes: Sequence[str],
    product: Product,
    tests: Sequence[str],
    tell: Callable[[str], None],
) -> dict[str, Ran]:
    ended = {}
    with TemporaryDirectory(prefix="fqc-suites-", ignore_cleanup_errors=True) as name, ExitStack() as ends:
        folder = Path(name)
        make_certificates(folder / "certificates")
        first = Server(folder / "installed", folder / "certificates", product)
        first.install()
        ends.callback(first.stop)
        first.start(servers.settings(product))
        servers.make_accounts(first, "lab")
        for schema in SCHEMAS:
            first.rows(f"CREATE DATABASE IF NOT EXISTS {schema} CHARACTER SET utf8mb4")
        first.rows(f"GRANT ALL ON *.* TO {USER}@127.0.0.1")
        first.stop()
        for mode in modes:
            ended[mode] = _run(suite, mode, first.copy(folder / mode), tests)
            counts = Counter(outcome.partition(" ")[0] for outcome in ended[mode].outcomes.values())
            figures = ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
            tell(f"{suite.name}, {mode}: {figures}; {ended[mode].hits} hits")
    return ended


def _run(suite: Suite, mode: str, server: Server, tests: Sequence[str]) -> Ran:
    with ExitStack() as ends:
        kind = "FQC" if mode in WITH_PLUGIN else "OFF"
        ends.callback(server.stop)
        configuration.start(kind, server, servers.settings(server.product))
        configuration.empty_cache(kind, server, CACHE_MB)
        # Results are kept from the first time on, so that as many as possible come from the cache.
        if mode in WITH_PLUGIN:
            server.rows("SET GLOBAL fqc_adaptation = OFF")
        folder = server.folder / "near"
        folder.mkdir()
        near = servers.near(mode, folder, server, "*")
        if near:
            ends.callback(near.stop)
        twice = Twice(near.port if near else server.port)
        ends.callback(twice.stop)
        target = Target(twice.port, server.product, server.folder / "outcomes")
        target.folder.mkdir()
        outcomes = _tested(suite.command(target, tests), target)
        hits = server.status("Fqc_hits").get("Fqc_hits", 0) + (near.hits("Memory") if near else 0)
        return Ran(outcomes, hits)


def _tested(command: Command, target: Target) -> Outcomes:
    """Runs the tests and returns their outcomes. A failed test is no error here. The log of the run is in the folder
    of its outcomes."""
    own = {"FQC_APPS_PORT": str(target.port), "FQC_APPS_USER": USER, "FQC_APPS_OUTCOMES": str(target.folder)}
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "JAVA_HOME") if name in os.environ}
    log = target.folder / "log"
    with log.open("w") as out:
        subprocess.run(
            command.words,
            cwd=command.folder,
            env={**inherited, **own, **command.environment},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
    outcomes = _outcomes(target.folder)
    if not outcomes:
        raise RuntimeError(f"the tests did not run:\n{log.read_text(errors='replace')[-4000:]}")
    return outcomes


def _complaints(name: str, ended: Mapping[str, Ran]) -> Iterator[str]:
    wanted = ended["off"].outcomes
    if not wanted:
        yield f"{name}: no test ran"
    for mode, one in ended.items():
        differing = sorted(test for test in {*wanted, *one.outcomes} if wanted.get(test) != one.outcomes.get(test))
        for test in differing[:MOST_SHOWN]:
            outcomes = (each.get(test, "did not run") for each in (wanted, one.outcomes))
            yield f"{name}, {mode}: {test} {' without the cache, but '.join(outcomes)} with it"
        if mode != "off" and not one.hits:
            yield f"{name}, {mode}: nothing came from the cache"


def _outcomes(folder: Path) -> Outcomes:
    """Returns the outcomes by test. Those of tests with the same name, and of subtests, are joined in the order of
    the files."""
    found: dict[str, str] = {}
    for test, outcome in (*_of_lines(folder / "outcomes.tsv"), *_of_junit(folder)):
        found[test] = f"{found[test]} {outcome}" if test in found else outcome
    return found


def _of_lines(file: Path) -> Iterator[tuple[str, str]]:
    for line in file.read_text().splitlines() if file.exists() else ():
        test, _, outcome = line.partition("\t")
        yield test, outcome


def _of_junit(folder: Path) -> Iterator[tuple[str, str]]:
    for file in sorted(folder.glob("*.xml")):
        for case in ElementTree.parse(file).iter("testcase"):
            outcome = next((part.tag for part in case if part.tag in NOT_PASSED), "passed")
            yield f"{case.get('classname')}.{case.get('name')}", outcome
