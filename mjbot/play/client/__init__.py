"""One bot at a server."""
