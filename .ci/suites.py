"""Runs every suite, some at a time, to the end, and sums up.

A suite is a make target; its output goes to one log under .run/test/, and the numbers in the summary are those that
the test tools themselves printed there. A suite without such numbers counts as one test, so that a linter counts
too; a suite that failed counts at least one failure, whatever it printed.

Invariants: what a suite started ends with it. Whatever outlives it is ended here and is a failure of the suite; an
interrupt ends everything, and a limit of time ends a suite that hangs. A suite is spared only if it passed with
exactly what it would see now (inputs.py), never with CI or FRESH in the environment, and the summary says so. Standard
library only: it runs before anything is installed.
"""

import math
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "backend"))

from stack import process  # noqa: E402
from stack.waiting import wait_until  # noqa: E402

import inputs  # noqa: E402

LOGS = Path(os.environ.get("RUN_DIR", ROOT / ".run")) / "test"
# More than a small machine has processors: suites wait a lot, for servers that start and conditions that come.
WORKERS = 5
HEARTBEAT_SECONDS = 60
# In the environment of everything that a suite starts, with a value for each run of a suite.
MARK = "SUITE_RUN"
RUN = secrets.token_hex(8)
END_SECONDS = 60
# More than the longest takes on a small machine that is busy. One that hangs must not cost the others their time.
SUITE_SECONDS = 60 * 60
# What all of it may take on a build machine, which ends it after 90 minutes and shows little of why.
ALL_SECONDS = 85 * 60
# Less is no second chance.
AGAIN_SECONDS = 5 * 60
BEGUN = time.monotonic()
IS_INTERRUPTED = threading.Event()


@dataclass(frozen=True)
class Suite:
    name: str
    target: str
    # Suites of one lane never run beside each other: they would only wait for the same folder, or share something.
    lane: str
    # All of the checkout that it can see; the rest is hidden from it, and no reason to run it again.
    sees: tuple[str, ...] = (".",)


# The console's page is there for the control plane, and empty: of what is built one file is seen.
CONTROL_PLANE = ("Makefile", "backend/.venv", "backend/config", "backend/controlplane", "backend/manage.py")
CONTROL_PLANE += ("engine/dist", "engine/servers.tsv", "backend/stack", "frontend/dist/favicon.svg")
CONTROL_PLANE += ("scripts/fetch-server",)
BACKEND = (*CONTROL_PLANE, "backend/testing", "backend/conftest.py", "backend/pyproject.toml", "backend/openapi.yaml")
BACKEND += ("docs/reference", "docs/guides/alerts.md", "docs/guides/grants.md")
ENGINE = ("Cargo.lock", "Cargo.toml", "clippy.toml", "crates", "dist", "docker", "rustfmt.toml")
ENGINE += ("servers.tsv", "target", "tests")
ENGINE = ("Makefile", "docs/reference/engine.json", *(f"engine/{name}" for name in ENGINE))
FRONTEND = ("Makefile", "frontend", "backend/openapi.yaml")
# Where the names come from that the console tells in its second language.
TOLD = ("backend/controlplane", *(f"engine/crates/{name}/src" for name in ("insight", "plugin", "session", "sql")))
# Linters and the copy that is generated anew leave out what git does.
LISTED = ("Makefile", ".gitignore")

