from django.urls import path

from controlplane.prerequisites import views

urlpatterns = [
    path("minor-versions", views.MinorVersionsView.as_view()),
    path("instances/<str:pk>/prerequisites", views.PrerequisitesView.as_view()),
    path("instances/<str:pk>/near-caches/prerequisites", views.NearPrerequisitesView.as_view()),
    path("instances/<str:pk>/cache/status", views.CacheStatusView.as_view()),
    path("instances/<str:pk>/cache/advice", views.CacheAdviceView.as_view()),
    path("instances/<str:pk>/cache/queries", views.CacheQueriesView.as_view()),
    path("instances/<str:pk>/cache/queries/<str:digest>/hours", views.StatementHoursView.as_view()),
    path("instances/<str:pk>/cache/queries/<str:digest>/example", views.StatementExampleView.as_view()),
    path("instances/<str:pk>/cache/tables", views.CacheTablesView.as_view()),
    path("instances/<str:pk>/cache/trial", views.CacheTrialView.as_view()),
]
