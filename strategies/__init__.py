"""mjbot's strategies: every module directly in here is one that can play."""

if __name__ == "strategies":
    from mjbot.runtime.checkout import import_from_elsewhere

    import_from_elsewhere(__name__)
