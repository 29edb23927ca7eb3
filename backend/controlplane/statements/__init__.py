"""What the cache did for each statement over time. A server counts from its start on; here, that is noted each hour."""
