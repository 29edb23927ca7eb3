"""Whether the fast query cache may be enabled on an instance, and what mends a no."""
