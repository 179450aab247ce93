"""mjbot's protocol layer: tiles, messages, codec, sessions, transports; nothing of the game."""
