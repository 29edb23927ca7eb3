"""Test suites of frameworks, with the cache and without it: each test must end in the same way.

The tests come from the framework's source distribution. They check results on tables that live longer than one test,
in transactions that are rolled back, and between tables that are created and dropped.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from driver import configuration
from driver.certificates import make_certificates
from driver.product import Product
from driver.server import USER, Server
from lab import servers
from lab.packages import Unavailable, environment, kept, ran
from lab.stage import ALWAYS_SAME, CACHE_MB, WITH_PLUGIN

FILES = Path(__file__).resolve().parents[1] / "suites"
MODES = ("off", *ALWAYS_SAME)
SCHEMAS = ("main", "other", "test", "test_schema")
MOST_SHOWN = 40
Outcomes = Mapping[str, str]


@dataclass(frozen=True)
class Suite:
    name: str
    # The source distribution on PyPI, and the hash of its archive.
    package: str
    sha256: str
    # The words after `python`, and where they run below the folder of the source.
    command: Callable[[int, Path], Sequence[str]]
    folder: str
    # The tests if none are named.
    tests: Sequence[str]
    read: Callable[[Path], Outcomes]


@dataclass
class Ran:
    outcomes: Outcomes
    hits: int


def run(
    suites: Sequence[Suite], modes: Sequence[str], product: Product, tests: Sequence[str], tell: Callable[[str], None]
) -> int:
    """Number of faults: tests that end in another way than without the cache, and runs without a hit."""
    faults = 0
    for suite in suites:
        try:
            source, python = _source(suite), environment("suites", FILES / "requirements.lock") / "bin" / "python"
        except Unavailable as error:
            print(f"SKIPPED: THE TESTS OF {suite.name.upper()} COULD NOT BE HAD: {error}", flush=True)
            continue
        ended = _in_all_modes(suite, modes, product, source, python, tests or suite.tests, tell)
        complaints = list(_complaints(suite.name, ended))
        print("\n".join(complaints or [f"{suite.name}: {len(ended['off'].outcomes)} tests end as without the cache"]))
        faults += len(complaints)
    return faults


def _in_all_modes(
    suite: Suite,
    modes: Sequence[str],
    product: Product,
    source: Path,
    python: Path,
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
        for mode in (mode for mode in modes if mode not in servers.lacking(product)):
            ended[mode] = _run(suite, mode, first.copy(folder / mode), source, python, tests)
            counts = Counter(outcome.partition(" ")[0] for outcome in ended[mode].outcomes.values())
            figures = ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
            tell(f"{suite.name}, {mode}: {figures}; {ended[mode].hits} hits")
    return ended


def _run(suite: Suite, mode: str, server: Server, source: Path, python: Path, tests: Sequence[str]) -> Ran:
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
        outcomes = server.folder / "outcomes"
        words = suite.command(near.port if near else server.port, outcomes)
        _tested([python, *words, *tests], source / suite.folder, near.port if near else server.port, outcomes)
        hits = server.status("Fqc_hits").get("Fqc_hits", 0) + (near.hits("Memory") if near else 0)
        return Ran(suite.read(outcomes), hits)


def _tested(command: Sequence[str | Path], folder: Path, port: int, outcomes: Path) -> None:
    """Runs the tests. A failed test is no error here. The log of the run is in the folder of its outcomes."""
    own = {"FQC_APPS_PORT": str(port), "FQC_APPS_USER": USER, "FQC_APPS_OUTCOMES": str(outcomes)}
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    log = outcomes.with_suffix(".log")
    with log.open("w") as out:
        subprocess.run(
            command,
            cwd=folder,
            env={**inherited, **own, "PYTHONPATH": str(FILES), "PYTHONHASHSEED": "0"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
    if not outcomes.exists():
        raise RuntimeError(f"the tests did not run:\n{log.read_text(errors='replace')[-4000:]}")


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


def _source(suite: Suite) -> Path:
    """The unpacked source distribution."""

    def unpack(draft: Path) -> None:
        download = ["-m", "pip", "download", "-q", "--no-deps", "--no-binary=:all:", f"--dest={draft}"]
        ran([sys.executable, *download, suite.package], draft)
        archive = next(draft.glob("*.tar.gz"))
        if hashlib.sha256(archive.read_bytes()).hexdigest() != suite.sha256:
            raise Unavailable("its archive is another one than the one that is known")
        with tarfile.open(archive) as content:
            content.extractall(draft, filter="data")
        archive.unlink()
        next(draft.iterdir()).rename(draft / "source")

    return kept(f"tests-{suite.package.replace('==', '-')}", unpack) / "source"


def _of_django(outcomes: Path) -> Outcomes:
    """Outcomes by test. A test with failed subtests has several; they are joined in the order of the file."""
    found: dict[str, str] = {}
    for line in outcomes.read_text().splitlines():
        test, _, outcome = line.partition("\t")
        found[test] = " ".join([*([found[test]] if test in found else []), outcome])
    return found


def _of_pytest(outcomes: Path) -> Outcomes:
    return {
        f"{case.get('classname')}.{case.get('name')}": next(
            (f"{part.tag}" for part in case if part.tag in ("failure", "error", "skipped")), "passed"
        )
        for case in ElementTree.parse(outcomes).iter("testcase")
    }


def _django(name: str, settings: str, tests: str) -> Suite:
    return Suite(
        name=name,
        package="django==5.2.19",
        sha256="ad03d8abc51dbff95ebf34b27123cf0c26a3b62db7ba0cd520783686362533d1",
        command=lambda port, outcomes: ["runtests.py", f"--settings={settings}", "--parallel=1", "--noinput"],
        folder="tests",
        tests=tests.split(),
        read=_of_django,
    )


DJANGO = _django(
    "django",
    "fqc_settings",
    "basic bulk_create delete get_or_create schema select_for_update transaction_hooks transactions update",
)
COMMITTED = _django(
    "django-committed",
    "fqc_committed",
    "aggregation aggregation_regress annotations basic dates datetimes defer delete expressions expressions_case"
    " expressions_window generic_relations get_or_create lookup many_to_many many_to_one model_inheritance null_queries"
    " one_to_one ordering prefetch_related queries reverse_lookup select_related update",
)
SQLALCHEMY = Suite(
    name="sqlalchemy",
    package="sqlalchemy==2.0.58",
    sha256="2acdcec9836b7c1514a9ad426e7731669a1186d96481a2e82c50bf2aebb49061",
    command=lambda port, outcomes: [
        *("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "fqc_twice", f"--junitxml={outcomes}"),
        *("--dburi", f"mysql+mysqldb://{USER}@127.0.0.1:{port}/test?charset=utf8mb4&ssl_mode=DISABLED"),
    ],
    folder=".",
    tests=(
        *(
            "test/dialect/mysql/test_query.py",
            "test/dialect/mysql/test_on_duplicate.py",
            "test/dialect/mysql/test_for_update.py",
        ),
        *("test/engine/test_execute.py", "test/engine/test_transaction.py", "test/orm/test_eager_relations.py"),
        *("test/orm/test_query.py", "test/orm/test_transaction.py", "test/orm/test_unitofwork.py"),
        *("test/orm/test_unitofworkv2.py", "test/orm/test_versioning.py", "test/dialect/test_suite.py"),
        *("test/orm/dml/test_orm_upd_del_basic.py", "test/sql/test_query.py", "test/sql/test_resultset.py"),
        *("test/sql/test_insert_exec.py", "test/sql/test_defaults.py"),
    ),
    read=_of_pytest,
)
SUITES = {suite.name: suite for suite in (DJANGO, COMMITTED, SQLALCHEMY)}
