"""The variables, functions and limits of the expression language."""

VARIABLES: dict[str, str] = {
    "AllocatedStorage": "storage of the instance class, in bytes",
    "DBInstanceClassMemory": "memory of the instance class without its reserve, in bytes",
    "DBInstanceClassCPU": "number of CPUs of the instance class",
    "DBInstanceClassConnections": "most connections the instance class allows",
}

FUNCTIONS: dict[str, str] = {
    "LEAST": "the smallest of its arguments",
    "GREATEST": "the largest of its arguments",
    "SUM": "its arguments added up",
}

MAX_LENGTH = 1024
"""Characters of one expression; the longest in any vendor's template has 60."""

MAX_DEPTH = 32
"""Braces and calls inside each other; bounds the recursion of parser and evaluator."""

MAX_DIGITS = 40
"""Digits of one number; the largest bound in a catalogue (2**64 - 1) has 20."""
