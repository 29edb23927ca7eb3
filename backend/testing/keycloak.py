"""A real identity provider: Keycloak, with its database in a file.

All workers of a run share it. Each has a realm of its own, with a client for each test.
"""

from __future__ import annotations

import fcntl
import http.cookiejar
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from testing.guard import MARK, run_folder
from testing.ports import free_port
from testing.workers import BACKEND, until

sys.path.append(str(BACKEND.parent / "engine" / "apps"))
from lab.keycloak_program import keycloak_environment, keycloak_home
from lab.packages import Unavailable

PASSWORD = "a password at the provider"
SECRET = "a secret of the client"
ADMIN = "first"
ABSENT = "Keycloak cannot be had here"
# Makes the provider write a person's groups into the claim `groups` of the ID token.
MAPPER = {
    "name": "groups",
    "protocol": "openid-connect",
    "protocolMapper": "oidc-group-membership-mapper",
    "config": {"full.path": "false", "id.token.claim": "true", "access.token.claim": "false", "claim.name": "groups"},
}


@dataclass
class Page:
    status: int
    url: str
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


class _Redirects(urllib.request.HTTPRedirectHandler):
    stops_before = ""

    def redirect_request(self, request: Any, file: Any, code: int, message: str, headers: Any, url: str) -> Any:
        is_far_enough = self.stops_before and self.stops_before in url
        return None if is_far_enough else super().redirect_request(request, file, code, message, headers, url)


class Visitor:
    """A browser that follows redirects and keeps cookies, also those that only TLS should carry."""

    def __init__(self) -> None:
        policy = http.cookiejar.DefaultCookiePolicy(secure_protocols=("http", "https"))
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar(policy))
        self._redirects = _Redirects()
        self._opener = urllib.request.build_opener(jar, self._redirects, urllib.request.ProxyHandler({}))

    def ask(self, url: str, body: bytes | None = None, method: str | None = None, **headers: str) -> Page:
        try:
            answer = self._opener.open(urllib.request.Request(url, body, headers, method=method), timeout=180)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            return Page(answer.status, answer.headers.get("Location") or answer.url, answer.read().decode())

    def api(self, url: str, body: Any = None, method: str | None = None, **headers: str) -> Page:
        data = None if body is None else json.dumps(body).encode()
        return self.ask(url, data, method, **{"Content-Type": "application/json", **headers})

    def session(self, console: str) -> Any:
        return self.api(f"{console}/api/v1/auth/session").json

    def begin(self, console: str, place: str = "/fleet") -> Page:
        token = self.session(console)["csrf_token"]
        return self.api(f"{console}/api/v1/auth/provider", {"next": place}, **{"X-CSRFToken": token})

    def sign_in(self, console: str, username: str, place: str = "/fleet", *, stops_before: str = "") -> Page:
        """Signs in from the console's button, and returns the page where the browser ends.

        `stops_before`: a part of an address; the browser does not follow a redirect to it.
        """
        self._redirects.stops_before = stops_before
        form = self.ask(self.begin(console, place).json["url"])
        found = re.search(r'action="([^"]+)"', form.text)
        if found is None:  # signed in at the provider already
            return form
        return self.ask(
            unescape(found[1]), urllib.parse.urlencode({"username": username, "password": PASSWORD}).encode()
        )


