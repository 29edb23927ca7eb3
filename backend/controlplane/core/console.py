"""The console's single page, for every address that is neither a file nor the API."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from controlplane.core import error_views


@require_safe
def page(request: HttpRequest) -> HttpResponseBase:
    index = settings.FRONTEND_DIST / "index.html"
    is_file_name = "." in request.path.rsplit("/", 1)[-1]
    if is_file_name or not index.is_file():
        return error_views.not_found(request)
    response = HttpResponse(index.read_bytes(), content_type="text/html; charset=utf-8")
    response["Cache-Control"] = "no-cache"
    return response
