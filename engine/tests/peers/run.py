"""Runs MariaDB's own regression tests (Debian's `mariadb-test`), or MySQL's (`mysql-testsuite`), with the plugin, each
plain and with every read repeated, and fails on every difference to a server without it that the product's book of
expected differences does not list with its reason.

A test that passes prints what its makers keep as right. One that does not is run without the plugin, too, and what both
print is compared: a test that fails on any server, or because its reads are repeated, is no difference as long as it
fails in the same way. Standard library only.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
FETCHED = HERE.parents[1] / "target" / "servers" / "MySQL-9.7-peers"
PLUGIN = Path(os.environ.get("FQC_PLUGIN", HERE.parents[1] / "dist" / "fqc.so"))
ALWAYS = ("--force", "--force", "--retry=0", "--max-test-fail=0", "--nowarnings", "--testcase-timeout=5")
# A failed test leaves a fifth of a gigabyte behind, so only one directory of a failed test is kept.
ALWAYS += ("--suite-timeout=1440", "--max-save-datadir=1")
SWITCHED_ON = ("--plugin-load-add=fqc.so", "--loose-fqc-size=64M", "--loose-fqc-type=ON", "--loose-fqc-adaptation=OFF")
SWITCHED_ON = tuple(f"--mysqld={option}" for option in SWITCHED_ON)


class Product(NamedTuple):
    suite: Path
    # The folder with the tests of the suite `main`.
    main: Path
    client: Path
    plugins: Path
    # The name of the file with the expected differences.
    book: str
    options: tuple[str, ...]
    environment: dict[str, str]
    # The message that is printed if the suite is not installed here.
    missing: str


PRODUCTS = {
    "MariaDB": Product(
        Path("/usr/share/mysql/mysql-test"),
        Path("/usr/share/mysql/mysql-test/main"),
        Path("/usr/bin/mariadb-test"),
        Path("/usr/lib/mysql/plugin"),
        "expected.toml",
        (),
        {},
        "SKIPPED: MARIADB'S REGRESSION SUITE (PACKAGE mariadb-test) IS NOT INSTALLED; NOTHING WAS COMPARED WITH IT",
    ),
    "MySQL": Product(
        FETCHED / "root/usr/lib/mysql-test",
        FETCHED / "root/usr/lib/mysql-test/t",
        FETCHED / "bin/mysqltest",
        FETCHED / "root/usr/lib/mysql/plugin",
        "expected-mysql.toml",
        # A system has few contexts of native I/O, and without one this server does not start unless native I/O is
        # off.
        (f"--client-bindir={FETCHED / 'bin'}", "--mysqld=--innodb-use-native-aio=0"),
        {"MTR_BINDIR": str(FETCHED)},
        "SKIPPED: MYSQL'S REGRESSION SUITE (PACKAGE mysql-testsuite) COULD NOT BE HAD; NOTHING WAS COMPARED WITH IT",
    ),
}
COMPARED = ("pass", "fail")
# Outcomes with the plugin after which a test is not run without it. A test that is named runs even if it is disabled.
NOT_DOUBTED = ("pass", "disabled")
BIG = ("Test needs --big-test", "Test needs 'big-test' or 'only-big-test' option.")
# The options of the suite's program that choose tests.
CHOOSES = re.compile(r"[^-]|--(do-test|skip-test|suite|start-from)=")
LONGEST = 2000
# Lines in a failure's report that repeat what had been printed, and compared, before the failure.
PRINTED_BEFORE = re.compile(
    r"^The result from queries just before the failure was:.*?(?=^(?:Server | - )|\Z)", re.M | re.S
)
# One line of the suite's report: `main.alias 'innodb'  w1 [ pass ]  12`; MySQL's begin with `[ 25%] `.
VERDICT = re.compile(
    r"^(?:\[ *\d+%\] )?(?P<test>[\w/-]+\.\S+(?: '[^']+')?)\s+(?:w\d+\s+)?\[ (?P<word>[\w-]+)[^\]]*\]", re.MULTILINE
)
# The message of a failure whose only cause is the output.
MISMATCH = re.compile(r"^(?:mysqltest: )?Result (?:content|length) mismatch", re.MULTILINE)
# Lines in the report of a failure that matter: differences of the output, and messages of a test that broke off.
# Rules of dashes are the report's own. Names of tests, function names in a stack and unchanged lines may contain such
# words, too, and do not count.
CHANGE = re.compile(
    r"^[-+](?![-+]{2} |-{9}).*"
    r"|^(?!CURRENT_TEST|Failing test|[-+]{3} | \S|#\d)"
    r".*(?:At line \d+|crash|timeout|timed out|died|shutdown(?!_report)).*",
    re.MULTILINE,
)


class Outcome(NamedTuple):
    # `pass`, `fail`, `skipped` and the like. A test whose differences are only in lines that are not compared passes.
    word: str
    # The lines that differ from the expected output, or the reason why the test was skipped.
    printed: str


def outcomes(report: str, counted: re.Pattern[str]) -> dict[str, Outcome]:
    found = {}
    verdicts = list(VERDICT.finditer(report))
    for verdict, after in zip_longest(verdicts, verdicts[1:]):
        end = after.start() if after else len(report)
        said = PRINTED_BEFORE.sub("", report[verdict.end() : end])
        changes = CHANGE.findall(said) if verdict["word"] == "fail" else []
        if verdict["word"] == "skipped":
            changes = [report[verdict.end() : end].split("\n")[0].strip()]
        printed = "\n".join(line for line in changes if not counted.match(line[1:]))
        is_counted_only = bool(changes) and not printed and MISMATCH.search(said)
        found[verdict["test"]] = Outcome("pass" if is_counted_only else verdict["word"], printed)
    return found


def plugin_directory(scratch: Path, plugins: Path) -> Path:
    """Makes a directory with the server's own plugins and the tested one. Returns its path."""
    directory = scratch / "plugins"
    directory.mkdir()
    for library in plugins.iterdir():
        (directory / library.name).symlink_to(library)
    shutil.copy(PLUGIN, directory / "fqc.so")
    return directory


