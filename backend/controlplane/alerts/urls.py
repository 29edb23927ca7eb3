from django.urls import path
from rest_framework.routers import SimpleRouter

from controlplane.alerts import channel_views, views

router = SimpleRouter(trailing_slash=False)
router.register("alert-rules", views.AlertRuleViewSet, basename="alert-rule")
router.register("incidents", views.IncidentViewSet, basename="incident")
router.register("silences", views.SilenceViewSet, basename="silence")
router.register("channels", channel_views.ChannelViewSet, basename="channel")
urlpatterns = [
    path("alert-metrics", views.AlertMetrics.as_view()),
    path("alerts/test-mail", views.TestMail.as_view()),
    *router.urls,
]
