from django.urls import path

from controlplane.settings.views import SettingsView

urlpatterns = [path("settings", SettingsView.as_view())]
