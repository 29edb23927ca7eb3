"""The cookie of a session of the console."""

from django.conf import settings
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class SessionCookieMiddleware(SessionMiddleware):
    """Django's session middleware, except that it deletes the cookie only if this request has ended the session.

    While a new password gives the session another cookie, a request with the old cookie may be under way. It finds no
    session, but its answer must not delete the new cookie.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        has_changed = request.session.modified
        response = super().process_response(request, response)
        cookie = response.cookies.get(settings.SESSION_COOKIE_NAME)
        if cookie is not None and not cookie.value and not has_changed:
            del response.cookies[settings.SESSION_COOKIE_NAME]
        return response