# The lanes that take longest first: what is left to run alone at the end costs most.
SUITES = [
    Suite("browser end to end", "e2e", "console", (*CONTROL_PLANE, "frontend")),
    Suite("backend on PostgreSQL", "test-backend-postgres", "postgresql", BACKEND),
    Suite("backend on SQLite", "test-backend-sqlite", "sqlite", BACKEND),
    Suite("engine on real servers", "test-engine-server", "rust", ENGINE),
    Suite("engine on MySQL", "test-engine-mysql", "rust", (*ENGINE, "scripts/fetch-server")),
    Suite("engine on another line", "test-engine-line", "line", (*ENGINE, "scripts/fetch-server")),
    Suite(
        "near",
        "test-near",
        "line",
        (*ENGINE, "docs/reference/near.md", "scripts/fetch-server", "scripts/fetch-memcached"),
    ),
    Suite("engine", "test-engine", "rust", ENGINE),
    Suite("engine lint", "lint-engine", "rust", ENGINE),
    Suite(
        "Terraform provider",
        "test-terraform",
        "clients",
        (*CONTROL_PLANE, "backend/openapi.yaml", "docs/reference/expressions.json", "infra"),
    ),
    Suite(
        "Helm chart",
        "test-helm",
        "node",
        (
            *("Makefile", "infra/helm", "docker-compose.yml", "docs/reference/settings.md", "backend/Dockerfile"),
            "backend/controlplane/core/root_urls.py",
        ),
    ),
    Suite("dashboards", "test-dashboards", "node", ("Makefile", "infra/observability")),
    Suite("CLI", "test-cli", "clients", (*CONTROL_PLANE, "backend/fqc", "docs/guides/official-sdks.md")),
    Suite(
        "official SDKs", "test-sdk", "clients", (*CONTROL_PLANE, "backend/rpc_clients", "docs/guides/official-sdks.md")
    ),
    Suite(
        "Python lint",
        "lint-python",
        "node",
        (*LISTED, "backend", ".ci", "engine/bench", "engine/tests/peers", "scripts/packages"),
    ),
    Suite("frontend lint", "lint-frontend", "node", (*LISTED, *FRONTEND)),
    Suite("Go lint", "lint-terraform", "node", ("Makefile", "infra", "backend/rpc_clients/go")),
    Suite(
        "shell lint",
        "lint-shell",
        "node",
        (
            *("Makefile", ".ci", "scripts", "engine/bench/run", "engine/docker", "backend/Dockerfile"),
            *(f"engine/Dockerfile{of}" for of in ("", ".mysql", ".near")),
        ),
    ),
    Suite("frontend", "test-frontend", "node", (*FRONTEND, *TOLD)),
    Suite("bench harness", "test-bench", "node", ("Makefile", "engine/bench", "engine/dist")),
    Suite(
        "generated files",
        "generate-check",
        "node",
        (*LISTED, ".ci", "backend", "docs/reference", "engine/servers.tsv", "frontend", "infra"),
    ),
    Suite("stack", "test-stack", "clients", (*CONTROL_PLANE, "frontend/dist")),
    Suite("house", "test-house", "clients"),
    Suite("faults", "test-faults", "faults", (*BACKEND, "backend/faults")),
    Suite(
        "engine and MariaDB's own tests", "test-peers-slice", "peers", ("Makefile", "engine/dist", "engine/tests/peers")
    ),
    # It builds in a folder of its own, and fills the time in which the others do not take all processors.
    Suite("engine models (loom)", "test-engine-models", "loom", ENGINE),
]

BUILD = Suite("build", "build-all", "build")
# What that leaves is not looked at again by each suite, which could not see all of its sources.
BUILT = (
    "build", "engine", "near", "backend", "frontend", "cli", "sdk-clients", "terraform", "backend/.venv/ready",
    "backend/fqc/.venv/ready", "backend/rpc_clients/.venv/ready", "backend/rpc_clients/node/node_modules/ready",
    "frontend/node_modules/ready", "frontend/dist/index.html", "engine/bench/.venv/ready",
    "scripts/.venv/ready",
)  # fmt: skip
OLD = [f"--assume-old={goal}" for goal in BUILT]

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# What cargo, pytest, vitest, playwright and `go test -v` (one line per test) print about their tests.
_PYTEST = r"^(?!test result)(?:.*?\b)?(\d+) {}\b.* in [\d.]+s"
COUNTS = {
    "passed": [
        r"test result: \w+\. (\d+) passed",
        _PYTEST.format("passed"),
        r"^ +Tests +.*?(\d+) passed",
        r"^ {2}(\d+) passed \(",
        r"^(---) PASS:",
    ],
    "failed": [
        r"test result: \w+\. \d+ passed; (\d+) failed",
        _PYTEST.format("failed"),
        _PYTEST.format("errors?"),
        r"^ +Tests +(\d+) failed",
        r"^ {2}(\d+) failed$",
        r"^(---) FAIL:",
    ],
    "skipped": [
        r"test result: .*; (\d+) ignored",
        _PYTEST.format("skipped"),
        r"^ +Tests +.*?(\d+) skipped",
        r"^ {2}(\d+) skipped$",
        r"^(---) SKIP:",
    ],
}

