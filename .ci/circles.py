"""Refuses modules of the engine that need each other in a circle: each crate must be readable from its leaves on.

    circles.py

A module needs another one if it, or a file in its folder, names it by `crate::`, `super::` or `self::` outside of its
tests. The modules of one folder may form no circle. A module and the files in its own folder may need each other.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

CRATES = Path(__file__).resolve().parents[1] / "engine" / "crates"
PATHS = re.compile(r"\b(crate|self|(?:super::)*super)::([\w:]*\w)(?:::\{((?:[^{}]|\{[^{}]*\})*)\})?")
TESTS = re.compile(r"#\[cfg\((?:all\()?test\b[^\]]*\]\s*mod \w+ \{.*", re.DOTALL)
NOT_CODE = re.compile(r"//[^\n]*|\"(?:\\.|[^\"\\])*\"")

Module = tuple[str, ...]


def modules(crate: Path) -> dict[Module, str]:
    files = {}
    for path in sorted((crate / "src").rglob("*.rs")):
        name = path.relative_to(crate / "src").with_suffix("").parts
        name = name[:-1] if name[-1] in ("mod", "lib", "main") else name
        files[name] = files.get(name, "") + NOT_CODE.sub("", TESTS.sub("", path.read_text()))
    return files


def named(module: Module, text: str) -> Iterator[Module]:
    """Yields the paths that a module's text names, from the crate's root on."""
    for base, path, group in PATHS.findall(text):
        root = () if base == "crate" else module if base == "self" else module[: -base.count("super")]
        start = (*root, *filter(None, path.split("::")))
        yield start
        for one in re.findall(r"[\w:]+", group):
            yield (*start, *one.split("::"))


def needs(files: dict[Module, str]) -> dict[Module, set[Module]]:
    """Returns a graph: for each module, the other modules in its folder that it needs.

    A module needs another one if its own text, or a file in the folder of its name, names that module. `files` has the
    text of each module of one crate.
    """
    found: dict[Module, set[Module]] = {}
    for module, text in files.items():
        for path in named(module, text):
            other = path
            while other and other not in files:
                other = other[:-1]
            alike = shared(module, other)
            if alike < min(len(module), len(other)):
                found.setdefault(module[: alike + 1], set()).add(other[: alike + 1])
    return found


def shared(one: Module, other: Module) -> int:
    """Returns how many parts the two paths have in common from the crate's root on."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def circle(graph: dict[Module, set[Module]]) -> list[Module]:
    """Returns the modules of one circle in the graph, the first one again at the end; empty if there is none."""
    done: set[Module] = set()

    def visit(module: Module, way: list[Module]) -> list[Module]:
        if module in way:
            return [*way[way.index(module) :], module]
        if module in done:
            return []
        for other in sorted(graph.get(module, ())):
            if found := visit(other, [*way, module]):
                return found
        done.add(module)
        return []

    for module in sorted(graph):
        if found := visit(module, []):
            return found
    return []


def main() -> int:
    bad = 0
    for crate in sorted(path for path in CRATES.iterdir() if (path / "src").is_dir()):
        if found := circle(needs(modules(crate))):
            print(f"{crate.name}: a circle of modules: {' -> '.join('::'.join(one) for one in found)}")
            bad += 1
    return min(bad, 1)


if __name__ == "__main__":
    sys.exit(main())
