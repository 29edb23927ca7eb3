"""Finds comments that only readers who already know the code can understand.

    words.py                     lists comments that begin like half a sentence, and their share
    words.py --most 1.5          fails if more than 1.5 % of all comments do
    words.py --draw 40 --seed 7  draws documented items at random, with their comments and the glossary's words in them

Give what was drawn to a reader who has seen nothing else, and ask what each item does: could they rely on the answer?
The glossary is docs/concepts/words.md, which readers of the repository have too.
A comment that begins like half a sentence ("Of the last read.") says something only to readers of the line above it.
Standard library only.
"""

import argparse
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GLOSSARY = ROOT / "docs" / "concepts" / "words.md"
ENTRY = re.compile(r"^\| (?!Word \||---)([^|]+) \| ([^|]+) \|$", re.MULTILINE)
SLASHES = r"//[/!]?|/?\*\*?"
MARKS = {".rs": SLASHES, ".go": SLASHES, ".ts": SLASHES, ".tsx": SLASHES, ".py": r'#(?!!)|"""', ".sh": "#(?!!)"}
GENERATED = re.compile(r"\.gen\.|/migrations/|/generated/|/derived/")
# Beginnings of sentences that lack their subject or their verb.
HALF_SENTENCES = re.compile(
    r"(Of (?!course\b|all\b)|Whose\b|That of\b|Those (of|that|whose)\b|As (it|a|the|is|was|one|those)\b"
    r"|By (which|its)\b|None (if|of)\b|(From|In|On|At|With|For|Through|After|Before|Under) (which|whom|whose)\b"
    r"|The (same|last|next|other|first) ?(of|,|\.|$)|Which (may|is|are|was)\b|What (is|was|it|they|may|must)\b)"
)
DOCUMENTED = re.compile(
    r"\s*(pub(\([a-z]+\))? |export |async |unsafe )*(fn|struct|enum|trait|def|class|func|function|const|type)\b"
)

BLOCK = re.compile(r"\s*(pub(\([a-z]+\))? |export |unsafe )*(impl|trait|class|mod|interface)\b")


@dataclass(frozen=True)
class Comment:
    path: str
    line: int
    text: str
    # The line of code that it belongs to: the one below it, or above a docstring.
    item: str
    # The line that begins the type, class or module around the item, if any, and the item's whole signature.
    signature: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


def comments(path: str, lines: list[str]) -> Iterator[Comment]:
    """Yields the comments in lines of their own. Lines of one kind that follow each other are one comment."""
    mark = re.compile(rf"\s*({MARKS[Path(path).suffix]})\s?(.*)")
    begin, kind, texts = 0, "", list[str]()
    for number, line in enumerate([*lines, ""], 1):
        found = mark.match(line)
        is_docstring = kind == '"' and is_open(texts)
        if texts and not is_docstring and (not found or found.group(1)[-1] != kind):
            at = begin - 2 if kind == '"' else number - 1
            item = (lines[at] if at < len(lines) else "").strip()
            yield Comment(path, begin, " ".join(filter(None, map(bare, texts))), item, signature(lines, at))
            texts = []
        if is_docstring:
            texts.append(line)
        elif found:
            begin, kind = begin if texts else number, found.group(1)[-1]
            texts.append(found.group(2))


def is_open(texts: list[str]) -> bool:
    """True if these lines are the beginning of a docstring, without the quotes that end it."""
    return bool(texts) and not texts[-1].rstrip().endswith('"""')


def bare(line: str) -> str:
    """Returns the text of a comment's line, without the mark that ends the comment."""
    return re.sub(r"(^|\*)/$", "", line.strip()).removesuffix('"""').strip()


def signature(lines: list[str], at: int) -> str:
    """Returns the item that begins at this index, up to its body, after the line of the block that it is in."""
    ends = (end for end in range(at, min(at + 8, len(lines))) if is_end(lines, end))
    item = lines[at : next(ends, at) + 1]
    return "\n".join(line.strip() for line in [*around(lines, at), *item])


def is_end(lines: list[str], at: int) -> bool:
    """Returns whether the line at this index ends a signature, or the rest of the item is not worth showing."""
    return bool(re.search(r"[{};:=[]$", lines[at])) or not "".join(lines[at + 1 : at + 2]).strip()


def around(lines: list[str], at: int) -> list[str]:
    """Returns the line that begins the type, class or module around the line at this index; empty if there is none."""
    limit = depth(lines[at]) if at < len(lines) else 0
    for line in reversed(lines[:at]):
        if line.strip() and depth(line) < limit:
            limit = depth(line)
            if BLOCK.match(line):
                return [line]
    return []


def depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def explained(text: str) -> list[str]:
    """Returns the entries of the glossary, as lines, whose word or one of its forms occurs in the text."""
    entries = [
        (re.sub(r" \(.*?\)", "", names), names, meaning) for names, meaning in ENTRY.findall(GLOSSARY.read_text())
    ]
    return [
        f"{names}: {meaning}"
        for plain, names, meaning in entries
        if any(re.search(rf"\b{re.escape(name)}(e?s|e?d|ing)?\b", text, re.IGNORECASE) for name in plain.split(", "))
    ]


def every() -> list[Comment]:
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    wanted = [name for name in names if Path(name).suffix in MARKS and not GENERATED.search(name)]
    return [each for name in wanted for each in comments(name, (ROOT / name).read_text().splitlines())]


def is_half_a_sentence(comment: Comment) -> bool:
    return bool(HALF_SENTENCES.match(comment.text))


def share(found: list[Comment]) -> float:
    return sum(map(is_half_a_sentence, found)) / len(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=float, default=100)
    parser.add_argument("--draw", type=int)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    found = every()
    if asked.draw:
        documented = [each for each in found if DOCUMENTED.match(each.item)]
        drawn = random.Random(asked.seed).sample(documented, asked.draw)
        print(f"The words of {GLOSSARY.relative_to(ROOT)} that these comments use:\n")
        print("\n".join(f"- {entry}" for entry in explained("\n".join(f"{each.text}\n{each.item}" for each in drawn))))
        for each in drawn:
            print(f"\n{each}\n    " + each.signature.replace("\n", "\n    "))
        return 0
    print("\n".join(str(each) for each in found if is_half_a_sentence(each)))
    print(f"{share(found):.1%} of {len(found)} comments begin like half a sentence")
    return int(share(found) > asked.most / 100)


if __name__ == "__main__":
    sys.exit(main())
