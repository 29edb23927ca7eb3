#!/usr/bin/env python3
"""The version of the product, which every part states in its own file.

    scripts/packages/versions.py            each place and what it states; fails if they differ
    scripts/packages/versions.py 1.1.0      writes it to every place

Two numbers are not it: the version of the API is in its path, and `fqc_minor_version` is a day (plugin: version.rs).
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VERSION = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?")
CRATES = r'^name = "fqc-(?!fuzz")[a-z]+"\nversion = "(.+)"$'


@dataclass(frozen=True)
class Place:
    path: str
    pattern: str  # with one group, which is the version

    def matches(self, root: Path) -> list[re.Match[str]]:
        found = list(re.finditer(self.pattern, (root / self.path).read_text(), re.MULTILINE))
        if not found:
            raise SystemExit(f"{self.path} states no version: {self.pattern}")
        return found

    def write(self, root: Path, version: str) -> None:
        text = (root / self.path).read_text()
        for match in reversed(self.matches(root)):
            text = text[: match.start(1)] + version + text[match.end(1) :]
        (root / self.path).write_text(text)


PLACES = (
    Place("engine/Cargo.toml", r'^\[workspace\.package\]\nversion = "(.+)"$'),
    Place("engine/Cargo.lock", CRATES),
    Place("engine/fuzz/Cargo.lock", CRATES),
    Place("backend/pyproject.toml", r'^version = "(.+)"$'),
    Place("backend/config/version.py", r'^VERSION = "(.+)"$'),
    Place("backend/openapi.yaml", r"^  version: (.+)$"),
    Place("backend/fqc/pyproject.toml", r'^version = "(.+)"$'),
    Place("backend/fqc/src/fqc/__init__.py", r'^__version__ = "(.+)"$'),
    Place("frontend/package.json", r'^  "version": "(.+)",$'),
    Place("frontend/package-lock.json", r'^ {2,6}"name": "fqc-console",\n {2,6}"version": "(.+)",$'),
    Place("infra/terraform/provider/main.go", r'^const version = "(.+)"$'),
    Place("infra/helm/fqc-control-plane/Chart.yaml", r'^(?:version|appVersion): "?([^"\n]+)"?$'),
    Place("infra/helm/golden/small.yaml", r'image: ".+:(.+)"$'),
    Place("infra/helm/README.md", r"registry\.example\.com/fqc-control-plane:(.+)$"),
    Place("README.md", r"fqc-control-plane_(.+)_amd64\.deb"),
    Place("docs/guides/packages.md", r"(?:\./[a-z-]+_|fqc-)(\d[^_]*?)(?:_amd64\.deb|-py3-none-any\.whl)"),
)


def stated(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """Yields each place and the version that it states, several times if it is there several times."""
    for place in PLACES:
        for match in place.matches(root):
            yield place.path, match[1]


def version_of(root: Path = ROOT) -> str:
    """Returns the one version of all parts. Ends this process if they differ."""
    found = dict((version, path) for path, version in stated(root))
    if len(found) != 1:
        raise SystemExit(f"the parts differ in their version: {found}")
    return next(iter(found))


def main(arguments: list[str]) -> int:
    if arguments:
        (version,) = arguments
        if not VERSION.fullmatch(version):
            raise SystemExit(f"{version} is no version such as 1.2.3 or 1.2.3-rc.1")
        for place in PLACES:
            place.write(ROOT, version)
    for path, version in stated():
        print(f"{version:12} {path}")
    version_of()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
