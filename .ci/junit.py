"""JUnit XML, the one form in which every test runner reports its tests.

pytest, vitest and playwright write it themselves; cargo_tests.py and go_tests.py write it for runners that print
JSON. Standard library only: it is used before anything is installed.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as Xml

# The environment variable with the folder into which the runners of a suite write their reports. suites.py sets it.
FOLDER = "FQC_TEST_REPORTS"
# Removes the control characters that XML 1.0 has no form for, since tests print them.
PRINTABLE = dict.fromkeys(set(range(32)) - {9, 10, 13})


@dataclass(frozen=True)
class Case:
    name: str
    outcome: str  # passed, failed or skipped
    seconds: float = 0.0
    message: str = ""
    # The name of the test for the suite's parameter ONLY; empty if it has none.
    again: str = ""


def write(name: str, cases: Iterable[Case]) -> None:
    """Writes a report of this name into the folder of the suite. Does nothing if no suite has asked for reports."""
    if folder := os.environ.get(FOLDER):
        root = Xml.Element("testsuite", name=name)
        for case in cases:
            element = Xml.SubElement(root, "testcase", name=case.name, time=f"{case.seconds:.3f}")
            if case.outcome != "passed":
                tag = "failure" if case.outcome == "failed" else "skipped"
                Xml.SubElement(element, tag).text = case.message.translate(PRINTABLE)
        Xml.ElementTree(root).write(Path(folder, f"{name}.xml"), encoding="utf-8", xml_declaration=True)


def read(folder: Path) -> list[Case]:
    """Returns the tests of all reports in this folder; none of a report that its runner could not finish."""
    return [case for file in sorted(folder.glob("*.xml")) for case in _cases(file)]


def _cases(file: Path) -> list[Case]:
    try:
        return [_case(element) for element in Xml.parse(file).iter("testcase")]
    except Xml.ParseError:
        return []


def _case(element: Xml.Element) -> Case:
    name, again = _names(element)
    seconds = float(element.get("time") or 0)
    for tag, outcome in (("failure", "failed"), ("error", "failed"), ("skipped", "skipped")):
        if (found := element.find(tag)) is not None:
            return Case(name, outcome, seconds, found.get("message") or found.text or _annotation(element), again)
    return Case(name, "passed", seconds, "", again)


def _annotation(element: Xml.Element) -> str:
    """Returns the reason why playwright skipped the test; empty if it gives none."""
    return next((each.get("value", "") for each in element.iter("property") if each.get("name") == "skip"), "")


def _names(element: Xml.Element) -> tuple[str, str]:
    """Returns the test's name for readers, and the name with which its runner runs it, with all of its parameters."""
    name, place = element.get("name", ""), element.get("classname", "")
    if file := element.get("file"):  # pytest, which has the class after the module
        classes = place.removeprefix(file.removesuffix(".py").replace("/", ".")).strip(".")
        node = "::".join([file, *filter(None, classes.split(".")), name])
        return node, node.partition("[")[0]
    if place.endswith((".ts", ".tsx")):  # playwright and vitest
        return f"{place} > {name}", place
    return name, name
