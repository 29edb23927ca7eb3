"""Measures evaluations of expressions per second on one core: compiled once, then through the cache by text, as in
previews.
"""

from __future__ import annotations

import time
from typing import Any

from bench.spread import seconds_of, spread
from controlplane.parameters.expressions import compile_expression

TEXTS = [
    "{DBInstanceClassMemory*63/100}",
    "{LEAST(DBInstanceClassMemory/1073741824*256, 2048)}",
    "{LEAST(DBInstanceClassMemory/1048576*128, 262144)}",
    "LEAST({DBInstanceClassMemory/256},10485760)",
    "{SUM(DBInstanceClassMemory/1073741824, DBInstanceClassCPU)}",
]
CLASSES = [{"DBInstanceClassMemory": memory * 1024**3, "DBInstanceClassCPU": 4} for memory in (1, 2, 4, 8, 12, 64)]
ROUNDS, RUNS = 2_000, 10


def measure() -> dict[str, Any]:
    count = ROUNDS * len(TEXTS) * len(CLASSES)
    rates = [count / seconds_of(_evaluate_all, time.process_time) for _ in range(RUNS)]
    return {"evaluations in a run": count, "evaluations per second and core": spread(rates, "per_second", 0)}


def _evaluate_all() -> None:
    for _ in range(ROUNDS):
        for text in TEXTS:
            for variables in CLASSES:
                compile_expression(text).evaluate(variables)
