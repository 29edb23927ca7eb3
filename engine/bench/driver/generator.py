"""Runs load generators (sysbench) in turns, and measures the processor time that each of them and its server take in
these turns."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from driver.machine import busy_seconds, process_seconds
from driver.turns import GeneratorEnded, Seat, Table

# The line that sysbench prints once all threads are connected and wait for their turn.
CONNECTED = "Threads started!"


class LoadFailed(RuntimeError):
    """sysbench ended with an error; the message carries its output."""


@dataclass(frozen=True)
class Used:
    """Processor seconds of one run: of the server, of its sysbench, and of all other processes of the machine.

    The time of others is divided equally among the servers that are measured at once."""

    server: float
    client: float
    others: float


@dataclass(frozen=True)
class Run:
    output: str
    cpu: Used
    turn_seconds: float
    # The length of all its turns together, in seconds.
    seconds: float


class Generator:
    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: Path, seat: Seat) -> None:
        self._name = seat.name
        self._command = command
        self._printed = folder / f"{seat.name}.output"
        with self._printed.open("wb") as output:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=seat.descriptors,
                env={**environment, **seat.environment},
            )
        seat.started()

    @property
    def pid(self) -> int:
        return self._process.pid

    def await_connected(self) -> None:
        while CONNECTED not in self._printed.read_text():
            if self._process.poll() is not None:
                raise GeneratorEnded(self._name)
            time.sleep(0.01)

    def finish(self) -> str:
        """Waits for the process to end, and returns all that it printed. Raises LoadFailed if it failed."""
        code = self._process.wait()
        output = self._printed.read_text()
        refuse_failure(self._command, code, output)
        return output

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


def refuse_failure(command: Sequence[str], code: int, output: str) -> None:
    if code:
        raise LoadFailed(f"`{' '.join(command)}` failed with exit code {code}:\n{output}")


def run_in_turns(
    commands: Mapping[str, Sequence[str]],
    servers: Mapping[str, int],
    environments: Mapping[str, Mapping[str, str]],
    folder: Path,
    threads: int,
    seconds: float,
) -> dict[str, Run]:
    """Runs a load generator for each server, in turns of equal length, and returns what each has printed and used.

    `commands`, `servers` (process ids) and `environments` have the same names. Each generator works for `seconds` in
    all.
    """
    generators: dict[str, Generator] = {}
    try:
        with Table(list(commands), threads, seconds) as table:
            for name, command in commands.items():
                generators[name] = Generator(command, environments[name], folder, table.seats[name])
            for generator in generators.values():
                generator.await_connected()
            machine, before = busy_seconds(), _spent(generators, servers)
            table.play()
            machine, after = busy_seconds() - machine, _spent(generators, servers)
        outputs = {name: generator.finish() for name, generator in generators.items()}
    except GeneratorEnded as ended:
        # The generator's own output says more.
        generators[ended.name].finish()
        raise
    finally:
        for generator in generators.values():
            generator.stop()
    own = {name: (after[name][0] - before[name][0], after[name][1] - before[name][1]) for name in commands}
    others = (machine - sum(map(sum, own.values()))) / len(own)
    return {
        name: Run(outputs[name], Used(*own[name], others), table.turn_seconds, table.seats[name].seconds)
        for name in commands
    }


def _spent(generators: Mapping[str, Generator], servers: Mapping[str, int]) -> dict[str, tuple[float, float]]:
    """Returns the processor seconds of each server and of its generator so far."""
    return {name: (process_seconds(servers[name]), process_seconds(one.pid)) for name, one in generators.items()}
