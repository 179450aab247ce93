"""mjbot's strategies: every module directly in here is one that can play."""
