"""What all sockets have in common: limits and attempts of connections, HTTP timeouts, the log."""
