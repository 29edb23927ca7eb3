"""Lets load generators work in turns of a fraction of a second, so that changes of the machine's speed affect all
alike.

A shared machine's speed changes from second to second by more than what is to be measured. Runs of seconds, one after
the other, need hundreds of rounds to tell; short turns tell in one run what is an accident and what is not.

All generators are connected all the time. At its turn each of a generator's threads is sent the time at which the turn
ends, and sends a byte when it has stopped; the next turn begins when all have. So no generator's last events take from
another's time, and a turn lasts until its last event has ended. The other side is lua/turns.lua.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

# A turn should be much longer than an event, and each thread has at least one event in every turn.
LEAST_SECONDS = 0.1
THREADS_PER_SECOND = 128


def turn_seconds(threads: int, seconds: float) -> float:
    """Returns the length of a turn for generators with this many threads, at most `seconds`. With more threads each
    event takes longer, so turns are longer."""
    return min(seconds, max(LEAST_SECONDS, threads / THREADS_PER_SECOND))


class GeneratorEnded(RuntimeError):
    """A load generator has ended before its time; what it printed says why. `name` is the generator's."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the load generator of {name} has ended before its time")
        self.name = name


class Seat:
    """One generator's place in the order, with the pipes that give it turns. `seconds` is the length of its turns so
    far."""

    def __init__(self, name: str, threads: int) -> None:
        self.name = name
        self._threads = threads
        self._begins, self._begin = os.pipe()
        self._end, self._ends = os.pipe()
        self.seconds = 0.0

    @property
    def descriptors(self) -> tuple[int, int]:
        """Returns the ends of the two pipes that the generator's process must inherit."""
        return self._begins, self._ends

    @property
    def environment(self) -> dict[str, str]:
        return {"TURNS_BEGIN": str(self._begins), "TURNS_ENDED": str(self._ends)}

    def started(self) -> None:
        """Closes this process's copies of the pipe ends that the generator uses. To be called once the generator's
        process has its own: the pipes then end with that process.
        """
        for descriptor in self.descriptors:
            os.close(descriptor)

    def take_turn(self, seconds: float) -> None:
        begun = time.monotonic()
        try:
            os.write(self._begin, struct.pack("d", begun + seconds) * self._threads)
        except BrokenPipeError as error:
            raise GeneratorEnded(self.name) from error
        left = self._threads
        while left > 0:
            stopped = os.read(self._end, left)
            if not stopped:
                raise GeneratorEnded(self.name)
            left -= len(stopped)
        self.seconds += time.monotonic() - begun

    def leave(self) -> None:
        """Gives no more turns: the generator's threads then end."""
        os.close(self._begin)
        os.close(self._end)


class Table:
    """The places of all generators of one round, by their names."""

    def __init__(self, names: Sequence[str], threads: int, seconds: float) -> None:
        """Plans turns in which each generator, with this many threads, works for this many seconds in all."""
        self.turn_seconds = turn_seconds(threads, seconds)
        self._turns = max(1, round(seconds / self.turn_seconds))
        self.seats: Mapping[str, Seat] = {name: Seat(name, threads) for name in names}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for seat in self.seats.values():
            seat.leave()

    def play(self) -> None:
        """Gives all turns, one after another. Every second time the order of the generators is reversed. Returns
        when the last has ended."""
        order = list(self.seats.values())
        for _ in range(self._turns):
            for seat in order:
                seat.take_turn(self.turn_seconds)
            order.reverse()
