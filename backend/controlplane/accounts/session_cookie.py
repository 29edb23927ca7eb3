"""The cookie of a session of the console."""

from django.conf import settings
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class SessionCookieMiddleware(SessionMiddleware):
    """Takes the cookie away only where this request has ended the session.

    A request that was under way while a new password gave the session another cookie finds no session by the old one.
    Its answer must not take away the new one.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        has_changed = request.session.modified
        response = super().process_response(request, response)
        cookie = response.cookies.get(settings.SESSION_COOKIE_NAME)
        if cookie is not None and not cookie.value and not has_changed:
            del response.cookies[settings.SESSION_COOKIE_NAME]
        return response
