from django.urls import path
from rest_framework.routers import SimpleRouter

from controlplane.accounts.access_key_views import AccessKeyViewSet
from controlplane.accounts.provider_views import ProviderSignInView
from controlplane.accounts.views import OwnSessionViewSet, PasswordView, SessionView, TokenViewSet, UserViewSet

router = SimpleRouter(trailing_slash=False)
router.register("users", UserViewSet)
router.register("sessions", OwnSessionViewSet)
router.register("tokens", TokenViewSet)
router.register("access-keys", AccessKeyViewSet)
urlpatterns = [
    path("auth/session", SessionView.as_view()),
    path("auth/provider", ProviderSignInView.as_view()),
    path("auth/password", PasswordView.as_view()),
    *router.urls,
]
