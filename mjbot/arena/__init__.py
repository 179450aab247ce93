"""Games in bulk, and their statistics: the same walls for all, intervals for all figures."""
