"""Ghost: a publication with tags, members who comment, and the API of its administration.

It is a program of Node.js that needs MySQL. The lock in the folder `ghost` has its dependencies.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from driver.product import MYSQL, Product
from driver.server import USER
from lab.application import Extent, Site, Step, Visitors, guest, member
from lab.browser import HOST, Browser, Page
from lab.packages import Unavailable, kept, ran
from lab.web import START_SECONDS, WebServer, WebServerFailed

FILES = Path(__file__).resolve().parents[1] / "ghost"
VERSION = json.loads((FILES / "package.json").read_text())["version"]
# The hash of Ghost's own package. The lock has the hashes of its dependencies.
INTEGRITY = "sha512-CAWqPKt+7ws+/1NrVmvuiWiDZDEtutiu7niVMTku9uM29MjfNFFUVKM3giQBpZGZrUORXkWiXSlqbry4QGVrBw=="
# Major versions of Node.js that this version of Ghost accepts.
NODES = ("18", "20", "22")
ADMIN, OWNER, PASSWORD = "/ghost/api/admin", "admin@apps.test", "riverstone paper window"
WORDS = ("river", "stone", "paper", "window", "garden", "letter", "engine", "mountain", "harbour", "winter", "copper")
ORIGIN = {"Origin": f"http://{HOST}"}
# Nothing leaves this machine: Ghost sends no mail and checks for no updates.
SETTINGS = {
    "NODE_ENV": "production",
    "url": f"http://{HOST}",
    "server__host": "127.0.0.1",
    "database__client": "mysql",
    "database__connection__host": "127.0.0.1",
    "database__connection__user": USER,
    "database__connection__password": "",
    "mail__transport": "stub",
    "mail__from": OWNER,
    "logging__transports": '["stdout"]',
    "logging__level": "error",
    "privacy__useUpdateCheck": "false",
    "privacy__useGravatar": "false",
    "privacy__useRpcPing": "false",
    "security__staffDeviceVerification": "false",
}


class Ghost:
    name = "ghost"
    schema = "ghost"
    products = (MYSQL,)
    varying = (
        # Identifiers of new rows are random, and versions of assets depend on the time when the process started.
        re.compile(r"\b[0-9a-f]{24}\b"),
        re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
        re.compile(r"\?v(=|&#x3D;)[0-9a-f]{10}"),
        re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"),
        re.compile(r"<lastBuildDate>.*?</lastBuildDate>"),
    )

    def prepare(self, folder: Path, product: Product) -> None:
        folder.mkdir()
        self._code, self._folder = kept(f"ghost-{VERSION}", _unpack), folder

    def install(self, database: int, extent: Extent) -> None:
        site = self.serve(database, "install", {})
        try:
            _fill(Browser(site.port), extent.size)
        finally:
            site.stop()

    def serve(self, database: int, name: str, environment: Mapping[str, str]) -> Site:
        place = self._folder / name
        shutil.copytree(self._code / "content", place / "content")
        own = {"database__connection__port": str(database), "database__connection__database": self.schema}
        own["paths__contentPath"] = str(place / "content")
        inherited = {key: os.environ[key] for key in ("PATH", "HOME", "TMPDIR") if key in os.environ}
        # Ghost reads its port from the environment, so `env` sets it.
        site = WebServer(
            lambda port: ["env", f"server__port={port}", "node", "index.js"],
            {**inherited, **SETTINGS, **own, **environment},
            place,
            self._code,
        )
        _wait(site)
        return site

    def log_in(self, visitors: Visitors) -> Page:
        """Logs the member in twice: into the administration, and into the site as a reader."""
        page = _session(visitors.member)
        [reader] = _asked(visitors.member, "GET", "/members/?search=reader@apps.test")["members"]
        [link] = _asked(visitors.member, "GET", f"/members/{reader['id']}/signin_urls/")["member_signin_urls"]
        visitors.member.get(link["url"].removeprefix(f"http://{HOST}"))
        return page

    def crawl(self, number: int, extent: Extent) -> Iterator[Step]:
        for _ in range(extent.passes):
            yield from self._read(extent)
        # After each write come pages that must show it.
        commented, edited = f"post-{extent.size // 2}", f"post-{extent.size // 2 + 1}"
        yield Step("a comment is written", lambda each: _comment(each.member, commented, number), is_write=True)
        yield Step("the comments after a comment", lambda each: _comments(each.guest, each, commented))
        yield from self._administer(edited)
        yield Step("a post is edited", lambda each: _edit(each.member, edited, number), is_write=True)
        yield guest("the post after its edit", f"/{edited}/")
        yield guest("the front page after an edit", "/")
        yield Step("a post is added", lambda each: _add(each.member, number), is_write=True)
        yield guest("the front page after a new post", "/")
        yield guest("the tag after a new post", "/tag/river/")
        yield Step("the title is changed", lambda each: _rename(each.member, number), is_write=True)
        yield guest("the front page after a new title", "/")
        for _ in range(extent.passes):
            yield from self._read(extent)

    def _read(self, extent: Extent) -> Iterator[Step]:
        size = extent.size
        yield guest("front page", "/")
        yield guest("second page", "/page/2/")
        for post in range(size - extent.popular, size):
            yield guest("a post", f"/post-{post}/")
        yield guest("a tag", "/tag/stone/")
        yield guest("an author", "/author/ghost-user/")
        yield guest("the feed", "/rss/")
        yield guest("no such page", "/there-is-no-such-page/")
        yield Step("the comments of a post", lambda each: _comments(each.guest, each, f"post-{size - 1}"))
        yield member("front page for a reader", "/")
        yield member("a post for a reader", f"/post-{size - 1}/")
        yield member("the reader", "/members/api/member/")

    def _administer(self, post: str) -> Iterator[Step]:
        for name, path in {
            "the list of posts": "/posts/?limit=15&formats=plaintext&include=tags,authors",
            "the editor of a post": f"/posts/slug/{post}/?formats=lexical&include=tags,authors,email,tiers",
            "the list of tags": "/tags/?limit=50&include=count.posts",
            "the list of members": "/members/?limit=15&include=labels,tiers",
            "the settings": "/settings/",
            "the account": "/users/me/?include=roles",
        }.items():
            yield member(name, ADMIN + path)


def _wait(site: WebServer) -> None:
    """Waits until Ghost is ready. While it creates its tables, it answers each request with status 503."""
    deadline = time.monotonic() + START_SECONDS
    while Browser(site.port).get("/").status == 503:
        if time.monotonic() > deadline:
            site.stop()
            raise WebServerFailed("Ghost does not get ready")
        time.sleep(0.1)


def _unpack(draft: Path) -> None:
    node = shutil.which("node")
    if not node or not shutil.which("npm"):
        raise Unavailable("this system has no Node.js with npm")
    major = ran([node, "--version"], draft).removeprefix("v").partition(".")[0]
    if major not in NODES:
        raise Unavailable(f"it runs on Node.js {', '.join(NODES)}, and here is {major}")
    packed = json.loads(ran(["npm", "pack", "--json", "--ignore-scripts", f"ghost@{VERSION}"], draft))[0]
    if packed["integrity"] != INTEGRITY:
        raise Unavailable(f"its package is another one than the one that is known: {packed['integrity']}")
    archive = draft / packed["filename"]
    ran(["tar", "-x", "-z", "-f", archive, "--strip-components=1"], draft)
    archive.unlink()
    for name in ("package.json", "package-lock.json"):
        shutil.copy(FILES / name, draft)
    quiet = ("--no-audit", "--no-fund", "--loglevel=error")
    ran(["npm", "ci", "--omit=dev", "--omit=optional", "--legacy-peer-deps", "--ignore-scripts", *quiet], draft)


def _fill(browser: Browser, size: int) -> None:
    owner = {"name": "The owner", "email": OWNER, "password": PASSWORD, "blogTitle": "The lab"}
    _asked(browser, "POST", "/authentication/setup/", {"setup": [owner]})
    _session(browser)
    _asked(browser, "PUT", "/settings/", {"settings": [{"key": "comments_enabled", "value": "all"}]})
    for name in ("reader", "visitor", "stranger"):
        person = {"name": name.capitalize(), "email": f"{name}@apps.test"}
        _asked(browser, "POST", "/members/?send_email=false", {"members": [person]})
    for number in range(1, size + 1):
        tags = [WORDS[number * step % len(WORDS)].capitalize() for step in (1, 3)]
        texts = [_text(number * 7 + part * 5, number % 5 + 1) for part in range(6)]
        post = {
            "title": f"{tags[0]} number {number}",
            "slug": f"post-{number}",
            "lexical": _lexical(texts),
            "tags": tags,
        }
        _publish(
            browser, post, f"2026-{number % 10 + 1:02}-{number % 27 + 1:02}T10:{number % 60:02}:{number // 60:02}.000Z"
        )


def _text(start: int, step: int) -> str:
    return " ".join(WORDS[(start + word * step) % len(WORDS)] for word in range(60))


def _publish(browser: Browser, post: dict[str, Any], at: str) -> Page:
    wanted = {**post, "status": "published", "published_at": at}
    return browser.send("POST", f"{ADMIN}/posts/", {"posts": [wanted]}, ORIGIN)


def _lexical(paragraphs: list[str]) -> str:
    """Returns a text of these paragraphs in the format of Ghost's editor."""
    block = {"direction": "ltr", "format": "", "indent": 0, "version": 1}
    words = {"detail": 0, "format": 0, "mode": "normal", "style": "", "type": "extended-text", "version": 1}
    children = [{**block, "type": "paragraph", "children": [{**words, "text": text}]} for text in paragraphs]
    return json.dumps({"root": {**block, "type": "root", "children": children}})


