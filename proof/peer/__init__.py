"""Our referee beside the simulator RiichiEnv (PyPI ``riichienv``): same walls, same decisions."""
