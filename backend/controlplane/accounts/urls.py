from django.urls import path
from rest_framework.routers import SimpleRouter

from controlplane.accounts.views import SessionView, TokenViewSet, UserViewSet

router = SimpleRouter(trailing_slash=False)
router.register("users", UserViewSet)
router.register("tokens", TokenViewSet)
urlpatterns = [path("auth/session", SessionView.as_view()), *router.urls]
