"""A client that waits until an application has ended a request, and keeps cookies."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lab.browser import Browser, Page


class Handler(BaseHTTPRequestHandler):
    """Sends a whole page, and closes the connection only after `may_end` is set."""

    protocol_version = "HTTP/1.1"
    may_end = threading.Event()
    ended = threading.Event()

    def do_GET(self):
        body = (self.headers.get("Cookie") or "no cookie").encode()
        self.send_response(302 if self.path == "/away" else 200)
        if self.path == "/away":
            self.send_header("Location", "http://elsewhere.test/")
        self.send_header("Set-Cookie", "session=1; Path=/")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True
        if self.path == "/slow":
            self.may_end.wait()
            self.ended.set()

    def log_message(self, *_):
        pass


@pytest.fixture
def browser():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever).start()
    yield Browser(server.server_port)
    Handler.may_end.set()
    server.shutdown()
    server.server_close()


def test_cookies_come_back(browser):
    assert browser.get("/").text == "no cookie"
    assert browser.get("/").text == "session=1"


def test_a_request_has_ended_when_the_application_is_done_and_not_when_its_page_is_there(browser):
    threading.Timer(0.2, Handler.may_end.set).start()
    browser.get("/slow")
    assert Handler.ended.is_set()


def test_other_hosts_are_never_asked(browser):
    assert browser.get("/away") == Page(302, "leads to http://elsewhere.test/")
