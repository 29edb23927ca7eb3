"""Log-in, users and tokens."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.contrib.auth import login, logout, update_session_auth_hash
from django.middleware.csrf import get_token
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins
from rest_framework.decorators import action
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.accounts import selectors, services, sessions
from controlplane.accounts.authentication import ConsoleSessionAuthentication
from controlplane.accounts.ending import OwnCredential
from controlplane.accounts.hashing import hashing_queue
from controlplane.accounts.models import Session, Token, User
from controlplane.accounts.permissions import AdminOnly, ViewerOnly, role_in_force
from controlplane.accounts.roles import Role, covers
from controlplane.accounts.serializers import (
    LoginSerializer,
    OwnSessionSerializer,
    PasswordChangedSerializer,
    PasswordChangeSerializer,
    SessionsEndedSerializer,
    SessionSerializer,
    TokenCreatedSerializer,
    TokenCreateSerializer,
    TokenSerializer,
    UserCreateSerializer,
    UserSerializer,
    UserUpdatedSerializer,
    UserUpdateSerializer,
)
from controlplane.core.errors import Denied, NotFound
from controlplane.core.etag import if_match
from controlplane.core.request_context import caller
from controlplane.core.shown_once import ShownOnce
from controlplane.core.throttling import LoginThrottle
from controlplane.core.views import ApiView, ApiViewSet, with_etag


class PasswordLineView(ApiView):
    # The base of views whose requests contain a password and need no credentials. Before anything else,
    # such a request takes a place in the queue of password checks; it is refused as busy if there is none.

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        with ExitStack() as self.line:
            return super().dispatch(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if request.method == "POST":
            self.line.enter_context(hashing_queue())
        super().initial(request, *args, **kwargs)


class SessionView(PasswordLineView):
    permission_classes = (AllowAny,)
    throttle_classes = (LoginThrottle,)

    def _session(self, request: Request) -> dict[str, Any]:
        user = request.user if isinstance(request.user, User) else None
        return {
            "is_authenticated": user is not None,
            "user": user and UserSerializer(user).data,
            "role": role_in_force(request),
            "csrf_token": get_token(request._request),
            "token_lifetime_days": settings.TOKEN_LIFETIME_DAYS,
            "provider": settings.IDENTITY_PROVIDER.name if settings.IDENTITY_PROVIDER.issuer else None,
            "has_passwords": settings.HAS_PASSWORDS,
        }

    @extend_schema(responses=SessionSerializer)
    def get(self, request: Request) -> Response:
        """Returns who the caller is, the ways to log in, and the CSRF token that every write of a session must send."""
        return Response(self._session(request))

    @extend_schema(request=LoginSerializer, responses=SessionSerializer)
    def post(self, request: Request) -> Response:
        """Logs in with a password and starts a session. Needs a CSRF token, so that no other site can log a browser in
        without its user's knowledge.
        """
        ConsoleSessionAuthentication().enforce_csrf(request)
        given = LoginSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        user = services.login_check(**given.validated_data, address=caller().address)
        login(request._request, user)
        sessions.session_note(request.session, caller().address, request.headers.get("User-Agent", ""))
        request.user = user
        return Response(self._session(request))

    @extend_schema(responses={204: None})
    def delete(self, request: Request) -> Response:
        """Ends the caller's session."""
        if isinstance(request.user, User):
            services.logout_record(request.user)
        logout(request._request)
        return Response(status=204)


class PasswordView(PasswordLineView):
    """Changes of one's own password. The request contains the present password, so the number of attempts is limited as
    for log-in.
    """

    permission_classes = (ViewerOnly,)
    throttle_classes = (LoginThrottle,)

    @extend_schema(
        operation_id="auth_password_change", request=PasswordChangeSerializer, responses=PasswordChangedSerializer
    )
    def post(self, request: Request) -> Response:
        """Changes the caller's own password, and ends the caller's other sessions."""
        given = PasswordChangeSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        token = request.auth if isinstance(request.auth, Token) else None
        asking = OwnCredential(request.session.session_key, token)
        wanted = {"keep_tokens": True, **given.validated_data}
        ended = services.password_change(request.user, **wanted, asking=asking, address=caller().address)
        if token is None:
            update_session_auth_hash(request._request, request.user)
        return Response({"ended": asdict(ended)})


