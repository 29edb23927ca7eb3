"""Keycloak: accounts of people, their logins and tokens, and the interface of its administration.

It is a program of Java with Hibernate. It keeps much in its own memory, and does each request in a transaction.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from driver.product import MARIADB, MYSQL, Product
from driver.server import USER
from lab.application import Extent, Site, Step, Visitors, guest
from lab.browser import HOST, Browser, Page
from lab.keycloak_program import keycloak_environment, keycloak_home
from lab.web import WebServer

PROPERTIES = {MARIADB.name: "?sslMode=disable", MYSQL.name: "?sslMode=DISABLED"}
ADMIN, READER, PASSWORD = "admin", "reader", "a password of the lab"
REALM, ADMINISTRATION = "/realms/lab", "/admin/realms/lab"
BACK = f"http://{HOST}/back"
WORDS = ("river", "stone", "paper", "window", "garden", "letter", "engine", "mountain", "harbour", "winter", "copper")
HOURS = 36000


class Keycloak:
    name = "keycloak"
    schema = "keycloak"
    products = (MARIADB, MYSQL)
    varying = (
        re.compile(r"\beyJ[\w.-]{20,}"),
        re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
        re.compile(r"\b(tab_id|session_code|execution|client_data)=[\w%.-]+"),
        re.compile(r"checkAuthSession\(\s*\S+\s*\)"),
        re.compile(r'name="(code|session_state)" value="[^"]*"', re.IGNORECASE),
        re.compile(r'"(session_state|sid|jti|id_token|access_token|refresh_token)":"[^"]*"'),
        re.compile(r"\b1[78]\d{8}(\d{3})?\b"),
        re.compile(r'"(refresh_)?expires_in":\d+'),
    )

    def prepare(self, folder: Path, product: Product) -> None:
        folder.mkdir()
        self._home, self._folder, self._product = keycloak_home(product.name.lower()), folder, product

    def install(self, database: int, extent: Extent) -> None:
        site = self.serve(database, "install", {})
        try:
            _fill(Browser(site.port), extent.size)
        finally:
            site.stop()

    def serve(self, database: int, name: str, environment: Mapping[str, str]) -> Site:
        place = self._folder / name
        place.mkdir()
        first = {"KC_BOOTSTRAP_ADMIN_USERNAME": "first", "KC_BOOTSTRAP_ADMIN_PASSWORD": PASSWORD}
        # Without `--cache=local`, Keycloak opens a port for a cluster that other machines can reach.
        options = ["--cache=local", f"--hostname=http://{HOST}", "--http-enabled=true", "--http-host=127.0.0.1"]
        options += ["--db-url-host=127.0.0.1", f"--db-url-port={database}", f"--db-url-database={self.schema}"]
        options += [f"--db-url-properties={PROPERTIES[self._product.name]}", f"--db-username={USER}", "--db-password="]

        def command(port: int) -> list[str | Path]:
            program = self._home / "bin" / "kc.sh"
            return ["bash", program, "start", "--optimized", *options, f"--http-port={port}"]

        return WebServer(command, {**keycloak_environment(), **first, **environment}, place, place)

    def log_in(self, visitors: Visitors) -> Page:
        page = _token(visitors.member, {"grant_type": "password", "username": ADMIN, "password": PASSWORD})
        visitors.kept[ADMIN] = json.loads(page.text)["access_token"]
        return _log_in(visitors)

    def crawl(self, number: int, extent: Extent) -> Iterator[Step]:
        for _ in range(extent.passes):
            yield from self._read(extent)
        # After each write come pages that must show it.
        edited, joined = f"person-{extent.size // 2}", f"person-{extent.size // 2 + 1}"
        yield Step("a reader logs in", _log_in, is_write=True)
        yield from self._account()
        yield Step("a person is edited", lambda each: _edit(each, edited, number), is_write=True)
        yield Step("the person after its edit", lambda each: _person(each, edited, ""))
        yield administration("a search after an edit", f"/users?search=Edited{number}")
        yield Step("a person joins a group", lambda each: _join(each, joined, number), is_write=True)
        yield Step("the groups of the person", lambda each: _person(each, joined, "/groups"))
        yield Step("the members of the group", lambda each: _members(each, number))
        yield Step("a person is added", lambda each: _add(each, number), is_write=True)
        yield administration("a search after a new person", f"/users?search=added-{number}")
        yield administration("the number of people after a new one", "/users/count")
        for _ in range(extent.passes):
            yield from self._read(extent)

    def _read(self, extent: Extent) -> Iterator[Step]:
        yield guest("the realm", REALM)
        yield guest("what the realm offers", f"{REALM}/.well-known/openid-configuration")
        yield guest("the keys", f"{REALM}/protocol/openid-connect/certs")
        yield guest("the form of a login", _login_form())
        yield from self._account()
        yield administration("a list of people", "/users?first=0&max=20")
        yield administration("a page of the list of people", "/users?first=20&max=20&briefRepresentation=true")
        yield administration("a search for people", "/users?search=harbour")
        yield administration("the number of people", "/users/count")
        yield administration("a list of groups", "/groups?first=0&max=20")
        yield Step("the members of a group", lambda each: _members(each, 3))
        yield administration("the clients", "/clients")
        yield administration("the roles", "/roles?first=0&max=20")
        for number in range(extent.size - extent.popular, extent.size):
            for part in ("", "/groups", "/role-mappings"):
                name = f"a person{part.replace('/', ', ')}"
                yield Step(name, lambda each, who=f"person-{number}", part=part: _person(each, who, part))

    def _account(self) -> Iterator[Step]:
        yield Step("the account", lambda each: _own(each, f"{REALM}/account/"))
        yield Step("the groups of the account", lambda each: _own(each, f"{REALM}/account/groups"))
        yield Step("who the reader is", lambda each: _own(each, f"{REALM}/protocol/openid-connect/userinfo"))


def administration(name: str, path: str) -> Step:
    return Step(f"{name}, administration", lambda each: each.member.get(ADMINISTRATION + path, _as_admin(each)))


def _fill(browser: Browser, size: int) -> None:
    form = {"client_id": "admin-cli", "grant_type": "password", "username": "first", "password": PASSWORD}
    page = browser.post("/realms/master/protocol/openid-connect/token", form)
    bearer = {"Authorization": f"Bearer {json.loads(page.text)['access_token']}"}
    page = browser.send("POST", "/admin/realms", _realm(size), bearer)
    if page.status != 201:
        raise RuntimeError(f"Keycloak refused the realm: {page.status} {page.text[:600]}")


def _realm(size: int) -> dict[str, Any]:
    can_log_in = {"credentials": [{"type": "password", "value": PASSWORD}]}
    people = [_about(f"person-{number}", number) for number in range(1, size + 1)]
    people += [{**_about(READER, 1), **can_log_in}]
    people += [{**_about(ADMIN, 2), **can_log_in, "clientRoles": {"realm-management": ["realm-admin"]}}]
    return {
        "realm": "lab",
        "enabled": True,
        "sslRequired": "none",
        "accessTokenLifespan": HOURS,
        "ssoSessionIdleTimeout": HOURS,
        "ssoSessionMaxLifespan": HOURS,
        "groups": [{"name": word} for word in WORDS],
        "roles": {"realm": [{"name": word} for word in WORDS]},
        "clients": [{"clientId": "site", "publicClient": True, "redirectUris": [f"http://{HOST}/*"]}],
        "users": people,
    }


def _about(name: str, number: int) -> dict[str, Any]:
    first, last = (WORDS[number * step % len(WORDS)] for step in (1, 3))
    return {
        "username": name,
        "enabled": True,
        "email": f"{name}@apps.test",
        "emailVerified": True,
        "firstName": first.capitalize(),
        "lastName": last.capitalize(),
        "groups": [f"/{first}"],
        "realmRoles": [last],
    }


def _login_form() -> str:
    asked = {"client_id": "site", "redirect_uri": BACK, "response_type": "code", "scope": "openid"}
    return f"{REALM}/protocol/openid-connect/auth?{urlencode({**asked, 'response_mode': 'form_post'})}"


def _token(browser: Browser, form: dict[str, str]) -> Page:
    return browser.post(f"{REALM}/protocol/openid-connect/token", {"client_id": "admin-cli", **form})


def _log_in(visitors: Visitors) -> Page:
    """Logs a reader in by the form, with a new session, and gets a token for the returned code, which is stored in
    `visitors`. Returns the last response."""
    browser = visitors.guest.another()
    form = re.search(r'action="([^"]+)"', browser.get(_login_form()).text)
    place = unescape(form.group(1)).removeprefix(f"http://{HOST}") if form else "/no-form"
    answer = browser.post(place, {"username": READER, "password": PASSWORD})
    code = re.search(r'name="code" value="([^"]*)"', answer.text, re.IGNORECASE)
    if not code:
        return answer
    wanted = {"client_id": "site", "grant_type": "authorization_code", "redirect_uri": BACK, "code": code.group(1)}
    page = _token(browser, wanted)
    visitors.kept[READER] = json.loads(page.text).get("access_token", "")
    return page


def _as_admin(visitors: Visitors) -> dict[str, str]:
    return {"Authorization": f"Bearer {visitors.kept[ADMIN]}"}


def _own(visitors: Visitors, path: str) -> Page:
    bearer = {"Authorization": f"Bearer {visitors.kept[READER]}", "Accept": "application/json"}
    return visitors.guest.get(path, bearer)


def _kept(visitors: Visitors, kind: str, name: str) -> str:
    """Returns the identifier of the person or group of this name. Keycloak is asked for it once, and it is stored in
    `visitors`."""
    if name not in visitors.kept:
        found = visitors.member.get(f"{ADMINISTRATION}/{kind}{name}&exact=true", _as_admin(visitors))
        visitors.kept[name] = json.loads(found.text)[0]["id"]
    return visitors.kept[name]


def _identity(visitors: Visitors, person: str) -> str:
    return _kept(visitors, "users?username=", person)


def _group(visitors: Visitors, number: int) -> str:
    return _kept(visitors, "groups?search=", WORDS[number % len(WORDS)])


def _person(visitors: Visitors, person: str, part: str) -> Page:
    place = f"{ADMINISTRATION}/users/{_identity(visitors, person)}{part}"
    return visitors.member.get(place, _as_admin(visitors))


def _members(visitors: Visitors, number: int) -> Page:
    place = f"{ADMINISTRATION}/groups/{_group(visitors, number)}/members?first=0&max=20"
    return visitors.member.get(place, _as_admin(visitors))


def _edit(visitors: Visitors, person: str, number: int) -> Page:
    about = json.loads(_person(visitors, person, "").text)
    place = f"{ADMINISTRATION}/users/{about['id']}"
    return visitors.member.send("PUT", place, {**about, "firstName": f"Edited{number}"}, _as_admin(visitors))


def _join(visitors: Visitors, person: str, number: int) -> Page:
    place = f"{ADMINISTRATION}/users/{_identity(visitors, person)}/groups/{_group(visitors, number)}"
    return visitors.member.send("PUT", place, {}, _as_admin(visitors))


def _add(visitors: Visitors, number: int) -> Page:
    about = _about(f"added-{number}", number)
    return visitors.member.send("POST", f"{ADMINISTRATION}/users", about, _as_admin(visitors))
