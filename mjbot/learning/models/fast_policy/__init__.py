"""A policy that is compiled as a whole: what strong players would do, in about eight us."""
