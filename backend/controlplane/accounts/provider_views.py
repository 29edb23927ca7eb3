"""Sign-in by the identity provider: the way there, the way back, and log-outs that the provider reports."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.accounts import sessions, sign_ins
from controlplane.accounts.authentication import ConsoleSessionAuthentication
from controlplane.accounts.serializers import ProviderSignInSerializer, ProviderUrlSerializer
from controlplane.core import error_views
from controlplane.core.errors import NotFound, Problem
from controlplane.core.request_context import caller
from controlplane.core.throttling import LoginThrottle, ProviderLogoutThrottle
from controlplane.core.views import ApiView
from controlplane.gateway import identity_provider

NEXT = "sign_in_next"
# A path in the console. Browsers take two slashes at the start, or a slash and a backslash, for another host.
PLACE = re.compile(r"/(?![/\\])[^\\\x00-\x20]*")
View = Callable[[HttpRequest], HttpResponse]


class ProviderSignInView(ApiView):
    permission_classes = (AllowAny,)
    throttle_classes = (LoginThrottle,)

    @extend_schema(request=ProviderSignInSerializer, responses=ProviderUrlSerializer)
    def post(self, request: Request) -> Response:
        """Starts a sign-in by the identity provider, and returns the address that the browser must open for it. Needs a
        CSRF token, as log-in does.
        """
        ConsoleSessionAuthentication().enforce_csrf(request)
        given = ProviderSignInSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        if not settings.IDENTITY_PROVIDER.issuer:
            raise NotFound("No identity provider is configured here: log in with a password.", code="no_provider")
        place = given.validated_data.get("next", "")
        request.session[NEXT] = place if PLACE.fullmatch(place) else "/fleet"
        return Response(
            {"url": identity_provider.sign_in_url(request._request, f"{settings.PUBLIC_URL}/oidc/callback")}
        )


def _with_provider(view: View) -> View:
    @wraps(view)
    def answer(request: HttpRequest) -> HttpResponse:
        return view(request) if settings.IDENTITY_PROVIDER.issuer else error_views.not_found(request)

    return never_cache(answer)


@require_GET
@_with_provider
def callback(request: HttpRequest) -> HttpResponse:
    """Answers the browser that comes back from the identity provider: logs the person in, and redirects to the page
    that the sign-in was begun from.

    If anything fails, redirects to the log-in page, which says what.
    """
    try:
        proof = identity_provider.signed_in(request)
        user = sign_ins.sign_in(proof)
    except Problem as problem:
        return HttpResponseRedirect(f"/login?failed={problem.code}")
    place = request.session.pop(NEXT, "/fleet")
    login(request, user)
    sessions.session_note(request.session, caller().address, request.headers.get("User-Agent", ""))
    request.session.save()
    sign_ins.sign_in_keep(user, request.session.session_key or "", proof)
    return HttpResponseRedirect(place)


@require_GET
@_with_provider
def end(_: HttpRequest) -> HttpResponse:
    """Redirects the browser, after a log-out here, to where the person may end the session at the identity provider,
    too; to the log-in page if the provider has no such address.
    """
    back = f"{settings.PUBLIC_URL}/login"
    try:
        return HttpResponseRedirect(identity_provider.log_out_url(back))
    except Problem:
        return HttpResponseRedirect(back)


@csrf_exempt
@require_POST
@_with_provider
def logout(request: HttpRequest) -> HttpResponse:
    """Ends the sessions that the identity provider reports as ended (back-channel log-out).

    Its signed token in the form is the proof: 400 if that is not valid.
    """
    if not ProviderLogoutThrottle().allow_request(request, None):
        return HttpResponse(status=429)
    try:
        told = identity_provider.logged_out(request.POST.get("logout_token", ""))
    except Problem as problem:
        return HttpResponse(problem.code, status=400, content_type="text/plain")
    sign_ins.provider_logged_out(told)
    return HttpResponse(status=200)
