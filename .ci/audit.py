"""Asks the public databases of vulnerabilities about every locked dependency. One verdict for each lock file; fails on
a finding.

A tool that is missing, or whose database cannot be reached, has checked nothing: that is said as loudly as a finding,
since silence would read like "clean". Where the databases can be reached, `--complete` makes it a failure, too.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIMIT_SECONDS = 900
CLEAN = "clean"
FINDINGS = "FINDINGS"
UNCHECKED = "NOT CHECKED"

Verdict = tuple[str, str]


@dataclass(frozen=True)
class Audit:
    folder: str
    command: tuple[str, ...]
    read: Callable[[int, str, str], Verdict]  # of the exit code, stdout and stderr
    install: str


def read_pip(code: int, out: str, err: str) -> Verdict:
    """Returns the verdict of pip-audit, from its output, since it exits with 0 also when it could look up nothing."""
    try:
        found = json.loads(out)["dependencies"]
    except (ValueError, KeyError):
        return UNCHECKED, _last(err)
    faulty = [f"{each['name']} {each['version']}" for each in found if each.get("vulns")]
    skipped = [each for each in found if "skip_reason" in each]
    if faulty:
        return FINDINGS, ", ".join(faulty)
    if skipped or not found:
        return UNCHECKED, f"{len(skipped)} of {len(found)}: {skipped[0]['skip_reason'] if skipped else 'nothing found'}"
    return CLEAN, f"{len(found)} packages"


def read_npm(code: int, out: str, err: str) -> Verdict:
    try:
        counts = json.loads(out)["metadata"]["vulnerabilities"]
    except (ValueError, KeyError):
        return UNCHECKED, _last(err.partition("npm error A complete log")[0])
    return (FINDINGS, f"{counts['total']} packages: npm audit") if counts["total"] else (CLEAN, "")


def read_cargo(code: int, out: str, err: str) -> Verdict:
    if code and "failed to fetch" in err:
        return UNCHECKED, "the advisory database cannot be reached"
    return (FINDINGS, _last(err or out)) if code else (CLEAN, "")


def read_go(code: int, out: str, err: str) -> Verdict:
    if code == 3:  # its own word for a vulnerability that the code can reach
        return FINDINGS, "see: govulncheck ./..."
    return (UNCHECKED, _last(err)) if code else (CLEAN, "")


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "it said nothing"


PIP = (
    "pip-audit",
    "--require-hashes",
    "--disable-pip",
    "--progress-spinner=off",
    "--format=json",
    "-r",
    "requirements.lock",
)
NPM = ("npm", "audit", "--package-lock-only", "--json")
DENY = ("cargo-deny", "check", "--hide-inclusion-graph")
GO = ("govulncheck", "./...")
GET_PIP, GET_DENY = "pipx install pip-audit", "cargo install --locked cargo-deny"
GET_GO = "go install golang.org/x/vuln/cmd/govulncheck@latest"

AUDITS = [
    *(
        Audit(each, PIP, read_pip, GET_PIP)
        for each in (
            "backend",
            "backend/fqc",
            "backend/rpc_clients",
            "engine/apps/suites",
            "engine/apps/wagtail_site",
            "engine/bench",
            "scripts/packages",
        )
    ),
    *(
        Audit(each, NPM, read_npm, "Node.js")
        for each in ("frontend", "backend/rpc_clients/node", "engine/tests/connectors/node")
    ),
    Audit("engine", (*DENY, "bans", "licenses", "sources"), read_cargo, GET_DENY),
    Audit("engine", (*DENY, "advisories"), read_cargo, GET_DENY),
    *(
        Audit(each, GO, read_go, GET_GO)
        for each in (
            "infra/terraform/provider",
            "backend/rpc_clients/go",
            "engine/tests/connectors/go",
            "infra/helm",
            "infra/observability",
        )
    ),
]


def verdict(audit: Audit) -> Verdict:
    if shutil.which(audit.command[0]) is None:
        return UNCHECKED, f"is not installed: {audit.install}"
    try:
        done = subprocess.run(
            audit.command, cwd=ROOT / audit.folder, capture_output=True, text=True, check=False, timeout=LIMIT_SECONDS
        )
    except subprocess.TimeoutExpired:
        return UNCHECKED, f"no answer in {LIMIT_SECONDS} s"
    return audit.read(done.returncode, done.stdout, done.stderr)


def main(arguments: list[str]) -> int:
    worst = []
    for audit in AUDITS:
        word, detail = verdict(audit)
        worst.append(word)
        print(f"{word:<12} {audit.folder}: {audit.command[0]} {detail}".rstrip(), flush=True)
    unchecked = worst.count(UNCHECKED)
    if unchecked:
        print(
            f"\n{unchecked} of {len(AUDITS)} were NOT CHECKED, so nothing is known of them. Repeat it where they can."
        )
    return 1 if FINDINGS in worst or (unchecked and "--complete" in arguments) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
