"""The client of the control plane's API, which all commands use: a bearer token, errors as failures, lists page by
page.

Every POST carries an Idempotency-Key, so that it can be sent again when the connection breaks, without being done
twice. A request that a busy control plane refuses is sent again after the time that the response names.
"""

from __future__ import annotations

import ssl
import time
import uuid
from collections.abc import Iterator
from typing import Any

import httpx

from fqc import __version__
from fqc.contexts import Context
from fqc.failure import Exit, Failure, from_problem

_TIMEOUT = httpx.Timeout(60, connect=10)
_PAGE = 200
_MOST_REPEATS = 5
_LONGEST_PAUSE = 10


class Api:
    """A connection to one control plane. Every method takes a path below /api/v1/, and raises a Failure if the API
    refuses the request or cannot be reached.
    """

    def __init__(self, context: Context) -> None:
        self.url = context.url.rstrip("/")
        if not self.url.startswith(("http://", "https://")):
            raise Failure(f"{self.url} is not an address: it must begin with http:// or https://.", Exit.USAGE)
        headers = {"User-Agent": f"fqc/{__version__}", "Accept": "application/json"}
        if context.token:
            headers["Authorization"] = f"Bearer {context.token}"
        try:
            self._http = httpx.Client(
                base_url=f"{self.url}/api/v1/", headers=headers, timeout=_TIMEOUT, verify=_trusted(self.url)
            )
        except (httpx.InvalidURL, UnicodeError) as error:
            raise Failure(f"{self.url} is not an address: {error}.", Exit.USAGE) from error

    def get(self, path: str, **query: Any) -> Any:
        """Returns the body of a GET request. Parameters that are None are left out of the query."""
        return self.request("GET", path, query=query).json()

    def post(self, path: str, body: Any = None) -> Any:
        """Sends a POST request and returns the body of the response; None if it has none. Safe to repeat on a broken
        connection.
        """
        answer = self.request("POST", path, body=body, headers={"Idempotency-Key": str(uuid.uuid4())})
        return answer.json() if answer.content else None

    def replace(self, method: str, path: str, body: Any = None, *, version: int | None = None) -> Any:
        """Sends a PATCH, PUT or DELETE request and returns the body of the response; None if it has none. With
        `version`, the API refuses it unless the object still has the version that was read.
        """
        match = "*" if version is None else f'"{version}"'
        answer = self.request(method, path, body=body, headers={"If-Match": match})
        return answer.json() if answer.content else None

    def items(self, path: str, *, limit: int | None = None, **query: Any) -> Iterator[dict[str, Any]]:
        """Yields the items of a list, or the first `limit` of them. Each page is requested only when its items are
        needed.
        """
        cursor, left = None, limit
        while left is None or left > 0:
            page = self.get(path, limit=min(_PAGE, left or _PAGE), cursor=cursor, **query)
            yield from page["items"]
            cursor, left = page["next"], left and left - len(page["items"])
            if cursor is None:
                return

    def stream(self, path: str, **query: Any) -> Iterator[str]:
        """Yields a long text response in pieces, as it arrives. It is not requested again if the connection breaks,
        since pieces have been handed out already; a Failure is raised then.
        """
        try:
            with self._http.stream("GET", path, params=_stated(query)) as answer:
                if answer.is_error:
                    answer.read()
                    raise _failure(answer)
                yield from answer.iter_text()
        except httpx.TransportError as error:
            raise self._unreachable(error) from error

    def request(
        self, method: str, path: str, *, query: Any = None, body: Any = None, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        """Sends a request and returns the successful response. Waits and repeats it, at most 5 times, while the control
        plane is busy.
        """
        request = self._http.build_request(method, path, params=_stated(query or {}), json=body, headers=headers)
        answer = self._send(request)
        for _ in range(_MOST_REPEATS):
            pause = _pause(answer)
            if pause is None:
                break
            time.sleep(pause)
            answer = self._send(request)
        if answer.is_error:
            raise _failure(answer)
        return answer

    def _send(self, request: httpx.Request) -> httpx.Response:
        try:
            return self._http.send(request)
        except httpx.ConnectError as error:
            raise self._unreachable(error) from error
        except httpx.TransportError:
            try:
                return self._http.send(request)
            except httpx.TimeoutException as error:
                raise Failure(f"{self.url} did not respond in time.", Exit.TIMED_OUT) from error
            except httpx.TransportError as error:
                raise self._unreachable(error) from error

    def _unreachable(self, error: httpx.TransportError) -> Failure:
        return Failure(
            f"{self.url} cannot be reached: {error}.", hint="Check that it is running and that --url is right."
        )


def _trusted(url: str) -> bool | ssl.SSLContext:
    """Returns what httpx verifies certificates with: true for the system's trusted certificates, or for plain HTTP an
    empty store, because loading the trusted certificates takes 40 ms.
    """
    return True if url.startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _stated(query: dict[str, Any]) -> dict[str, Any]:
    """Returns the parameters of a query without those that are None, and with booleans in lower case."""
    return {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in query.items()
        if value is not None
    }


def _pause(answer: httpx.Response) -> int | None:
    """Returns the seconds after which a busy control plane wants the request again. None if it is not busy, or names no
    time or one of more than 10 seconds: the request must not be repeated then.
    """
    told = answer.headers.get("Retry-After", "")
    if answer.status_code != httpx.codes.TOO_MANY_REQUESTS or not told.isdecimal() or int(told) > _LONGEST_PAUSE:
        return None
    return int(told)


def _failure(answer: httpx.Response) -> Failure:
    """Returns an error response as a failure: the API's problem document, or that the response is not from the API."""
    try:
        return from_problem(answer.json())
    except (ValueError, KeyError, TypeError):
        where = f"{answer.request.method} {answer.request.url}"
        return Failure(f"{where} returned {answer.status_code}, but not from the API.", hint="Check --url.")
