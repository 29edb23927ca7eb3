from django.urls import path
from rest_framework.routers import SimpleRouter

from controlplane.changes import instance_views, rules_views, views

router = SimpleRouter(trailing_slash=False)
router.register("changes", views.ChangeViewSet)
router.register("instances", instance_views.InstanceViewSet)
urlpatterns = [
    path("changes/preview", views.ChangePreview.as_view()),
    path("instances/<str:pk>/changes", views.InstanceChanges.as_view()),
    path("instances/<str:pk>/parameters/history", views.ParameterHistory.as_view()),
    path("instances/<str:pk>/restart", instance_views.Restart.as_view()),
    path("instances/<str:pk>/resize", instance_views.Resize.as_view()),
    path("instances/<str:pk>/upgrade", instance_views.Upgrade.as_view()),
    path("instances/<str:pk>/proxy", instance_views.Proxy.as_view()),
    path("instances/<str:pk>/cache/preview", instance_views.CachePreview.as_view()),
    path("instances/<str:pk>/cache/observe", instance_views.CacheObserve.as_view()),
    path("instances/<str:pk>/cache/enable", instance_views.CacheEnable.as_view()),
    path("instances/<str:pk>/cache/disable", instance_views.CacheDisable.as_view()),
    path("instances/<str:pk>/cache/rules", rules_views.CacheRules.as_view()),
    path("instances/<str:pk>/cache/rules/preview", rules_views.CacheRulesPreview.as_view()),
    *router.urls,
]
