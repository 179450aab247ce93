"""Sans-I/O sessions, one for each kind of conversation."""
