"""The values of a template as text: one `name = value` per line, and comments with #."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from fqc.failure import Exit, Failure


def parsed(text: str) -> dict[str, str]:
    """Returns the values that the text assigns. Raises a Failure for the first line that is not `name = value`."""
    values = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, sign, value = line.partition("=")
        if not sign or not name.strip():
            raise Failure(f"Line {number} is not `name = value`: {line}", Exit.USAGE)
        values[name.strip()] = value.strip()
    return values


def rendered(values: Mapping[str, str]) -> str:
    return "".join(f"{name} = {value}\n" for name, value in values.items())


def edited(values: Mapping[str, str]) -> dict[str, str]:
    """Opens the values in the user's editor, and returns the values when it is closed. Raises a Failure if the editor
    fails, the text cannot be parsed, or there is no terminal.
    """
    if not sys.stdin.isatty():
        raise Failure("No terminal for an editor.", Exit.USAGE, hint="Use --set, --unset or --file.")
    editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "values"
        file.write_text(rendered(values))
        if subprocess.run([*editor, str(file)], check=False).returncode:
            raise Failure(f"{editor[0]} failed; nothing was changed.")
        return parsed(file.read_text())
