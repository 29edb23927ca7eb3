#!/usr/bin/env python3
"""Builds everything that a release consists of, into one folder, and tags the commit that it was built from.

    scripts/packages/release.py FOLDER VERSION

Beyond the packages (build.py): the plugin and `fqc-near` as bare files, the Terraform provider and the Helm chart. The
tag is the last step, so there is none of a release that could not be built. Nothing is published.
"""

import re
import subprocess
import sys
from pathlib import Path

import build
import chart
import engine
import provider
import versions
from commands import ROOT, put, run

SOAK = "docs/reference/soak.md"
# Paths that the soak searches for faults, or that decide how these are built. The last recorded soak must have searched
# them as they are.
SOAKED = ("engine/crates", "engine/Cargo.toml", "engine/Cargo.lock", "backend/controlplane", ":(exclude)**/tests/**")


def refusals(root: Path, version: str) -> list[str]:
    """Returns the reasons why this commit cannot be released as this version; empty if it can."""
    found = []
    others = sorted({f"{path} ({stated})" for path, stated in versions.stated(root) if stated != version})
    if others:
        found.append(f"Other versions are in {', '.join(others)}: run make version VERSION={version}, and commit.")
    if not re.search(rf"^## {re.escape(version)}$", (root / "CHANGELOG.md").read_text(), re.MULTILINE):
        found.append(f"CHANGELOG.md has no heading: ## {version}")
    if changed := run("git", "status", "--porcelain", cwd=root).splitlines():
        found.append(f"The tree has changes that are not committed: {', '.join(line[3:] for line in changed)}")
    if run("git", "tag", "--list", tag_of(version), cwd=root):
        found.append(f"The tag {tag_of(version)} exists.")
    if why := not_soaked(root):
        found.append(f"{why}: run make soak RECORD=1, and commit {SOAK}.")
    return found


def not_soaked(root: Path) -> str:
    """Returns the reason why the recorded soak says nothing about this commit; empty if it does."""
    soaked = re.search(r"^Of commit `([0-9a-f]{40})`", (root / SOAK).read_text(), re.MULTILINE)
    if not soaked:
        return "No soak is recorded"
    try:
        changed = run("git", "diff", "--name-only", soaked[1], "HEAD", "--", *SOAKED, cwd=root).splitlines()
    except subprocess.CalledProcessError:
        return f"The last soak was of {soaked[1][:8]}, which is not in this clone"
    return f"Since the last soak, of {soaked[1][:8]}, there are changes, such as {changed[0]}" if changed else ""


def tag_of(version: str) -> str:
    return f"v{version}"


def bare(out: Path) -> None:
    """Puts the plugin and `fqc-near` into this folder as bare files, the same as in the Debian packages."""
    put(out / "fqc.so", (engine.TARGET / "libfqc.so").read_bytes())
    put(out / "fqc-near", (engine.TARGET / "fqc-near").read_bytes(), 0o755)


def main(folder: str, version: str) -> int:
    if found := refusals(ROOT, version):
        raise SystemExit("\n".join(("release: refused.", *found)))
    commit = run("git", "rev-parse", "HEAD").strip()
    out = Path(folder).resolve()
    build.build_all(out)
    bare(out)
    provider.package(out, version)
    chart.package(out, version)
    build.checksums(out)
    if found := refusals(ROOT, version):
        raise SystemExit("\n".join(("release: built, but not tagged.", *found)))
    run("git", "tag", "--annotate", tag_of(version), "--message", f"Fast Query Cache {version}", commit)
    print(f"release: {tag_of(version)} is {commit}, and its files are in {out}. Neither is published.")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
