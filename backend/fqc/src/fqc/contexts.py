"""Stored control planes and tokens. Environment variables override the stored values, and options override both.

The file may also contain `defaults` of options, written by hand: `"defaults": {"output": "json", "timeout": "60"}`.

The file contains tokens, so only its owner can read it (mode 0600), and it is refused if others can. It is replaced in
one step, so that an interrupted write leaves the old one.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping, MutableMapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from fqc.failure import Exit, Failure

# Settings that the file may contain, and the environment variable that overrides each.
DEFAULTS = {"output": "FQC_OUTPUT", "timeout": "FQC_TIMEOUT"}
_READABLE_BY_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass
class Context:
    """A control plane: its address, a token for it, and the id and the user of that token. Empty texts if unknown."""

    url: str
    token: str = field(default="", repr=False)
    token_id: str = ""
    username: str = ""


@dataclass
class Contexts:
    """The content of the file: contexts by name, the name of the current one (or empty), and defaults of options."""

    current: str = ""
    contexts: dict[str, Context] = field(default_factory=dict)
    defaults: dict[str, str] = field(default_factory=dict)

    def named(self, name: str) -> Context:
        """Returns the context with this name. Raises a Failure if there is none."""
        if name not in self.contexts:
            raise Failure(
                f"No context named {name}.", Exit.NOT_FOUND, hint="List them with `fqc context list`, or log in."
            )
        return self.contexts[name]

    def forget(self, name: str) -> None:
        """Removes the context with this name. If it was the current one, there is no current one afterwards."""
        del self.contexts[name]
        self.current = "" if self.current == name else self.current


def path(environment: Mapping[str, str] = os.environ) -> Path:
    """Returns the path of the file: FQC_CONFIG, or fqc/config.json in the user's configuration folder. It may not
    exist.
    """
    if "FQC_CONFIG" in environment:
        return Path(environment["FQC_CONFIG"])
    base = environment.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "fqc" / "config.json"


def load(file: Path) -> Contexts:
    """Reads the file; empty contexts if it does not exist. Raises a Failure if it cannot be parsed, or if others can
    read it.
    """
    try:
        if stat.S_IMODE(file.stat().st_mode) & _READABLE_BY_OTHERS:
            raise Failure(f"{file} holds tokens and is readable by others.", hint=f"Run: chmod 600 {file}")
        kept = json.loads(file.read_text())
        contexts = {name: Context(**each) for name, each in kept["contexts"].items()}
        return Contexts(kept["current"], contexts, _known(kept.get("defaults", {})))
    except FileNotFoundError:
        return Contexts()
    except (ValueError, TypeError, KeyError) as error:
        raise Failure(f"{file} cannot be read: {error!r}.", hint="Fix it, or delete it and log in again.") from error


def _known(defaults: dict[str, str]) -> dict[str, str]:
    """Returns the defaults unchanged. Raises a ValueError if one of them is of an option that can have none."""
    unknown = sorted(defaults.keys() - DEFAULTS.keys())
    if unknown:
        raise ValueError(f"unknown default {unknown[0]}; known are {' and '.join(DEFAULTS)}")
    return defaults


def apply_defaults(file: Path, environment: MutableMapping[str, str] = os.environ) -> None:
    """Sets the environment variables of the options that have defaults in the file, unless they are set already. A file
    that cannot be read is ignored here: the command that needs it reports the error.
    """
    try:
        defaults = load(file).defaults
    except (Failure, OSError):
        return
    for name, value in defaults.items():
        environment.setdefault(DEFAULTS[name], str(value))


def save(file: Path, contexts: Contexts) -> None:
    """Replaces the file in one step, readable by its owner only. Creates its folder if needed."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = file.with_name(f"{file.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as out:
        json.dump(asdict(contexts), out, indent=2)
    fresh.replace(file)


def choose(contexts: Contexts, *, name: str | None, url: str | None, token: str | None) -> Context:
    """Returns the control plane for one call: the context `name`; without a name, the context with the address `url`;
    without both, the current one. `url` and `token` replace those of the context, whose token is only sent to its own
    address. Raises a Failure if there is no address.
    """
    named = name or (_at(contexts, url) if url else contexts.current)
    base = contexts.named(named) if named else Context("")
    if url and not _is_same(url, base.url):
        base = Context(url)  # the context's token is only for its own address
    chosen = Context(url or base.url, token or base.token, base.token_id, base.username)
    if not chosen.url:
        raise Failure(
            "No control plane is configured.", Exit.USAGE, hint="Log in with `fqc login --url ...`, or set FQC_URL."
        )
    return chosen


def _at(contexts: Contexts, url: str) -> str:
    """Returns the name of the context with this address: the current one if it has it, else the only one that has.
    Empty if there are none or several.
    """
    there = [name for name, each in contexts.contexts.items() if _is_same(each.url, url)]
    if contexts.current in there:
        return contexts.current
    return there[0] if len(there) == 1 else ""


def _is_same(url: str, other: str) -> bool:
    return url.rstrip("/") == other.rstrip("/")
