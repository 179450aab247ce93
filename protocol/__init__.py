"""mjai: tiles, messages, codec, sessions and transports; nothing of the game itself."""
