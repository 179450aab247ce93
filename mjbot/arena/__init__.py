"""Games in bulk, and what may be said of them: the same walls for all, intervals for everything."""
