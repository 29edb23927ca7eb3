"""Searches for faults by chance for as long as it is given, one search after another, and prints what was searched.

    make soak SECONDS=3600 [SEED=7] [ONLY="replicas churn"]

Each search has a share of the time and the seed of the run. What has ended is kept in .run/soak/, so that an
interrupted run of the same commit, seed and time goes on where it was; a run that has ended begins again. Work of a
fixed length is left out where its share is too short for it, and the summary says so. With RECORD=1 a run without a
fault, in a clean checkout, is written down in docs/reference/soak.md.
"""

import argparse
import contextlib
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("RUN_DIR", ROOT / ".run")) / "soak"
RECORD = ROOT / "docs/reference/soak.md"
PROGRAMS = f"{ROOT}/engine/target/release"
PLUGIN = f"--plugin {ROOT}/engine/dist/fqc.so"
NEAR = f"--beside {ROOT}/engine/dist/fqc-near"
ENDLESS = "--statements 1000000000"
# Two tests at a time: one of them with two products, the other with two products and two stores.
BY_THE_LOG = (
    "env FQC_TEST_SECONDS={quarter} FQC_TEST_SEED={seed} python3 .ci/cargo_tests.py fqc-near:by_log --only"
    " 'binlog::nothing_is_older_than_the_bound_while_there_is_trouble"
    " binlog::nothing_is_older_than_the_bound_where_two_share_a_store'"
)
PYTHON = f"{ROOT}/backend/.venv/bin/python"
IN_PYTHON, IN_OTHERS = "django django-committed sqlalchemy", "loopback openjpa doctrine"
# Lines of a search's output that say what it has done, whichever search it is.
FIGURES = re.compile(
    r"^(\d+ statements in .*|.*hits: .* violations|answered beside the server: \d+|\d+ rounds, .*|slope .*"
    r"|served: .*|.* tests end as without the cache|=* ?\d+ passed.*|test result: .*|SKIPPED: .*)$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Search:
    name: str
    # The command line. {seconds}, {quarter} and {eighth} of them, and {seed} are filled in.
    command: str
    folder: str = "."
    weight: int = 1
    # For work of a fixed length: how many seconds it takes, about, on two cores.
    needs_seconds: int = 0


def engine(program: str, arguments: str) -> str:
    return f"{PROGRAMS}/{program} {arguments} --seed {{seed}} --seconds {{seconds}}"


SEARCHES = [
    Search("differential", engine("differential", f"{PLUGIN} {ENDLESS}"), weight=3),
    Search("differential of rows", engine("differential", f"{PLUGIN} {ENDLESS} --aim rows"), weight=2),
    Search("differential on MySQL", engine("differential", f"{PLUGIN} {ENDLESS} --product mysql"), weight=3),
    Search(
        "differential of rows on MySQL",
        engine("differential", f"{PLUGIN} {ENDLESS} --product mysql --aim rows"),
        weight=2,
    ),
    Search("differential through a near cache", engine("differential", f"{PLUGIN} {ENDLESS} {NEAR}"), weight=2),
    Search("differential by the log", engine("differential", f"{ENDLESS} {NEAR} --follows 1 --epoch 1000"), weight=2),
    Search(
        "differential by the log on MySQL",
        engine("differential", f"{ENDLESS} {NEAR} --follows 1 --epoch 1000 --product mysql"),
        weight=2,
    ),
    Search("histories", engine("histories", f"{PLUGIN} --threads 16 --redefines 0"), weight=2),
    Search("histories while definitions change", engine("histories", f"{PLUGIN} --threads 16")),
    Search("histories on MySQL", engine("histories", f"{PLUGIN} --threads 16 --product mysql"), weight=2),
    Search("histories through near caches", engine("histories", f"{PLUGIN} {NEAR} --redefines 0"), weight=2),
    Search(
        "histories through near caches, with kills", engine("histories", f"{PLUGIN} {NEAR} --redefines 0 --kills 1")
    ),
    Search("histories while the plugin comes and goes", engine("histories", f"{PLUGIN} --threads 16 --reinstalls 1")),
    Search(
        "histories while the plugin comes and goes on MySQL",
        engine("histories", f"{PLUGIN} --threads 16 --reinstalls 1 --product mysql"),
    ),
    Search(
        "histories through near caches while the plugin comes and goes",
        engine("histories", f"{PLUGIN} {NEAR} --redefines 0 --reinstalls 1"),
    ),
    Search(
        "histories under a pool of threads", engine("histories", f"{PLUGIN} --option thread-handling=pool-of-threads")
    ),
    Search("histories while the engine dozes", engine("histories", f"{PLUGIN} --redefines 0 --dozes 1")),
    Search("staleness by the log", BY_THE_LOG),
    Search("replicas", engine("replicas", f"{PLUGIN} --source binlog-format=ROW")),
    Search("churn", engine("churn", PLUGIN)),
    Search(
        "faults",
        f"{PYTHON} -m faults --seconds {{seconds}} --seed {{seed}} --database postgresql --broker valkey"
        f" --logs {FOLDER}/faults",
        "backend",
    ),
    Search("odd servers", f"{PYTHON} -m odd --seconds {{eighth}} --seed {{seed}}", "backend"),  # for each of its lanes
    Search("models", "make test-engine-models", needs_seconds=150),
    Search("every test of the backend on SQLite", "make test-backend", needs_seconds=1500),
    Search("MariaDB's own tests", "make test-peers TESTS=--slice", needs_seconds=300),
    Search("tests of frameworks", f"make test-suites SUITES='{IN_PYTHON}'", needs_seconds=1500),
    Search("tests of frameworks on MySQL", f"make test-suites SUITES='{IN_PYTHON}' PRODUCT=MySQL", needs_seconds=1500),
    Search("tests of other frameworks", f"make test-suites SUITES='{IN_OTHERS}'", needs_seconds=1200),
    Search(
        "tests of other frameworks on MySQL", f"make test-suites SUITES='{IN_OTHERS}' PRODUCT=MySQL", needs_seconds=1200
    ),
    Search("MySQL's own tests", "make test-peers PRODUCT=MySQL TESTS=--slice", needs_seconds=600),
]


@dataclass(frozen=True)
class Ended:
    name: str
    seconds: int
    exit_code: int
    found: str

    @property
    def verdict(self) -> str:
        return "FOUND SOMETHING" if self.exit_code else "nothing found" if self.seconds else "left out"


@dataclass(frozen=True)
class Run:
    commit: str
    seed: int
    seconds: int
    only: tuple[str, ...] = ()

    @property
    def file(self) -> Path:
        return FOLDER / "run.json"

    def ended(self) -> dict[str, Ended]:
        """Returns the searches that an interrupted run of the same commit, seed and time has finished, by name.
        Empty if there is none."""
        try:
            kept = json.loads(self.file.read_text())
        except (OSError, ValueError):
            return {}
        is_same = kept["run"] == json.loads(json.dumps(asdict(self))) and not kept["is_over"]
        return {each["name"]: Ended(**each) for each in kept["ended"]} if is_same else {}

    def keep(self, ended: list[Ended], *, is_over: bool) -> None:
        FOLDER.mkdir(parents=True, exist_ok=True)
        kept = {"run": asdict(self), "is_over": is_over, "ended": [asdict(each) for each in ended]}
        self.file.write_text(json.dumps(kept, indent=1))

    def searches(self) -> list[Search]:
        return [each for each in SEARCHES if not self.only or any(word in each.name for word in self.only)]


def shares(searches: list[Search], seconds: int) -> Iterator[tuple[Search, int]]:
    """Yields each search with its seconds; 0 for work of a fixed length that does not fit into its share."""
    share = seconds / sum(search.weight for search in searches)
    for search in searches:
        own = int(share * search.weight)
        yield search, own if own >= search.needs_seconds else 0


def search_for(search: Search, seconds: int, seed: int) -> Ended:
    log = log_of(search)
    if not seconds:
        return Ended(search.name, 0, 0, f"needs about {search.needs_seconds} s, which is more than its share")
    print(f"[{time.strftime('%H:%M:%S')}] {search.name}: about {search.needs_seconds or seconds} s ...", flush=True)
    started = time.monotonic()
    parts = {"quarter": max(1, seconds // 4), "eighth": max(1, seconds // 8)}
    words = shlex.split(search.command.format(seconds=seconds, seed=seed, **parts))
    with log.open("w") as out:
        code = subprocess.run(
            words, cwd=ROOT / search.folder, stdout=out, stderr=out, stdin=subprocess.DEVNULL, check=False
        )
    seconds = max(1, round(time.monotonic() - started))
    return Ended(search.name, seconds, code.returncode, figures(log.read_text(errors="replace")))


def figures(output: str) -> str:
    lines = [line.strip() for line in FIGURES.findall(output)]
    return "; ".join(lines + [told(document) for document in documents(output)])[:500]


def documents(output: str) -> Iterator[dict[str, Any]]:
    """Yields the JSON objects in an output whose braces have lines of their own. Other text is skipped."""
    for text in re.findall(r"^\{\n.*?^\}$", output, re.MULTILINE | re.DOTALL):
        with contextlib.suppress(ValueError):
            yield json.loads(text)


def told(document: dict[str, Any]) -> str:
    if "lane" in document:
        return f"{document['lane']}: {document['odd_answers']} odd answers, {document['losses']} losses"
    counts = {name: sum(document.get(name, {}).values()) for name in ("strikes", "changes", "faults")}
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def log_of(search: Search) -> Path:
    return FOLDER / f"{re.sub(r'[^a-z0-9]+', '-', search.name.lower()).strip('-')}.log"


def table(ended: list[Ended]) -> str:
    rows = [("Search", "Seconds", "Result", "Searched"), ("---", "--:", "---", "---")]
    rows += [(each.name, str(each.seconds), each.verdict, each.found.replace("|", "/")) for each in ended]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def record(run: Run, ended: list[Ended]) -> None:
    text = RECORD.read_text()
    head = text.partition("\n## ")[0]
    now = time.strftime("%Y-%m-%d", time.gmtime())
    title = f"## The last run: {now}, {run.seconds} seconds, seed {run.seed}"
    RECORD.write_text(f"{head}\n{title}\n\nOf commit `{run.commit}`, on {os.cpu_count()} cores.\n\n{table(ended)}")
    print(f"written down in {RECORD.relative_to(ROOT)}")


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="words of which each search has one in its name")
    parser.add_argument("--record", action="store_true")
    asked = parser.parse_args()
    run = Run(git("rev-parse", "HEAD"), asked.seed, asked.seconds, tuple(asked.only.split()))
    if not run.searches():
        parser.error(f"no search has one of {asked.only} in its name")
    if asked.record and asked.only:
        parser.error("only a run of all searches can be written down")
    FOLDER.mkdir(parents=True, exist_ok=True)
    before, ended = run.ended(), []
    for search, seconds in shares(run.searches(), run.seconds):
        ended.append(before.get(search.name) or search_for(search, seconds, run.seed))
        run.keep(ended, is_over=False)
    run.keep(ended, is_over=True)
    print("\n" + table(ended), end="")
    faults = [each for each in ended if each.exit_code]
    for each in faults:
        print(f"{each.name} found something: {log_of(Search(each.name, ''))}; seed {run.seed}")
    if asked.record and not faults:
        if git("status", "--porcelain"):
            print("not written down: the checkout has changes that no commit has", file=sys.stderr)
            return 1
        record(run, ended)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
