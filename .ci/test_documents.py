"""Every link of every document leads somewhere: files, folders and headings of this repository."""

import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)|<img[^>]+src=\"([^\"]+)\"")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
ELSEWHERE = re.compile(r"^(https?|mailto):")


def documents() -> list[Path]:
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return [ROOT / name for name in names if name and (ROOT / name).exists()]


def prose(path: Path) -> str:
    return FENCE.sub("", path.read_text())


def anchors(path: Path) -> set[str]:
    """Returns the anchors of a page: from headings (lower case, no punctuation, hyphens for spaces), and explicit
    ones."""
    derived = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in HEADING.findall(prose(path))}
    return derived | set(re.findall(r'<a id="([^"]+)">', prose(path)))


def broken_links(path: Path) -> list[str]:
    found = []
    for plain, image in LINK.findall(prose(path)):
        target = plain or image
        if ELSEWHERE.match(target):
            continue
        name, _, anchor = target.partition("#")
        other = (path.parent / name).resolve() if name else path
        is_missing = not other.exists() or (anchor and other.suffix == ".md" and anchor not in anchors(other))
        if is_missing:
            found.append(f"{path.relative_to(ROOT)}: {target}")
    return found


class Documents(unittest.TestCase):
    def test_links_lead_somewhere(self):
        self.assertEqual([], [link for path in documents() for link in broken_links(path)])

    def test_every_page_of_docs_is_in_the_index(self):
        index = ROOT / "docs" / "README.md"
        listed = {(index.parent / plain).resolve() for plain, _ in LINK.findall(prose(index))}
        pages = {path for path in documents() if ROOT / "docs" in path.parents and path != index}
        # A folder of pages that are generated, or added one at a time, may be listed as a whole.
        lost = {str(path.relative_to(ROOT)) for path in pages if not {path, path.parent} & listed}
        self.assertEqual(set(), lost)

    def test_the_table_of_servers_is_that_of_the_list(self):
        lines = (ROOT / "engine" / "servers.tsv").read_text().splitlines()
        rows = [line.split("\t") for line in lines]
        listed = [tuple(row[1:4]) for row in rows if row[0] == "line" and row[6] != "-"]
        row = re.compile(r"^\| (\w+) \| ([\d., ]+)[^|]*\| (works|with a warning|if asked|no:)", re.MULTILINE)
        told = {"works": "tested", "with a warning": "warns", "if asked": "asked", "no:": "never"}
        rows = row.findall((ROOT / "README.md").read_text())
        table = [(product, line, told[cache]) for product, lines, cache in rows for line in lines.strip().split(", ")]
        self.assertEqual(listed, table)

    def test_targets_named_in_documents_exist(self):
        makefile = (ROOT / "Makefile").read_text()
        targets = set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
        named = {
            (str(path.relative_to(ROOT)), target)
            for path in documents()
            for target in re.findall(r"(?:^|`)make ([a-z][\w-]*)", path.read_text(), re.MULTILINE)
        }
        self.assertEqual(set(), {entry for entry in named if entry[1] not in targets})

    def test_every_setting_is_documented_and_every_documented_one_exists(self):
        sources = [ROOT / "backend" / name for name in ("config/environment.py", "stack/ports.py")]
        read = set(re.findall(r'"(FQC_[A-Z_]+)"', "".join(path.read_text() for path in sources)))
        documented = re.findall(r"^\| `(FQC_[A-Z_]+)`", (ROOT / "docs/reference/settings.md").read_text(), re.MULTILINE)
        self.assertEqual(read, set(documented))

    def test_a_broken_link_is_seen(self):
        sample = ROOT / "docs" / "README.md"
        self.assertTrue(LINK.search("[gone](nowhere.md#part)"))
        self.assertFalse((sample.parent / "nowhere.md").exists())


if __name__ == "__main__":
    unittest.main()
