"""Messages to HTTP receivers, over real sockets: where they may go, and how they fail."""

from __future__ import annotations

import socket
import ssl
import time
from pathlib import Path

import pytest

from controlplane.gateway.errors import GatewayError
from controlplane.gateway.post import (
    MOST_QUOTED,
    Receiver,
    ReceiverDelayed,
    ReceiverForbidden,
    ReceiverInClear,
    ReceiverRefused,
    post,
    receiver_addresses,
)
from controlplane.gateway.tests.hostile import Talk, hostile
from controlplane.gateway.tests.receiver import receiver
from controlplane.gateway.tests.test_tls import certified

LOOPBACK = ("127.0.0.0/8",)


def test_what_is_posted_arrives_as_it_is() -> None:
    with receiver() as desk:
        post(Receiver(f"{desk.url}?to=dba", LOOPBACK), b'{"a": 1}', {"Content-Type": "application/json"})
    [received] = desk.received
    assert (received.path, received.body, received.headers["Content-Type"]) == (
        "/hook?to=dba", b'{"a": 1}', "application/json",
    )  # fmt: skip


@pytest.mark.parametrize("status", [301, 302, 307, 400, 403, 404, 410])
def test_a_refusal_is_final_and_a_redirect_is_not_followed(status: int) -> None:
    with receiver() as elsewhere, receiver() as desk:
        desk.status, desk.headers = status, {"Location": elsewhere.url}
        with pytest.raises(ReceiverRefused, match=str(status)):
            post(Receiver(desk.url, LOOPBACK), b"{}", {})
    assert elsewhere.received == []


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_what_may_be_taken_later_is_no_refusal(status: int) -> None:
    with receiver() as desk:
        desk.status, desk.headers = status, {"Retry-After": "120"}
        with pytest.raises(ReceiverDelayed) as delayed:
            post(Receiver(desk.url, LOOPBACK), b"{}", {})
    assert delayed.value.again_after_seconds == 120


def test_a_receiver_that_names_no_number_of_seconds_is_tried_again_as_usual() -> None:
    with receiver() as desk:
        desk.status, desk.headers = 503, {"Retry-After": "9" * 5000}
        with pytest.raises(ReceiverDelayed) as delayed:
            post(Receiver(desk.url, LOOPBACK), b"{}", {})
    assert delayed.value.again_after_seconds == 0


def test_of_a_long_answer_a_line_is_quoted() -> None:
    with receiver() as desk:
        desk.status, desk.said = 400, b"no\r\n" * 1_000_000
        with pytest.raises(ReceiverRefused) as refused:
            post(Receiver(desk.url, LOOPBACK), b"{}", {})
    assert "no no" in refused.value.detail and len(refused.value.detail) < MOST_QUOTED + 200


def test_a_receiver_that_is_down_is_told_without_its_path() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(ReceiverDelayed) as delayed:
            post(Receiver(f"http://127.0.0.1:{taken.getsockname()[1]}/s3cret", LOOPBACK), b"{}", {})
    assert "s3cret" not in delayed.value.detail


@pytest.mark.parametrize("drips", [False, True], ids=["says nothing", "says a byte now and then"])
def test_the_whole_has_an_end(drips: bool) -> None:
    with receiver() as desk:
        desk.drips = drips
        if not drips:
            desk.may_answer.clear()
        started = time.monotonic()
        with pytest.raises(ReceiverDelayed, match="not done within 1 s"):
            post(Receiver(desk.url, LOOPBACK, timeout_seconds=1), b"{}", {})
        assert time.monotonic() - started < 30


