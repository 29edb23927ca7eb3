"""Decides which statements may be tried. Pure.

This is a second line of defence: the first is that a trial's account may only SELECT. Words are searched everywhere,
even in comments, since servers execute some comments. So a statement that merely mentions a word is refused as well.
"""

from __future__ import annotations

import re

from controlplane.core.errors import Invalid

READS = re.compile(r"\s*\(*\s*(select|with)\b", re.IGNORECASE)
# A read-only session may still write files on its server's machine.
WRITES_A_FILE = re.compile(r"\b(outfile|dumpfile)\b", re.IGNORECASE)
LOCKS_ROWS = re.compile(r"\bfor\W+(update|share)\b|\bin\W+share\W+mode\b", re.IGNORECASE)
FORBIDDEN_FUNCTIONS = (
    "load_file", "sleep", "benchmark", "get_lock", "release_lock", "release_all_locks", "is_free_lock", "is_used_lock",
    "master_pos_wait", "source_pos_wait", "master_gtid_wait", "wait_for_executed_gtid_set",
    "wait_until_sql_thread_after_gtids", "nextval", "setval",
)  # fmt: skip
# Text allowed between a function's name and its bracket: spaces, a quote, comments, or the delimiters of an executable
# comment.
BETWEEN = r"(?:[\s`\"*/!]|/\*.*?\*/|(?:--|#)[^\n]*\n)*"
CALLS = re.compile(rf"\b({'|'.join(FORBIDDEN_FUNCTIONS)})\b{BETWEEN}\(", re.IGNORECASE | re.DOTALL)


def statement_check(statement: str) -> None:
    if not READS.match(statement):
        raise Invalid.field("statement", "write one SELECT")
    if WRITES_A_FILE.search(statement):
        raise Invalid.field("statement", "write a SELECT that answers with its rows, not one that writes a file")
    if LOCKS_ROWS.search(statement):
        raise Invalid.field("statement", "write a SELECT that locks no rows")
    if call := CALLS.search(statement):
        raise Invalid.field("statement", f"{call[1].upper()} reads files, waits or locks: leave it out")
