"""A reader of a real web process that loses its connection and comes back: nothing is lost, and nothing comes twice."""

import http.client
import socket
import threading
import time
from urllib.parse import urlsplit

import pytest

from controlplane.core.events import event_publish
from controlplane.core.models import Event
from testing.clients import client_as

pytestmark = pytest.mark.django_db(transaction=True)
MANY = 300
LIMIT_SECONDS = 120  # only reached on failure, since an idle stream sends keep-alives


class Reader:
    """A client of the event stream that behaves like a browser: an event counts once its empty line has arrived, and
    `open` continues after the last id.
    """

    def __init__(self, url):
        self.host, self.port = urlsplit(url).hostname, urlsplit(url).port
        self.token = client_as("viewer")._credentials["HTTP_AUTHORIZATION"]
        self.last_id = ""
        self.subjects = []

    def open(self, query=""):
        headers = {"Authorization": self.token, "Accept": "text/event-stream"}
        if self.last_id:
            headers["Last-Event-ID"] = self.last_id
        self.connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        self.connection.request("GET", "/api/v1/events" + query, headers=headers)
        self.socket = self.connection.sock
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200
        self.block()  # reads the initial id
        return self

    def block(self):
        fields = {}
        while line := self.answer.readline().decode().rstrip("\n"):
            name, _, value = line.partition(":")
            fields[name] = value.strip()
        self.last_id = fields.get("id", self.last_id)
        if "data" in fields:
            self.subjects.append(fields["data"].split('"subject": "')[1].split('"')[0])

    def until(self, count):
        end = time.monotonic() + LIMIT_SECONDS
        while len(self.subjects) < count:
            assert time.monotonic() < end, f"{count} events did not come, only {self.subjects}"
            self.block()
        return self

    def lose(self, in_the_middle_of_a_block=False):
        if in_the_middle_of_a_block:
            self.answer.readline()  # an incomplete block is read but ignored
        self.socket.shutdown(socket.SHUT_RDWR)
        self.connection.close()
        return self


def tell(*subjects):
    for subject in subjects:
        event_publish("change", subject, {"state": "applied"})


@pytest.fixture
def reader(web):
    return Reader(web())


def test_connections_that_break_while_events_pour_in_lose_none_and_repeat_none(reader):
    told = [f"chg-{number}" for number in range(MANY)]
    reader.open()
    teller = threading.Thread(target=tell, args=told)
    teller.start()
    for count in range(MANY // 10, MANY, MANY // 10):
        reader.until(count).lose(in_the_middle_of_a_block=count % 20 == 0)
        reader.open()
    reader.until(MANY)
    teller.join()
    tell("the last")
    reader.until(MANY + 1).lose()
    assert reader.subjects == [*told, "the last"]


def test_what_happens_while_nobody_reads_is_told_afterwards(reader):
    tell("before")
    reader.open().lose()  # before any event was sent
    tell("meanwhile")
    reader.open()
    tell("after")
    assert reader.until(2).lose().subjects == ["meanwhile", "after"]


def test_an_event_that_is_committed_late_is_told_once_whoever_was_connected(reader):
    """Events with lower ids appear after higher ones, as on PostgreSQL, where a transaction that began early may commit
    late.

    The reader gets each of them once.
    """
    tell("a")
    at = Event.objects.get().pk
    reader.open()
    Event.objects.create(pk=at + 2, topic="change", subject="c")
    reader.until(1).lose()
    Event.objects.create(pk=at + 1, topic="change", subject="b")  # while the reader is away
    reader.open().until(2)
    Event.objects.create(pk=at + 5, topic="change", subject="f")
    reader.until(3)
    Event.objects.create(pk=at + 3, topic="change", subject="d")  # while it reads
    reader.until(4).lose().open()
    Event.objects.create(pk=at + 4, topic="change", subject="e")
    assert reader.until(5).lose().subjects == ["c", "b", "f", "d", "e"]


def test_what_a_reader_did_not_ask_for_moves_it_on_all_the_same(reader):
    reader.open("?topic=incident")
    tell("chg-1")
    event_publish("incident", "inc-1", {})
    reader.until(1).lose()
    event_publish("incident", "inc-2", {})
    assert reader.open("?topic=incident").until(2).lose().subjects == ["inc-1", "inc-2"]
