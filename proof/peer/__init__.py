"""Our referee and the simulator RiichiEnv (PyPI ``riichienv``): same walls, same decisions."""
