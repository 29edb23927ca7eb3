"""A browser on a slow line receives compressed files, which it keeps, and compressed answers of the API."""

from __future__ import annotations

import gzip
import http.client
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.test import RequestFactory

from config.compression import CompressionMiddleware

pytestmark = pytest.mark.django_db(transaction=True)
CODE = "console.log('a page');\n" * 200
HASHED, PLAIN = "/assets/index-Ab3_-x9Z.js", "/color-scheme.js"


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """Returns a folder with files as `npm run build` makes them: a page, and two files that also exist compressed as
    .gz and .br.
    """
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html>")
    for name in (HASHED, PLAIN):
        (tmp_path / name[1:]).write_text(CODE)
        (tmp_path / f"{name[1:]}.gz").write_bytes(gzip.compress(CODE.encode()))
        (tmp_path / f"{name[1:]}.br").write_bytes(b"as brotli")
    return tmp_path


def got(url: str, path: str, accepts: str) -> tuple[dict[str, str], bytes]:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=180)
    connection.request("GET", path, headers={"Accept-Encoding": accepts})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    assert answer.status == 200, body
    return {name.lower(): value for name, value in answer.getheaders()}, body


def test_files_of_the_console_are_sent_as_they_were_compressed_and_hashed_ones_are_kept(web: Any, built: Path) -> None:
    url = web(FQC_FRONTEND_DIST=str(built))
    for accepts, encoding, body in (
        ("gzip, deflate, br", "br", b"as brotli"),
        ("gzip", "gzip", CODE.encode()),
        ("identity", None, CODE.encode()),
    ):
        headers, found = got(url, HASHED, accepts)
        assert headers.get("content-encoding") == encoding
        assert (gzip.decompress(found) if encoding == "gzip" else found) == body
        assert "immutable" in headers["cache-control"] and "accept-encoding" in headers["vary"].lower()
    headers, _ = got(url, PLAIN, "gzip")
    assert "immutable" not in headers["cache-control"]


def test_long_answers_are_compressed_and_keep_their_tags_and_short_ones_stay_as_they_are() -> None:
    def answer(text: str) -> Callable[[HttpRequest], HttpResponse]:
        return lambda request: HttpResponse(text, headers={"ETag": '"7"'})

    asked = RequestFactory().get("/api/v1/x", headers={"Accept-Encoding": "gzip"})
    long = CompressionMiddleware(answer(CODE))(asked)
    assert (long["Content-Encoding"], long["ETag"]) == ("gzip", '"7"')
    assert gzip.decompress(long.content).decode() == CODE
    short = CompressionMiddleware(answer("short"))(asked)
    assert "Content-Encoding" not in short and short.content == b"short"
    plain = CompressionMiddleware(answer(CODE))(RequestFactory().get("/api/v1/x"))
    assert "Content-Encoding" not in plain


def test_a_stream_of_events_is_passed_on_as_it_comes() -> None:
    asked = RequestFactory().get("/api/v1/events", headers={"Accept-Encoding": "gzip"})
    told = CompressionMiddleware(lambda request: StreamingHttpResponse(iter([CODE.encode()])))(asked)
    assert "Content-Encoding" not in told
