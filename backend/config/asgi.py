"""The application that `config.web` serves."""

import os
import warnings

import django

from config.bodies import BoundedBodies
from config.forwarded import Forwarded
from config.private import keep_private

keep_private()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# whitenoise returns files as synchronous iterators. They are the console's own files, and small.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")

django.setup(set_prefix=False)

from django.conf import settings  # noqa: E402 - all of these take the settings
from django.db import connections  # noqa: E402

from config import telemetry  # noqa: E402
from config.handler import Handler  # noqa: E402
from controlplane.core.problems import too_large  # noqa: E402

# Only in web processes: a worker has few threads, and keeps one connection for each.
if settings.DATABASE_POOL:
    connections.settings["default"]["OPTIONS"]["pool"] = settings.DATABASE_POOL

telemetry.begin("web")  # before the middleware is made, which uses it
application = Forwarded(
    BoundedBodies(Handler(), settings.DATA_UPLOAD_MAX_MEMORY_SIZE, too_large), settings.TRUSTED_PROXIES
)
