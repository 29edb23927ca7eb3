"""Compresses long answers of the API for clients that accept gzip. The console's files are compressed by its build.

Event streams are passed on unchanged. An entity tag is the same for both encodings, since clients send it back with
their writes. That is safe because no cache stores an answer with an entity tag.
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