class OwnSessionViewSet(mixins.ListModelMixin, ApiViewSet):
    """The caller's own sessions of the console."""

    queryset = Session.objects.none()
    serializer_class = OwnSessionSerializer
    permission_classes = (ViewerOnly,)
    ordering = ("-expire_date", "session_key")
    lookup_field = "id"

    def get_queryset(self) -> Any:
        return sessions.session_list(self.request.user) if isinstance(self.request.user, User) else self.queryset.none()

    @extend_schema(parameters=[OpenApiParameter("id", str, OpenApiParameter.PATH)])
    def destroy(self, request: Request, id: str) -> Response:
        """Ends one of the caller's own sessions. If it is the session of this request, the caller is logged out."""
        sessions.session_end(request.user, id)
        return Response(status=204)

    @extend_schema(operation_id="sessions_end_others", request=None, responses={200: SessionsEndedSerializer})
    @action(detail=False, methods=["delete"], pagination_class=None, filter_backends=[])
    def others(self, request: Request) -> Response:
        """Ends all of the caller's sessions except the one of this request. If the request uses a token, all sessions
        end.
        """
        return Response({"sessions": sessions.sessions_end_others(request.user, request.session.session_key)})


class UserViewSet(mixins.ListModelMixin, ApiViewSet):
    queryset = selectors.user_list()
    serializer_class = UserSerializer
    permission_classes = (AdminOnly,)
    filterset_fields = ("role", "is_active")
    ordering = ("-created_at", "-id")
    if_match_methods = ("PATCH", "DELETE")

    @extend_schema(request=UserCreateSerializer, responses={201: UserSerializer})
    def create(self, request: Request) -> Response:
        given = UserCreateSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        user = services.user_create(**given.validated_data)
        return with_etag(UserSerializer(user).data, user.version, 201)

    def retrieve(self, request: Request, pk: str) -> Response:
        user = self.get_object()
        return with_etag(UserSerializer(user).data, user.version)

    @extend_schema(request=UserUpdateSerializer, responses=UserUpdatedSerializer)
    def partial_update(self, request: Request, pk: str) -> Response:
        expected = if_match(request)
        given = UserUpdateSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        keep_tokens = given.validated_data.pop("keep_tokens", False)
        user, ended = services.user_update(self.get_object(), given.validated_data, expected, keep_tokens=keep_tokens)
        return with_etag({**UserSerializer(user).data, "ended": asdict(ended)}, user.version)

    def destroy(self, request: Request, pk: str) -> Response:
        services.user_delete(self.get_object(), if_match(request))
        return Response(status=204)


class TokenViewSet(mixins.ListModelMixin, ApiViewSet):
    """Tokens of the caller. Administrators read and revoke the tokens of all users, but create only their own."""

    queryset = Token.objects.none()
    serializer_class = TokenSerializer
    permission_classes = (ViewerOnly,)
    ordering = ("-created_at", "-id")

    def get_queryset(self) -> Any:
        if not isinstance(self.request.user, User):
            return Token.objects.none()
        return selectors.token_list(self.request.user, everyones=role_in_force(self.request) == Role.ADMIN)

    @extend_schema(request=TokenCreateSerializer, responses={201: TokenCreatedSerializer})
    def create(self, request: Request) -> Response:
        given = TokenCreateSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        given.validated_data["scope"] = self._scope_allowed(given.validated_data["scope"])
        token, text = services.token_create(request.user, **given.validated_data)
        return ShownOnce({**TokenSerializer(token).data, "token": text}, f"token {token.pk}")

    def _scope_allowed(self, scope: str) -> str:
        """Returns `scope` unchanged. Raises Denied if the role that this request acts with does not cover it."""
        held = role_in_force(self.request) or Role.VIEWER
        if not covers(held, scope):
            raise Denied(f"scope: you act as {held} here, so a token of scope {scope} cannot be created by you.")
        return scope

    def retrieve(self, request: Request, pk: str) -> Response:
        return Response(TokenSerializer(self.get_object()).data)

    def destroy(self, request: Request, pk: str) -> Response:
        token = self.get_queryset().filter(pk=pk).first()
        if token is None:
            raise NotFound(f"There is no token {pk} that you can revoke.")
        services.token_revoke(token)
        return Response(status=204)
