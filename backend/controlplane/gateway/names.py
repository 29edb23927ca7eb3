"""The cache's names: what every tool calls them, and what the engine registers. Pure.

On a server with the engine the control plane uses the engine's own names: under the old ones a server whose aliases
are not in force would configure its own cache instead.
"""

ENGINE_NAMES = {
    "query_cache_type": "fqc_type",
    "query_cache_size": "fqc_size",
    "query_cache_limit": "fqc_limit",
}
