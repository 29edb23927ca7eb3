"""Computes the size of the cache by three rules, and of the buffer pool after it was reduced for the cache. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from controlplane.core.errors import Invalid
from controlplane.parameters.expressions import compile_expression

LARGEST_BYTES = 10485760000
KIB = 1024
POOL_SHARE = 10  # percent
RESULT_SET_SHARE = 20  # percent
GAIN = 0.01  # a doubling that adds less than this to the hit ratio is not worth its memory


def cache_size_bytes(
    rule: str,
    *,
    pool_bytes: int,
    result_set_bytes: int | None = None,
    size_bytes: int | None = None,
    curve: Sequence[tuple[int, float]] = (),
) -> int:
    if rule == "explicit":
        return int(size_bytes or 0)
    if rule == "result_set":
        return rounded(int(result_set_bytes or 0) * RESULT_SET_SHARE // 100)
    if rule == "buffer_pool":
        return rounded(pool_bytes * POOL_SHARE // 100)
    if not curve:
        raise Invalid.field("rule", "the engine has no curve yet: choose another rule until it has seen traffic")
    return rounded(knee(curve))


def rounded(size_bytes: int) -> int:
    """Returns a cache size as a multiple of 1 KiB within the range of query_cache_size."""
    return max(KIB, min(size_bytes, LARGEST_BYTES) // KIB * KIB)


def knee(curve: Sequence[tuple[int, float]]) -> int:
    """Returns the smallest cache size in bytes beyond which doubling the memory gains almost nothing.

    `curve` has pairs of size and predicted hit ratio; it must not be empty.
    """
    points = sorted(curve)
    for size, ratio in points:
        doubled = [later for at, later in points if at >= 2 * size]
        if not doubled or doubled[0] - ratio < GAIN:
            return size
    return points[-1][0]


def reduced_expression(text: str) -> str:
    """Returns 90 % of an expression, as an expression: {DBInstanceClassMemory*7/10} ->
    {DBInstanceClassMemory*63/100}.
    """
    shape = compile_expression(text).canonical
    inner = shape.removeprefix("{").removesuffix("}")
    variable, star, ratio = inner.partition("*")
    numerator, slash, denominator = ratio.partition("/")
    if star and slash and numerator.isdigit() and denominator.isdigit() and variable.isalpha():
        return f"{{{variable}*{int(numerator) * 9}/{int(denominator) * 10}}}"
    return f"{{{shape}*9/10}}"
