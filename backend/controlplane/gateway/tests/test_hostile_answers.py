"""Servers with endless answers: the client's memory stays bounded. Measured in a process of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from email.message import EmailMessage
from types import SimpleNamespace
from typing import Any

import pytest

from controlplane.gateway.bulk import Question, ask_all
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.mail import MailServer, deliver
from controlplane.gateway.server import Limits, open_server
from controlplane.gateway.tests.hostile import END, PASSWORD, Talk, answers, column, forever, hostile

MOST_GROWTH_BYTES = 100 * 1024**2
MOST_ADDRESSES_BYTES = 4 * 1024**3  # a failing test must not exhaust the machine's memory
SECONDS = 120  # endless data fills any memory long before
LONGEST_PACKET = b"x" * (2**24 - 1)  # the client expects another packet that continues this one
MORE_FOLLOWS = b"\x00\x00\x00\x0a\x00\x00\x00"
DECIMAL = b"\xf6"


def greets(talk: Talk) -> None:
    forever(talk, LONGEST_PACKET)


def authenticates(talk: Talk) -> None:
    talk.say(b"\x0a10.11.9\x00" + b"x" * 2**20)
    talk.hear()


TWO = b"\x02"
PLAYS: dict[str, Callable[[Talk], None]] = {
    "rows of hardly anything": answers(TWO, column(), column(), END, then=b"\x01a\xfb"),
    "rows of numbers that take much room": answers(TWO, column(DECIMAL), column(DECIMAL), END, then=b"\x011\x012"),
    "rows of a megabyte": answers(TWO, column(), column(), END, then=b"\x01a\xfd\x00\x00\x10" + b"x" * 2**20),
    "one row of many packets": answers(TWO, column(), column(), END, then=LONGEST_PACKET),
    "an error of 16 megabytes": answers(then=b"\xff\x28\x04#42000" + b"x" * (2**24 - 20)),
    "an error of many packets": answers(b"\xff\x28\x04#42000" + b"x" * (2**24 - 10), then=LONGEST_PACKET),
    "columns by the million": answers(b"\xfd\x00\x00\x80", then=column()),
    "columns by the trillion": answers(b"\xfe" + (2**63).to_bytes(8, "little"), then=column()),
    "result sets without end": answers(then=MORE_FOLLOWS),
}
GREETINGS = {"a greeting without end": greets, "a greeting of a megabyte": authenticates}


def read(account: Any) -> None:
    server = open_server(account, Limits(("127.0.0.0/8",), SECONDS, SECONDS))
    try:
        server.rows("SELECT 1")
    finally:
        server.close()


def skip(account: Any) -> None:
    server = open_server(account, Limits(("127.0.0.0/8",), SECONDS, SECONDS))
    try:
        server.skip("SELECT 1")
        server.skip("SELECT 1")  # data after the first answer is read before the next statement
    finally:
        server.close()


def ask(account: Any) -> None:
    server = open_server(account, Limits(("127.0.0.0/8",), SECONDS, SECONDS))
    assert server.plain_socket
    assert ask_all({"hostile": Question(server.plain_socket, ["SHOW GLOBAL STATUS"])}, SECONDS) == {}
    server.close()


def mail(account: Any) -> None:
    letter = EmailMessage()
    letter["From"] = letter["To"] = "fqc@example.com"
    deliver(letter, ["fqc@example.com"], MailServer(account.host, account.port, networks=("127.0.0.0/8",)))


WAYS = {"read": read, "skip": skip, "ask": ask, "mail": mail}


def measure(way: str, port: int) -> None:
    """Runs in a separate process with a memory limit: connects to `port` in the way named, and prints as JSON how the
    call ended and how much memory it took.
    """
    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES_BYTES, MOST_ADDRESSES_BYTES))
    account = SimpleNamespace(
        host="127.0.0.1", port=port, username="fqc", password=PASSWORD, is_tls_required=False, tls_ca="", public_key=""
    )
    before, said = _peak_bytes(), {"code": "", "detail": "", "is_permanent": True}
    try:
        WAYS[way](account)
    except GatewayError as error:
        said = {"code": error.code, "detail": error.detail, "is_permanent": error.is_permanent}
    sys.stdout.write(json.dumps({**said, "growth_bytes": _peak_bytes() - before}))


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measured(way: str, port: int) -> Any:
    words = f"from controlplane.gateway.tests.test_hostile_answers import measure; measure({way!r}, {port})"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def refused(play: Callable[[Talk], None], way: str, codes: Sequence[str]) -> None:
    with hostile(play) as listener:
        found = measured(way, listener.port)
    assert found["growth_bytes"] < MOST_GROWTH_BYTES
    assert found["code"] in codes and found["is_permanent"]
    assert len(found["detail"]) < 1000


@pytest.mark.parametrize("play", PLAYS.values(), ids=PLAYS.keys())
def test_an_answer_is_read_to_its_limit_and_no_further(play: Callable[[Talk], None]) -> None:
    refused(play, "read", ["answer_too_long", "server_refused"])


@pytest.mark.parametrize("play", PLAYS.values(), ids=PLAYS.keys())
def test_an_answer_of_which_nothing_is_kept_has_a_limit_too(play: Callable[[Talk], None]) -> None:
    refused(play, "skip", ["answer_too_long", "server_refused"])


@pytest.mark.parametrize("play", PLAYS.values(), ids=PLAYS.keys())
def test_an_answer_in_a_round_over_many_servers_has_a_limit(play: Callable[[Talk], None]) -> None:
    refused(play, "ask", [""])


@pytest.mark.parametrize("play", GREETINGS.values(), ids=GREETINGS.keys())
def test_a_greeting_has_a_limit(play: Callable[[Talk], None]) -> None:
    refused(play, "read", ["answer_too_long"])


@pytest.mark.parametrize("words", [b"220-and another thing\r\n", b"220 and", b"220-\r\n"])
def test_the_words_of_a_mail_server_have_a_limit(words: bytes) -> None:
    def play(talk: Talk) -> None:
        while True:
            talk.sock.sendall(words * 1000)

    with hostile(play) as listener:
        found = measured("mail", listener.port)
    assert found["growth_bytes"] < MOST_GROWTH_BYTES
    assert found["code"] == "mail_delayed" and not found["is_permanent"]


def test_the_limit_is_named() -> None:
    def play(talk: Talk) -> None:
        answers(TWO, column(), column(), END, then=b"\x01a\x01b")(talk)

    with hostile(play) as listener:
        server = open_server(listener.account(), Limits(("127.0.0.0/8",), SECONDS, SECONDS, answer_bytes=5000))
        with pytest.raises(GatewayError, match="answered more than the 5,000 bytes"):
            server.rows("SELECT 1")
        server.close()


def test_a_refusal_in_the_middle_of_what_is_skipped_is_told(shared_server: Any) -> None:
    server = shared_server.connect()
    server.skip("SELECT seq FROM mysql.seq_1_to_100000")
    with pytest.raises(GatewayError, match="1242"):
        server.skip("SELECT seq, (SELECT seq FROM mysql.seq_1_to_2 WHERE a.seq > 50000) FROM mysql.seq_1_to_100000 a")
    assert server.value("SELECT 7") == 7
    server.close()
