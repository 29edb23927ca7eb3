"""What every noun needs: errors, ids, paging, concurrency control, sealing of secrets. Knows no noun."""
