"""Names of the cache's variables: those that tools use, and those that the engine registers. Pure.

On a server with the engine the control plane uses the engine's own names. If the engine's aliases are not active there,
the usual names would configure the server's own cache instead.
"""

ENGINE_NAMES = {
    "query_cache_type": "fqc_type",
    "query_cache_size": "fqc_size",
    "query_cache_limit": "fqc_limit",
}
