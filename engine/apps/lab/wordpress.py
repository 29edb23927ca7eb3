"""WordPress: a blog with comments, its pages for guests, and its administration."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from driver.product import MARIADB, MYSQL, Product
from driver.server import USER
from lab import packages
from lab.application import Extent, Site, Step, Visitors, guest, member
from lab.browser import Page
from lab.php import Php

HERE = Path(__file__).resolve().parents[1]
FILES = HERE / "wordpress"
TIME = r"\d{1,2}:\d{2}(:\d{2})?( ?[ap]m)?"


class WordPress:
    name = "wordpress"
    schema = "wordpress"
    products = (MARIADB, MYSQL)
    varying = (
        re.compile(r"\b[0-9a-f]{10}\b"),
        re.compile(r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d"),
        re.compile(rf"(?i)\b{TIME}\b"),
        # WordPress writes mail addresses in randomly chosen entities.
        re.compile(r'mailto:[^"]*"[^<]*'),
        # WordPress chooses one of three hosts at random.
        re.compile(r"\d\.gravatar\.com"),
        re.compile(r"\b\d+ (seconds?|mins?|minutes?|hours?) ago\b"),
        re.compile(r'<div class="(hh|mn|ss|jj)">\d+</div>'),
        re.compile(r'(id|name)="(cur_)?(hh|mn|ss|hidden_mn|hidden_hh)"[^>]*value="\d+"'),
        re.compile(r'"(time|server_time|timestamp|sessionTokens?|wp-auth-check)":"?[^,}]*'),
    )

    def prepare(self, folder: Path, product: Product) -> None:
        root = packages.fetch((*packages.PHP, "wordpress", "wordpress-theme-*"))
        self._documents = folder / "documents"
        shutil.copytree(root / "usr/share/wordpress", self._documents, ignore_dangling_symlinks=True)
        shutil.copy(FILES / "wp-config.php", self._documents)
        self._root, self._folder = root, folder

    def install(self, database: int, extent: Extent) -> None:
        php, environment = Php(self._root, self._folder / "install"), self._environment(database)
        php.script(FILES / "install.php", self._documents, environment=environment)
        php.script(FILES / "fill.php", self._documents, str(extent.size), environment=environment)

    def serve(self, database: int, name: str, environment: Mapping[str, str]) -> Site:
        php = Php(self._root, self._folder / name)
        return php.serve(self._documents, HERE / "router.php", {**self._environment(database), **environment})

    def log_in(self, visitors: Visitors) -> Page:
        visitors.member.get("/wp-login.php")
        form = {"log": "admin", "pwd": "a password of the lab", "testcookie": "1", "redirect_to": "/wp-admin/"}
        return visitors.member.post("/wp-login.php", form)

    def crawl(self, number: int, extent: Extent) -> Iterator[Step]:
        for _ in range(extent.passes):
            yield from self._read(extent)
        # After each write come pages that must show it.
        commented, edited = extent.size // 2, extent.size // 2 + 1
        yield Step("a comment is written", lambda visitors: self._comment(visitors, commented, number), is_write=True)
        yield guest("the post after a comment", f"/post-{commented}/")
        yield from self._administer(edited)
        yield Step("a post is edited", lambda visitors: self._edit(visitors, edited, number), is_write=True)
        yield guest("the post after its edit", f"/post-{edited}/")
        yield guest("the front page after an edit", "/")
        yield Step("a post is added", lambda visitors: self._add(visitors, number), is_write=True)
        yield guest("the front page after a new post", "/")
        yield Step("the title is changed", lambda visitors: self._rename(visitors, number), is_write=True)
        yield guest("the front page after a new title", "/")
        for _ in range(extent.passes):
            yield from self._read(extent)

    def _read(self, extent: Extent) -> Iterator[Step]:
        size = extent.size
        yield guest("front page", "/")
        yield guest("second page", "/page/2/")
        for post in range(size - extent.popular, size):
            yield guest("a post", f"/post-{post}/")
        yield guest("a category", "/category/river/")
        yield guest("a tag", "/tag/stone/")
        yield guest("an author", "/author/admin/")
        yield guest("a month", "/2026/01/")
        yield guest("a search", "/?s=harbour")
        yield guest("the feed", "/feed/")
        yield guest("comments as a feed", "/comments/feed/")
        yield guest("posts by the API", "/wp-json/wp/v2/posts?per_page=5")
        yield guest("no such page", "/there-is-no-such-page/")
        yield member("front page with the bar", "/")
        yield member("a post with the bar", f"/post-{size - 1}/")

    def _administer(self, post: int) -> Iterator[Step]:
        yield member("the dashboard", "/wp-admin/index.php")
        yield member("the list of posts", "/wp-admin/edit.php")
        yield member("the list of comments", "/wp-admin/edit-comments.php")
        yield member("the settings", "/wp-admin/options-general.php")
        yield Step("the editor of a post", lambda visitors: self._editor(visitors, post))

    def _editor(self, visitors: Visitors, post: int) -> Page:
        return visitors.member.get(f"/wp-admin/post.php?post={self._identity(visitors, post)}&action=edit")

    def _comment(self, visitors: Visitors, post: int, number: int) -> Page:
        form = {
            "comment_post_ID": self._identity(visitors, post),
            "comment": f"What is said in round {number}",
            "author": "A guest",
            "email": "guest@apps.test",
        }
        return visitors.guest.post("/wp-comments-post.php", form)

    def _edit(self, visitors: Visitors, post: int, number: int) -> Page:
        return self._told(visitors, f"posts/{self._identity(visitors, post)}", {"title": f"Edited in round {number}"})

    def _add(self, visitors: Visitors, number: int) -> Page:
        form = {"title": f"Added in round {number}", "content": "Something new", "status": "publish"}
        return self._told(visitors, "posts", {**form, "slug": f"added-{number}"})

    def _rename(self, visitors: Visitors, number: int) -> Page:
        return self._told(visitors, "settings", {"title": f"The lab in round {number}"})

    def _told(self, visitors: Visitors, what: str, form: dict[str, str]) -> Page:
        """Sends a change by the REST API, as the editor in a browser does. Returns the response."""
        field = visitors.member.get("/wp-admin/admin-ajax.php?action=rest-nonce").text
        return visitors.member.post(f"/wp-json/wp/v2/{what}", form, {"X-WP-Nonce": field})

    def _identity(self, visitors: Visitors, post: int) -> str:
        """The number of a post, from the class of its page's body."""
        if str(post) not in visitors.kept:
            text = visitors.guest.get(f"/post-{post}/").text
            found = re.search(r"postid-(\d+)", text) or re.search(r"/\?p=(\d+)", text)
            visitors.kept[str(post)] = found.group(1) if found else "0"
        return visitors.kept[str(post)]

    def _environment(self, database: int) -> dict[str, str]:
        return {"FQC_APPS_PORT": str(database), "FQC_APPS_USER": USER, "FQC_APPS_PLUGINS": str(FILES / "plugins")}
