"""MediaWiki: a wiki with links, categories and a template, read and edited."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from driver.product import MARIADB, MYSQL, Product
from driver.server import USER
from lab import packages
from lab.application import Extent, Site, Step, Visitors, guest, member
from lab.browser import HOST, Page
from lab.php import Php

HERE = Path(__file__).resolve().parents[1]
PASSWORD = "a password of the lab"
WORDS = ("river", "stone", "paper", "window", "garden", "letter", "engine", "mountain", "harbour", "winter", "copper")
# No mail, no jobs, no requests to other hosts, and no limits on edits.
SETTINGS = """
$wgDBserver = '127.0.0.1:' . getenv( 'FQC_APPS_PORT' );
$wgJobRunRate = 0;
$wgSecretKey = 'the key of the lab';
$wgPingback = false;
$wgEnableEmail = false;
$wgCacheDirectory = getenv( 'FQC_APPS_FOLDER' );
$wgRateLimits = [];
"""


class MediaWiki:
    name = "mediawiki"
    schema = "mediawiki"
    products = (MARIADB, MYSQL)
    varying = (
        re.compile(r"<!--.*?-->", re.DOTALL),
        re.compile(r'"wg(RequestId|BackendResponseTime|CSPNonce|Hostname)":[^,}]*'),
        re.compile(r'"wgPageParseReport":.*?\}\}\);', re.DOTALL),
        re.compile(r"\b[0-9a-f]{32,48}(\\*\+\\*)?"),
        re.compile(r"\b20\d{12}\b"),
        re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ"),
        re.compile(r"\b\d\d(:|%3A)\d\d\b"),
        re.compile(r'value="[^"]*" name="wp(Start|Edit)time"|name="wp(Start|Edit)time"[^>]*value="[^"]*"'),
        # What MediaWiki itself keeps for some minutes: versions of scripts, and the tags of changes that exist.
        re.compile(r'(version=|"version":"?|\["[^"\]]*",\s*")[0-9a-z]{5}\b'),
        re.compile(r"(<option value=.mw-[a-z-]+.>[^<]*</option>\s*)*</select>"),
        re.compile(r'"options":\[[^\]]*\]'),
    )

    def prepare(self, folder: Path, product: Product) -> None:
        self._root = packages.fetch((*packages.PHP, "mediawiki"))
        self._folder, self._documents = folder, folder / "documents"
        shutil.copytree(self._root / "usr/share/mediawiki", self._documents, ignore_dangling_symlinks=True)
        (self._documents / "LocalSettings.php").unlink(missing_ok=True)

    def install(self, database: int, extent: Extent) -> None:
        php, maintenance = Php(self._root, self._folder / "install"), self._documents / "maintenance"
        places = [f"--dbserver=127.0.0.1:{database}", f"--dbname={self.schema}", f"--dbuser={USER}", "--dbpass="]
        places += [f"--installdbuser={USER}", "--installdbpass=", f"--server=http://{HOST}", "--scriptpath="]
        places += [f"--confpath={self._folder}", "--skins=Vector", f"--pass={PASSWORD}"]
        environment = self._environment(database, "install")
        bare = {name: value for name, value in environment.items() if name != "MW_CONFIG_FILE"}
        php.script(maintenance / "install.php", *places, "The lab", "Admin", environment=bare)
        with (self._folder / "LocalSettings.php").open("a") as settings:
            settings.write(SETTINGS)
        texts = self._folder / "texts"
        texts.mkdir()
        for name, text in _texts(extent.size):
            (texts / f"{name}.txt").write_text(text)
        words = ["--user=Admin", "--summary=filled", "--overwrite", *sorted(texts.iterdir())]
        php.script(maintenance / "importTextFiles.php", *words, environment=environment)
        php.script(maintenance / "runJobs.php", environment=environment)
        php.script(maintenance / "updateArticleCount.php", "--update", environment=environment)

    def serve(self, database: int, name: str, environment: Mapping[str, str]) -> Site:
        php = Php(self._root, self._folder / name)
        return php.serve(self._documents, HERE / "router.php", {**self._environment(database, name), **environment})

    def log_in(self, visitors: Visitors) -> Page:
        asked = visitors.member.get("/api.php?action=query&meta=tokens&type=login&format=json")
        form = {"action": "clientlogin", "format": "json", "username": "Admin", "password": PASSWORD}
        form |= {"loginreturnurl": f"http://{HOST}/", "logintoken": _token(asked, "logintoken")}
        return visitors.member.post("/api.php", form)

    def crawl(self, number: int, extent: Extent) -> Iterator[Step]:
        for _ in range(extent.passes):
            yield from self._read(extent)
        # After each write come pages that must show it.
        edited = f"Page_{extent.size // 2}"
        yield from self._work(edited)
        yield Step("a page is edited", lambda visitors: _edit(visitors, edited, number), is_write=True)
        yield guest("the page after its edit", f"/index.php?title={edited}")
        yield guest("its history after the edit", f"/index.php?title={edited}&action=history")
        # The newest alone: which of those of one second are shown last, and which no more, is not defined.
        yield guest("recent changes after the edit", "/index.php?title=Special:RecentChanges&limit=1")
        yield Step("a page is added", lambda visitors: _edit(visitors, f"Added_{number}", number), is_write=True)
        yield guest("the new page", f"/index.php?title=Added_{number}")
        yield guest("the category after a new page", "/index.php?title=Category:River")
        for _ in range(extent.passes):
            yield from self._read(extent)

    def _read(self, extent: Extent) -> Iterator[Step]:
        size = extent.size
        yield guest("main page", "/index.php?title=Main_Page")
        for page in range(size - extent.popular, size):
            yield guest("a page", f"/index.php?title=Page_{page}")
        yield guest("a category", "/index.php?title=Category:Stone")
        yield guest("a history", f"/index.php?title=Page_{size - 1}&action=history")
        yield guest("what links here", f"/index.php?title=Special:WhatLinksHere/Page_{size - 1}")
        yield guest("all pages", "/index.php?title=Special:AllPages")
        yield guest("a search", f"/index.php?search=only{size - 3}&title=Special:Search&fulltext=1")
        yield guest("a page by the API", f"/api.php?action=parse&page=Page_{size - 2}&format=json")
        yield guest("the startup script", "/load.php?lang=en&modules=startup&only=scripts&raw=1&skin=vector")
        yield guest("no such page", "/index.php?title=There_is_no_such_page")
        yield member("a page for a member", f"/index.php?title=Page_{size - 1}")
        yield member("main page for a member", "/index.php?title=Main_Page")

    def _work(self, page: str) -> Iterator[Step]:
        yield member("the form of an edit", f"/index.php?title={page}&action=edit")
        yield member("the watchlist", "/index.php?title=Special:Watchlist", is_in_any_order=True)
        yield member("contributions", "/index.php?title=Special:Contributions/Admin")
        yield member("preferences", "/index.php?title=Special:Preferences")

    def _environment(self, database: int, name: str) -> dict[str, str]:
        place = self._folder / name
        settings = str(self._folder / "LocalSettings.php")
        return {"FQC_APPS_PORT": str(database), "FQC_APPS_FOLDER": str(place), "MW_CONFIG_FILE": settings}


def _texts(size: int) -> Iterator[tuple[str, str]]:
    yield "Template:Note", "''A note about {{{1}}}''"
    for number in range(1, size + 1):
        words = [WORDS[(number * 3 + word * (number % 5 + 1)) % len(WORDS)] for word in range(200)]
        links = [f"[[Page {(number * step) % size + 1}]]" for step in (3, 7, 11, 13)]
        kinds = [f"[[Category:{WORDS[(number * step) % len(WORDS)].capitalize()}]]" for step in (1, 5)]
        parts = [_part(part, words, links[part]) for part in range(4)]
        # A word of its own for the search: the order of pages with equal rank is not defined.
        yield f"Page_{number}", "\n\n".join([f"only{number}", *parts, *kinds])


def _part(number: int, words: list[str], link: str) -> str:
    text = " ".join(words[number * 40 : number * 40 + 40])
    return f"== Part {number} ==\n{text} {link} {{{{Note|{number}}}}}"


def _edit(visitors: Visitors, title: str, number: int) -> Page:
    asked = visitors.member.get("/api.php?action=query&meta=tokens&format=json")
    form = {"action": "edit", "format": "json", "title": title, "token": _token(asked, "csrftoken")}
    text = f"Written in round {number}. [[Category:River]] [[Page 3]]"
    return visitors.member.post("/api.php", {**form, "text": text})


def _token(page: Page, name: str) -> str:
    try:
        return str(json.loads(page.text)["query"]["tokens"][name])
    except (ValueError, KeyError):
        return ""
