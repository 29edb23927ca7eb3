"""As fqc_settings, but every write of a test is committed at once, and the tables are emptied after each test.

In Django's usual transactions nearly every table that a test reads has been written in the same transaction, so nothing
of it may come from a cache.
"""

from django.db.backends.mysql.features import DatabaseFeatures
from fqc_settings import *  # noqa: F403 - Django reads each name of the module as a setting

DatabaseFeatures.supports_transactions = False
