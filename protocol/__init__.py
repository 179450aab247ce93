"""mjbot's protocol layer: tiles, messages, codec, sessions, transports; nothing of the game."""

if __name__ == "protocol":
    from mjbot.runtime.checkout import import_from_elsewhere

    import_from_elsewhere(__name__)
