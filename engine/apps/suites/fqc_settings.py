"""Settings with which Django's own tests run on a server of the lab, in two databases. Outcomes go to a file."""

import os

_SERVER = {
    "ENGINE": "django.db.backends.mysql",
    "HOST": "127.0.0.1",
    "PORT": os.environ["FQC_APPS_PORT"],
    "USER": os.environ["FQC_APPS_USER"],
    "OPTIONS": {"charset": "utf8mb4", "ssl_mode": "DISABLED"},
    "TEST": {"CHARSET": "utf8mb4"},
}
DATABASES = {"default": {**_SERVER, "NAME": "main"}, "other": {**_SERVER, "NAME": "other"}}
SECRET_KEY = "the key of the lab"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
TEST_RUNNER = "fqc_runner.Runner"
