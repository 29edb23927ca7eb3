"""Generates the reference page of who may set which parameter from the table. Pure.

`python -m controlplane.catalogue.reference` prints the page; `make generate` writes it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby
from textwrap import fill

from controlplane.catalogue.access import ADMIN, NEVER, OPERATOR, Access, listed, reasons

INTRODUCTION = """\
# Who may set which parameter

Each variable of a server has a class. It decides in every preview, so it holds for the console, the API, the command
line, Terraform, the RPC dialect, templates and rollouts alike; `access` and `access_reason` in the catalogue
(`GET /api/v1/parameters`) and in an instance's parameters tell it.

- **never**: nobody sets it through this product. A value from an older version stays shown with a finding, is not sent
  to any server, and can only be reset.
- **admin**: only administrators make, approve, start or undo a change of it. What they have configured, anybody may
  apply again as it is.
- **operator**: whoever may change parameters at all.

This page is written from [the table](../../backend/controlplane/catalogue/access.yaml) by `make generate`;
[why it is like this](../adr/variables-by-class.md).
"""
TITLES = {NEVER: "Never", ADMIN: "Administrators"}
REST = """\
## Operators

Every other parameter of the lists of MariaDB 10.11 to 12, of the 5.7 line and of MySQL 8 and 9.
"""


def page() -> str:
    kept = [each for each in reasons() if each.who != OPERATOR]
    sections = (_section(who, list(each)) for who, each in groupby(kept, key=lambda each: each.who))
    return "\n".join([INTRODUCTION, *sections, REST])


def _section(who: str, told: list[Access]) -> str:
    by_name = listed().items()
    parts = [_part(each, [name for name, access in by_name if access == each]) for each in told]
    title = TITLES[who] if any(access in told for access in listed().values()) else "What the table does not list"
    return f"## {title}\n\n" + "\n".join(parts)


def _part(access: Access, names: list[str]) -> str:
    return "\n".join([fill(f"- {access.reason}", 124, subsequent_indent="  "), *_names(names)]) + "\n"


def _names(names: list[str]) -> Iterator[str]:
    if names:
        text = fill(", ".join(f"`{name}`" for name in names), 122, break_long_words=False, break_on_hyphens=False)
        yield ""
        yield from (f"  {line}" for line in text.splitlines())


if __name__ == "__main__":
    sys.stdout.write(page())
