"""A local mirror of a server's table: events checked against the rules, then applied."""
