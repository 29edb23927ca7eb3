"""The only place that opens sockets and starts processes. Errors say whether they are permanent."""
