"""A listener in a server's place must not get the stored password, or anything that works as one."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from controlplane.gateway.errors import GatewayError, NotAServer, PasswordWithheld, Unreachable
from controlplane.gateway.server import open_server
from controlplane.gateway.tests.hostile import (
    CHALLENGE,
    OK,
    PASSWORD,
    WITH_TLS,
    WITHOUT_TLS,
    Listener,
    Talk,
    greeting,
    hostile,
)
from controlplane.gateway.tests.test_tls import certified
from testing.servers import LIMITS

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PUBLIC_KEY = KEY.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
FULL_AUTHENTICATION, KEY_ASKED = b"\x01\x04", b"\x02"


def refused(listener: Listener, **facts: Any) -> GatewayError:
    with pytest.raises(GatewayError) as caught:
        open_server(listener.account(**facts), LIMITS)
    assert PASSWORD.encode() not in listener.heard
    return caught.value


@pytest.mark.parametrize(
    ("plugin", "advice"),
    [
        ("mysql_clear_password", "require TLS"),
        ("dialog", "require TLS"),
        ("mysql_old_password", "another plugin"),
        ("made_up", "another plugin"),
    ],
)
def test_no_other_way_of_telling_the_password_is_agreed_to_without_tls(plugin: str, advice: str) -> None:
    def ask(talk: Talk) -> None:
        talk.say(greeting())
        talk.hear()
        talk.switch_to(plugin)

    with hostile(ask) as listener:
        error = refused(listener)
    assert isinstance(error, PasswordWithheld) and error.is_permanent and error.code == "password_withheld"
    assert plugin in error.detail and advice in error.detail
    assert len(listener.talks[0].heard) == 1  # its scrambled response to the greeting, and nothing after the request


@pytest.mark.parametrize("plugin", ["mysql_clear_password", "dialog", "mysql_old_password", "made_up"])
def test_a_greeting_that_names_such_a_way_gets_nothing_either(plugin: str) -> None:
    def ask(talk: Talk) -> None:
        talk.say(greeting(plugin))
        talk.hear()
        talk.say(b"\x01")
        talk.hear()

    with hostile(ask) as listener:
        refused(listener)


def test_the_switch_to_passwords_of_before_4_1_is_refused() -> None:
    def ask(talk: Talk) -> None:
        talk.say(greeting())
        talk.hear()
        talk.say(b"\xfe")
        talk.hear()

    with hostile(ask) as listener:
        refused(listener)
    assert len(listener.talks[0].heard) == 1


@pytest.mark.parametrize("is_in_greeting", [True, False], ids=["greeting", "switch"])
@pytest.mark.parametrize("plugin", ["caching_sha2_password", "sha256_password"])
def test_the_password_is_not_encrypted_for_whoever_sends_a_key(plugin: str, is_in_greeting: bool) -> None:
    def ask(talk: Talk) -> None:
        talk.say(greeting(plugin if is_in_greeting else "mysql_native_password"))
        talk.hear()
        if not is_in_greeting:
            talk.switch_to(plugin)
        if plugin == "caching_sha2_password":
            talk.say(FULL_AUTHENTICATION)
            assert talk.hear() == KEY_ASKED
        talk.say(b"\x01" + PUBLIC_KEY)
        talk.hear()

    with hostile(ask) as listener:
        error = refused(listener)
    assert isinstance(error, PasswordWithheld) and "require TLS" in error.detail
    assert not [piece for piece in listener.talks[0].heard if len(piece) == KEY.key_size // 8]


def test_an_account_that_the_server_remembers_gets_in_without_its_password_being_sent() -> None:
    """The fast path of caching_sha2_password works without TLS: it is a scrambled response to a challenge, like the
    native method.
    """

    def remember(talk: Talk) -> None:
        talk.say(greeting("caching_sha2_password"))
        talk.hear()
        talk.say(b"\x01\x03")
        talk.say(OK)
        talk.statement()

    with hostile(remember) as listener:
        open_server(listener.account(), LIMITS).close()


def test_a_server_without_tls_learns_not_even_the_account_where_tls_is_required(tmp_path: Path) -> None:
    certified(tmp_path)

    def downgrade(talk: Talk) -> None:
        talk.say(greeting(capabilities=WITHOUT_TLS))
        talk.hear()

    with hostile(downgrade) as listener:
        refused(listener, tls_ca=(tmp_path / "certificate").read_text())
    assert listener.talks[0].heard == []


def server_context(folder: Path) -> ssl.SSLContext:
    certified(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate", folder / "key")
    return context


def test_a_server_with_a_certificate_of_its_own_learns_not_even_the_account(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir(), (tmp_path / "other").mkdir()
    context = server_context(tmp_path / "own")
    certified(tmp_path / "other")

    def impersonate(talk: Talk) -> None:
        talk.say(greeting(capabilities=WITH_TLS))
        talk.encrypt(context)
        talk.hear()

    with hostile(impersonate) as listener:
        error = refused(listener, tls_ca=(tmp_path / "other" / "certificate").read_text())
    assert isinstance(error, Unreachable) and "certificate" in error.detail
    assert b"fqc" not in listener.heard


@pytest.mark.parametrize("plugin", ["mysql_clear_password", "dialog", "sha256_password"])
def test_a_server_that_proved_who_it_is_may_ask_for_the_password(tmp_path: Path, plugin: str) -> None:
    context = server_context(tmp_path)

    def ask(talk: Talk) -> None:
        talk.say(greeting(capabilities=WITH_TLS))
        talk.encrypt(context)
        talk.hear()
        assert talk.switch_to(plugin) == PASSWORD.encode() + b"\x00"
        talk.say(OK)
        talk.statement()

    with hostile(ask) as listener:
        open_server(listener.account(tls_ca=(tmp_path / "certificate").read_text()), LIMITS).close()
    assert PASSWORD.encode() in listener.heard


@pytest.mark.parametrize("plugin", ["mysql_old_password", "made_up"])
def test_what_is_old_or_unknown_is_refused_with_tls_too(tmp_path: Path, plugin: str) -> None:
    context = server_context(tmp_path)

    def ask(talk: Talk) -> None:
        talk.say(greeting(capabilities=WITH_TLS))
        talk.encrypt(context)
        talk.hear()
        talk.switch_to(plugin)

    with hostile(ask) as listener:
        error = refused(listener, tls_ca=(tmp_path / "certificate").read_text())
    assert isinstance(error, PasswordWithheld) and "another plugin" in error.detail


def test_a_demand_for_a_file_of_this_machine_gets_none(tmp_path: Path) -> None:
    secret = tmp_path / "sealing-keys"
    secret.write_text("the keys of the kingdom")

    def ask(talk: Talk) -> None:
        talk.let_in()
        talk.statement()
        talk.say(b"\xfb" + str(secret).encode())
        talk.hear()

    with hostile(ask) as listener:
        server = open_server(listener.account(), LIMITS)
        with pytest.raises(NotAServer) as caught:
            server.rows("SELECT 1")
        assert caught.value.is_permanent
        server.close()
    assert b"kingdom" not in listener.heard


def test_the_native_way_answers_any_challenge_with_a_hash_and_never_the_password() -> None:
    """A listener in a server's place gets a hash for a challenge that it chose, which cannot be avoided, but not the
    password.

    See docs/guides/production.md.
    """
    from pymysql._auth import scramble_native_password

    def ask(talk: Talk) -> None:
        talk.let_in()
        talk.statement()

    with hostile(ask) as listener:
        open_server(listener.account(), LIMITS).close()
    assert scramble_native_password(PASSWORD.encode(), CHALLENGE) in listener.heard
    assert PASSWORD.encode() not in listener.heard
