"""Compiled code: the decorator, its cache, records as arguments, random numbers."""
