"""The near caches of each instance, as its server lists them: a server is the only way to them."""
