"""A table and its four players, each in a process of its own."""
