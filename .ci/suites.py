"""Builds everything, runs every suite to the end, some at a time, and prints one summary.

A suite is a make target. Its output goes to one log under .run/test/, and its runners report their tests as JUnit XML
into a folder beside the log (junit.py). A suite without such a report, such as a linter, counts as one test; a suite
that failed counts at least one failure, whatever it reported.

Invariants: the processes of a suite end with it. What outlives a suite is ended here and is a failure of the suite;
an interrupt ends everything, and a time limit ends a suite that hangs. On a build machine that is too slow for all
tests, those of the large suites for which no time is left are left out, and the summary says so. Standard library
only: it runs before anything is installed.
"""

import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "backend"))

from stack import process  # noqa: E402
from stack.waiting import wait_until  # noqa: E402
from testing import late  # noqa: E402

import cargo_seed  # noqa: E402
import junit  # noqa: E402

LOGS = Path(os.environ.get("RUN_DIR", ROOT / ".run")) / "test"
CACHE = Path(os.environ.get("FQC_CACHE", Path.home() / ".cache" / "fqc"))
# The number of suites that run at the same time. It is more than a small machine has processors, because suites spend
# much time waiting for servers and conditions.
WORKERS = 4
HEARTBEAT_SECONDS = 60
MEMORY = Path("/dev/shm")
# The free bytes that MEMORY must have. The suites on real servers take less than 1 GiB of it together.
MEMORY_BYTES = 8 << 30
# An environment variable of everything that a suite starts. Its value differs for each run of a suite.
MARK = "SUITE_RUN"
RUN = secrets.token_hex(8)
END_SECONDS = 60
# The time for a whole run. A build machine ends it after 90 minutes and shows little of why.
ALL_SECONDS = 85 * 60
# The time after which no suite, and no further test of a large suite, starts. Running suites and second tries need the
# rest.
LATE_SECONDS = 65 * 60
# The time that must be left for a suite that failed to get a second try.
AGAIN_SECONDS = 5 * 60
STARTED = time.monotonic()
IS_INTERRUPTED = threading.Event()
# Variables that are removed from the environment. Suites start hundreds of Python processes, and without bytecode files
# each of them would compile the same modules again. Users have buffered output, and programs have to report its loss at
# exit.
IN_THE_WAY = {"PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "MAKEFLAGS", "MFLAGS", "MAKELEVEL"}


@dataclass(frozen=True)
class Suite:
    name: str
    target: str
    # Suites with the same name here never run at the same time. Empty: the suite shares nothing with another one.
    lane: str = ""
    # Whether the target takes the names of some of its tests as ONLY. The others are short.
    takes_names: bool = False
    # Whether the suite starts hundreds of database servers. On a disk their files take as much processor time as their
    # start.
    has_many_servers: bool = False
    # Whether tests of the suite are left out when no time is left. It is long, and its runner can do that.
    is_large: bool = False

    @property
    def log(self) -> Path:
        return LOGS / f"{self.target}.log"

    @property
    def first_log(self) -> Path:
        """Returns the path of the log of a failed first try. The file exists only if there was a second one."""
        return self.log.with_suffix(".first.log")

    @property
    def reports(self) -> Path:
        return LOGS / "reports" / self.target


# All suites in the order in which they start: wrong rows first, then what has to be whole, then the large suites. A
# slow machine leaves out tests of the large suites alone.
SUITES = [
    Suite("engine on real servers", "test-engine-server", takes_names=True, has_many_servers=True, is_large=True),
    Suite("Terraform provider", "test-terraform", takes_names=True),
    Suite("engine lint", "lint-engine"),
    Suite("engine", "test-engine", takes_names=True),
    Suite("engine models (loom)", "test-engine-models"),
    Suite("Python lint", "lint-python", "node"),
    Suite("CLI", "test-cli", "stacks", takes_names=True),
    Suite("frontend lint", "lint-frontend", "node"),
    Suite("frontend", "test-frontend", "node"),
    Suite("generated files", "generate-check", "node"),
    Suite("stack", "test-stack", "stacks"),
    Suite("house", "test-house"),
    Suite("near", "test-near", takes_names=True, has_many_servers=True, is_large=True),
    Suite("backend on PostgreSQL", "test-backend-postgres", takes_names=True, is_large=True),
    Suite("official SDKs", "test-sdk", "stacks"),
    Suite("faults", "test-faults"),
    Suite("real applications", "test-apps", has_many_servers=True),
    Suite("engine and MariaDB's own tests", "test-peers-slice"),
    Suite("bench harness", "test-bench"),
    Suite("Helm chart", "test-helm"),
    Suite("dashboards", "test-dashboards"),
    Suite("Go lint", "lint-terraform"),
    Suite("shell lint", "lint-shell"),
    Suite("browser end to end", "e2e", takes_names=True, is_large=True),
    Suite("engine on MySQL", "test-engine-mysql", takes_names=True, has_many_servers=True, is_large=True),
    Suite("engine on another line", "test-engine-line", takes_names=True, has_many_servers=True, is_large=True),
    Suite("backend on SQLite", "test-backend-sqlite", takes_names=True, is_large=True),
]
BUILD = Suite("build", "build-all")

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# A line that a suite prints if it cannot run here, in whole or in part, with the reason.
SKIPPED = re.compile(r"^SKIPPED: (.+)$", re.MULTILINE)
# Lines of runners that mean that tests may be missing from their reports.
BROKEN_OFF = re.compile(
    r"did not end in time|^left behind|ended with exit code|timed out after|\d did not run$|crashed while running"
    r"|could not compile",
    re.MULTILINE,
)
MOST_NAMES = 20
# The number of letters of a long reason that are shown of its beginning and of its end.
FIRST_LETTERS, LAST_LETTERS = 200, 400


@dataclass
class Result:
    suite: Suite
    exit_code: int
    seconds: float
    cases: list[junit.Case] = field(default_factory=list)
    skipped_for: str = ""
    tries: int = 1
    # The tests that failed in an earlier try.
    earlier: list[junit.Case] = field(default_factory=list)
    # The processor seconds of the suite's processes, except of those that no parent waited for.
    processor_seconds: float = 0.0
    # False if no time was left for the suite.
    has_run: bool = True

    def of(self, outcome: str) -> list[junit.Case]:
        return [case for case in self.cases if case.outcome == outcome]

    @property
    def left_out(self) -> int:
        """Returns the number of tests that no time was left for. They also count as skipped."""
        return sum(case.message == late.REASON for case in self.of("skipped"))

    @property
    def passed(self) -> int:
        return len(self.of("passed")) or int(self.has_run and not self.exit_code and not self.skipped_for)

    @property
    def failed(self) -> int:
        return max(len(self.of("failed")), 1) if self.exit_code else 0

    @property
    def skipped(self) -> int:
        return len(self.of("skipped")) or int(bool(self.skipped_for) or not self.has_run)


def run(suite: Suite, *, only: Sequence[str] = ()) -> Result:
    started_at = time.monotonic()
    shutil.rmtree(suite.reports, ignore_errors=True)
    suite.reports.mkdir(parents=True)
    # A temporary folder of its own: two MariaDB servers with one folder remove each other's files. A short name, since
    # a socket's path has at most 107 characters.
    with suite.log.open("w") as log, own_folder(suite) as own:
        Path(own).chmod(0o711)  # PostgreSQL, which refuses to run as root, has to reach its folder below
        command = ["make", suite.target, *([f"ONLY={' '.join(only)}"] if only else [])]
        started = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment(suite, own),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        limit = threading.Timer(max(1.0, seconds_left()), end_hanging, (suite, log))
        limit.start()
        exit_code, processor = ended(started)
        limit.cancel()
        limit.join()  # it may be ending the last of them
        left = end_leftovers(suite, log)
    result = judge(suite, exit_code or left, time.monotonic() - started_at)
    return replace(result, processor_seconds=processor)


def ended(started: subprocess.Popen[bytes]) -> tuple[int, float]:
    """Waits for the process. Returns its exit code, and the processor seconds of it and of all children that it
    waited for."""
    _, status, usage = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(status)
    return started.returncode, usage.ru_utime + usage.ru_stime


def environment(suite: Suite, folder: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name not in IN_THE_WAY}
    own = {"TMPDIR": folder, MARK: mark_of(suite), junit.FOLDER: str(suite.reports)}
    if "CI" in os.environ:
        own["CARGO_INCREMENTAL"] = "0"  # nothing is built a second time there
        if suite.is_large:
            own[late.NAME] = str(int(time.time() + STARTED + LATE_SECONDS - time.monotonic()))
    pytest = f"{inherited.get('PYTEST_ADDOPTS', '')} -o junit_family=xunit1 --junitxml={suite.reports}/pytest.xml"
    return inherited | own | {"PYTEST_ADDOPTS": pytest.strip()}


def judge(suite: Suite, exit_code: int, seconds: float) -> Result:
    """Returns the result of a suite that has ended. The exit code decides whether it passed; the reports say which
    tests there were, and which failed."""
    skipped = SKIPPED.findall(plain(suite.log))
    return Result(suite, exit_code, seconds, junit.read(suite.reports), "" if exit_code else "; ".join(skipped))


def plain(log: Path) -> str:
    return ESCAPES.sub("", log.read_text(errors="replace")) if log.exists() else ""


def seconds_left() -> float:
    """Returns the seconds left for everything that still runs. Outside CI, each suite may take as long as a whole
    run."""
    return STARTED + ALL_SECONDS - time.monotonic() if "CI" in os.environ else ALL_SECONDS


def end_hanging(suite: Suite, log: TextIO) -> None:
    """Logs the processes that the suite still waits for, and ends them. Called when the time limit is reached."""
    running = process.marked(mark_of(suite), MARK)
    log.write("".join(f"still running: {one.pid} {command_of(one.pid)}\n" for one in running))
    log.write(f"{suite.name} did not end in time; it was ended\n")
    log.flush()
    process.stop(running, END_SECONDS)


def own_folder(suite: Suite) -> tempfile.TemporaryDirectory[str]:
    parent = folder_in_memory() if suite.has_many_servers else None
    return tempfile.TemporaryDirectory(prefix="fqc-", dir=parent, ignore_cleanup_errors=True)


def folder_in_memory() -> Path | None:
    """Returns a folder in memory, if it has room for many servers and lets them load plugins from there; otherwise
    None."""
    try:
        state = os.statvfs(MEMORY)
    except OSError:
        return None
    has_room = state.f_bavail * state.f_frsize >= MEMORY_BYTES
    return MEMORY if has_room and not state.f_flag & os.ST_NOEXEC else None


def mark_of(suite: Suite) -> str:
    return f"{RUN}-{suite.target}"


def end_leftovers(suite: Suite, log: TextIO) -> int:
    """Waits until the suite's processes have ended. Ends and logs those that it has left behind, and returns their
    number."""
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
    """Schedules suites so that no two of the same lane run at once, and prints their progress. Threads may share it."""

    def __init__(self, suites: list[Suite]) -> None:
        self.waiting = list(suites)
        self.running: dict[Suite, float] = {}
        self.results: list[Result] = []
        self.changed = threading.Condition()

    def take(self) -> Suite | None:
        with self.changed:
            while self.waiting and not IS_INTERRUPTED.is_set():
                if seconds_left() < ALL_SECONDS - LATE_SECONDS:
                    self.give_up()
                    return None
                busy = {suite.lane for suite in self.running if suite.lane}
                if suite := next((each for each in self.waiting if each.lane not in busy), None):
                    self.waiting.remove(suite)
                    self.running[suite] = time.monotonic()
                    say(f"{suite.name} ...")
                    return suite
                self.changed.wait()
            return None

    def give_up(self) -> None:
        for suite in self.waiting:
            say(f"{suite.name}: NOT RUN, since no time is left for it")
        self.results += [Result(suite, 0, 0.0, has_run=False) for suite in self.waiting]
        self.waiting.clear()

    def give_back(self, result: Result) -> None:
        with self.changed:
            del self.running[result.suite]
            self.results.append(result)
            self.changed.notify_all()
        say(sentence(result))

    def work(self) -> None:
        while suite := self.take():
            self.give_back(run(suite))


def run_side_by_side(suites: list[Suite]) -> list[Result]:
    board, finished = Board(suites), threading.Event()
    threading.Thread(target=heartbeat, args=(board, finished), daemon=True).start()
    workers = [threading.Thread(target=board.work) for _ in range(WORKERS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    finished.set()
    return board.results


def heartbeat(board: Board, finished: threading.Event) -> None:
    while not finished.wait(HEARTBEAT_SECONDS):
        with board.changed:
            running = [f"{suite.name} ({time.monotonic() - at:.0f} s)" for suite, at in board.running.items()]
        say("still running: " + ", ".join(running))


def run_again(result: Result) -> Result:
    """Runs a suite that failed once more, on a build machine, which is shared. Returns the result of both, or the first
    one.

    No other suite runs at that time: what fails then as well does not depend on load. The summary shows second tries.
    """
    if result.exit_code == 0 or "CI" not in os.environ or IS_INTERRUPTED.is_set() or seconds_left() < AGAIN_SECONDS:
        return result
    suite, only = result.suite, names_for_again(result)
    suite.log.rename(suite.first_log)
    say(f"{suite.name}: {', '.join(only) or 'all of it'} once more ...")
    again = run(suite, only=only)
    say(sentence(again))
    kept = [case for case in result.cases if only and case.outcome != "failed"]
    earlier = result.of("failed") or [junit.Case(suite.name, "failed")]
    return replace(again, tries=2, cases=[*kept, *again.cases], earlier=earlier)


def names_for_again(result: Result) -> list[str]:
    """Returns the names of the failed tests, as the variable ONLY of `make` takes them. Empty if the whole suite has to
    run again."""
    named = [case.again for case in result.of("failed")]
    is_whole = not result.suite.takes_names or BROKEN_OFF.search(plain(result.suite.log)) or not all(named)
    return [] if is_whole else list(dict.fromkeys(named))


def repeated_second_tries(results: list[Result], record: Path) -> list[str]:
    """Returns the tests that needed a second try in this run and in the one before it on this machine. Writes this
    run's to `record`."""
    now = {f"{each.suite.name}: {case.name}" for each in results for case in each.earlier if not each.exit_code}
    try:
        before = set(json.loads(record.read_text()))
    except (OSError, ValueError):
        before = set()
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps(sorted(now)))
    return sorted(now & before)


def say(words: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {words}", flush=True)


def sentence(result: Result) -> str:
    skipped = f", {result.skipped} skipped" if result.skipped else ""
    failed = f"{result.failed} failed, " if result.exit_code else ""
    words = f"{result.suite.name}: {failed}{result.passed} passed{skipped} in {result.seconds:.0f} s"
    return f"{words}; {tail(result.suite.log)}" if result.exit_code else words


def tail(log: Path, lines: int = 25) -> str:
    return f"the end of {log}:\n" + "\n".join("    " + line for line in plain(log).splitlines()[-lines:])


def state_of(result: Result) -> str:
    if not result.has_run:
        return "NOT RUN"
    if result.skipped_for:
        return "PARTLY" if result.passed else "SKIPPED"
    return "FAILED" if result.exit_code else "ok" if result.tries == 1 else "ok, 2nd"


def summary(results: list[Result]) -> str:
    rows = [("suite", "result", "passed", "failed", "skipped", "seconds", "processor", "log")]
    for each in results:
        times = (f"{each.seconds:.0f}", f"{each.processor_seconds:.0f}")
        numbers = (str(each.passed), str(each.failed), str(each.skipped), *times)
        rows.append((each.suite.name, state_of(each), *numbers, os.path.relpath(each.suite.log, ROOT)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def what_failed(results: list[Result]) -> str:
    """Returns two lines for each test that failed, since only the end of the output may be at hand."""
    lines = []
    for each in results:
        tries = [(each.suite.first_log, each.earlier)] if each.tries > 1 else []
        for log, cases in [*tries, (each.suite.log, each.of("failed"))]:
            place = f"{each.suite.name} ({os.path.relpath(log, ROOT)})"
            for case in cases[:MOST_NAMES]:
                lines.append(f"failed: {place}: {case.name}\n")
                lines += [f"   why: {reason_of(case)}\n"] if case.message else []
    return "".join(lines)


def reason_of(case: junit.Case) -> str:
    """Returns the message of a failed test, from its panic on if it has one, and without its middle if it is long."""
    words = " ".join(ESCAPES.sub("", case.message).replace("note: run with `RUST_BACKTRACE=1`", "").split())
    words = words[max(words.find("panicked at"), 0) :]
    if len(words) <= FIRST_LETTERS + LAST_LETTERS:
        return words
    return f"{words[:FIRST_LETTERS]} [...] {words[-LAST_LETTERS:]}"


def total(results: list[Result]) -> str:
    passed, failed = sum(each.passed for each in results), sum(each.failed for each in results)
    skipped = "".join(f"; {each.suite.name}: SKIPPED: {each.skipped_for}" for each in results if each.skipped_for)
    left_out = "".join(f"; {words}" for words in (left_out_sentence(results), not_run_sentence(results)) if words)
    return f"{passed} passed, {failed} failed{skipped}{left_out}"


def left_out_sentence(results: list[Result]) -> str:
    """Returns a sentence on tests that were left out, since the counts do not show it; empty if all ran."""
    cut = [f"{each.left_out} of {each.suite.name}" for each in results if each.left_out]
    return f"TESTS LEFT OUT, SINCE NO TIME WAS LEFT: {', '.join(cut)}" if cut else ""


def not_run_sentence(results: list[Result]) -> str:
    names = ", ".join(each.suite.name for each in results if not each.has_run)
    return f"NOT RUN, SINCE NO TIME WAS LEFT: {names}" if names else ""


def processor_seconds() -> float:
    """Returns the processor seconds of the whole machine since it started, idle time excluded."""
    numbers = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return (sum(numbers) - numbers[3] - numbers[4]) / os.sysconf("SC_CLK_TCK")


class Clock:
    """Measures how long each part of the run took, and how much of the machine was at work in it. `parts` are texts."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.begin()

    def begin(self) -> None:
        self.at, self.worked = time.monotonic(), processor_seconds()

    def end(self, part: str) -> None:
        seconds = time.monotonic() - self.at
        busy = (processor_seconds() - self.worked) / (os.cpu_count() or 1) / max(seconds, 0.001)
        self.parts.append(f"{part} {seconds:.0f} s (processors {busy:.0%} busy)")
        self.begin()


def run_all(clock: Clock) -> list[Result]:
    say("build ...")
    with_seed(cargo_seed.take)
    built = run(BUILD)
    say(sentence(built))
    built = run_again(built)
    clock.end("build")
    results = run_side_by_side(SUITES)
    clock.end("suites")
    results = [run_again(result) for result in results]
    clock.end("second tries")
    with_seed(cargo_seed.leave)
    return [built, *sorted(results, key=lambda result: SUITES.index(result.suite))]


def with_seed(do: Callable[[], None]) -> None:
    """Calls `do`, which takes over the engine's last build from the cache, or stores this one there. If it fails,
    prints why and goes on, since only the time of later builds depends on it.
    """
    try:
        do()
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        say(f"an earlier build could not be used or kept: {error}")


def end_all() -> None:
    IS_INTERRUPTED.set()
    for suite in (BUILD, *SUITES):
        process.stop(process.marked(mark_of(suite), MARK), END_SECONDS)


def main() -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    LOGS.mkdir(parents=True, exist_ok=True)
    clock = Clock()
    try:
        results = run_all(clock)
    except KeyboardInterrupt:
        say("interrupted; ending what runs")
        end_all()
        return 130
    twice = repeated_second_tries(results, CACHE / "second-tries.json")
    print("\n" + summary(results))
    print(
        what_failed(results) + "".join(f"failed: needed a second try twice in a row: {name}\n" for name in twice),
        end="",
    )
    print("; ".join(clock.parts))
    print(total(results))
    return 1 if twice or any(result.exit_code for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
