"""A local mirror of somebody else's table: events checked against the rules, then applied."""