# The lines in which the same tools name a test that failed; Go's also those that ran when its time was over.
FAILURES = re.compile(
    r"^test (\S+) \.\.\. FAILED$|^(?:FAILED|ERROR) (\S+\.py\S*)"
    r"|^ FAIL +(\S.*)$|^ {4}(\[.+\.spec\.ts:.+)$|^ *--- FAIL: (\S+)|^\t\t(Test\S+ \(.+s\))$",
    re.MULTILINE,
)
MOST_NAMES = 20
# What pytest, playwright, Go and a panic, whose message is in the next line, say of why; and we of a suite that hangs.
REASONS = re.compile(
    r"^E {3,}(\S.*)$|^ {4}((?:\w+)?Error: .+)$|^(thread '.+ panicked at .+\n.*)$"
    r"|^ +(\w+_test\.go:\d+: .+)$|^(.+ did not end in time; .+)$",
    re.MULTILINE,
)
MOST_REASONS = 5
MOST_LETTERS = 300
# What playwright says of tests that passed when it tried them again.
FLAKY = re.compile(r"^ {2}\d+ flaky$", re.MULTILINE)

# Targets that take the names of some of their tests as ONLY; the others are short.
TAKE_NAMES = {"e2e", "test-backend-postgres", "test-backend-sqlite", "test-engine-server", "test-engine-mysql"}
TAKE_NAMES |= {"test-engine-line", "test-near", "test-engine", "test-terraform", "test-cli"}
# What tools say when tests may be missing among those that they name.
BROKEN_OFF = re.compile(
    r"did not end in time|^left behind|\(signal: |timed out after|\d did not run$"
    r"|crashed while running|could not compile",
    re.MULTILINE,
)

# What a suite cannot run here, be it all or a part, it tells in a line of this form.
SKIPPED = re.compile(r"^SKIPPED: (.+)$", re.MULTILINE)


@dataclass
class Result:
    suite: Suite
    exit_code: int
    seconds: float
    passed: int
    failed: int
    skipped: int
    cpu_seconds: float = 0.0
    tries: int = 1
    # Why some of it was skipped; all of it, if nothing has passed.
    skipped_for: str | None = None
    # When an earlier run with the same inputs passed, in whose place this stands.
    passed_at: float | None = None

    @property
    def log(self) -> Path:
        return log_of(self.suite)


def log_of(suite: Suite) -> Path:
    return LOGS / f"{suite.target}.log"


def count(text: str, kind: str) -> int:
    plain = ESCAPES.sub("", text)
    found = (hit for pattern in COUNTS[kind] for hit in re.findall(pattern, plain, re.MULTILINE))
    return sum(1 if hit == "---" else int(hit) for hit in found)


def first_log_of(suite: Suite) -> Path:
    """The log of a try that failed, when there was another."""
    return log_of(suite).with_suffix(".first.log")


def failures(text: str) -> list[str]:
    """The names of the tests that failed, once each."""
    found = FAILURES.finditer(ESCAPES.sub("", text))
    return list(dict.fromkeys(name.strip() for hit in found if (name := hit[hit.lastindex or 0])))


def reasons(text: str) -> list[str]:
    """Why, in a line each: whoever has only the end of the output has no log to look into."""
    found = REASONS.finditer(ESCAPES.sub("", text))
    return list(dict.fromkeys(" ".join(hit[hit.lastindex or 0].split())[:MOST_LETTERS] for hit in found))