def _session(browser: Browser) -> Page:
    return browser.send("POST", f"{ADMIN}/session/", {"username": OWNER, "password": PASSWORD}, ORIGIN)


def _asked(browser: Browser, method: str, path: str, document: Any = None) -> Any:
    page = browser.get(ADMIN + path) if method == "GET" else browser.send(method, ADMIN + path, document, ORIGIN)
    if page.status >= 400:
        raise RuntimeError(f"Ghost refused {method} {path}: {page.status} {page.text[:600]}")
    return json.loads(page.text)


def _post(browser: Browser, slug: str) -> Any:
    [post] = _asked(browser, "GET", f"/posts/slug/{slug}/")["posts"]
    return post


def _edit(browser: Browser, slug: str, number: int) -> Page:
    post = _post(browser, slug)
    changed = {"title": f"Edited in round {number}", "updated_at": post["updated_at"]}
    return browser.send("PUT", f"{ADMIN}/posts/{post['id']}/", {"posts": [changed]}, ORIGIN)


def _add(browser: Browser, number: int) -> Page:
    title = {"title": f"Added in round {number}", "slug": f"added-{number}", "tags": ["River"]}
    return _publish(browser, {**title, "lexical": _lexical(["Something new"])}, f"2026-11-01T10:00:{number:02}.000Z")


def _rename(browser: Browser, number: int) -> Page:
    title = {"key": "title", "value": f"The lab in round {number}"}
    return browser.send("PUT", f"{ADMIN}/settings/", {"settings": [title]}, ORIGIN)


def _comment(browser: Browser, slug: str, number: int) -> Page:
    said = {"post_id": _post(browser, slug)["id"], "html": f"<p>What is said in round {number}</p>"}
    return browser.send("POST", "/members/api/comments/", {"comments": [said]}, ORIGIN)


def _comments(browser: Browser, visitors: Visitors, slug: str) -> Page:
    if slug not in visitors.kept:
        visitors.kept[slug] = _post(visitors.member, slug)["id"]
    return browser.get(f"/members/api/comments/post/{visitors.kept[slug]}/?limit=20&order=created_at%20asc")
