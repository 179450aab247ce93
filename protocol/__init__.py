"""mjbot's protocol layer: tiles, messages, codec, sessions, transports; nothing of the game."""

if __name__ != "mjbot.protocol":
    # In a checkout this folder also lies on the path: a second copy would have types of its own.
    raise ImportError("import it as mjbot.protocol")
