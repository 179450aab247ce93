"""Commands of `mjbot train` that have a module of their own."""
