"""Encrypted connections to a real server: verified, and as bounded as plain ones."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from controlplane.gateway.errors import NoTls, Unreachable
from controlplane.gateway.product import MARIADB
from controlplane.gateway.server import Limits, open_server
from controlplane.gateway.tests.dribble import dribbling
from testing.servers import CONFIGURATION, LIMITS, TestServer, server_of_line, servers

ADDRESS = ipaddress.ip_address("127.0.0.1")
CLIENT_HELLO = b"\x16\x03"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestServer]:
    with servers() as make:
        made = make()
        folder = tmp_path_factory.mktemp("tls")
        made.configure({**CONFIGURATION, **certified(folder)})
        made.restart()
        made.tls_ca = (folder / "certificate").read_text()  # type: ignore[misc]
        yield made


def certified(folder: Path) -> dict[str, str]:
    """Makes a self-signed certificate for the loopback address in `folder`.

    Returns the server's options that use it.
    """
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name.from_rfc4514_string("CN=test")
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ADDRESS)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    (folder / "certificate").write_bytes(made.public_bytes(pem))
    (folder / "key").write_bytes(key.private_bytes(pem, *plain))
    return {"ssl_cert": str(folder / "certificate"), "ssl_key": str(folder / "key")}


@pytest.fixture
def at(server: TestServer) -> Callable[..., Any]:
    def make(port: int, ca: str = server.tls_ca) -> Any:
        account = {"username": server.username, "password": server.password}
        return SimpleNamespace(host=str(ADDRESS), port=port, is_tls_required=True, tls_ca=ca, public_key="", **account)

    return make


def test_a_connection_is_encrypted_and_the_server_is_who_it_says(server: TestServer, at: Callable[..., Any]) -> None:
    connection = open_server(at(server.port), LIMITS)
    [(_, cipher)] = connection.rows("SHOW SESSION STATUS LIKE 'Ssl_cipher'")
    assert cipher
    assert len(connection.variables()) > 100
    connection.close()


def test_a_server_whose_certificate_nobody_vouches_for_is_not_spoken_to(
    server: TestServer, at: Callable[..., Any]
) -> None:
    with pytest.raises(NoTls, match=r"certificate verify failed.*its authority"):
        open_server(at(server.port, ca=""), LIMITS)


def test_a_server_that_offers_no_tls_is_not_told_as_one_that_cannot_be_reached(at: Callable[..., Any]) -> None:
    told = "SSL is required.* Switch TLS on"
    with server_of_line(TestServer, MARIADB, ["skip_ssl"]) as plain, pytest.raises(NoTls, match=told):
        open_server(at(plain.port), LIMITS)


@pytest.mark.parametrize("ca", ["x", "²"])
def test_authorities_that_are_none_are_told_as_what_they_are(at: Callable[..., Any], ca: str) -> None:
    with pytest.raises(Unreachable):
        open_server(at(1, ca=ca), LIMITS)


def test_a_handshake_that_comes_byte_by_byte_is_given_up(server: TestServer, at: Callable[..., Any]) -> None:
    with dribbling(server.port, CLIENT_HELLO) as proxy, pytest.raises(Unreachable):
        open_server(at(proxy.port), Limits(LIMITS.networks, connect_seconds=1))


def test_an_encrypted_answer_that_comes_byte_by_byte_is_given_up(server: TestServer, at: Callable[..., Any]) -> None:
    with dribbling(server.port) as proxy:
        connection = open_server(at(proxy.port), Limits(LIMITS.networks, 60, statement_seconds=1))
        proxy.begin()
        with pytest.raises(Unreachable):
            connection.variables()
        connection.close()
