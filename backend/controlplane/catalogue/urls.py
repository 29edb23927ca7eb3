from django.urls import path

from controlplane.catalogue import views

urlpatterns = [
    path("engine-lines", views.EngineLines.as_view()),
    path("engine-lines/<str:id>", views.EngineLineDetail.as_view()),
    path("engine-lines/<str:id>/parameters/<str:name>", views.ParameterDetail.as_view()),
    path("parameters", views.Parameters.as_view()),
]
