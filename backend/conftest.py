"""Fixtures that every app's tests share. Which database they run on: testing/settings.py."""

pytest_plugins = [
    "testing.clients",
    "testing.servers",
    "testing.accounts",
    "testing.libraries",
    "testing.workers",
    "testing.answers",
    "testing.broker",
    "testing.catalogue",
    "testing.clock",
    "testing.database",
    "testing.faults",
    "testing.garbage",
    "testing.keycloak",
    "testing.late_plugin",
    "testing.lost",
    "testing.migrated",
    "testing.statements",
    "testing.web",
]
