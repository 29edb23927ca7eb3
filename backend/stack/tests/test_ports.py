"""A taken port is an error that names its setting."""

import socket

import pytest

from stack import ports
from stack.problem import Problem


def test_a_taken_port_names_the_setting_and_a_way_out() -> None:
    with socket.socket() as taken:
        taken.bind((ports.LOOPBACK, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(Problem, match=rf"port {port} .* taken .* FQC_WEB_PORT={port + 100}"):
            ports.require_free(ports.WEB_SETTING, port)


def test_automatic_ports_are_free_and_apart() -> None:
    found = ports.automatic(fleet_size=3)
    assert all(ports.is_free(port) for port in [found.web, *range(found.fleet_base, found.fleet_base + 3)])
    assert found.web not in range(found.fleet_base, found.fleet_base + 3)


@pytest.mark.parametrize("text", ["web", "80", "70000", "-1", "8000 "])
def test_a_setting_that_is_no_port_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(ports.WEB_SETTING, text)
    with pytest.raises(Problem, match=ports.WEB_SETTING):
        ports.fixed()


def test_settings_move_the_fixed_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ports.WEB_SETTING, "9100")
    monkeypatch.delenv(ports.FLEET_SETTING, raising=False)
    assert ports.fixed() == ports.Ports(web=9100, fleet_base=13306)
