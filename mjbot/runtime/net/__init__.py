"""What all listening sockets have in common: limits of connections, HTTP timeouts, the log."""