def names_for_again(suite: Suite, text: str) -> list[str]:
    """The tests that failed, as their tool is asked for them; none if only all of the suite will do."""
    named = failures(text)
    are_all = len(named) >= count(text, "failed") and not BROKEN_OFF.search(ESCAPES.sub("", text))
    return list(dict.fromkeys(map(as_asked, named))) if suite.target in TAKE_NAMES and are_all else []


def as_asked(name: str) -> str:
    """With all of its parameters and parts, whose names may contain anything."""
    if place := re.search(r"\S+\.spec\.ts:\d+", name):
        return place[0]
    return name.partition("[" if ".py::" in name else "/")[0]


def judge(suite: Suite, exit_code: int, seconds: float, text: str) -> Result:
    passed, failed, skipped = (count(text, kind) for kind in ("passed", "failed", "skipped"))
    if exit_code == 0 and (reasons := SKIPPED.findall(ESCAPES.sub("", text))):
        return Result(suite, 0, seconds, passed, 0, skipped or 1, skipped_for="; ".join(reasons))
    if exit_code == 0:
        # The tool's own verdict: a failure it printed and then repeated with success is not one.
        return Result(suite, 0, seconds, passed or 1, 0, skipped)
    return Result(suite, exit_code, seconds, passed, failed or 1, skipped)


def run(suite: Suite, *, is_hiding: bool = False, only: Sequence[str] = ()) -> Result:
    begun = time.monotonic()
    # A temporary folder of its own: MariaDB servers of two suites would clean up after each other. A short name, since
    # a socket's path has 107 characters at most.
    with log_of(suite).open("w") as log, own_folder() as own:
        Path(own).chmod(0o711)  # PostgreSQL, which refuses to run as root, has to reach its folder below
        environment = inputs.environment() | {"TMPDIR": own, MARK: mark_of(suite)}
        goal = [suite.target, f"ONLY={' '.join(only)}"] if only else [suite.target]
        command = ["make", *goal]
        if is_hiding:
            command = inputs.hiding(inputs.hidden(suite.sees), ["make", *OLD, *goal], Path(own))
        started = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        limit = threading.Timer(seconds_for_a_suite(), end_hanging, (suite, log))
        limit.start()
        exit_code, cpu_seconds = ended(started)
        limit.cancel()
        limit.join()  # it may be ending the last of them
        left = end_leftovers(suite, log)
    text = log_of(suite).read_text(errors="replace")
    result = judge(suite, exit_code or left, time.monotonic() - begun, text)
    return replace(result, cpu_seconds=cpu_seconds)


def ended(started: subprocess.Popen[bytes]) -> tuple[int, float]:
    """Its exit code, and the processor time of it and its children. Servers that detach are not counted."""
    _, status, usage = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(status)
    return started.returncode, usage.ru_utime + usage.ru_stime


def seconds_left() -> float:
    return BEGUN + ALL_SECONDS - time.monotonic() if "CI" in os.environ else math.inf


def seconds_for_a_suite() -> float:
    return max(1.0, min(SUITE_SECONDS, seconds_left()))


def end_hanging(suite: Suite, log: TextIO) -> None:
    """Names what still runs, which is what its suite waits for, and ends it."""
    running = process.marked(mark_of(suite), MARK)
    log.write("".join(f"still running: {one.pid} {command_of(one.pid)}\n" for one in running))
    log.write(f"{suite.name} did not end in time; it was ended\n")
    log.flush()
    process.stop(running, END_SECONDS)


def own_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="fqc-", ignore_cleanup_errors=True)


def mark_of(suite: Suite) -> str:
    return f"{RUN}-{suite.target}"


def end_leftovers(suite: Suite, log: TextIO) -> int:
    """How many of the suite's processes had to be ended; the log names them."""
    if wait_until(lambda: not process.marked(mark_of(suite), MARK), END_SECONDS):
        return 0
    left = process.marked(mark_of(suite), MARK)
    for one in left:
        log.write(f"left behind: {one.pid} {command_of(one.pid)}\n")
    process.stop(left, END_SECONDS)
    return len(left)


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", " ")
    except OSError:
        return "has just ended"


