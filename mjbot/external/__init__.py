"""AIs that nobody here wrote, joined to a table as players like any other."""
