"""mjbot's strategies: every module directly in here is one that can play."""

if __name__ != "mjbot.strategies":
    # In a checkout this folder also lies on the path: a second copy would have types of its own.
    raise ImportError("import it as mjbot.strategies")
