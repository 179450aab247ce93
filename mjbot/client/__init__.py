"""One bot at somebody else's table."""