def repeating_client(scratch: Path, program: Path) -> Path:
    library, client = scratch / "repeat.so", scratch / "client"
    compiler = ["cc", "-O1", "-shared", "-fPIC", "-Wall", "-Werror", "-o", str(library), str(HERE / "repeat.c"), "-ldl"]
    subprocess.run(compiler, check=True)
    started = f'#!/bin/sh\nLD_PRELOAD={library} exec {program} "$@"\n'
    if program.is_relative_to(FETCHED):
        # The program is a script that ends by calling its own loader.
        words = program.read_text().replace("$0", str(program))
        started = words.replace(" --library-path", f" --preload {library} --library-path", 1)
    client.write_text(started)
    client.chmod(0o755)
    return client


class Peers:
    """Runs the chosen tests of one product on this machine, in different ways. `scratch` is a folder for what the
    runs write."""

    def __init__(self, product: Product, scratch: Path, chosen: list[str], counted: str, thread: int) -> None:
        self.product, self.scratch, self.chosen, self.thread = product, scratch, chosen, thread
        self.counted = re.compile(counted)
        plugin_directory(scratch, product.plugins)
        repeating_client(scratch, product.client)

    def run(self, chosen: list[str], with_plugin: bool, repeats: bool) -> dict[str, Outcome]:
        name = f"{'plugin' if with_plugin else 'plain'}-{'repeated' if repeats else 'once'}"
        options = [f"--vardir={self.scratch / name}", *ALWAYS, *self.product.options, *chosen]
        command = ["perl", "./mysql-test-run.pl", *options]
        if with_plugin:
            command += [f"--mysqld=--plugin-dir={self.scratch / 'plugins'}", *SWITCHED_ON]
        environment = {**os.environ, **self.product.environment, "MTR_BUILD_THREAD": str(self.thread)}
        if repeats:
            environment["MYSQL_TEST"] = str(self.scratch / "client")
        log = self.scratch / f"{name}.log"
        with log.open("w") as output:
            subprocess.run(command, cwd=self.product.suite, env=environment, stdout=output, stderr=subprocess.STDOUT)
        report = log.read_text(errors="replace")
        # Its directory and ports differ from run to run, and each of several workers has its own.
        own = rf"{re.escape(str(self.scratch / name))}(/\d+\b)?|--(port|socket)=\S+"
        found = outcomes(re.sub(own, "", report), self.counted)
        # A run leaves half a gigabyte, which may be in memory (tmpfs).
        shutil.rmtree(self.scratch / name, ignore_errors=True)
        if not found:
            raise SystemExit(f"{name}: no test ran\n{report[-2000:]}")
        words = [each.word for each in found.values()]
        print(
            f"{name}: {words.count('pass')} pass, {words.count('fail')} fail, {words.count('skipped')} leave",
            flush=True,
        )
        return found

    def compare(self, repeated: tuple[bool, ...]) -> tuple[dict[str, str], int]:
        """Runs the tests with the plugin, and those that do not pass without it. Returns the tests that end
        differently, and how.

        Also returns the number of compared tests. `repeated`: whether every read is repeated, for each run.
        """
        found: dict[str, str] = {}
        compared: set[str] = set()
        chosen = self.chosen
        for repeats in repeated:
            plugin = self.run(chosen, True, repeats)
            plain = self.without(plugin, repeats)
            for test, other in plugin.items():
                outcome = plain.get(test, other)
                compared.update({test} if outcome.word in COMPARED else ())
                if not is_same(outcome, other):
                    how = "with every read repeated" if repeats else "as it is"
                    found.setdefault(test, f"{how}\nplain: {told(outcome)}\nplugin: {told(other)}")
            # Tests that do not run on this machine do not run with repeated reads, either.
            chosen = self.named(compared)
            if not compared:
                break
        return found, len(compared)

    def named(self, tests: Iterable[str]) -> list[str]:
        """Returns command-line options that choose only these tests, and keep the other chosen options."""
        others = [option for option in self.chosen if not CHOOSES.match(option)]
        return others + sorted({test.split(" ")[0] for test in tests})

    def without(self, plugin: dict[str, Outcome], repeats: bool) -> dict[str, Outcome]:
        """Runs those tests without the plugin that do not pass with it, and returns their outcomes. Big ones are
        left out."""
        failed = [test for test, (word, why) in plugin.items() if word not in NOT_DOUBTED and why not in BIG]
        return self.run(self.named(failed), False, repeats) if failed else {}


