from django.urls import path

from controlplane.near_caches import views

urlpatterns = [
    path("instances/<str:pk>/near-caches", views.NearCaches.as_view()),
    path("instances/<str:pk>/near-caches/tokens", views.NearTokens.as_view()),
    path("near-caches/reports", views.NearReports.as_view()),
]
