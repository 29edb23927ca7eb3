"""What one web process bears: log-ins all at once, and event streams beside clients. Real requests to a real process.

python -m bench.load                     on a private PostgreSQL cluster
python -m bench.load --database sqlite

Each log-in comes from a loopback address of its own, since those of one address are limited. While they come, readers
and writers ask on: their latency, and what became of them, is what an attack costs everybody else.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from bench import machine
from bench.simulator import allow_files
from bench.spread import spread
from testing import postgres
from testing.ports import free_port
from testing.workers import until

HOST, PASSWORD = "127.0.0.1", "correct horse battery"
READ, SESSION, TOKENS = "/api/v1/instances?limit=20", "/api/v1/auth/session", "/api/v1/tokens"
CSRF = "a" * 32
READERS, WRITERS, BYSTANDING_SECONDS = 10, 4, 10
LIMIT_SECONDS = 120.0
SERVER_CONNECTIONS = 100  # PostgreSQL's default


class Connection:
    """One HTTP/1.1 connection, from an address of the caller's choice."""

    def __init__(self, port: int, source: str = HOST) -> None:
        self.port, self.source = port, source
        self.streams: Any = None

    async def ask(self, method: str, path: str, headers: dict[str, str], body: Any = None) -> int:
        """Returns the status; 0 if the connection was lost or refused, or nothing arrived in time."""
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                status, length = await self.begin(method, path, headers, body)
                await self.streams[0].readexactly(length)
                return status
        except (OSError, EOFError, TimeoutError):
            self.close()
            return 0

    async def begin(self, method: str, path: str, headers: dict[str, str], body: Any = None) -> tuple[int, int]:
        if self.streams is None:
            self.streams = await asyncio.open_connection(HOST, self.port, local_addr=(self.source, 0))
        data = b"" if body is None else json.dumps(body).encode()
        lines = {"Host": HOST, "Content-Type": "application/json", "Content-Length": str(len(data)), **headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self.streams[1].write(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + data)
        answer = (await self.streams[0].readuntil(b"\r\n\r\n")).decode().lower()
        length = answer.partition("content-length: ")[2].partition("\r\n")[0]
        return int(answer.split()[1]), int(length or 0)

    def close(self) -> None:
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None


class RequestStats:
    """Results of requests, and how long each took."""

    def __init__(self) -> None:
        self.statuses: Counter[int] = Counter()
        self.seconds: list[float] = []

    async def note(self, answer: Awaitable[int]) -> None:
        started = time.perf_counter()
        self.statuses[await answer] += 1
        self.seconds.append(time.perf_counter() - started)

    def told(self) -> dict[str, Any]:
        return {**{str(status): count for status, count in sorted(self.statuses.items())}, **spread(self.seconds, "s")}


async def repeat_until(asked: RequestStats, ends: Callable[[], bool], ask: Callable[[], Awaitable[int]]) -> None:
    while not ends():
        await asked.note(ask())


async def log_ins(port: int, tokens: list[str], count: int) -> dict[str, Any]:
    async def log_in(number: int) -> int:
        source = f"127.0.{1 + number // 250}.{1 + number % 250}"
        headers = {"Cookie": f"csrftoken={CSRF}", "X-CSRFToken": CSRF}
        connection = Connection(port, source)
        status = await connection.ask("POST", SESSION, headers, {"username": "bench", "password": PASSWORD})
        connection.close()
        return status

    entered, read, written, over = RequestStats(), RequestStats(), RequestStats(), asyncio.Event()
    least = time.monotonic() + BYSTANDING_SECONDS
    bystanders = [
        repeat_until(read, lambda: over.is_set() and time.monotonic() > least, reading(port, tokens[number]))
        for number in range(READERS)
    ] + [
        repeat_until(written, lambda: over.is_set() and time.monotonic() > least, writing(port, tokens[-1 - number]))
        for number in range(WRITERS)
    ]
    others = asyncio.gather(*bystanders)
    started = time.perf_counter()
    await asyncio.gather(*(entered.note(log_in(number)) for number in range(count)))
    took = time.perf_counter() - started
    over.set()
    await others
    return {
        f"{count} log-ins at once": entered.told(),
        "seconds until all were answered": round(took, 1),
        f"{READERS} readers meanwhile": read.told(),
        f"{WRITERS} writers meanwhile": written.told(),
    }


def reading(port: int, token: str) -> Callable[[], Awaitable[int]]:
    connection = Connection(port)
    return lambda: connection.ask("GET", READ, {"Authorization": f"Bearer {token}"})


def writing(port: int, token: str) -> Callable[[], Awaitable[int]]:
    connection, body = Connection(port), {"name": "bench", "scope": "viewer"}
    return lambda: connection.ask("POST", TOKENS, {"Authorization": f"Bearer {token}"}, body)


async def clients_beside_streams(port: int, tokens: list[str], streams: int, seconds: float) -> dict[str, Any]:
    opened, told, cut = Counter[int](), [0] * streams, Counter[str]()
    is_over, loop = asyncio.Event(), asyncio.get_running_loop()
    # A connection of its own, made before the web process takes any.
    publisher = ThreadPoolExecutor(1)
    await loop.run_in_executor(publisher, publish, -1)

    async def follow(number: int) -> None:
        connection = Connection(port)
        headers = {"Authorization": f"Bearer {tokens[number % len(tokens)]}", "Accept": "text/event-stream"}
        try:
            opened[(await connection.begin("GET", "/api/v1/events", headers))[0]] += 1
            while line := await connection.streams[0].readline():
                told[number] += line.startswith(b"event: change")
            cut["ended"] += not is_over.is_set()
        except (OSError, EOFError) as error:
            cut[type(error).__name__] += not is_over.is_set()
        finally:
            connection.close()

    following = []
    for number in range(streams):
        following.append(asyncio.create_task(follow(number)))
        if number % 50 == 49:
            await asyncio.sleep(0.1)
    end = time.monotonic() + LIMIT_SECONDS
    while sum(opened.values()) + sum(cut.values()) < streams and time.monotonic() < end:
        await asyncio.sleep(0.1)
    asked, end = RequestStats(), time.monotonic() + seconds
    clients = [repeat_until(asked, lambda: time.monotonic() > end, reading(port, token)) for token in tokens]
    working = asyncio.gather(*clients)
    published = 0
    while time.monotonic() < end:
        await loop.run_in_executor(publisher, publish, published)
        published += 1
        await asyncio.sleep(0.5)
    await working
    end = time.monotonic() + LIMIT_SECONDS
    while min(told, default=published) < published and time.monotonic() < end and not sum(cut.values()):
        await asyncio.sleep(0.1)
    is_over.set()
    await loop.run_in_executor(publisher, close_connection)
    for task in following:
        task.cancel()
    await asyncio.gather(*following, return_exceptions=True)
    return {
        "streams opened": dict(opened),
        "streams cut": {name: count for name, count in cut.items() if count},
        "streams that were told of every event": f"{sum(each == published for each in told)} of {streams}",
        "events": published,
        f"{len(tokens)} clients": asked.told(),
        "requests_per_second": round(len(asked.seconds) / seconds, 1),
    }


def publish(number: int) -> None:
    from controlplane.core.events import event_publish

    event_publish("change", f"bench-{number}", {"state": "applied"})


def close_connection() -> None:
    from django.db import connection

    connection.close()


def tokens_of(clients: int) -> list[str]:
    """Returns tokens of different users, since requests per user are limited."""
    from controlplane.accounts.models import User
    from controlplane.accounts.services import token_create, user_create
    from controlplane.core.request_context import acting_as

    with acting_as("bench"):
        user_create(username="bench", password=PASSWORD, role="viewer")
        users = [User.objects.create(username=f"client-{number}", role="viewer") for number in range(clients)]
        return [token_create(user, name="bench", scope="viewer")[1] for user in users]


class WebProcess:
    """The web process, and the resources that it used."""

    def __init__(self) -> None:
        self.port = free_port()
        words = [sys.executable, "-m", "config.web", "--port", str(self.port), "--log-level", "critical"]
        self.process = subprocess.Popen(words, cwd=Path(__file__).parents[1])
        until(lambda: asyncio.run(Connection(self.port).ask("GET", "/readyz", {})) == 200, "the web process answers")

    def taken(self) -> dict[str, Any]:
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        facts = {name: value.split()[0] for name, _, value in (line.partition(":") for line in lines) if value.strip()}
        ticks = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        seconds = (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")
        peak, threads = round(int(facts["VmHWM"]) / 1024), int(facts["Threads"])
        return {"peak_memory_mib": peak, "threads": threads, "cpu_seconds": round(seconds, 1)}

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def web() -> Iterator[WebProcess]:
    made = WebProcess()
    try:
        yield made
    finally:
        made.end()


def measured(options: argparse.Namespace) -> dict[str, Any]:
    import django

    django.setup()
    from django.core.management import call_command

    from bench.polling import make_fleet

    call_command("migrate", verbosity=0)
    make_fleet(100)
    tokens = tokens_of(options.clients)
    found: dict[str, Any] = {"machine": machine.machine()}
    for part in options.parts.split(","):
        with web() as process:
            before = process.taken()
            if part == "log-ins":
                rows = asyncio.run(log_ins(process.port, tokens, options.log_ins))
            else:
                work = clients_beside_streams(process.port, tokens, options.streams, options.seconds)
                rows = asyncio.run(work)
            found[part] = {**rows, "the web process at first": before, "and in the end": process.taken()}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", choices=["postgresql", "sqlite"], default="postgresql")
    parser.add_argument("--log-ins", type=int, default=300)
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--parts", default="log-ins,streams")
    options = parser.parse_args()
    allow_files(2 * options.streams + 1000)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="fqc-load-"))
        url = stack.enter_context(postgres.cluster()).url if options.database == "postgresql" else ""
        os.environ |= {"FQC_RUN_DIR": folder, "FQC_DATABASE_URL": url, "FQC_LOG_LEVEL": "CRITICAL"}
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        found = measured(options)
        from django.db import connection

        connection.close()
    print(json.dumps(found, indent=2))  # noqa: T201 - the result


if __name__ == "__main__":
    main()
