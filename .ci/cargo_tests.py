"""Builds the engine's test programs once for all suites, and runs those that a suite asks for, some at a time.

    cargo_tests.py --build
    cargo_tests.py [--jobs N] [--only "NAME NAME"] [PROGRAMS...] [--without PROGRAMS...]

PROGRAMS are those of a PACKAGE, or some of them: PACKAGE:TARGET,TARGET. They start in the order in which they
are named: what takes longest first.

Every call builds the whole workspace with the same flags, so that the second build has nothing to do. Each program
runs as cargo would run it, in its package's folder. One that starts when no time is left (backend/testing/late.py)
runs only its tests that look for wrong rows. Its tests are reported as libtest's JSON, which libtest gives
only to those who claim to know that its form may change.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "backend"))

from testing import late  # noqa: E402

import junit  # noqa: E402

ENGINE = ROOT / "engine"
BUILD = ["cargo", "build", "--workspace", "--lib", "--bins", "--tests", "--features", "fqc-tests/mysql", "--locked"]
FORM = ["-Zunstable-options", "--format=json", "--report-time"]
OUTCOMES = {"ok": "passed", "failed": "failed", "ignored": "skipped"}
# Names of programs and modules whose tests look for wrong rows. These tests are never left out.
WRONG_ROWS = re.compile(r"differential|histories|traps|\brows|transactions")
SAYING = threading.Lock()


@dataclass(frozen=True)
class Program:
    package: str
    target: str
    file: str
    folder: Path

    @property
    def name(self) -> str:
        return f"{self.package}-{self.target}"


def built() -> list[Program]:
    """Builds everything, and returns all test programs. Ends this process if the build fails; the compiler's
    messages go to stderr."""
    words = [*BUILD, "--message-format=json-render-diagnostics", "--quiet"]
    done = subprocess.run(words, cwd=ENGINE, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    return [*programs(done.stdout)]


def programs(messages: str) -> Iterator[Program]:
    for message in map(json.loads, messages.splitlines()):
        if message.get("executable") and message["profile"]["test"]:
            folder = Path(message["manifest_path"]).parent
            package = message["package_id"].rpartition("/")[2].replace("#", "@").split("@")
            name = package[1] if len(package) == 3 else f"fqc-{package[0]}"
            yield Program(name, message["target"]["name"], message["executable"], folder)


def is_among(program: Program, choices: list[str]) -> bool:
    parts = (choice.partition(":") for choice in choices)
    return any(
        package == program.package and (not targets or program.target in targets.split(","))
        for package, _, targets in parts
    )


def in_order(found: Iterable[Program], choices: list[str]) -> list[Program]:
    """Returns the chosen programs, in the order of the choices; every program if there are no choices."""
    chosen = [each for each in found if not choices or is_among(each, choices)]
    return sorted(chosen, key=lambda each: [not is_among(each, [choice]) for choice in choices])


def run(program: Program, only: list[str]) -> tuple[int, list[junit.Case]]:
    """Runs a program, prints its tests as they end, and returns its exit code and all its tests.

    `only`: the names of the tests to run; all if empty, or fewer if no time is left.
    """
    environment = os.environ | {"RUSTC_BOOTSTRAP": "1", "CARGO_MANIFEST_DIR": str(program.folder)}
    left_out: list[junit.Case] = []
    if not only and late.is_past():
        only, left_out = of_wrong_rows(program)
        if not only:
            return 0, left_out
    words = [program.file, *FORM, *(["--exact", *only] if only else [])]
    started = subprocess.Popen(
        words, cwd=program.folder, env=environment, text=True, errors="replace", stdout=subprocess.PIPE
    )
    assert started.stdout
    cases = [case for line in started.stdout if (case := heard(program, line))]
    code = started.wait()
    if code and not any(case.outcome == "failed" for case in cases):
        cases.append(junit.Case(program.name, "failed", message=f"the program ended with exit code {code}"))
        say(f"test {program.name} ... FAILED\nthe program ended with exit code {code}")
    return code, [*cases, *left_out]


def of_wrong_rows(program: Program) -> tuple[list[str], list[junit.Case]]:
    """Returns the names of the program's tests that look for wrong rows, and its other tests as skipped ones."""
    words = [program.file, "--list", "--format=terse"]
    listed = subprocess.run(words, cwd=program.folder, stdout=subprocess.PIPE, text=True, check=True).stdout
    tests = [line.removesuffix(": test") for line in listed.splitlines() if line.endswith(": test")]
    kept = [test for test in tests if WRONG_ROWS.search(f"{program.name}:{test}")]
    left_out = [junit.Case(test, "skipped", message=late.REASON) for test in tests if test not in kept]
    say(f"{program.name}: {late.REASON} for {len(left_out)} of {len(tests)} tests")
    return kept, left_out


def heard(program: Program, line: str) -> junit.Case | None:
    """Prints a line of the program's output. Returns the test that ended with it, or None. Lines that are not
    libtest's come from a test."""
    try:
        event = json.loads(line)
        name, kind = event["name"], event["event"]
    except (ValueError, KeyError, TypeError):
        if not line.startswith('{ "type": "suite"'):
            say(line.rstrip("\n"))
        return None
    if kind == "timeout":
        say(f"test {name} runs for more than a minute ({program.name})")
    if kind not in OUTCOMES:
        return None
    case = junit.Case(name, OUTCOMES[kind], event.get("exec_time", 0.0), event.get("stdout", ""))
    verdict = "FAILED\n" + case.message if kind == "failed" else kind
    say(f"{program.name}: test {name} ... {verdict} ({case.seconds:.2f} s)")
    return case


def say(words: str) -> None:
    with SAYING:
        print(words, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument("choices", nargs="*")
    asked = parser.parse_args()
    found = in_order(built(), asked.choices)
    if asked.build:
        return 0
    found = [each for each in found if not is_among(each, asked.without)]
    if not found:
        parser.error("there is no such test program")
    with ThreadPoolExecutor(asked.jobs) as pool:
        ended = [*pool.map(lambda program: run(program, asked.only.split()), found)]
    cases = [case for _, each in ended for case in each]
    absent = not_found(asked.only.split(), cases)
    junit.write("cargo", cases)
    counts = {outcome: sum(case.outcome == outcome for case in cases) for outcome in ("passed", "failed", "skipped")}
    say(", ".join(f"{number} {outcome}" for outcome, number in counts.items()))
    return 1 if absent or any(code for code, _ in ended) else 0


def not_found(only: list[str], cases: list[junit.Case]) -> list[str]:
    """Returns the names of tests that were asked for and did not run, and prints them."""
    absent = sorted({*only} - {case.name for case in cases})
    if absent:
        say(f"there is no such test: {', '.join(absent)}")
    return absent


if __name__ == "__main__":
    sys.exit(main())
