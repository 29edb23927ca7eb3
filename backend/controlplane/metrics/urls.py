from django.urls import path
from rest_framework.routers import SimpleRouter

from controlplane.metrics import views

router = SimpleRouter(trailing_slash=False)
router.register("metrics/latest", views.LatestViewSet, basename="latest")
urlpatterns = [
    path("metric-definitions", views.MetricDefinitions.as_view()),
    path("instances/<str:id>/metrics", views.InstanceMetrics.as_view()),
    path("instances/<str:id>/headlines", views.InstanceHeadlines.as_view()),
    path("instances/<str:id>/storage", views.InstanceStorage.as_view()),
    path("fleet/headlines", views.FleetHeadlines.as_view()),
    path("metrics/sparklines", views.Sparklines.as_view()),
    path("metrics/fleet", views.FleetMetrics.as_view()),
    path("prometheus/targets", views.ScrapeTargets.as_view()),
    *router.urls,
]