class Program:
    """The running provider.

    It has the mark of the whole run: it goes on if the worker that started it crashes, and ends with the run at the
    latest.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="keycloak-", dir=run_folder()))
        self.port = free_port()
        url = f"http://127.0.0.1:{self.port}"
        options = ["--cache=local", f"--hostname={url}", "--http-enabled=true", "--http-host=127.0.0.1"]
        options += [f"--http-port={self.port}", f"--db-url=jdbc:h2:file:{self.folder}/h2/keycloak;NON_KEYWORDS=VALUE"]
        first = {"KC_BOOTSTRAP_ADMIN_USERNAME": ADMIN, "KC_BOOTSTRAP_ADMIN_PASSWORD": PASSWORD}
        program = ["bash", str(keycloak_home("dev-file") / "bin" / "kc.sh"), "start", "--optimized", *options]
        environment = {**keycloak_environment(), **first, MARK: str(run_folder())}
        with (self.folder / "log").open("wb") as log:
            self._process = subprocess.Popen(program, env=environment, stdout=log, stderr=subprocess.STDOUT)
        until(lambda: self._has_ended() or self._answers(url), "Keycloak answers, or has ended", seconds=600)
        assert not self._has_ended(), (self.folder / "log").read_text()[-2000:]

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()

    def _has_ended(self) -> bool:
        return self._process.poll() is not None

    def _answers(self, url: str) -> bool:
        try:
            return Visitor().ask(f"{url}/realms/master").status == 200
        except OSError:
            return False


class Keycloak:
    """The provider at this port, with a new realm."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.realm = f"company-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
        self.issuer = f"{self.url}/realms/{self.realm}"
        self._visitor = Visitor()
        groups = [{"name": name} for name in ("fqc-admins", "dba", "staff", "sales")]
        self.admin("", {"realm": self.realm, "enabled": True, "sslRequired": "none", "groups": groups}, "POST")

    def admin(self, path: str, body: Any = None, method: str | None = None) -> Page:
        page = self._visitor.api(
            f"{self.url}/admin/realms{path}", body, method, Authorization=f"Bearer {self._token()}"
        )
        assert page.status < 400, f"{path}: {page.status} {page.text[:500]}"
        return page

    def _token(self) -> str:
        form = {"client_id": "admin-cli", "grant_type": "password", "username": ADMIN, "password": PASSWORD}
        place = f"{self.url}/realms/master/protocol/openid-connect/token"
        return self._visitor.ask(place, urllib.parse.urlencode(form).encode()).json["access_token"]

    def client(self, client_id: str, console: str, *, is_told: bool = True) -> None:
        """Registers a console with this address. `is_told`: the provider reports log-outs to the console."""
        attributes = {"pkce.code.challenge.method": "S256", "post.logout.redirect.uris": f"{console}/login"}
        if is_told:
            attributes |= {"backchannel.logout.url": f"{console}/oidc/logout"}
        made = {"clientId": client_id, "secret": SECRET, "redirectUris": [f"{console}/oidc/callback"]}
        self.admin(f"/{self.realm}/clients", {**made, "attributes": attributes, "protocolMappers": [MAPPER]}, "POST")

    def person(self, username: str, *groups: str, email: str = "") -> str:
        """Adds a person with the password PASSWORD to these groups. Returns the person's subject, the provider's id."""
        about = {"username": username, "enabled": True, "groups": [f"/{group}" for group in groups]}
        about |= {"firstName": "A", "lastName": "Person", "email": email or f"{username}@company.test"}
        about |= {"emailVerified": True, "credentials": [{"type": "password", "value": PASSWORD}]}
        self.admin(f"/{self.realm}/users", about, "POST")
        return str(self.admin(f"/{self.realm}/users?username={username}&exact=true").json[0]["id"])

    def leave(self, subject: str, group: str) -> None:
        found = self.admin(f"/{self.realm}/users/{subject}/groups?search={group}").json
        self.admin(f"/{self.realm}/users/{subject}/groups/{found[0]['id']}", method="DELETE")

    def join(self, subject: str, group: str) -> None:
        found = self.admin(f"/{self.realm}/groups?search={group}&exact=true").json
        self.admin(f"/{self.realm}/users/{subject}/groups/{found[0]['id']}", {}, "PUT")

    def disable(self, subject: str) -> None:
        self.admin(f"/{self.realm}/users/{subject}", {"enabled": False}, "PUT")

    def log_out(self, subject: str) -> None:
        """Ends all the person's sessions, as an administrator of the provider does."""
        self.admin(f"/{self.realm}/users/{subject}/logout", {}, "POST")

    def take_new_keys(self) -> None:
        """Signs with another key, and no longer trusts the previous one."""
        before = self.admin(f"/{self.realm}/components?type=org.keycloak.keys.KeyProvider").json
        new = {"name": "new", "providerId": "rsa-generated", "providerType": "org.keycloak.keys.KeyProvider"}
        self.admin(f"/{self.realm}/components", {**new, "config": {"priority": ["1000"]}}, "POST")
        for each in before:
            if each["providerId"] == "rsa-generated":
                self.admin(f"/{self.realm}/components/{each['id']}", method="DELETE")


@pytest.fixture(scope="session")
def keycloak() -> Iterator[Keycloak]:
    """Yields the provider. Each user holds a shared lock, which the system releases if it crashes. The worker that
    started the program stops it once it has that lock alone. Another lock lets one worker at a time look for a running
    program, so that it need not wait until others have ended."""
    place = run_folder() / "keycloak"
    with place.with_suffix(".users").open("w") as users:
        with place.with_suffix(".start").open("w") as start:
            fcntl.flock(start, fcntl.LOCK_EX)
            fcntl.flock(users, fcntl.LOCK_SH)
            started = None
            if not place.exists():
                started = _started()
                place.write_text(str(started.port))
        try:
            yield Keycloak(int(place.read_text()))
        finally:
            if started is not None:
                fcntl.flock(users, fcntl.LOCK_EX)
                place.unlink()
                started.stop()


def _started() -> Program:
    try:
        return Program()
    except Unavailable as reason:
        pytest.skip(f"{ABSENT}: {reason}")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    skipped = [str(each.longrepr) for each in terminalreporter.stats.get("skipped", [])]
    if number := sum(ABSENT in each for each in skipped):
        terminalreporter.write_line(f"{number} TESTS OF SIGN-IN WERE SKIPPED. {ABSENT}.", yellow=True)