class Board:
    """Hands out suites so that no lane is used twice at once, and tells what happens."""

    def __init__(self, suites: list[Suite], *, is_hiding: bool) -> None:
        self.waiting = list(suites)
        self.is_hiding = is_hiding
        self.running: dict[str, tuple[Suite, float]] = {}
        self.results: list[Result] = []
        self.changed = threading.Condition()

    def take(self) -> Suite | None:
        with self.changed:
            while self.waiting and not IS_INTERRUPTED.is_set():
                for suite in self.waiting:
                    if suite.lane not in self.running:
                        self.waiting.remove(suite)
                        self.running[suite.lane] = (suite, time.monotonic())
                        say(f"{suite.name} ...")
                        return suite
                self.changed.wait()
            return None

    def give_back(self, result: Result) -> None:
        with self.changed:
            del self.running[result.suite.lane]
            self.results.append(result)
            self.changed.notify_all()
        say(told(result))

    def work(self) -> None:
        while suite := self.take():
            self.give_back(run(suite, is_hiding=self.is_hiding))


def say(words: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {words}", flush=True)


def moment(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


def verdict(result: Result) -> str:
    skipped = f", {result.skipped} skipped" if result.skipped else ""
    return (
        f"{result.passed} passed, {result.failed} failed{skipped}"
        if result.exit_code
        else f"ok, {result.passed} passed{skipped}"
    )


def told(result: Result) -> str:
    words = f"{result.suite.name}: {verdict(result)} in {result.seconds:.0f} s"
    return f"{words}; {tail(result.log)}" if result.exit_code else words


def tail(log: Path, lines: int = 25) -> str:
    text = ESCAPES.sub("", log.read_text(errors="replace"))
    return f"the end of {log}:\n" + "\n".join("    " + line for line in text.splitlines()[-lines:])


def state_of(result: Result) -> str:
    if result.passed_at is not None:
        return f"unchanged, passed at {moment(result.passed_at)}"
    if result.skipped_for:
        return "PARTLY" if result.passed else "SKIPPED"
    return "FAILED" if result.exit_code else "ok" if result.tries == 1 else "ok, 2nd"


def summary(results: list[Result]) -> str:
    rows = [("suite", "result", "passed", "failed", "skipped", "seconds", "CPU", "log")]
    for result in results:
        state = state_of(result)
        numbers = (str(result.passed), str(result.failed), str(result.skipped), f"{result.seconds:.0f}")
        numbers += (f"{result.cpu_seconds:.0f}",)
        rows.append((result.suite.name, state, *numbers, os.path.relpath(result.log, ROOT)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def what_failed(results: list[Result]) -> str:
    """A line for each test that failed: whoever sees only the end of the output sees its name."""
    lines = []
    for result in results:
        tries = [first_log_of(result.suite)] if result.tries > 1 else []
        tries += [result.log] if result.exit_code or is_flaky(result.log) else []
        for log in tries:
            text = log.read_text(errors="replace")
            place = f"{result.suite.name} ({os.path.relpath(log, ROOT)})"
            lines += [f"failed: {place}: {name}\n" for name in failures(text)[:MOST_NAMES]]
            lines += [f"why: {place}: {reason}\n" for reason in reasons(text)[:MOST_REASONS]]
    return "".join(lines)


def is_flaky(log: Path) -> bool:
    return log.exists() and FLAKY.search(ESCAPES.sub("", log.read_text(errors="replace"))) is not None


def total(results: list[Result]) -> str:
    passed, failed = sum(each.passed for each in results), sum(each.failed for each in results)
    spared = sum(each.passed for each in results if each.passed_at is not None)
    told = f"; {spared} of them earlier, with the same inputs, not in this run: FRESH=1 runs all" if spared else ""
    skipped = "".join(f"; {each.suite.name}: SKIPPED: {each.skipped_for}" for each in results if each.skipped_for)
    return f"{passed} passed, {failed} failed{told}{skipped}"


def heartbeat(board: Board, finished: threading.Event) -> None:
    while not finished.wait(HEARTBEAT_SECONDS):
        with board.changed:
            running = [f"{suite.name} ({time.monotonic() - begun:.0f} s)" for suite, begun in board.running.values()]
        say("still running: " + ", ".join(running))


def run_again(result: Result, *, is_hiding: bool) -> Result:
    """A build machine is shared with others, so there what failed gets a second chance; the summary tells of it.

    Nothing of ours runs beside it: what fails then as well is no matter of load.
    """
    if result.exit_code == 0 or "CI" not in os.environ or IS_INTERRUPTED.is_set() or seconds_left() < AGAIN_SECONDS:
        return result
    suite = result.suite
    only = names_for_again(suite, result.log.read_text(errors="replace"))
    result.log.rename(first_log_of(suite))
    say(f"{suite.name}: {', '.join(only) or 'all of it'} once more ...")
    again = run(suite, is_hiding=is_hiding, only=only)
    say(told(again))
    return replace(again, tries=2, passed=again.passed + (result.passed if only else 0))


def run_all() -> list[Result]:
    say("build ...")
    built = run(BUILD)
    say(told(built))
    built = run_again(built, is_hiding=False)
    is_hiding = built.exit_code == 0 and inputs.can_hide()
    before = inputs.Inputs() if is_hiding else None
    spared = unchanged(before) if before and may_spare() else []
    rest = run_rest([suite for suite in SUITES if suite not in {each.suite for each in spared}], is_hiding)
    results = spared + [run_again(result, is_hiding=is_hiding) for result in rest]
    if before:
        keep(results, before, inputs.Inputs())
    return [built, *sorted(results, key=lambda result: SUITES.index(result.suite))]


def run_rest(suites: list[Suite], is_hiding: bool) -> list[Result]:
    board, finished = Board(suites, is_hiding=is_hiding), threading.Event()
    threading.Thread(target=heartbeat, args=(board, finished), daemon=True).start()
    workers = [threading.Thread(target=board.work) for _ in range(WORKERS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    finished.set()
    return board.results


def may_spare() -> bool:
    return not os.environ.get("CI") and not os.environ.get("FRESH")


def pass_of(suite: Suite) -> Path:
    return LOGS / "passes" / f"{suite.target}.json"


def unchanged(now: inputs.Inputs) -> list[Result]:
    """Stands in for the suites that have passed with what they would see now."""
    found = []
    for suite in SUITES:
        last = inputs.last_pass(pass_of(suite))
        if last and last.is_recent and last.digest == now.digest(suite.sees):
            found.append(Result(suite, 0, 0, last.passed, 0, last.skipped, passed_at=last.ended_at))
            say(f"{suite.name}: {state_of(found[-1])}")
    return found


def keep(results: list[Result], before: inputs.Inputs, after: inputs.Inputs) -> None:
    """Notes what passed at its first try with inputs that stayed as they were all the time."""
    for result in results:
        sees, file = result.suite.sees, pass_of(result.suite)
        if result.passed_at is not None:
            continue
        moved = before.seen(sees).items() ^ after.seen(sees).items()
        if result.exit_code or result.skipped_for or result.tries > 1 or moved:
            file.unlink(missing_ok=True)
            if moved:
                say(f"{result.suite.name}: will run again; while it ran somebody touched {min(moved)[0]}")
        else:
            inputs.keep_pass(file, inputs.Pass(before.digest(sees), time.time(), result.passed, result.skipped))


def end_all() -> None:
    IS_INTERRUPTED.set()
    for suite in (BUILD, *SUITES):
        process.stop(process.marked(mark_of(suite), MARK), END_SECONDS)


def main() -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    LOGS.mkdir(parents=True, exist_ok=True)
    try:
        results = run_all()
    except KeyboardInterrupt:
        say("interrupted; ending what runs")
        end_all()
        return 130
    print("\n" + summary(results))
    print(what_failed(results) + total(results))
    return 1 if any(result.exit_code for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
