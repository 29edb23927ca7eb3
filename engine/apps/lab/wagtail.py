"""Wagtail: a Django site with articles, tags and comments, and Wagtail's own administration."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from driver.product import MARIADB, MYSQL, Product
from driver.server import USER
from lab import packages
from lab.application import Extent, Site, Step, Visitors, guest, member
from lab.browser import Page
from lab.web import WebServer

HERE = Path(__file__).resolve().parents[1]
LOCK = HERE / "wagtail_site" / "requirements.lock"
WORKERS = 2


class Wagtail:
    name = "wagtail"
    schema = "wagtail"
    products = (MARIADB, MYSQL)
    varying = (
        re.compile(r"csrfmiddlewaretoken\W.{0,40}value=\W[A-Za-z0-9]{64}"),
        re.compile(r"(?i)\bcsrf_?token\W{1,8}[A-Za-z0-9]{64}"),
        re.compile(r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*"),
        re.compile(r"(?i)\b\d{1,2}(:\d{2})?(:\d{2})?\s*[ap]\.?m\b\.?"),
        re.compile(r"\b\d\d:\d\d\b"),
        re.compile(r"(?i)\b\d+\s(second|minute|hour)s?\b( ago)?|just now"),
        re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
    )

    def prepare(self, folder: Path, product: Product) -> None:
        folder.mkdir()
        self._python, self._folder = packages.environment("wagtail", LOCK) / "bin" / "python", folder

    def install(self, database: int, extent: Extent) -> None:
        self._run(database, "-m", "django", "migrate", "--verbosity=0")
        self._run(database, "fill.py", str(extent.size))

    def serve(self, database: int, name: str, environment: Mapping[str, str]) -> Site:
        def command(port: int) -> list[str | Path]:
            words = ["-m", "gunicorn", "--workers", str(WORKERS), "--bind", f"127.0.0.1:{port}", "wsgi"]
            return [self._python, *words]

        place = self._folder / name
        place.mkdir()
        own = {**self._environment(database), **environment}
        return WebServer(command, own, place, HERE / "wagtail_site")

    def log_in(self, visitors: Visitors) -> Page:
        form = {"username": "admin", "password": "a password of the lab", "next": "/admin/"}
        return _sent(visitors, "/admin/login/", "/admin/login/", form)

    def crawl(self, number: int, extent: Extent) -> Iterator[Step]:
        for _ in range(extent.passes):
            yield from self._read(extent)
        # After each write come pages that must show it.
        commented, edited = f"/article-{extent.size // 2}/", f"/article-{extent.size // 2 + 1}/"
        text = {"author": "A guest", "text": f"What is said in round {number}"}
        yield Step("a comment is written", lambda each: _sent_about(each, "comment", commented, text), is_write=True)
        yield guest("the article after a comment", commented)
        yield from self._administer()
        title = {"title": f"Edited in round {number}"}
        yield Step("an article is edited", lambda each: _sent_about(each, "edit", edited, title), is_write=True)
        yield guest("the article after its edit", edited)
        added = {"title": f"Added in round {number}", "slug": f"added-{number}"}
        yield Step("an article is added", lambda each: _sent(each, edited, "/add/", added), is_write=True)
        yield guest("the front page after a new article", "/")
        yield guest("the tag after a new article", "/tag/river/")
        for _ in range(extent.passes):
            yield from self._read(extent)

    def _read(self, extent: Extent) -> Iterator[Step]:
        size = extent.size
        yield guest("front page", "/")
        for article in range(size - extent.popular, size):
            yield guest("an article", f"/article-{article}/")
        yield guest("a tag", "/tag/stone/")
        yield guest("a search", "/search/?q=harbour")
        yield guest("no such page", "/there-is-no-such-page/")
        yield member("front page for a member", "/")
        yield member("an article for a member", f"/article-{size - 1}/")

    def _administer(self) -> Iterator[Step]:
        yield member("the administration", "/admin/")
        yield member("the list of pages", "/admin/pages/")
        yield member("a search for pages", "/admin/pages/search/?q=article")
        yield member("the list of users", "/admin/users/")

    def _run(self, database: int, *words: str) -> None:
        done = subprocess.run(
            [self._python, *words],
            cwd=HERE / "wagtail_site",
            env=self._environment(database),
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(words)} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")

    def _environment(self, database: int) -> dict[str, str]:
        own = {"FQC_APPS_PORT": str(database), "FQC_APPS_USER": USER, "DJANGO_SETTINGS_MODULE": "settings"}
        # Wagtail writes CSS classes in the order of a Python set.
        own["PYTHONHASHSEED"] = "0"
        names = ("PATH", "HOME", "TMPDIR")
        return {**{name: os.environ[name] for name in names if name in os.environ}, "PYTHONPATH": ".", **own}


def _sent_about(visitors: Visitors, what: str, place: str, form: dict[str, str]) -> Page:
    """Sends a form about the article at this path. The number of the article is on its page."""
    found = re.search(r'data-page="(\d+)"', visitors.member.get(place).text)
    return _sent(visitors, place, f"/{what}/{found.group(1) if found else 0}/", form)


def _sent(visitors: Visitors, seen: str, path: str, form: dict[str, str]) -> Page:
    """Sends a form to `path` with the CSRF token of the page at `seen`. Returns the page that follows."""
    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', visitors.member.get(seen).text)
    field = found.group(1) if found else ""
    return visitors.member.post(path, {**form, "csrfmiddlewaretoken": field})