def every_tenth(product: Product, suites: str) -> list[str]:
    """Returns every tenth test of each of these suites, in the order of their names."""
    chosen = []
    for suite in suites.split(","):
        tests = product.main if suite == "main" else product.suite / "suite" / suite / "t"
        chosen += [f"{suite}.{test.stem}" for test in sorted(tests.glob("*.test"))[::10]]
    return chosen


def is_same(one: Outcome, other: Outcome) -> bool:
    is_compared = one.word in COMPARED and other.word in COMPARED
    return one == other if is_compared else one.word == other.word


def told(outcome: Outcome) -> str:
    return f"{outcome.word}\n{outcome.printed[:LONGEST]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--product", choices=PRODUCTS, default="MariaDB")
    parser.add_argument("--slice", action="store_true", help="only the tests that `make test` runs")
    parser.add_argument("--tenth", metavar="SUITES", help="only every tenth test of these suites, by name")
    half = parser.add_mutually_exclusive_group()
    half.add_argument("--once", action="store_true", help="only as they are: no read is repeated")
    half.add_argument("--repeated", action="store_true", help="only with every read repeated")
    parser.add_argument("--replicas", action="store_true", help="also the tests that replicate")
    parser.add_argument("--keep", type=Path, help="a new directory for the reports, which stays")
    parser.add_argument("--thread", type=int, default=560, help="ports from 10000 + 30 times this")
    arguments, options = parser.parse_known_args()
    product = PRODUCTS[arguments.product]
    if not (product.suite / "mysql-test-run.pl").exists() or not product.client.exists():
        print(product.missing)
        return 0
    book = tomllib.loads((HERE / product.book).read_text())
    chosen = book["slice"] if arguments.slice else options or ["--suite=main"]
    if arguments.tenth:
        chosen = options + every_tenth(product, arguments.tenth)
    if not arguments.replicas:
        chosen = ["--skip-rpl", *chosen]
    scratch = arguments.keep.resolve() if arguments.keep else Path(tempfile.mkdtemp(prefix="fqc-peers-"))
    scratch.mkdir(exist_ok=not arguments.keep)
    repeated = (False,) if arguments.once else (True,) if arguments.repeated else (False, True)
    counted = "|".join(each["line"] for each in book["counted"])
    try:
        found, compared = Peers(product, scratch, chosen, counted, arguments.thread).compare(repeated)
    finally:
        if not arguments.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    reasons = {each["test"]: each["reason"] for each in book.get("difference", [])}
    surprises = {test: how for test, how in found.items() if test.split(" ")[0] not in reasons}
    for test in found.keys() - surprises.keys():
        print(f"expected: {test}: {reasons[test.split(' ')[0]]}")
    for test, how in surprises.items():
        print(f"DIFFERENT: {test} {how}\n")
    print(f"  {compared - len(found)} passed ({len(found) - len(surprises)} more differ as expected)")
    print(f"  {len(surprises)} failed")
    return 1 if surprises or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