NOT_PUBLIC = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "127.0.0.1", "169.254.169.254", "172.31.255.255", "192.0.0.1",
    "192.0.0.9", "192.0.0.170", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.19.255.255", "198.51.100.1",
    "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::10.0.0.1", "::ffff:10.0.0.1", "::ffff:192.88.99.1", "::ffff:0:10.0.0.1", "::ffff:0:808:808",
    "64:ff9b::a00:1", "64:ff9b::808:808", "64:ff9b:1::1", "100::1", "100:0:0:1::1", "200::1", "2001::1", "2001:1::1",
    "2001:2::1", "2001:10::1", "2001:20::1", "2001:30::1", "2001:1ff::1", "2001:db8::1", "2002:a00:1::",
    "2002:808:808::", "3fff::1", "3fff:fff::1", "4000::1", "5f00::1", "fc00::1", "fd00::1", "fe80::1", "fec0::1",
    "feff::1", "ff02::1", "ffff::1",
]  # fmt: skip
PUBLIC = [
    "1.1.1.1", "8.8.8.8", "100.63.255.255", "172.32.0.1", "192.0.1.1", "192.88.98.1", "223.255.255.255",
    "2001:200::1", "2001:4860:4860::8888", "2003::1", "2606:4700::1111", "2a00::1", "3ffe:ffff::1", "::ffff:8.8.8.8",
]  # fmt: skip


def _url(scheme: str, address: str) -> str:
    return f"{scheme}://[{address}]/" if ":" in address else f"{scheme}://{address}/"


@pytest.mark.parametrize("host", [*NOT_PUBLIC, "localhost"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_what_is_not_public_is_not_spoken_to_unless_its_network_is_allowed(
    monkeypatch: pytest.MonkeyPatch, scheme: str, host: str
) -> None:
    tried: list[object] = []
    monkeypatch.setattr("controlplane.gateway.post.dial", lambda *given: tried.append(given))
    with pytest.raises(ReceiverForbidden):
        post(Receiver(_url(scheme, host)), b"{}", {})
    assert tried == []


@pytest.mark.parametrize("host", PUBLIC)
def test_what_is_public_may_be_spoken_to(host: str) -> None:
    assert receiver_addresses(Receiver(_url("https", host))) == [host]


def test_a_public_address_is_spoken_to_over_https_alone() -> None:
    assert receiver_addresses(Receiver("https://1.1.1.1/")) == ["1.1.1.1"]
    with pytest.raises(ReceiverForbidden, match="https alone"):
        receiver_addresses(Receiver("http://1.1.1.1/"))


def test_a_secret_is_sent_in_clear_to_this_machine_alone() -> None:
    assert receiver_addresses(Receiver("http://127.0.0.1/", LOOPBACK, is_secret=True)) == ["127.0.0.1"]
    with pytest.raises(ReceiverInClear):
        receiver_addresses(Receiver("http://10.0.0.1/", ("10.0.0.0/8",), is_secret=True))


def test_a_certificate_that_nobody_vouches_for_gets_no_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certified(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "certificate", tmp_path / "key")
    with receiver(context) as desk:
        with pytest.raises(ReceiverDelayed, match="certificate"):
            post(Receiver(desk.url, LOOPBACK), b"{}", {})
        assert desk.received == []


@pytest.mark.parametrize(
    "body", [b"-5\r\nhello", b"zz\r\nhello", b"f" * 30 + b"\r\nhello", b"", b"5\r\nhello\r\n0\r\n\r\n"]
)
@pytest.mark.parametrize(("status", "kind"), [(503, ReceiverDelayed), (404, ReceiverRefused)])
def test_a_body_in_pieces_of_any_length_is_an_answer(body: bytes, status: int, kind: type[GatewayError]) -> None:
    with receiver() as desk:
        desk.status, desk.headers, desk.said = status, {"Transfer-Encoding": "chunked"}, body
        with pytest.raises(kind, match=f"answered {status}"):
            post(Receiver(desk.url, LOOPBACK), b"{}", {})


def test_of_a_body_in_pieces_without_an_end_little_is_read() -> None:
    """The answer has a chunk of -1 bytes, which http.client takes for everything until the end; only the beginning is
    read.
    """
    sent = 0

    def play(talk: Talk) -> None:
        nonlocal sent
        talk.sock.recv(65536)
        talk.sock.sendall(b"HTTP/1.1 503 no\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n")
        while True:
            sent += talk.sock.send(b"x" * 65536)

    with hostile(play) as listener, pytest.raises(ReceiverDelayed, match="answered 503"):
        post(Receiver(f"http://127.0.0.1:{listener.port}/", LOOPBACK), b"{}", {})
    assert sent < 32 * 1024**2
