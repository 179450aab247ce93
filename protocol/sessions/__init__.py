"""Who may say what when: sans-I/O sessions, one for each kind of conversation."""
