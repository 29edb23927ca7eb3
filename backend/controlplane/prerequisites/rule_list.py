"""Parses `fqc_rules` and finds the statements that each rule decides. Pure.

The engine itself checks the variable when it is set. The same grammar (docs/reference/engine.md) is checked here
before, to report which rule is wrong, and in which field.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

MATCHES = ("digest", "table", "schema", "account")
FIELDS = (*MATCHES, "cache", "ttl")
ACTIONS = ("never", "always", "normal")
LONGEST_SECONDS = 3600
DIGEST = re.compile(r"[0-9a-fA-F]{32}")

TEXTS = {
    "rules_not_a_list": "write a list of rules as JSON: {detail}",
    "rule_not_an_object": "a rule is an object with a match and a `cache`",
    "rule_unknown_field": "there is no such field; use digest, table, schema, account, cache, ttl",
    "rule_without_match": "name a digest, table, schema or account",
    "rule_not_a_text": "write a text",
    "rule_digest": "a digest is the 32 hexadecimal digits that SHOW FQC QUERIES shows",
    "rule_table": "write a table as schema.table",
    "rule_cache": "choose never, always or normal",
    "rule_ttl": f"always needs a ttl from 1 to {LONGEST_SECONDS} seconds",
    "rule_ttl_unused": "a ttl goes with always only",
}


@dataclass(frozen=True)
class RuleError:
    index: int | None  # None if the error is about the whole list
    field: str
    code: str
    detail: str


@dataclass(frozen=True)
class Rule:
    cache: str
    digest: str | None = None
    table: str | None = None
    schema: str | None = None
    account: str | None = None
    ttl: int | None = None

    def written(self) -> dict[str, Any]:
        values = asdict(self)
        return {name: values[name] for name in FIELDS if values[name] is not None}

    def decides(self, subject: Subject) -> bool:
        """Returns whether the rule's digest and tables fit the statement; the account that it names is ignored."""
        return (self.digest is None or self.digest.lower() == subject.digest) and self._fits_tables(subject.tables)

    def _fits_tables(self, tables: Sequence[str]) -> bool:
        if self.table is None and self.schema is None:
            return True
        fitting = [self._fits(*name.partition(".")[::2]) for name in tables]
        return bool(fitting) and all(fitting) if self.cache == "always" else any(fitting)

    def _fits(self, schema: str, table: str) -> bool:
        if self.schema is not None and not _is_like(schema, self.schema):
            return False
        if self.table is None:
            return True
        of_schema, _, of_table = self.table.partition(".")
        return _is_like(schema, of_schema) and _is_like(table, of_table)


@dataclass(frozen=True)
class Subject:
    """A statement without its literals, and the tables that it reads, as schema.table. No tables: they are unknown."""

    digest: str
    tables: tuple[str, ...]
    text: str = ""
    executions: int = 0


def _is_like(name: str, pattern: str) -> bool:
    """Returns whether a name matches the pattern, in which `%` stands for any text."""
    parts = (re.escape(part) for part in pattern.lower().split("%"))
    return re.fullmatch(".*".join(parts), name.lower(), re.DOTALL) is not None


def text_of(rules: Sequence[dict[str, Any]]) -> str:
    return json.dumps(list(rules), ensure_ascii=False) if rules else ""


def parse(text: str) -> tuple[list[Rule], list[RuleError]]:
    """Parses the value of `fqc_rules`.

    Returns the valid rules, and the errors of the others; empty text has no rules.
    """
    if not text.strip():
        return [], []
    try:
        found = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        return [], [_error(None, "", "rules_not_a_list", str(error))]
    if not isinstance(found, list):
        return [], [_error(None, "", "rules_not_a_list", "this is not a list")]
    return check(found)


def check(found: Sequence[Any]) -> tuple[list[Rule], list[RuleError]]:
    errors = [error for index, rule in enumerate(found) for error in _errors_of(index, rule)]
    wrong = {error.index for error in errors}
    return [Rule(**rule) for index, rule in enumerate(found) if index not in wrong], errors


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise ValueError("a field occurs twice")
    return dict(pairs)


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is not a number")


def _error(index: int | None, field: str, code: str, detail: str = "") -> RuleError:
    return RuleError(index, field, code, TEXTS[code].format(detail=detail))


def _errors_of(index: int, rule: Any) -> list[RuleError]:
    if not isinstance(rule, dict):
        return [_error(index, "", "rule_not_an_object")]
    errors = [_error(index, name, "rule_unknown_field") for name in rule if name not in FIELDS]
    given = {name: rule[name] for name in MATCHES if rule.get(name) is not None}
    errors += [_error(index, name, "rule_not_a_text") for name, value in given.items() if not isinstance(value, str)]
    if not given:
        errors.append(_error(index, "", "rule_without_match"))
    digest, table = given.get("digest"), given.get("table")
    if isinstance(digest, str) and not DIGEST.fullmatch(digest):
        errors.append(_error(index, "digest", "rule_digest"))
    if isinstance(table, str) and "." not in table:
        errors.append(_error(index, "table", "rule_table"))
    return errors + _errors_of_action(index, rule.get("cache"), rule.get("ttl"))


def _errors_of_action(index: int, cache: Any, ttl: Any) -> list[RuleError]:
    if cache not in ACTIONS:
        return [_error(index, "cache", "rule_cache")]
    if cache != "always":
        return [] if ttl is None else [_error(index, "ttl", "rule_ttl_unused")]
    is_number = isinstance(ttl, int) and not isinstance(ttl, bool)
    return [] if is_number and 1 <= ttl <= LONGEST_SECONDS else [_error(index, "ttl", "rule_ttl")]


@dataclass(frozen=True)
class Effect:
    """The statements that one rule decides, because it is the first one that fits them.

    A rule for one account leaves the statements of other accounts to the next rules.
    """

    index: int
    statements: list[Subject]
    is_by_account: bool


def effects(rules: Sequence[Rule], subjects: Sequence[Subject]) -> list[Effect]:
    left = list(subjects)
    found = []
    for index, rule in enumerate(rules):
        decided = [subject for subject in left if rule.decides(subject)]
        if rule.account is None:
            left = [subject for subject in left if subject not in decided]
        found.append(Effect(index, decided, rule.account is not None))
    return found
