"""Compresses long answers of the API for clients that take gzip. The console's files are compressed by its build.

A stream of events is passed on as it comes. An entity tag stays as it is, since clients send it back with their writes;
no answer with one is kept by a cache, which could mistake one encoding for the other.
"""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

LEAST_BYTES = 4096


class CompressionMiddleware(GZipMiddleware):
    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.streaming or len(response.content) < LEAST_BYTES:
            return response
        tag = response.headers.get("ETag")
        found: HttpResponseBase = super().process_response(request, response)
        if tag is not None:
            found.headers["ETag"] = tag
        return found
